//! The next migration: what the records declare and a schema does not have.

use std::fmt;

use ledger::table::{Column, Index, Table};

use super::ddl::{add_column, create_index, create_table, create_triggers};
use super::{IndexShape, SchemaShape, SqlDialect, TableShape};

/// What is to be done to a schema.
#[derive(Debug)]
pub enum SchemaChange<'t> {
    CreateTable(&'t Table),
    AddColumn(&'t Table, &'t Column),
    CreateIndex(&'t Table, &'t Index),
    CreateTriggers(&'t Table),
    /// A person decides.
    Undecided(String),
}

/// Compares a schema of SQLite with the records. Both databases have the same, so what is missing is missing in both.
#[must_use]
pub fn missing_from<'t>(schema: &SchemaShape, tables: &[&'t Table]) -> Vec<SchemaChange<'t>> {
    let mut changes = Vec::new();
    for &table in tables {
        match schema.get(table.name) {
            Some(found) => compare(table, found, &mut changes),
            None => changes.push(SchemaChange::CreateTable(table)),
        }
    }
    let unknown = schema.keys().filter(|name| tables.iter().all(|table| table.name != name.as_str()));
    changes.extend(unknown.map(|name| SchemaChange::Undecided(format!("no record has the table `{name}`"))));
    changes
}

fn compare<'t>(table: &'t Table, found: &TableShape, changes: &mut Vec<SchemaChange<'t>>) {
    let declared = TableShape::declared(SqlDialect::Sqlite, table);
    let mut undecided = Vec::new();
    for (column, shape) in table.columns.iter().zip(&declared.columns) {
        match found.columns.iter().find(|found| found.name == shape.name) {
            None => changes.push(SchemaChange::AddColumn(table, column)),
            Some(found) if found == shape => {}
            Some(found) => undecided.push(format!(
                "the column `{}` is {} in the schema and {} in the record",
                shape.name,
                described(&found.sql_type, found.nullable),
                described(&shape.sql_type, shape.nullable)
            )),
        }
    }
    let is_known = |name: &str| declared.columns.iter().any(|column| column.name == name);
    let surplus = found.columns.iter().filter(|column| !is_known(&column.name));
    undecided.extend(surplus.map(|column| format!("the record has no column `{}`", column.name)));
    let (there, wanted): (Vec<&str>, Vec<&str>) = (
        found.columns.iter().map(|column| column.name.as_str()).filter(|name| is_known(name)).collect(),
        declared.columns.iter().map(|column| column.name.as_str()).collect(),
    );
    if !wanted.starts_with(&there) {
        undecided.push(format!(
            "the columns are in another order: {}; a column that is added comes last",
            there.join(", ")
        ));
    }
    if found.primary_key != declared.primary_key {
        undecided.push(format!("the primary key is `{}`", found.primary_key.join(", ")));
    }
    for missing in declared.indexes.difference(&found.indexes) {
        match table.indexes.iter().find(|index| IndexShape::declared(index) == *missing) {
            Some(index) => changes.push(SchemaChange::CreateIndex(table, index)),
            None => undecided.push(format!("the key `{}` is not unique", missing.columns.join(", "))),
        }
    }
    let surplus = found.indexes.difference(&declared.indexes);
    undecided.extend(surplus.map(|index| {
        let (unique, columns) = (if index.unique { "unique " } else { "" }, index.columns.join(", "));
        let filter = index.filter.as_ref().map(|filter| format!(" where {filter}")).unwrap_or_default();
        format!("the record has no {unique}index on `{columns}`{filter}")
    }));
    match (found.refused == declared.refused, found.refused.is_empty()) {
        (true, _) => {}
        (false, true) => changes.push(SchemaChange::CreateTriggers(table)),
        (false, false) => undecided.push("the triggers are not those of the record".into()),
    }
    changes
        .extend(undecided.into_iter().map(|what| SchemaChange::Undecided(format!("{}: {what}", table.name))));
}

fn described(sql_type: &str, nullable: bool) -> String {
    format!("{sql_type}{}", if nullable { "" } else { " NOT NULL" })
}

impl SchemaChange<'_> {
    fn sql(&self, dialect: SqlDialect) -> String {
        match self {
            Self::CreateTable(table) => format!("\n{}", create_table(dialect, table)),
            Self::AddColumn(table, column) => add_column(dialect, table, column),
            Self::CreateIndex(table, index) => create_index(table, index),
            Self::CreateTriggers(table) => create_triggers(dialect, table),
            Self::Undecided(what) => format!("-- To decide: {what}\n"),
        }
    }
}

/// In one line, for whoever reads what was written.
impl fmt::Display for SchemaChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateTable(table) => write!(f, "table `{}`", table.name),
            Self::AddColumn(table, column) => write!(f, "column `{}.{}`", table.name, column.name),
            Self::CreateIndex(table, index) => {
                write!(f, "index on `{}` ({})", table.name, index.columns.join(", "))
            }
            Self::CreateTriggers(table) => write!(f, "triggers that guard `{}`", table.name),
            Self::Undecided(what) => write!(f, "to decide: {what}"),
        }
    }
}

/// The text of a migration.
#[must_use]
pub fn write_migration(dialect: SqlDialect, name: &str, changes: &[SchemaChange<'_>]) -> String {
    let title = name.replace('_', " ");
    let changes: String = changes.iter().map(|change| change.sql(dialect)).collect();
    format!("-- To write: what \"{title}\" is for.\n\n{}", changes.trim_start_matches('\n'))
}
