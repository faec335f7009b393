//! The database behind the program's back.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

pub(crate) struct Database(Connection);

impl Database {
    /// Opens a file that is there.
    pub(crate) fn open(path: &Path) -> Self {
        Self(Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).expect("connect"))
    }

    pub(crate) fn execute(&self, sql: &str) {
        self.0.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// The rows of a query with one column of texts.
    #[cfg(feature = "faults")]
    pub(crate) fn texts(&self, sql: &str) -> Vec<String> {
        let mut statement = self.0.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let rows = statement.query_map([], |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("texts")
    }

    /// Keeps everybody else from writing until [`Database::close`].
    pub(crate) fn lock(&self) {
        self.execute("BEGIN IMMEDIATE");
    }

    /// Puts everything into the one file and closes it.
    pub(crate) fn close(self) {
        self.0.close().expect("close");
    }
}
