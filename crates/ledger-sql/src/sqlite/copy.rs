//! A database as a file that can be copied, counted and filled.

use std::collections::BTreeMap;
use std::path::Path;

use ledger::store::StoreError;
use ledger::table::Table;
use ledger::value::Row;
use sqlx::AssertSqlSafe;
use sqlx::Connection as _;
use sqlx::sqlite::SqliteConnection;

use super::{DIALECT, SqliteStore, bind_all, decode_all, execute, failure, look, options, pragma};
use crate::sql;
use crate::tally::{Chain, ENTRIES, Stored, Tally, count, head};

impl SqliteStore {
    /// Writes what the database holds at this moment into another file, which is empty or not there yet. Others may
    /// read and write meanwhile.
    ///
    /// # Errors
    /// If it cannot be read, or the copy cannot be written.
    pub async fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
        let name = to.to_str().ok_or_else(|| StoreError::Other("the path of a copy must be UTF-8".into()))?;
        let mut connection = connect(from).await?;
        let copied = sqlx::query("VACUUM INTO ?").bind(name.to_owned()).execute(&mut connection).await;
        close(connection).await?;
        copied.map(drop).map_err(|error| failure(&error))
    }

    /// What it holds. It may be of an older schema.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn tally(path: &Path) -> Result<Tally, StoreError> {
        let mut connection = connect(path).await?;
        execute(&mut connection, "BEGIN").await?; // everything of one moment
        let tally = tally(&mut connection).await;
        execute(&mut connection, "ROLLBACK").await?;
        close(connection).await?;
        tally
    }
}

pub(crate) async fn connect(path: &Path) -> Result<SqliteConnection, StoreError> {
    let mut connection =
        SqliteConnection::connect_with(&options(path)).await.map_err(|error| failure(&error))?;
    look(&mut connection).await?;
    Ok(connection)
}

pub(crate) async fn close(connection: SqliteConnection) -> Result<(), StoreError> {
    connection.close().await.map_err(|error| failure(&error))
}

async fn tally(connection: &mut SqliteConnection) -> Result<Tally, StoreError> {
    const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    const PAGE: &str = "SELECT stream, seq, bytes, prev_hash, hash FROM audit \
                        WHERE (stream, seq) > (?, ?) ORDER BY stream, seq LIMIT ?";
    let failed = |error: sqlx::Error| failure(&error);
    let schema = pragma(connection, "user_version").await?;
    let names: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(&mut *connection).await.map_err(failed)?;
    let mut rows = BTreeMap::new();
    for name in names {
        let counted = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM \"{name}\"")));
        rows.insert(name, count(counted.fetch_one(&mut *connection).await.map_err(failed)?));
    }
    let heads: Vec<(String, i64, Vec<u8>)> =
        sqlx::query_as("SELECT stream, seq, hash FROM audit_heads ORDER BY stream")
            .fetch_all(&mut *connection)
            .await
            .map_err(failed)?;
    let mut chain = Chain::default();
    loop {
        let page = sqlx::query_as(PAGE).bind(chain.stream.clone()).bind(chain.seq).bind(ENTRIES);
        let page: Vec<Stored> = page.fetch_all(&mut *connection).await.map_err(failed)?;
        if !chain.take(page) {
            break;
        }
    }
    Ok(Tally { schema, rows, heads: heads.into_iter().filter_map(head).collect(), chain: chain.finish() })
}

/// A new database that is filled with rows from elsewhere, in one transaction.
pub(crate) struct Filling(SqliteConnection);

impl Filling {
    pub(crate) async fn begin(path: &Path) -> Result<Self, StoreError> {
        SqliteStore::open(path).await?.close().await;
        let mut connection = connect(path).await?;
        execute(&mut connection, "BEGIN IMMEDIATE").await?;
        // What the schema comes with: everything is taken from elsewhere.
        execute(&mut connection, "DELETE FROM database_stamp").await?;
        Ok(Self(connection))
    }

    pub(crate) async fn put(&mut self, table: &'static Table, rows: &[Row]) -> Result<(), StoreError> {
        let refs: Vec<&Row> = rows.iter().collect();
        for portion in sql::portions(table, &refs) {
            let sql = sql::insert_whole(table, portion.len(), DIALECT);
            let written = bind_all(&sql, portion.iter().copied().flatten()).execute(&mut self.0).await;
            let written = written.map_err(|error| failure(&error))?;
            sql::check_whole(table, portion.len(), written.rows_affected())?;
        }
        Ok(())
    }

    pub(crate) async fn finish(mut self) -> Result<(), StoreError> {
        execute(&mut self.0, "COMMIT").await?;
        close(self.0).await
    }
}

/// A database whose rows are taken elsewhere, page by page, all of one moment.
pub(crate) struct Draining(SqliteConnection);

impl Draining {
    pub(crate) async fn begin(path: &Path) -> Result<Self, StoreError> {
        let mut connection = connect(path).await?;
        execute(&mut connection, "BEGIN").await?;
        Ok(Self(connection))
    }

    pub(crate) async fn page(
        &mut self,
        table: &'static Table,
        after: Option<&Row>,
    ) -> Result<Vec<Row>, StoreError> {
        let key = after.map(|row| ledger::store::key_of(table, row)).unwrap_or_default();
        let sql = sql::page(table, after.is_some(), DIALECT);
        let rows = bind_all(&sql, &key).fetch_all(&mut self.0).await;
        decode_all(table, &rows.map_err(|error| failure(&error))?)
    }

    pub(crate) async fn finish(mut self) -> Result<(), StoreError> {
        execute(&mut self.0, "ROLLBACK").await?;
        close(self.0).await
    }
}
