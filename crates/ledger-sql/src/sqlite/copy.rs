//! A database as a file that can be copied, counted and filled.

use std::collections::BTreeMap;
use std::path::Path;

use ledger::store::{StoreError, key_of};
use ledger::table::Table;
use ledger::value::Row;
use rusqlite::Connection;

use super::cells::{bind, read_rows};
use super::connection::{Access, connect, execute, failure, open_or_create, query_value, read_pragma};
use super::{ConnectionThread, DIALECT, SqliteStore, in_transaction, migrate, turn_log_on};
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
        let name = name.to_owned();
        let thread = ConnectionThread::connect(from).await?;
        let copy =
            move |connection: &mut Connection| connection.execute("VACUUM INTO ?", [name]).map_err(failure);
        let copied = thread.run(copy).await;
        thread.close().await;
        copied.map(drop)
    }

    /// What it holds. It may be of an older schema.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn tally(path: &Path) -> Result<Tally, StoreError> {
        let thread = ConnectionThread::connect(path).await?;
        let tally = thread.run(|connection| {
            execute(connection, "BEGIN")?; // everything of one moment
            let tally = tally(connection);
            execute(connection, "ROLLBACK")?;
            tally
        });
        let tally = tally.await;
        thread.close().await;
        tally
    }

    /// The schema of the file, without changing it; `None` if it is empty.
    ///
    /// # Errors
    /// If it is not ours, newer, or cannot be read.
    pub async fn schema_of(path: &Path) -> Result<Option<i64>, StoreError> {
        let found = read_pragma(&connect(path)?, "user_version")?;
        Ok((found > 0).then_some(found))
    }
}

const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";

/// What is there, as it is seen in the transaction that is open.
pub(super) fn tally(connection: &Connection) -> Result<Tally, StoreError> {
    const HEADS: &str = "SELECT stream, seq, hash FROM audit_heads ORDER BY stream";
    let schema = read_pragma(connection, "user_version")?;
    let names: Vec<String> = read_all(connection, TABLES, [], |row| row.get(0))?;
    let mut rows = BTreeMap::new();
    for name in names {
        let counted = query_value(connection, &format!("SELECT count(*) FROM \"{name}\""))?;
        rows.insert(name, count(counted));
    }
    let heads: Vec<(String, i64, Vec<u8>)> =
        read_all(connection, HEADS, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut chain = Chain::default();
    while chain.take(page_of_chain(connection, &chain)?) {}
    Ok(Tally { schema, rows, heads: heads.into_iter().filter_map(head).collect(), chain: chain.finish() })
}

fn page_of_chain(connection: &Connection, chain: &Chain) -> Result<Vec<Stored>, StoreError> {
    const PAGE: &str = "SELECT stream, seq, bytes, prev_hash, hash FROM audit \
                        WHERE (stream, seq) > (?, ?) ORDER BY stream, seq LIMIT ?";
    read_all(connection, PAGE, (&chain.stream, chain.seq, ENTRIES), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    })
}

fn read_all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(failure)?;
    let rows = statement.query_map(parameters, read).map_err(failure)?;
    rows.collect::<Result<_, _>>().map_err(failure)
}

/// A table as a schema has it, whether this program has a record for it or not.
#[derive(Clone, Debug)]
pub(crate) struct StoredTable {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
}

impl StoredTable {
    /// Its columns, as they are named in a statement.
    pub(crate) fn column_list(&self) -> String {
        self.columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ")
    }
}

/// A new database that is filled with rows from elsewhere, in one transaction.
#[derive(Debug)]
pub(crate) struct FileWriter(ConnectionThread);

impl FileWriter {
    /// Of this schema, which may be an older one.
    pub(crate) async fn begin(path: &Path, schema: i64) -> Result<Self, StoreError> {
        const STAMPS: &str =
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'database_stamp')";
        drop(open_or_create(path)?);
        let thread = ConnectionThread::open(path, Access::Write).await?;
        let begin = move |connection: &mut Connection| {
            turn_log_on(connection)?;
            in_transaction(connection, |connection| migrate(connection, schema))?;
            execute(connection, "BEGIN IMMEDIATE")?;
            // What the schema comes with is taken away: everything is taken from elsewhere.
            if query_value(connection, STAMPS)? {
                execute(connection, "DELETE FROM database_stamp")
            } else {
                Ok(())
            }
        };
        thread.run(begin).await?;
        Ok(Self(thread))
    }

    /// The tables of the schema.
    pub(crate) async fn tables(&self) -> Result<Vec<StoredTable>, StoreError> {
        const COLUMNS: &str = "SELECT name FROM pragma_table_info(?) ORDER BY cid";
        let read = |connection: &mut Connection| {
            let names: Vec<String> = read_all(connection, TABLES, [], |row| row.get(0))?;
            let table = |name: String| {
                let columns = read_all(connection, COLUMNS, [&name], |row| row.get(0))?;
                Ok(StoredTable { name, columns })
            };
            names.into_iter().map(table).collect()
        };
        self.0.run(read).await
    }

    /// Writes rows of a table that this program may have no record for.
    pub(crate) async fn put_stored(&mut self, table: &StoredTable, rows: Vec<Row>) -> Result<(), StoreError> {
        let places = vec!["?"; table.columns.len()].join(", ");
        let sql = format!("INSERT INTO \"{}\" ({}) VALUES ({places})", table.name, table.column_list());
        let put = move |connection: &mut Connection| {
            let mut statement = connection.prepare_cached(&sql).map_err(failure)?;
            for row in &rows {
                bind(&mut statement, row)?;
                statement.raw_execute().map_err(failure)?;
            }
            Ok(())
        };
        self.0.run(put).await
    }

    pub(crate) async fn put(&mut self, table: &'static Table, rows: Vec<Row>) -> Result<(), StoreError> {
        let put = move |connection: &mut Connection| {
            let mut statement = connection.prepare_cached(&sql::insert_whole(table)).map_err(failure)?;
            let mut written = 0;
            for row in &rows {
                bind(&mut statement, row)?;
                written += statement.raw_execute().map_err(failure)? as u64;
            }
            sql::check_whole(table, rows.len(), written)
        };
        self.0.run(put).await
    }

    pub(crate) async fn finish(self) -> Result<(), StoreError> {
        let committed = self.0.run(|connection| execute(connection, "COMMIT")).await;
        self.0.close().await;
        committed
    }
}

/// A database whose rows are taken elsewhere, page by page, all of one moment.
#[derive(Debug)]
pub(crate) struct FileReader(ConnectionThread);

impl FileReader {
    pub(crate) async fn begin(path: &Path) -> Result<Self, StoreError> {
        let thread = ConnectionThread::connect(path).await?;
        thread.run(|connection| execute(connection, "BEGIN")).await?;
        Ok(Self(thread))
    }

    pub(crate) async fn page(
        &mut self,
        table: &'static Table,
        after: Option<&Row>,
    ) -> Result<Vec<Row>, StoreError> {
        let sql = sql::page(table, after.is_some(), DIALECT);
        let key = after.map(|row| key_of(table, row)).unwrap_or_default();
        let read = move |connection: &mut Connection| {
            let mut statement = connection.prepare_cached(&sql).map_err(failure)?;
            bind(&mut statement, &key)?;
            read_rows(table, &mut statement)
        };
        self.0.run(read).await
    }

    pub(crate) async fn finish(self) -> Result<(), StoreError> {
        let ended = self.0.run(|connection| execute(connection, "ROLLBACK")).await;
        self.0.close().await;
        ended
    }
}
