//! The SQL that makes what a record declares, in the form that the migrations have.

use ledger::table::{Column, Index, Table};
use ledger::value::Kind;

use crate::sql::SqlDialect;

/// Words that neither database takes as the name of a column without quotes.
const RESERVED: &str = "\
    add all alter analyse analyze and any array as asc asymmetric authorization autoincrement between \
    binary both by case cast check collate column commit constraint create cross current_date \
    current_time current_timestamp current_user default deferrable delete desc distinct do drop else end \
    escape except exists false fetch for foreign freeze from full grant group having if ilike in index \
    initially inner insert intersect into is isnull join lateral leading left like limit localtime \
    localtimestamp natural not nothing notnull null offset on only or order outer overlaps placing \
    primary references returning right select session_user set similar some symmetric table tablesample \
    then to trailing transaction true union unique update user using values variadic verbose when where \
    window with";

/// The table with its constraints, its indexes, and the triggers that guard it.
///
/// On SQLite a table without sequence numbers is `WITHOUT ROWID`: take that out of the migration where rows are large.
#[must_use]
pub fn create_table(dialect: SqlDialect, table: &Table) -> String {
    let mut lines: Vec<String> =
        table.columns.iter().map(|column| column_line(dialect, table, column)).collect();
    if let [_, _, ..] = table.key {
        let constraint = if has_seq(table) { "UNIQUE" } else { "PRIMARY KEY" };
        lines.push(format!("{constraint} ({})", names(table.key)));
    }
    let (inside, outside): (Vec<&Index>, Vec<&Index>) =
        table.indexes.iter().partition(|index| is_constraint(index));
    let several = inside.iter().filter(|index| index.columns.len() > 1);
    lines.extend(several.map(|index| format!("UNIQUE ({})", names(index.columns))));
    let end = match (dialect, has_seq(table)) {
        (SqlDialect::Sqlite, true) => " STRICT",
        (SqlDialect::Sqlite, false) => " STRICT, WITHOUT ROWID",
        (SqlDialect::Postgres, _) => "",
    };
    let mut parts =
        vec![format!("CREATE TABLE {} (\n    {}\n){end};\n", name(table.name), lines.join(",\n    "))];
    parts.push(outside.into_iter().map(|index| create_index(table, index)).collect());
    if table.is_append_only() {
        parts.push(create_triggers(dialect, table));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// An index of a table that is there already.
pub(super) fn create_index(table: &Table, index: &Index) -> String {
    let (unique, by) = if index.unique { ("UNIQUE ", "one_per") } else { ("", "by") };
    let filter = index.filter.map(|(column, number)| format!(" WHERE {} = {number}", name(column)));
    format!(
        "CREATE {unique}INDEX {table}_{by}_{columns} ON {on} ({indexed}){filter};\n",
        table = table.name,
        columns = index.columns.join("_and_"),
        on = name(table.name),
        indexed = names(index.columns),
        filter = filter.unwrap_or_default(),
    )
}

/// What refuses to change and to delete rows.
pub(super) fn create_triggers(dialect: SqlDialect, table: &Table) -> String {
    let (table, on, words) = (table.name, name(table.name), table.name.replace('_', " "));
    match dialect {
        SqlDialect::Sqlite => [("changed", "UPDATE"), ("deleted", "DELETE")]
            .map(|(done, verb)| {
                format!(
                    "CREATE TRIGGER {table}_are_not_{done} BEFORE {verb} ON {on} \
                     BEGIN SELECT RAISE(ABORT, '{words} are append-only'); END;\n"
                )
            })
            .concat(),
        SqlDialect::Postgres => format!(
            "CREATE TRIGGER {table}_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {on} \
             EXECUTE FUNCTION is_append_only();\n"
        ),
    }
}

/// A column of a table that is there already, with a value for the rows that are in it.
pub(super) fn add_column(dialect: SqlDialect, table: &Table, column: &Column) -> String {
    let head = format!("ALTER TABLE {} ADD COLUMN {}", name(table.name), typed(dialect, column));
    if column.nullable {
        return format!("{head};\n");
    }
    let default = match (column.kind, dialect) {
        (Kind::Int | Kind::Real | Kind::Seq, _) | (Kind::Time, SqlDialect::Sqlite) => "0",
        (Kind::Time, SqlDialect::Postgres) => "'epoch'",
        (Kind::Bytes, SqlDialect::Sqlite) => "x''",
        (Kind::Text, _) | (Kind::Bytes, SqlDialect::Postgres) => "''",
    };
    format!("-- To decide: what do the rows hold that are there already?\n{head} DEFAULT {default};\n")
}

fn column_line(dialect: SqlDialect, table: &Table, column: &Column) -> String {
    let line = typed(dialect, column);
    let alone = |columns: &[&str]| columns == [column.name];
    let is_unique = table.indexes.iter().any(|index| is_constraint(index) && alone(index.columns));
    if column.kind == Kind::Seq {
        match dialect {
            // Rows with a number are never deleted: the next number follows from the last row.
            SqlDialect::Sqlite => format!("{line} PRIMARY KEY"),
            SqlDialect::Postgres => format!("{line} GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"),
        }
    } else if alone(table.key) && !has_seq(table) {
        format!("{line} PRIMARY KEY")
    } else if is_unique || alone(table.key) {
        format!("{line} UNIQUE")
    } else {
        line
    }
}

fn typed(dialect: SqlDialect, column: &Column) -> String {
    let not_null = if column.nullable || column.kind == Kind::Seq { "" } else { " NOT NULL" };
    format!("{} {}{not_null}", name(column.name), sql_type(dialect, column.kind))
}

/// How a database keeps such cells.
pub(super) const fn sql_type(dialect: SqlDialect, kind: Kind) -> &'static str {
    match (dialect, kind) {
        (SqlDialect::Sqlite, Kind::Int | Kind::Seq | Kind::Time) => "INTEGER",
        (SqlDialect::Sqlite, Kind::Real) => "REAL",
        (SqlDialect::Sqlite, Kind::Text) => "TEXT",
        (SqlDialect::Sqlite, Kind::Bytes) => "BLOB",
        (SqlDialect::Postgres, Kind::Int | Kind::Seq) => "bigint",
        (SqlDialect::Postgres, Kind::Real) => "double precision",
        // In the order of its bytes, whatever the database's language is.
        (SqlDialect::Postgres, Kind::Text) => "text COLLATE \"C\"",
        (SqlDialect::Postgres, Kind::Bytes) => "bytea",
        (SqlDialect::Postgres, Kind::Time) => "timestamptz",
    }
}

pub(super) fn has_seq(table: &Table) -> bool {
    table.columns.iter().any(|column| column.kind == Kind::Seq)
}

/// Whether it stands in the table's own statement.
const fn is_constraint(index: &Index) -> bool {
    index.unique && index.filter.is_none()
}

fn names(columns: &[&str]) -> String {
    columns.iter().map(|column| name(column)).collect::<Vec<_>>().join(", ")
}

/// Quoted where it has to be.
pub(super) fn name(name: &str) -> String {
    if RESERVED.split(' ').any(|word| word == name) { format!("\"{name}\"") } else { name.to_owned() }
}
