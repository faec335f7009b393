//! Where a database on a server is: the URL of the settings, completed with what libpq takes from elsewhere.

#![expect(clippy::disallowed_methods, reason = "the owner's file with passwords")]

use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ledger::StoreError;
use ledger_sql::{ConnectionDefaults, complete_url};
use nix::unistd::{Uid, User};

use crate::os_host::OsHost;

impl OsHost {
    /// The URL to connect with. It may hold a password that the settings do not.
    pub(crate) fn server_url(&self) -> Result<String, StoreError> {
        complete(&self.database_url, &self.settings_source.environment)
    }
}

fn complete(url: &str, environment: &[(String, String)]) -> Result<String, StoreError> {
    let variable = |name: &str| {
        let found = environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        found.filter(|value| !value.is_empty())
    };
    let user = User::from_uid(Uid::effective()).ok().flatten();
    let home = variable("HOME").map(PathBuf::from).or_else(|| user.as_ref().map(|user| user.dir.clone()));
    let files = [variable("PGPASSFILE").map(PathBuf::from), home.map(|home| home.join(".pgpass"))];
    let password_files = files.into_iter().flatten().filter_map(|file| read_passwords(&file).ok().flatten());
    let defaults = ConnectionDefaults {
        variable: &variable,
        user: user.as_ref().map(|user| user.name.clone()),
        exists: &Path::exists,
        password_files: password_files.collect(),
    };
    complete_url(url, &defaults)
}

/// As libpq: a file that others may read is not used, nor is what is no file.
fn read_passwords(path: &Path) -> io::Result<Option<String>> {
    const OF_OTHERS: u32 = 0o077;
    const LARGEST: u64 = 1024 * 1024;
    // A pipe would be waited for, so it is looked at before it is opened.
    if !std::fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let file = std::fs::File::open(path)?;
    if file.metadata()?.permissions().mode() & OF_OTHERS != 0 {
        return Ok(None);
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text)?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::complete;

    #[test]
    fn a_password_comes_from_the_owners_file_if_others_cannot_read_it() {
        let home = tempfile::tempdir().expect("folder");
        let file = home.path().join(".pgpass");
        std::fs::write(&file, "db:5432:r:ada:from-file\n").expect("written");
        let variables = [("HOME", home.path().to_str().expect("UTF-8")), ("PGUSER", "ada")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        for (mode, login) in [
            (0o600, "ada:from-file"),
            (0o400, "ada:from-file"),
            (0o640, "ada"),
            (0o604, "ada"),
            (0o644, "ada"),
        ] {
            std::fs::set_permissions(&file, Permissions::from_mode(mode)).expect("set");
            let url = complete("postgres://db/r", &variables).expect("a URL");
            assert_eq!(url, format!("postgres://{login}@db:5432/r?sslmode=prefer"), "{mode:o}");
        }
        let named = home.path().join("passwords");
        std::fs::write(&named, "*:*:*:*:from-the-named-file").expect("written");
        std::fs::set_permissions(&named, Permissions::from_mode(0o600)).expect("set");
        let pass_file = ("PGPASSFILE".to_owned(), named.to_str().expect("UTF-8").to_owned());
        let variables = [variables.as_slice(), &[pass_file]].concat();
        let url = complete("postgres://db/r", &variables).expect("a URL");
        assert_eq!(url, "postgres://ada:from-the-named-file@db:5432/r?sslmode=prefer");
        let variables = [variables.as_slice(), &[("PGPASSWORD".to_owned(), "variable".to_owned())]].concat();
        let url = complete("postgres://db/r", &variables).expect("a URL");
        assert_eq!(url, "postgres://ada:variable@db:5432/r?sslmode=prefer");
    }
}
