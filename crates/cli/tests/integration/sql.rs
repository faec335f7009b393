//! The database behind the program's back.

use std::path::Path;

use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};
use tokio::runtime::Runtime;

pub(crate) struct Database {
    runtime: Runtime,
    connection: SqliteConnection,
}

impl Database {
    pub(crate) fn open(path: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
        let url = format!("sqlite://{}", path.display());
        let connection = runtime.block_on(SqliteConnection::connect(&url)).expect("connect");
        Self { runtime, connection }
    }

    pub(crate) fn execute(&mut self, sql: &str) {
        let statement = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        let done = self.runtime.block_on(statement.execute(&mut self.connection));
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Keeps everybody else from writing until [`Database::close`].
    pub(crate) fn lock(&mut self) {
        self.execute("BEGIN IMMEDIATE");
    }

    /// Puts everything into the one file and closes it.
    pub(crate) fn close(self) {
        self.runtime.block_on(self.connection.close()).expect("close");
    }
}
