//! What a SQLite file has.

use std::collections::BTreeSet;
use std::path::Path;

use ledger::store::StoreError;
use sqlx::sqlite::SqliteConnection;

use super::{ColumnShape, IndexShape, SchemaShape, TableShape};
use crate::sqlite::{close, connect, failure};

/// The schema of a file of ours.
///
/// # Errors
/// If it is not ours, or cannot be read.
pub async fn read_sqlite(path: &Path) -> Result<SchemaShape, StoreError> {
    let mut connection = connect(path).await?;
    let read = read(&mut connection).await;
    close(connection).await?;
    read.map_err(|error| failure(&error))
}

async fn read(connection: &mut SqliteConnection) -> Result<SchemaShape, sqlx::Error> {
    const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let names: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(&mut *connection).await?;
    let mut schema = SchemaShape::new();
    for name in names {
        let (columns, primary_key) = columns(connection, &name).await?;
        let indexes = indexes(connection, &name).await?;
        let refused = refused(connection, &name).await?;
        schema.insert(name, TableShape { columns, primary_key, indexes, refused });
    }
    Ok(schema)
}

async fn columns(
    connection: &mut SqliteConnection,
    table: &str,
) -> Result<(Vec<ColumnShape>, Vec<String>), sqlx::Error> {
    const COLUMNS: &str = "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?)";
    let rows: Vec<(String, String, i64, i64)> =
        sqlx::query_as(COLUMNS).bind(table.to_owned()).fetch_all(connection).await?;
    let mut key: Vec<(i64, &String)> =
        rows.iter().filter(|(.., place)| *place > 0).map(|(name, .., place)| (*place, name)).collect();
    key.sort_unstable();
    let key = key.into_iter().map(|(_, name)| name.clone()).collect();
    let shape = |(name, sql_type, not_null, _)| ColumnShape { name, sql_type, nullable: not_null == 0 };
    Ok((rows.into_iter().map(shape).collect(), key))
}

async fn indexes(
    connection: &mut SqliteConnection,
    table: &str,
) -> Result<BTreeSet<IndexShape>, sqlx::Error> {
    const INDEXES: &str = "SELECT l.name, l.\"unique\", s.sql FROM pragma_index_list(?) l \
                           LEFT JOIN sqlite_schema s ON s.name = l.name WHERE l.origin <> 'pk'";
    // An expression has no name.
    const COLUMNS: &str = "SELECT coalesce(name, '(expression)') FROM pragma_index_info(?) ORDER BY seqno";
    let found: Vec<(String, i64, Option<String>)> =
        sqlx::query_as(INDEXES).bind(table.to_owned()).fetch_all(&mut *connection).await?;
    let mut indexes = BTreeSet::new();
    for (name, unique, sql) in found {
        let columns = sqlx::query_scalar(COLUMNS).bind(name).fetch_all(&mut *connection).await?;
        let filter =
            sql.as_deref().and_then(|sql| sql.split_once(" WHERE ")).map(|(_, filter)| filter.to_owned());
        indexes.insert(IndexShape { columns, unique: unique == 1, filter });
    }
    Ok(indexes)
}

/// Others may have triggers, too: only those that say why count.
async fn refused(connection: &mut SqliteConnection, table: &str) -> Result<BTreeSet<String>, sqlx::Error> {
    const TRIGGERS: &str = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?";
    let triggers: Vec<String> =
        sqlx::query_scalar(TRIGGERS).bind(table.to_owned()).fetch_all(connection).await?;
    let refuses = |verb: &&str| {
        let before = format!(" BEFORE {verb} ON ");
        let mut guards =
            triggers.iter().filter(|sql| sql.contains("RAISE(ABORT") && sql.contains("append-only"));
        guards.any(|sql| sql.contains(&before))
    };
    Ok(["UPDATE", "DELETE"].into_iter().filter(refuses).map(str::to_owned).collect())
}
