//! The schema that follows from the records: as SQL, as something to compare a database with, and as the migration that
//! brings one to the other.
//!
//! Migrations are files that are read before they are committed and never change afterwards. This only writes them.

mod ddl;
mod migration;
mod read;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use ledger::table::{Index, Table};
use ledger::value::Kind;

pub use ddl::create_table;
pub use migration::{SchemaChange, missing_from, write_migration};
pub use read::read_sqlite;

pub use crate::sql::SqlDialect;

/// A table as a database has it, as far as a record declares it: its name aside, and the names of indexes and triggers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableShape {
    pub columns: Vec<ColumnShape>,
    pub primary_key: Vec<String>,
    /// Beside the primary key.
    pub indexes: BTreeSet<IndexShape>,
    /// What triggers refuse: `UPDATE`, `DELETE`, on PostgreSQL `TRUNCATE`, too.
    pub refused: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnShape {
    pub name: String,
    pub sql_type: String,
    pub nullable: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexShape {
    pub columns: Vec<String>,
    pub unique: bool,
    /// As in SQL, `is_owner = 1`.
    pub filter: Option<String>,
}

impl IndexShape {
    fn declared(index: &Index) -> Self {
        let filter = index.filter.map(|(column, number)| format!("{} = {number}", ddl::name(column)));
        Self { columns: owned(index.columns), unique: index.unique, filter }
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Tables by name.
pub type SchemaShape = BTreeMap<String, TableShape>;

impl TableShape {
    /// What a record declares.
    #[must_use]
    pub fn declared(dialect: SqlDialect, table: &Table) -> Self {
        let columns = table.columns.iter().map(|column| ColumnShape {
            name: column.name.to_owned(),
            sql_type: ddl::sql_type(dialect, column.kind).to_owned(),
            // SQLite does not call a rowid `NOT NULL`.
            nullable: column.nullable || (column.kind == Kind::Seq && matches!(dialect, SqlDialect::Sqlite)),
        });
        let mut indexes: BTreeSet<IndexShape> = table.indexes.iter().map(IndexShape::declared).collect();
        let seq = table.columns.iter().find(|column| column.kind == Kind::Seq);
        let primary_key = seq.map_or_else(|| owned(table.key), |seq| vec![seq.name.to_owned()]);
        if seq.is_some() {
            indexes.insert(IndexShape { columns: owned(table.key), unique: true, filter: None });
        }
        let refused: &[&str] = match (table.is_append_only(), dialect) {
            (false, _) => &[],
            (true, SqlDialect::Sqlite) => &["UPDATE", "DELETE"],
            (true, SqlDialect::Postgres) => &["UPDATE", "DELETE", "TRUNCATE"],
        };
        let refused = owned(refused).into_iter().collect();
        Self { columns: columns.collect(), primary_key, indexes, refused }
    }
}

/// What the records declare.
#[must_use]
pub fn declared_schema(dialect: SqlDialect) -> SchemaShape {
    ledger::records::TABLES
        .iter()
        .map(|table| (table.name.to_owned(), TableShape::declared(dialect, table)))
        .collect()
}
