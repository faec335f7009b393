//! What a SQLite file has.

use std::collections::BTreeSet;
use std::path::Path;

use ledger::store::StoreError;
use rusqlite::Connection;

use super::{ColumnShape, IndexShape, SchemaShape, TableShape};
use crate::sqlite::{connect, failure};

/// The schema of a file of ours.
///
/// # Errors
/// If it is not ours, or cannot be read.
pub fn read_sqlite(path: &Path) -> Result<SchemaShape, StoreError> {
    read(&connect(path)?).map_err(failure)
}

fn read(connection: &Connection) -> Result<SchemaShape, rusqlite::Error> {
    const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let names: Vec<String> = read_all(connection, TABLES, [], |row| row.get(0))?;
    let mut schema = SchemaShape::new();
    for name in names {
        let (columns, primary_key) = columns(connection, &name)?;
        let indexes = indexes(connection, &name)?;
        let refused = refused(connection, &name)?;
        schema.insert(name, TableShape { columns, primary_key, indexes, refused });
    }
    Ok(schema)
}

fn read_all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, rusqlite::Error> {
    connection.prepare(sql)?.query_map(parameters, read)?.collect()
}

fn columns(connection: &Connection, table: &str) -> Result<(Vec<ColumnShape>, Vec<String>), rusqlite::Error> {
    const COLUMNS: &str = "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?)";
    let rows: Vec<(String, String, i64, i64)> = read_all(connection, COLUMNS, [table], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    let mut key: Vec<(i64, &String)> =
        rows.iter().filter(|(.., place)| *place > 0).map(|(name, .., place)| (*place, name)).collect();
    key.sort_unstable();
    let key = key.into_iter().map(|(_, name)| name.clone()).collect();
    let shape = |(name, sql_type, not_null, _)| ColumnShape { name, sql_type, nullable: not_null == 0 };
    Ok((rows.into_iter().map(shape).collect(), key))
}

fn indexes(connection: &Connection, table: &str) -> Result<BTreeSet<IndexShape>, rusqlite::Error> {
    const INDEXES: &str = "SELECT l.name, l.\"unique\", s.sql FROM pragma_index_list(?) l \
                           LEFT JOIN sqlite_schema s ON s.name = l.name WHERE l.origin <> 'pk'";
    // An expression has no name.
    const COLUMNS: &str = "SELECT coalesce(name, '(expression)') FROM pragma_index_info(?) ORDER BY seqno";
    let found: Vec<(String, i64, Option<String>)> =
        read_all(connection, INDEXES, [table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut indexes = BTreeSet::new();
    for (name, unique, sql) in found {
        let columns = read_all(connection, COLUMNS, [name], |row| row.get(0))?;
        let filter =
            sql.as_deref().and_then(|sql| sql.split_once(" WHERE ")).map(|(_, filter)| filter.to_owned());
        indexes.insert(IndexShape { columns, unique: unique == 1, filter });
    }
    Ok(indexes)
}

/// Others may have triggers, too: only those that say why count.
fn refused(connection: &Connection, table: &str) -> Result<BTreeSet<String>, rusqlite::Error> {
    const TRIGGERS: &str = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?";
    let triggers: Vec<String> = read_all(connection, TRIGGERS, [table], |row| row.get(0))?;
    let refuses = |verb: &&str| {
        let before = format!(" BEFORE {verb} ON ");
        let mut guards =
            triggers.iter().filter(|sql| sql.contains("RAISE(ABORT") && sql.contains("append-only"));
        guards.any(|sql| sql.contains(&before))
    };
    Ok(["UPDATE", "DELETE"].into_iter().filter(refuses).map(str::to_owned).collect())
}
