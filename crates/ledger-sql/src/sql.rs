//! SQL text made from a table's description; the same for every database that knows `ON CONFLICT`, but for how a
//! parameter is written.

use std::fmt::Write as _;

use ledger::query::{Filter, Op, Order, Query, Test};
use ledger::store::StoreError;
use ledger::table::{Column, Table, Write};
use ledger::value::{Kind, Value};

use crate::postgres::SCHEMA;

fn quoted(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// What the databases write differently.
#[derive(Clone, Copy, Debug)]
pub enum SqlDialect {
    /// A parameter is `?`: SQLite searches its list of names for each one that has a number.
    Sqlite,
    /// A parameter is `$1`; a table is named with its schema, because a connection that is older than the schema may
    /// not know yet that it is there.
    Postgres,
}

impl SqlDialect {
    fn place(self, sql: &mut String, place: usize) {
        match self {
            Self::Sqlite => sql.push('?'),
            Self::Postgres => append(sql, format_args!("${place}")),
        }
    }

    fn table(self, table: &Table) -> String {
        match self {
            Self::Sqlite => format!("\"{}\"", table.name),
            Self::Postgres => format!("\"{SCHEMA}\".\"{}\"", table.name),
        }
    }
}

/// A value that a statement is given, or a list of them for one place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given<'q> {
    One(&'q Value),
    /// PostgreSQL takes a list, of one kind, for one place.
    List(Kind, &'q [Value]),
}

impl<'q> Given<'q> {
    fn values(self) -> &'q [Value] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::List(_, values) => values,
        }
    }
}

/// The question as SQL, and its parameters in order.
pub(crate) fn select(query: &Query, dialect: SqlDialect) -> (String, Vec<&Value>) {
    select_as(&columns_of(query.table), query, dialect)
}

/// The same, for something made of the columns.
pub(crate) fn select_as<'q>(
    columns: &str,
    query: &'q Query,
    dialect: SqlDialect,
) -> (String, Vec<&'q Value>) {
    let (sql, given) = select_given(columns, query, dialect);
    (sql, given.into_iter().flat_map(Given::values).collect())
}

/// All columns of a table, in their order.
pub(crate) fn columns_of(table: &Table) -> String {
    quoted(table.columns.iter().map(|column| column.name))
}

/// The same, with lists where the database takes them.
pub(crate) fn select_given<'q>(
    columns: &str,
    query: &'q Query,
    dialect: SqlDialect,
) -> (String, Vec<Given<'q>>) {
    let mut sql = format!("SELECT {columns} FROM {}", dialect.table(query.table));
    let mut parameters = Vec::new();
    for (i, Filter { column, test }) in query.filters.iter().enumerate() {
        append(&mut sql, format_args!(" {} \"{column}\" ", if i == 0 { "WHERE" } else { "AND" }));
        match test {
            Test::Is(Op::Eq, Value::Null) => sql.push_str("IS NULL"),
            Test::Is(Op::Ne, Value::Null) => sql.push_str("IS NOT NULL"),
            Test::Is(op, value) => {
                parameters.push(Given::One(value));
                append(&mut sql, format_args!("{} ", operator(*op)));
                dialect.place(&mut sql, parameters.len());
            }
            Test::AnyOf(values) => match dialect {
                // None of none: no row passes, as in memory.
                SqlDialect::Sqlite if values.is_empty() => sql.push_str("IN (NULL)"),
                SqlDialect::Sqlite => {
                    sql.push_str("IN (");
                    for (i, value) in padded(values).enumerate() {
                        parameters.push(Given::One(value));
                        sql.push_str(if i == 0 { "" } else { ", " });
                        dialect.place(&mut sql, parameters.len());
                    }
                    sql.push(')');
                }
                // What is asked for most often. A list is looked up by way of a bitmap, which takes longer for one value.
                SqlDialect::Postgres
                    if let [value] = values.as_slice()
                        && *value != Value::Null =>
                {
                    parameters.push(Given::One(value));
                    append(&mut sql, format_args!("= ${}", parameters.len()));
                }
                SqlDialect::Postgres => {
                    parameters.push(Given::List(kind_of(query.table, column), values));
                    append(&mut sql, format_args!("= ANY(${})", parameters.len()));
                }
            },
        }
    }
    if let Some((column, order)) = query.order {
        let direction = if order == Order::Ascending { "ASC" } else { "DESC" };
        append(&mut sql, format_args!(" ORDER BY \"{column}\" {direction}"));
    }
    if let Some(limit) = query.limit {
        append(&mut sql, format_args!(" LIMIT {limit}"));
    }
    (sql, parameters)
}

/// How many rows answer a question, whatever its order and its limit.
pub(crate) fn count_of(query: &Query) -> Query {
    Query { order: None, limit: None, ..query.clone() }
}

/// How many rows there are.
pub(crate) fn count(table: &Table, dialect: SqlDialect) -> String {
    format!("SELECT count(*) FROM {}", dialect.table(table))
}

const fn operator(op: Op) -> &'static str {
    match op {
        Op::Eq => "=",
        Op::Ne => "<>",
        Op::Ge => ">=",
        Op::Gt => ">",
        Op::Lt => "<",
    }
}

pub(crate) fn kind_of(table: &Table, column: &str) -> Kind {
    table.columns.iter().find(|known| known.name == column).map_or(Kind::Text, |column| column.kind)
}

/// The values, the last one repeated until their number is a power of two: so few different statements are prepared.
fn padded(values: &[Value]) -> impl Iterator<Item = &Value> {
    let missing = values.len().next_power_of_two() - values.len();
    values.iter().chain(values.last().into_iter().flat_map(move |last| std::iter::repeat_n(last, missing)))
}

/// Values by which one statement erases rows.
const ERASED: usize = 256;

/// The values in the portions in which rows are erased by them.
pub(crate) fn erased_by(values: &[Value]) -> impl Iterator<Item = &[Value]> {
    values.chunks(ERASED)
}

/// One statement that takes away the rows that have one of these values, and its parameters in order.
pub(crate) fn erase<'v>(
    table: &Table,
    column: &str,
    values: &'v [Value],
    dialect: SqlDialect,
) -> (String, Vec<&'v Value>) {
    let mut sql = format!("DELETE FROM {} WHERE \"{column}\" IN (", dialect.table(table));
    let parameters: Vec<&Value> = padded(values).collect();
    for i in 0..parameters.len() {
        sql.push_str(if i == 0 { "" } else { ", " });
        dialect.place(&mut sql, i + 1);
    }
    sql.push(')');
    (sql, parameters)
}

/// PostgreSQL's statement that takes away the rows that have one of the listed values.
pub(crate) fn erase_listed(table: &Table, column: &str) -> String {
    format!("DELETE FROM {} WHERE \"{column}\" = ANY($1)", SqlDialect::Postgres.table(table))
}

/// The statement that writes one row of this table.
pub(crate) fn insert(table: &Table, dialect: SqlDialect) -> String {
    let columns: Vec<&'static str> = table.given().map(|(_, column)| column.name).collect();
    values(table, &columns, dialect) + &on_conflict(table, &columns)
}

/// PostgreSQL's statement that writes any number of rows, given as a list per column.
pub(crate) fn insert_listed(table: &Table) -> String {
    let columns: Vec<&Column> = table.given().map(|(_, column)| column).collect();
    let names: Vec<&'static str> = columns.iter().map(|column| column.name).collect();
    values_listed(table, &columns) + &on_conflict(table, &names)
}

fn on_conflict(table: &Table, columns: &[&'static str]) -> String {
    let mut sql = String::new();
    match table.write {
        Write::Append => {}
        Write::Keep => sql.push_str(" ON CONFLICT DO NOTHING"),
        Write::Replace => {
            let moved = columns.iter().filter(|column| !table.key.contains(*column));
            let moved: Vec<String> =
                moved.map(|column| format!("\"{column}\" = excluded.\"{column}\"")).collect();
            let key = quoted(table.key.iter().copied());
            append(&mut sql, format_args!(" ON CONFLICT ({key}) DO UPDATE SET {}", moved.join(", ")));
        }
    }
    sql
}

/// Compares what an [`insert`] was to write with what the database says that it wrote. Where a row may be there already, and
/// is kept as it is, fewer are written.
pub(crate) fn check_insert(table: &'static Table, asked: usize, written: u64) -> Result<(), StoreError> {
    match table.write {
        Write::Keep if written <= asked as u64 => Ok(()),
        Write::Keep | Write::Append | Write::Replace => check_whole(table, asked, written),
    }
}

/// The same for an [`insert_whole`]: every row is written.
pub(crate) fn check_whole(table: &'static Table, asked: usize, written: u64) -> Result<(), StoreError> {
    let asked = asked as u64;
    if asked == written { Ok(()) } else { Err(StoreError::RowsLost { table: table.name, asked, written }) }
}

fn values(table: &Table, columns: &[&'static str], dialect: SqlDialect) -> String {
    let names = quoted(columns.iter().copied());
    let mut sql = format!("INSERT INTO {} ({names}) VALUES (", dialect.table(table));
    for place in 1..=columns.len() {
        sql.push_str(if place == 1 { "" } else { ", " });
        dialect.place(&mut sql, place);
    }
    sql.push(')');
    sql
}

/// The rows are numbered in the order of the lists, and sequence numbers are given in it.
fn values_listed(table: &Table, columns: &[&Column]) -> String {
    let names = quoted(columns.iter().map(|column| column.name));
    let lists = columns.iter().zip(1..).map(|(column, n)| format!("${n}::{}[]", list_type(column.kind)));
    format!(
        "INSERT INTO {} ({names}) SELECT {names} FROM unnest({}) WITH ORDINALITY AS listed ({names}, \"#\") ORDER BY \"#\"",
        SqlDialect::Postgres.table(table),
        lists.collect::<Vec<_>>().join(", "),
    )
}

/// PostgreSQL's name for what a list holds.
const fn list_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Int | Kind::Seq => "bigint",
        Kind::Real => "double precision",
        Kind::Text => "text",
        Kind::Bytes => "bytea",
        Kind::Time => "timestamptz",
    }
}

/// Rows that are copied at a time: few, because a body may be large.
pub(crate) const PAGE: usize = 64;

/// The next rows in the order of their key: from the beginning, or after a key that is given as parameters.
pub(crate) fn page(table: &Table, goes_on: bool, dialect: SqlDialect) -> String {
    let columns = columns_of(table);
    let key = quoted(table.key.iter().copied());
    let mut sql = format!("SELECT {columns} FROM {}", dialect.table(table));
    if goes_on {
        append(&mut sql, format_args!(" WHERE ({key}) > ("));
        for (i, _) in table.key.iter().enumerate() {
            sql.push_str(if i == 0 { "" } else { ", " });
            dialect.place(&mut sql, i + 1);
        }
        sql.push(')');
    }
    append(&mut sql, format_args!(" ORDER BY {key} LIMIT {PAGE}"));
    sql
}

/// SQLite's statement that writes a row as it was elsewhere, with its sequence number, where none is.
pub(crate) fn insert_whole(table: &Table) -> String {
    let columns: Vec<&'static str> = table.columns.iter().map(|column| column.name).collect();
    values(table, &columns, SqlDialect::Sqlite)
}

/// The same for PostgreSQL, any number of rows, given as a list per column.
pub(crate) fn insert_whole_listed(table: &Table) -> String {
    values_listed(table, &table.columns.iter().collect::<Vec<_>>())
}

fn append(sql: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let written = sql.write_fmt(text);
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests {
    use super::SqlDialect::{Postgres, Sqlite};
    use super::{
        Given, columns_of, erase, erase_listed, erased_by, insert, insert_listed, insert_whole_listed,
        select, select_given,
    };
    use ledger::records::{AuditHead, Blob, Event};
    use ledger::table::Record;
    use ledger::value::{Kind, Value};
    use ledger::{Op, Select};

    #[test]
    fn a_question_becomes_one_statement() {
        let question =
            Select::<Blob>::by("hash", &domain::Digest::ZERO).filter("content", Op::Gt, &vec![1_u8]);
        let question = question.descending("hash").limit(3).query;
        let (sql, parameters) = select(&question, Postgres);
        assert_eq!(
            sql,
            "SELECT \"hash\", \"person\", \"content\" FROM \"brainframe\".\"blobs\" WHERE \"hash\" = $1 AND \"content\" > $2 \
             ORDER BY \"hash\" DESC LIMIT 3"
        );
        assert_eq!(parameters.len(), 2);
        let null =
            Select::<Event>::by("metadata", &None::<domain::Digest>).filter("key", Op::Eq, &"k".to_owned());
        let (sql, parameters) = select(&null.query, Postgres);
        assert!(sql.ends_with("WHERE \"metadata\" IS NULL AND \"key\" = $1"), "{sql}");
        assert_eq!(parameters.len(), 1);
    }

    #[test]
    fn one_of_several_is_asked_for_in_powers_of_two() {
        let keys = ["a", "b", "c"].map(str::to_owned);
        let question = Select::<Event>::any_of("key", &keys).filter("adapter", Op::Eq, &"x".to_owned());
        let (sql, parameters) = select(&question.query, Sqlite);
        assert!(sql.ends_with("WHERE \"key\" IN (?, ?, ?, ?) AND \"adapter\" = ?"), "{sql}");
        let words: Vec<String> = parameters.iter().map(|value| format!("{value:?}")).collect();
        assert_eq!(words.join(" "), r#"Text("a") Text("b") Text("c") Text("c") Text("x")"#);
    }

    #[test]
    fn postgres_takes_a_list_for_one_place() {
        let keys = ["a", "b", "c"].map(str::to_owned);
        let question = Select::<Event>::any_of("key", &keys).filter("adapter", Op::Eq, &"x".to_owned());
        let (sql, parameters) = select_given(&columns_of(Event::TABLE), &question.query, Postgres);
        assert!(sql.ends_with("WHERE \"key\" = ANY($1) AND \"adapter\" = $2"), "{sql}");
        assert!(
            matches!(parameters.as_slice(), [Given::List(Kind::Text, [_, _, _]), Given::One(_)]),
            "{parameters:?}"
        );
        let question = Select::<Event>::any_of("key", &["a".to_owned()]).query;
        let (sql, parameters) = select_given("count(*)", &question, Postgres);
        assert!(sql.ends_with("WHERE \"key\" = $1"), "{sql}");
        assert!(matches!(parameters.as_slice(), [Given::One(_)]), "{parameters:?}");
        assert_eq!(
            erase_listed(Blob::TABLE, "person"),
            "DELETE FROM \"brainframe\".\"blobs\" WHERE \"person\" = ANY($1)"
        );
    }

    #[test]
    fn postgres_writes_any_number_of_rows_by_one_statement() {
        assert_eq!(
            insert_listed(Blob::TABLE),
            "INSERT INTO \"brainframe\".\"blobs\" (\"hash\", \"person\", \"content\") \
             SELECT \"hash\", \"person\", \"content\" FROM unnest($1::bytea[], $2::text[], $3::bytea[]) \
             WITH ORDINALITY AS listed (\"hash\", \"person\", \"content\", \"#\") ORDER BY \"#\" ON CONFLICT DO NOTHING"
        );
        assert!(!insert_listed(Event::TABLE).contains("\"seq\""), "the store gives the sequence");
        assert!(insert_whole_listed(Event::TABLE).contains("\"seq\""), "it is as it was elsewhere");
    }

    #[test]
    fn writing_follows_the_table() {
        assert_eq!(
            insert(Blob::TABLE, Postgres),
            "INSERT INTO \"brainframe\".\"blobs\" (\"hash\", \"person\", \"content\") \
             VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
        );
        assert!(
            insert(AuditHead::TABLE, Sqlite)
                .contains("ON CONFLICT (\"stream\") DO UPDATE SET \"seq\" = excluded.\"seq\"")
        );
        assert!(!insert(Event::TABLE, Sqlite).contains("\"seq\""), "the store gives the sequence");
    }

    #[test]
    fn rows_are_erased_by_their_values_in_powers_of_two() {
        let values = ["p-1", "p-2", "p-3"].map(|person| Value::Text(person.into()));
        let (sql, parameters) = erase(Blob::TABLE, "person", &values, Sqlite);
        assert_eq!(sql, "DELETE FROM \"blobs\" WHERE \"person\" IN (?, ?, ?, ?)");
        assert_eq!(parameters.len(), 4);
        let many = vec![Value::Null; 1_000];
        assert_eq!(erased_by(&many).map(<[Value]>::len).collect::<Vec<_>>(), [256, 256, 256, 232]);
    }
}
