//! All rows, out into a file and in from one, with their sequence numbers.

use std::collections::BTreeMap;
use std::path::Path;

use ledger::records::TABLES;
use ledger::store::{StoreError, key_of};
use ledger::table::Table;
use ledger::value::{Kind, Row, Value};
use sqlx::AssertSqlSafe;
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use tokio::time::timeout;

use super::errors::failure;
use super::migrate::newest;
use super::{ATTEMPT, DIALECT, PostgresStore, SCHEMA, cells, connect, no_answer};
use crate::sql;
use crate::sqlite::{FileReader, FileWriter};
use crate::tally::{Chain, ENTRIES, Stored, Tally, count, head};

impl PostgresStore {
    /// Writes everything that is there at this moment into a new SQLite file. Others may read and write meanwhile.
    ///
    /// # Errors
    /// If it cannot be read, or the file cannot be written.
    pub async fn save_to(&self, file: &Path) -> Result<Tally, StoreError> {
        let silent = |_elapsed| StoreError::Lost(no_answer(ATTEMPT));
        let mut connection = timeout(ATTEMPT, connect(&self.options)).await.map_err(silent)??;
        let one_moment = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        let mut tx = connection.begin_with(one_moment).await.map_err(failure)?;
        let mut into = FileWriter::begin(file).await?;
        for table in TABLES {
            let mut last: Option<Row> = None;
            loop {
                let rows = timeout(ATTEMPT, page(&mut tx, table, last.as_ref())).await.map_err(silent)??;
                let is_full = rows.len() == sql::PAGE;
                last = rows.last().cloned();
                into.put(table, rows).await?;
                if !is_full {
                    break;
                }
            }
        }
        let tally = tally(&mut tx).await?;
        tx.rollback().await.map_err(failure)?;
        into.finish().await?;
        Ok(tally)
    }

    /// What is there at this moment.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn tally(&self) -> Result<Tally, StoreError> {
        let mut connection = connect(&self.options).await?;
        let one_moment = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        let mut tx = connection.begin_with(one_moment).await.map_err(failure)?;
        let tally = tally(&mut tx).await?;
        tx.rollback().await.map_err(failure)?;
        Ok(tally)
    }
}

async fn page(
    connection: &mut PgConnection,
    table: &'static Table,
    after: Option<&Row>,
) -> Result<Vec<Row>, StoreError> {
    let key = after.map(|row| key_of(table, row)).unwrap_or_default();
    let sql = sql::page(table, after.is_some(), DIALECT);
    let rows = cells::bind_all(&sql, &key).fetch_all(connection).await.map_err(failure)?;
    cells::decode_all(table, &rows)
}

/// What is written for ever is guarded by triggers, against everybody but this: the whole is replaced, and the record
/// that comes says so.
pub(super) async fn replace(connection: &mut PgConnection, file: &Path) -> Result<(), StoreError> {
    let names: Vec<String> = TABLES.iter().map(|table| format!("\"{SCHEMA}\".\"{}\"", table.name)).collect();
    let guards = |word: &str| -> String {
        names.iter().map(|name| format!("ALTER TABLE {name} {word} TRIGGER USER;")).collect()
    };
    run(connection, format!("{} TRUNCATE {};", guards("DISABLE"), names.join(", "))).await?;
    let mut from = FileReader::begin(file).await?;
    for table in TABLES {
        let mut last: Option<Row> = None;
        loop {
            let mut rows = from.page(table, last.as_ref()).await?;
            put(connection, table, &rows).await?;
            if rows.len() < sql::PAGE {
                break;
            }
            last = rows.pop();
        }
        go_on_counting(connection, table).await?;
    }
    from.finish().await?;
    run(connection, guards("ENABLE")).await
}

async fn put(connection: &mut PgConnection, table: &'static Table, rows: &[Row]) -> Result<(), StoreError> {
    let refs: Vec<&Row> = rows.iter().collect();
    for portion in sql::portions(table, &refs) {
        let cells = portion.iter().flat_map(|row| {
            let cell = |(at, kind): (usize, Kind)| (kind, row.get(at).unwrap_or(&Value::Null));
            table.columns.iter().map(|column| column.kind).enumerate().map(cell)
        });
        let statement = cells::bind_typed(&sql::insert_whole(table, portion.len(), DIALECT), cells);
        let written = statement.execute(&mut *connection).await.map_err(failure)?;
        sql::check_whole(table, portion.len(), written.rows_affected())?;
    }
    Ok(())
}

/// The next row gets the number after the highest that is there. `setval` would stay when the transaction is taken back.
async fn go_on_counting(connection: &mut PgConnection, table: &'static Table) -> Result<(), StoreError> {
    let Some(column) = table.columns.iter().find(|column| column.kind == Kind::Seq) else { return Ok(()) };
    let (name, seq) = (format!("\"{SCHEMA}\".\"{}\"", table.name), column.name);
    let next = AssertSqlSafe(format!("SELECT coalesce(max(\"{seq}\"), 0) + 1 FROM {name}"));
    let next: i64 = sqlx::query_scalar(next).fetch_one(&mut *connection).await.map_err(failure)?;
    run(connection, format!("ALTER TABLE {name} ALTER COLUMN \"{seq}\" RESTART WITH {next}")).await
}

async fn run(connection: &mut PgConnection, sql: String) -> Result<(), StoreError> {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.map(drop).map_err(failure)
}

pub(super) async fn tally(connection: &mut PgConnection) -> Result<Tally, StoreError> {
    const NAMES: &str = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                         WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relname <> 'schema_migrations'";
    const PAGE: &str = "SELECT stream, seq, bytes, prev_hash, hash FROM brainframe.audit \
                        WHERE (stream, seq) > ($1, $2) ORDER BY stream, seq LIMIT $3";
    let schema = newest(connection).await?;
    let names: Vec<String> =
        sqlx::query_scalar(NAMES).bind(SCHEMA).fetch_all(&mut *connection).await.map_err(failure)?;
    let mut rows = BTreeMap::new();
    for name in names {
        let counted =
            sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM \"{SCHEMA}\".\"{name}\"")));
        rows.insert(name, count(counted.fetch_one(&mut *connection).await.map_err(failure)?));
    }
    let heads: Vec<(String, i64, Vec<u8>)> =
        sqlx::query_as("SELECT stream, seq, hash FROM brainframe.audit_heads ORDER BY stream")
            .fetch_all(&mut *connection)
            .await
            .map_err(failure)?;
    let mut chain = Chain::default();
    loop {
        let page = sqlx::query_as(PAGE).bind(chain.stream.clone()).bind(chain.seq).bind(i64::from(ENTRIES));
        let page: Vec<Stored> = page.fetch_all(&mut *connection).await.map_err(failure)?;
        if !chain.take(page) {
            break;
        }
    }
    Ok(Tally { schema, rows, heads: heads.into_iter().filter_map(head).collect(), chain: chain.finish() })
}
