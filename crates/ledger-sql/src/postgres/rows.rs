//! All rows, out into a file and in from one, with their sequence numbers.

use std::collections::BTreeMap;
use std::path::Path;

use ledger::records::TABLES;
use ledger::store::{StoreError, key_of};
use ledger::table::Table;
use ledger::value::{Kind, Row, Value};
use tokio::time::timeout;
use tokio_postgres::{Error, Row as AnswerRow};

use super::cells::{self, Parameter};
use super::connection::Connection;
use super::errors::failure;
use super::migrate::newest;
use super::{ATTEMPT, DIALECT, PostgresStore, SCHEMA, count_in, no_answer};
use crate::migrations::KNOWN;
use crate::sql;
use crate::sqlite::{FileReader, FileWriter};
use crate::tally::{Chain, ENTRIES, Stored, Tally, head};

const ONE_MOMENT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

impl PostgresStore {
    /// Writes everything that is there at this moment into a new SQLite file. Others may read and write meanwhile.
    ///
    /// # Errors
    /// If it cannot be read, or the file cannot be written.
    pub async fn save_to(&self, file: &Path) -> Result<Tally, StoreError> {
        let silent = |_elapsed| StoreError::Lost(no_answer(ATTEMPT));
        let mut connection = timeout(ATTEMPT, Connection::open(&self.address)).await.map_err(silent)??;
        connection.run(ONE_MOMENT).await?;
        let mut into = FileWriter::begin(file, KNOWN).await?;
        for table in TABLES {
            let mut last: Option<Row> = None;
            loop {
                let rows =
                    timeout(ATTEMPT, page(&mut connection, table, last.as_ref())).await.map_err(silent)??;
                let is_full = rows.len() == sql::PAGE;
                last = rows.last().cloned();
                into.put(table, rows).await?;
                if !is_full {
                    break;
                }
            }
        }
        let tally = tally(&mut connection).await?;
        connection.run("ROLLBACK").await?;
        into.finish().await?;
        Ok(tally)
    }

    /// What is there at this moment.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn tally(&self) -> Result<Tally, StoreError> {
        let mut connection = Connection::open(&self.address).await?;
        connection.run(ONE_MOMENT).await?;
        let tally = tally(&mut connection).await?;
        connection.run("ROLLBACK").await?;
        Ok(tally)
    }
}

/// Writes everything that is seen in the open transaction into a new SQLite file of the same schema, which may be an older one.
pub(super) async fn save_stored(
    connection: &mut Connection,
    schema: i64,
    file: &Path,
) -> Result<Tally, StoreError> {
    let mut into = FileWriter::begin(file, schema).await?;
    for table in into.tables().await? {
        let (name, columns) = (&table.name, table.column_list());
        let rows = format!("SELECT {columns} FROM \"{SCHEMA}\".\"{name}\"");
        connection.run(&format!("DECLARE \"copied_{name}\" NO SCROLL CURSOR FOR {rows}")).await?;
        let fetch = format!("FETCH {} FROM \"copied_{name}\"", sql::PAGE);
        loop {
            let rows = connection.query(&fetch, &[]).await?;
            let is_full = rows.len() == sql::PAGE;
            into.put_stored(&table, cells::decode_stored(&rows)?).await?;
            if !is_full {
                break;
            }
        }
        connection.run(&format!("CLOSE \"copied_{name}\"")).await?;
    }
    let tally = tally(connection).await?;
    into.finish().await?;
    Ok(tally)
}

async fn page(
    connection: &mut Connection,
    table: &'static Table,
    after: Option<&Row>,
) -> Result<Vec<Row>, StoreError> {
    let key = after.map(|row| key_of(table, row)).unwrap_or_default();
    let sql = sql::page(table, after.is_some(), DIALECT);
    let key: Vec<Parameter> = key.iter().map(Parameter::of).collect();
    cells::decode_all(table, &connection.query(&sql, &key).await?)
}

/// What is written for ever is guarded by triggers, against everybody but this: the whole is replaced, and the record
/// that comes says so.
pub(super) async fn replace(connection: &mut Connection, file: &Path) -> Result<(), StoreError> {
    let names: Vec<String> = TABLES.iter().map(|table| format!("\"{SCHEMA}\".\"{}\"", table.name)).collect();
    let guards = |word: &str| -> String {
        names.iter().map(|name| format!("ALTER TABLE {name} {word} TRIGGER USER;")).collect()
    };
    connection.run(&format!("{} TRUNCATE {};", guards("DISABLE"), names.join(", "))).await?;
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
    connection.run(&guards("ENABLE")).await
}

async fn put(connection: &mut Connection, table: &'static Table, rows: &[Row]) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let columns = table.columns.iter().map(|column| column.kind).enumerate();
    let lists = columns.map(|(at, kind)| {
        let cells = rows.iter().map(move |row| row.get(at).unwrap_or(&Value::Null));
        Parameter::list(kind, cells)
    });
    let (sql, lists) = (sql::insert_whole_listed(table), lists.collect());
    let mut pipeline = connection.pipeline();
    pipeline.insert((table, rows.len()), sql::check_whole, &sql, lists).await;
    pipeline.settle().await.map(drop)
}

/// The next row gets the number after the highest that is there. `setval` would stay when the transaction is taken back.
async fn go_on_counting(connection: &mut Connection, table: &'static Table) -> Result<(), StoreError> {
    let Some(column) = table.columns.iter().find(|column| column.kind == Kind::Seq) else { return Ok(()) };
    let (name, seq) = (format!("\"{SCHEMA}\".\"{}\"", table.name), column.name);
    let next = format!("SELECT coalesce(max(\"{seq}\"), 0) + 1 FROM {name}");
    let next: i64 = connection.query_row(&next, &[]).await?.try_get(0).map_err(failure)?;
    connection.run(&format!("ALTER TABLE {name} ALTER COLUMN \"{seq}\" RESTART WITH {next}")).await
}

pub(super) async fn tally(connection: &mut Connection) -> Result<Tally, StoreError> {
    const NAMES: &str = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                         WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relname <> 'schema_migrations'";
    const HEADS: &str = "SELECT stream, seq, hash FROM brainframe.audit_heads ORDER BY stream";
    const PAGE: &str = "SELECT stream, seq, bytes, prev_hash, hash FROM brainframe.audit \
                        WHERE (stream, seq) > ($1, $2) ORDER BY stream, seq LIMIT $3";
    let schema = newest(connection).await?;
    let names = connection.query(NAMES, &[Parameter::text(SCHEMA)]).await?;
    let names: Result<Vec<String>, Error> = names.iter().map(|row| row.try_get(0)).collect();
    let mut rows = BTreeMap::new();
    for name in names.map_err(failure)? {
        let counted = format!("SELECT count(*) FROM \"{SCHEMA}\".\"{name}\"");
        rows.insert(name, count_in(&connection.query_row(&counted, &[]).await?)?);
    }
    let heads = connection.query(HEADS, &[]).await?;
    let read = |row: &AnswerRow| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
    let heads: Result<Vec<(String, i64, Vec<u8>)>, Error> = heads.iter().map(read).collect();
    let heads = heads.map_err(failure)?;
    let mut chain = Chain::default();
    loop {
        let after = [
            Parameter::text(&chain.stream),
            Parameter::number(chain.seq),
            Parameter::number(i64::from(ENTRIES)),
        ];
        let page = connection.query(PAGE, &after).await?;
        let page: Result<Vec<Stored>, Error> = page.iter().map(read_entry).collect();
        if !chain.take(page.map_err(failure)?) {
            break;
        }
    }
    Ok(Tally { schema, rows, heads: heads.into_iter().filter_map(head).collect(), chain: chain.finish() })
}

fn read_entry(row: &AnswerRow) -> Result<Stored, Error> {
    Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?, row.try_get(4)?))
}
