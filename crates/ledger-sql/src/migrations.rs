//! The migrations, once for both databases: each is a file of the same name in `migrations/sqlite/` and in
//! `migrations/postgres/`. Forward only, and never changed once released. `examples/migration.rs` writes the next one.

/// One step of the schema. It never changes a row in place: where the layout of a table changes, a new table is filled from the old
/// one, in the same transaction. Every row that was there is there afterwards, unless it says here that it is not: an upgrade
/// and a restore compare the rows of every table before and after ([`Tally::lost_in`](crate::Tally::lost_in)).
pub(crate) struct Migration {
    pub(crate) file: &'static str,
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
    /// Tables that have another name afterwards: the old one and the new one.
    pub(crate) renamed_tables: &'static [(&'static str, &'static str)],
    /// Tables that are gone, with their rows.
    pub(crate) dropped_tables: &'static [&'static str],
    /// Tables, under their new names, that have fewer rows.
    pub(crate) dropped_rows: &'static [&'static str],
}

impl Migration {
    /// One that renames and drops nothing.
    pub(crate) const PLAIN: Self = Self {
        file: "",
        sqlite: "",
        postgres: "",
        renamed_tables: &[],
        dropped_tables: &[],
        dropped_rows: &[],
    };
}

macro_rules! migrations {
    ($($file:literal $({ $($declared:ident: $what:expr),+ $(,)? })?),+ $(,)?) => {
        /// The schema's number is the count of these that have run.
        pub(crate) const MIGRATIONS: &[Migration] = &[$(Migration {
            file: $file,
            sqlite: include_str!(concat!("../migrations/sqlite/", $file, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $file, ".sql")),
            $($($declared: $what,)+)?
            ..Migration::PLAIN
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
    "0009_layout",
}

/// The newest schema this program knows.
pub(crate) const KNOWN: i64 = MIGRATIONS.len().cast_signed() as i64;

/// What becomes of a table on its way through migrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableFate<'t> {
    /// It is called so, and has all its rows.
    Kept(&'t str),
    /// It is called so, and may have fewer rows.
    Thinned(&'t str),
    Dropped,
}

/// What these migrations, one after the other, declare about a table.
pub(crate) fn trace_table<'t>(migrations: &'t [Migration], name: &'t str) -> TableFate<'t> {
    let (mut name, mut is_thinned) = (name, false);
    for migration in migrations {
        if migration.dropped_tables.contains(&name) {
            return TableFate::Dropped;
        }
        name = migration.renamed_tables.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
        is_thinned |= migration.dropped_rows.contains(&name);
    }
    if is_thinned { TableFate::Thinned(name) } else { TableFate::Kept(name) }
}

impl Migration {
    /// In words, as PostgreSQL keeps it: the file's name without its number.
    pub(crate) fn name(&self) -> String {
        self.file.split_once('_').map_or(self.file, |(_number, name)| name).replace('_', " ")
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test looks at files")]
mod tests {
    use super::{MIGRATIONS, Migration, TableFate, trace_table};

    #[test]
    fn what_becomes_of_a_table_is_what_migrations_declare() {
        let steps = [
            Migration { renamed_tables: &[("knocks", "requests")], ..Migration::PLAIN },
            Migration { dropped_tables: &["recipes"], dropped_rows: &["requests"], ..Migration::PLAIN },
            Migration { renamed_tables: &[("requests", "access_requests")], ..Migration::PLAIN },
        ];
        let cases = [
            ("events", &steps[..], TableFate::Kept("events")),
            ("knocks", &steps[..1], TableFate::Kept("requests")),
            ("knocks", &steps[..], TableFate::Thinned("access_requests")),
            ("requests", &steps[2..], TableFate::Kept("access_requests")),
            ("recipes", &steps[..1], TableFate::Kept("recipes")),
            ("recipes", &steps[..], TableFate::Dropped),
            ("recipes", &[], TableFate::Kept("recipes")),
        ];
        for (name, migrations, fate) in cases {
            assert_eq!(trace_table(migrations, name), fate, "{name}");
        }
    }

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
        let names: Vec<String> = MIGRATIONS.iter().take(7).map(Migration::name).collect();
        let kept =
            ["first walk", "the ground", "the stranger", "the broker", "approvals", "access", "authority"];
        assert_eq!(names, kept);
    }
}
