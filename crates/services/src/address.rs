//! How to reach a server that runs: its URLs, fresh databases, SQL.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::account::forget_settings;
use crate::random;

/// How long `psql` tries to connect; a server that is paused accepts and says nothing.
const CONNECT_SECONDS: &str = "10";

/// A server that runs, as its owner sees it. Whoever stops it is another's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// `user:password`, as they stand in a URL.
    credentials: String,
    /// `host:port`, as they stand in a URL.
    place: String,
    psql: PathBuf,
}

impl Address {
    pub(crate) fn new(user: &str, password: &str, place: String, psql: &Path) -> Self {
        Self { credentials: credentials(user, password), place, psql: psql.to_owned() }
    }

    /// From a URL with user, password and place; its database does not matter.
    pub(crate) fn parse(url: &str, psql: &Path) -> Result<Self, String> {
        let parts = url
            .strip_prefix("postgres://")
            .or_else(|| url.strip_prefix("postgresql://"))
            .and_then(|rest| rest.split_once('@'))
            .filter(|(credentials, _)| credentials.contains(':'));
        let (credentials, rest) =
            parts.ok_or("not of the form `postgres://user:password@host:port/database`")?;
        let place = rest.split_once('/').map_or(rest, |(place, _)| place);
        Ok(Self { credentials: credentials.to_owned(), place: place.to_owned(), psql: psql.to_owned() })
    }

    /// The URL of a database, as the owner of the server.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{}@{}/{}", self.credentials, self.place, encode(database))
    }

    /// The URL of a database, as someone else.
    pub fn url_as(&self, user: &str, password: &str, database: &str) -> String {
        format!("postgres://{}@{}/{}", credentials(user, password), self.place, encode(database))
    }

    /// The URL of the database that every server has.
    pub fn admin_url(&self) -> String {
        self.url("postgres")
    }

    /// A fresh, empty database; returns its URL. It goes when the server goes.
    pub fn create_database(&self) -> Result<String, String> {
        // template0: nobody is ever connected to it, so that many can be created at a time.
        self.copy("template0")
    }

    /// A copy of the database `template`, which the first caller makes: `fill` is given the URL of an empty database, and leaves no
    /// connection open.
    pub async fn create_database_from(
        &self,
        template: &str,
        fill: impl AsyncFnOnce(&str) -> Result<(), String>,
    ) -> Result<String, String> {
        match self.copy(template) {
            Err(error) if error.contains("does not exist") => {}
            other => return other,
        }
        let url = self.create_database()?;
        fill(&url).await?;
        let name = url.rsplit('/').next().unwrap_or_default();
        match self.run("postgres", &format!("ALTER DATABASE {name} RENAME TO {template}")) {
            // Two made one at the same time; one is enough.
            Err(error) if !error.contains("already exists") => Err(error),
            Ok(_) | Err(_) => self.copy(template),
        }
    }

    fn copy(&self, template: &str) -> Result<String, String> {
        let name = format!("test_{}", random::word()?);
        self.run("postgres", &format!("CREATE DATABASE {name} TEMPLATE {template}"))?;
        Ok(self.url(&name))
    }

    /// Runs SQL as the owner, statement by statement, and returns the rows: one per line, cells separated by `|`. The first
    /// error ends it and is returned as `psql` prints it.
    pub fn run(&self, database: &str, sql: &str) -> Result<String, String> {
        self.run_at(&self.url(database), sql)
    }

    /// Runs SQL at any URL of this server.
    pub fn run_at(&self, url: &str, sql: &str) -> Result<String, String> {
        let mut command = Command::new(&self.psql);
        forget_settings(&mut command);
        let mut psql = command
            .args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--no-password"])
            .args(["--set", "ON_ERROR_STOP=1", "--file", "-", url])
            .env("PGCONNECT_TIMEOUT", CONNECT_SECONDS)
            .env("PGCLIENTENCODING", "UTF8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("could not start `{}`: {error}", self.psql.display()))?;
        let stdin = psql.stdin.take();
        let output = std::thread::scope(|scope| {
            // It may answer before it has heard everything. That it does not listen to the end shows in how it ends.
            scope.spawn(move || stdin.is_some_and(|mut stdin| stdin.write_all(sql.as_bytes()).is_ok()));
            psql.wait_with_output()
        })
        .map_err(|error| format!("could not wait for `psql`: {error}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }
}

fn credentials(user: &str, password: &str) -> String {
    format!("{}:{}", encode(user), encode(password))
}

/// As a part of a URL.
pub(crate) fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_read_and_written_for_other_databases_and_users() {
        let address =
            Address::parse("postgres://regent:p%40ss@127.0.0.1:5433/postgres", Path::new("psql")).unwrap();
        assert_eq!(address.url("one"), "postgres://regent:p%40ss@127.0.0.1:5433/one");
        assert_eq!(
            address.url_as("a b", "c/d:@", "my db"),
            "postgres://a%20b:c%2Fd%3A%40@127.0.0.1:5433/my%20db"
        );
        assert_eq!(address.admin_url(), "postgres://regent:p%40ss@127.0.0.1:5433/postgres");
    }

    #[test]
    fn an_address_that_is_made_and_one_that_is_read_are_the_same() {
        let psql = Path::new("psql");
        let made = Address::new("regent", "p@ss", "127.0.0.1:5433".to_owned(), psql);
        assert_eq!(Address::parse(&made.admin_url(), psql), Ok(made));
    }

    #[test]
    fn a_url_without_a_password_is_refused() {
        for url in
            ["", "mysql://a:b@c/d", "postgres://127.0.0.1/postgres", "postgres://regent@127.0.0.1/postgres"]
        {
            assert!(Address::parse(url, Path::new("psql")).is_err(), "{url}");
        }
    }
}
