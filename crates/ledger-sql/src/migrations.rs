//! The migrations, once for both databases: each is a file of the same name in `migrations/sqlite/` and in
//! `migrations/postgres/`. Forward only, and never changed once released. `examples/migration.rs` writes the next one.

/// One step of the schema.
pub(crate) struct Migration {
    pub(crate) file: &'static str,
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

macro_rules! migrations {
    ($($file:literal),+ $(,)?) => {
        /// The schema's number is the count of these that have run.
        pub(crate) const MIGRATIONS: &[Migration] = &[$(Migration {
            file: $file,
            sqlite: include_str!(concat!("../migrations/sqlite/", $file, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $file, ".sql")),
        }),+];
    };
}

migrations! {
    "0001_first_walk",
    "0002_the_ground",
    "0003_the_stranger",
    "0004_the_broker",
    "0005_approvals",
    "0006_access",
    "0007_authority",
    "0008_instructions",
}

/// The newest schema this program knows.
pub(crate) const KNOWN: i64 = MIGRATIONS.len().cast_signed() as i64;

impl Migration {
    /// In words, as PostgreSQL keeps it: the file's name without its number.
    pub(crate) fn name(&self) -> String {
        self.file.split_once('_').map_or(self.file, |(_number, name)| name).replace('_', " ")
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test looks at files")]
mod tests {
    use super::MIGRATIONS;

    #[test]
    fn every_file_is_a_migration_and_they_are_numbered() {
        for (n, migration) in (1..).zip(MIGRATIONS) {
            assert!(migration.file.starts_with(&format!("{n:04}_")), "{}", migration.file);
        }
        for database in ["sqlite", "postgres"] {
            let folder = format!("{}/migrations/{database}", env!("CARGO_MANIFEST_DIR"));
            let mut files: Vec<String> = std::fs::read_dir(folder)
                .expect("a folder")
                .map(|file| file.expect("a file").file_name().into_string().expect("a name"))
                .collect();
            files.sort();
            let known: Vec<String> =
                MIGRATIONS.iter().map(|migration| format!("{}.sql", migration.file)).collect();
            assert_eq!(files, known, "{database}");
        }
    }

    #[test]
    fn postgres_keeps_the_names_that_it_always_kept() {
        let names: Vec<String> = MIGRATIONS.iter().take(7).map(super::Migration::name).collect();
        let kept =
            ["first walk", "the ground", "the stranger", "the broker", "approvals", "access", "authority"];
        assert_eq!(names, kept);
    }
}
