//! An open transaction that writes. It lives on the thread of its connection, so nothing of it waits for another thread.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ledger::query::Query;
use ledger::store::{StoreError, Tx};
use ledger::table::Table;
use ledger::value::{Row, Value};
use rusqlite::{Connection, ffi};

use super::cells::bind;
use super::connection::{execute_prepared, failure, spoken};
use super::{DIALECT, select};
use crate::sql;

/// Writes within a transaction that the caller has begun, and ends.
pub(super) struct WriteTransaction<'c> {
    connection: &'c Connection,
}

impl<'c> WriteTransaction<'c> {
    pub(super) const fn within(connection: &'c Connection) -> Self {
        Self { connection }
    }

    fn insert(&self, table: &'static Table, rows: &[&Row]) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(&sql::insert(table, DIALECT)).map_err(failure)?;
        let mut written = 0;
        for &row in rows {
            bind(&mut statement, table.given().map(|(at, _)| row.get(at).unwrap_or(&Value::Null)))?;
            let changed = statement.raw_execute().map_err(|error| match is_duplicate(&error, table) {
                true => StoreError::Duplicate(table.name),
                false => failure(error),
            })?;
            written += changed as u64;
        }
        sql::check_insert(table, rows.len(), written)
    }
}

impl Tx for WriteTransaction<'_> {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        select(self.connection, query)
    }

    async fn write(&mut self, table: &'static Table, rows: &[&Row]) -> Result<(), StoreError> {
        self.insert(table, rows)
    }

    async fn erase(
        &mut self,
        table: &'static Table,
        column: &'static str,
        values: &[Value],
    ) -> Result<(), StoreError> {
        for portion in sql::erased_by(values) {
            let (sql, parameters) = sql::erase(table, column, portion, DIALECT);
            let mut statement = self.connection.prepare_cached(&sql).map_err(failure)?;
            bind(&mut statement, parameters)?;
            statement.raw_execute().map_err(failure)?;
        }
        Ok(())
    }

    async fn mark(&mut self) -> Result<(), StoreError> {
        execute_prepared(self.connection, "SAVEPOINT mark")
    }

    async fn take_back(&mut self) -> Result<(), StoreError> {
        execute_prepared(self.connection, "ROLLBACK TO mark")
    }
}

/// Whether this table already held a row with the key of the new one: `UNIQUE constraint failed: events.key`.
fn is_duplicate(error: &rusqlite::Error, table: &Table) -> bool {
    let unique =
        [ffi::SQLITE_CONSTRAINT_UNIQUE, ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ffi::SQLITE_CONSTRAINT_ROWID];
    let named = |message: &str| {
        let columns = message.rsplit_once(": ").map(|(_, columns)| columns);
        columns.and_then(|columns| columns.split_once('.')).is_some_and(|(named, _)| named == table.name)
    };
    spoken(error).is_some_and(|error| unique.contains(&error.extended_code)) && named(&error.to_string())
}

/// Finishes a future that never waits, because everything in it happens on this thread.
pub(super) fn finish<T>(future: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(StoreError::Other("a transaction waited for something else".into())),
    }
}
