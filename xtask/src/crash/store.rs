//! Which databases the houses stand on.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Error, bail};
use services::{Flavour, Postgres};

/// How the program is told of a database that is no file.
const DATABASE: &str = "REGENT_DATABASE_URL";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stores {
    Sqlite,
    Postgres,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Sqlite,
    Postgres,
}

impl Store {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

impl Stores {
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        match name {
            "sqlite" => Ok(Self::Sqlite),
            "postgres" => Ok(Self::Postgres),
            "both" => Ok(Self::Both),
            _ => Err(format!("unknown store `{name}`; there are: sqlite, postgres, both")),
        }
    }

    /// Houses take turns.
    pub(crate) const fn of_house(self, number: u64) -> Store {
        match self {
            Self::Sqlite => Store::Sqlite,
            Self::Postgres => Store::Postgres,
            Self::Both if number.is_multiple_of(2) => Store::Sqlite,
            Self::Both => Store::Postgres,
        }
    }

    /// As it is written on the command line.
    pub(crate) const fn flag(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Both => "both",
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Both => "both, house by house",
        }
    }
}

/// The server behind the houses that stand on one, for as long as the run lasts.
#[derive(Debug)]
pub(crate) struct Server(Postgres);

impl Server {
    /// Nothing where nobody needs one.
    pub(crate) fn start(stores: Stores) -> anyhow::Result<Option<Self>> {
        match stores {
            Stores::Sqlite => Ok(None),
            Stores::Postgres | Stores::Both => {
                Ok(Some(Self(Postgres::start(Flavour::Plain).map_err(Error::msg)?)))
            }
        }
    }

    /// What the program is told of its database; nothing means a file in the house.
    pub(crate) fn environment(server: Option<&Self>, store: Store) -> anyhow::Result<Vec<(String, String)>> {
        match (store, server) {
            (Store::Sqlite, _) => Ok(Vec::new()),
            (Store::Postgres, None) => bail!("no server runs"),
            (Store::Postgres, Some(Self(server))) => {
                let url = server.create_database().map_err(Error::msg)?;
                Ok(vec![(DATABASE.to_owned(), url)])
            }
        }
    }

    /// Rows behind the program's back: one per line, cells separated by `|`. Tables are named `{table}` in the query.
    pub(crate) fn select(
        server: Option<&Self>,
        environment: &[(String, String)],
        query: &str,
    ) -> anyhow::Result<String> {
        let value =
            |wanted: &str| environment.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
        match (value(DATABASE), server) {
            (Some(url), Some(Self(server))) => {
                server.run_at(url, &tables(query, "brainframe.")).map_err(Error::msg)
            }
            (Some(_), None) => bail!("no server runs"),
            (None, _) => {
                let file = Path::new(value("REGENT_HOME").context("a house")?).join("data/regent.db");
                let mut command = Command::new("sqlite3");
                let output = command.arg("-readonly").arg(file).arg(tables(query, "")).output();
                let output = output.context("start `sqlite3`")?;
                if !output.status.success() {
                    bail!("sqlite3: {}", String::from_utf8_lossy(&output.stderr).trim_end());
                }
                Ok(String::from_utf8_lossy(&output.stdout).into_owned())
            }
        }
    }

    /// A house that is thrown away takes its database along: thousands of them would fill the disk.
    pub(crate) fn remove(&self, environment: &[(String, String)]) -> anyhow::Result<()> {
        let Some((_, url)) = environment.iter().find(|(name, _)| name == DATABASE) else { return Ok(()) };
        let name = url.split('?').next().and_then(|url| url.rsplit('/').next()).unwrap_or_default();
        let dropped = self.0.run("postgres", &format!("DROP DATABASE \"{name}\" WITH (FORCE)"));
        dropped.map(drop).map_err(Error::msg)
    }
}

fn tables(query: &str, schema: &str) -> String {
    query.replace('{', schema).replace('}', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_in_their_schema() {
        assert_eq!(tables("SELECT 1 FROM {budgets}", "brainframe."), "SELECT 1 FROM brainframe.budgets");
        assert_eq!(tables("SELECT 1 FROM {budgets}", ""), "SELECT 1 FROM budgets");
    }

    #[test]
    fn houses_take_turns() {
        let first = |stores: Stores| [0, 1, 2].map(|house| stores.of_house(house));
        assert_eq!(first(Stores::Both), [Store::Sqlite, Store::Postgres, Store::Sqlite]);
        assert_eq!(first(Stores::Postgres), [Store::Postgres; 3]);
    }
}
