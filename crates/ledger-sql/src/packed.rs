//! Many rows of SQLite as one value. A row by itself costs more on its way through the driver than it costs to read; packed by
//! the database, a page of a few thousand arrives at once, and its cells are looked at where they stand.
//!
//! A row is its cells, each ended by a separator, and then its contents: where a cell holds text or bytes, only their length
//! stands in its place. So nothing that is stored can pass for a separator, and one row never passes for another or for
//! several; that there are as many as the database counts is compared, too.

use domain::Time;
use ledger::query::Query;
use ledger::store::StoreError;
use ledger::table::{Column, Table};
use ledger::value::{Kind, Real, Ref, Value};

use crate::sql;

const SEPARATOR: u8 = 0x1f;

/// One row with two values: all rows of the answer, packed, and how many there are.
pub(crate) fn select(query: &Query) -> (String, Vec<&Value>) {
    let cell = |Column { name, kind, .. }: &Column| {
        let cell = match kind {
            Kind::Text | Kind::Bytes => format!("octet_length(\"{name}\")"),
            // As it is in SQL text: with as many digits as it takes to be the same number again.
            Kind::Real => format!("nullif(quote(CAST(\"{name}\" AS REAL)), 'NULL')"),
            Kind::Int | Kind::Time | Kind::Seq => format!("CAST(\"{name}\" AS INTEGER)"),
        };
        format!("{cell}, '\u{1f}'")
    };
    let contents = query.table.columns.iter().filter(|column| is_long(column));
    let parts =
        query.table.columns.iter().map(cell).chain(contents.map(|column| format!("\"{}\"", column.name)));
    let row = format!("concat({}) AS packed", parts.collect::<Vec<_>>().join(", "));
    let (rows, parameters) = sql::select_as(&row, query, sql::SqlDialect::Sqlite);
    (format!("SELECT CAST(group_concat(packed, '') AS BLOB), count(*) FROM ({rows})"), parameters)
}

/// Whether its content stands behind the cells.
fn is_long(column: &Column) -> bool {
    matches!(column.kind, Kind::Text | Kind::Bytes)
}

/// Shows the rows one after the other.
pub(crate) fn unpack(
    table: &'static Table,
    packed: &[u8],
    rows: i64,
    visit: &mut (dyn for<'c, 'r> FnMut(&'c [Ref<'r>]) + Send),
) -> Result<(), StoreError> {
    let damaged = || StoreError::Corrupt(format!("rows of `{}` cannot be told apart", table.name));
    let mut cells: Vec<Ref<'_>> = Vec::with_capacity(table.columns.len());
    let (mut rest, mut seen) = (packed, 0);
    while !rest.is_empty() {
        cells.clear();
        for column in table.columns {
            let at = memchr::memchr(SEPARATOR, rest).ok_or_else(damaged)?;
            let (text, after) = rest.split_at_checked(at).ok_or_else(damaged)?;
            rest = after.get(1..).ok_or_else(damaged)?;
            cells.push(number(column, text).ok_or_else(damaged)?);
        }
        for (cell, column) in cells.iter_mut().zip(table.columns) {
            if let (true, Ref::Int(length)) = (is_long(column), *cell) {
                let length = usize::try_from(length).map_err(|_other| damaged())?;
                let (content, after) = rest.split_at_checked(length).ok_or_else(damaged)?;
                (*cell, rest) = (content_of(column, content), after);
            }
        }
        seen += 1;
        visit(&cells);
    }
    if seen == rows { Ok(()) } else { Err(damaged()) }
}

/// A cell; where it holds text or bytes, their length for now.
fn number<'a>(column: &Column, text: &[u8]) -> Option<Ref<'a>> {
    if text.is_empty() {
        return Some(Ref::Null);
    }
    let text = std::str::from_utf8(text).ok()?;
    Some(match column.kind {
        Kind::Real => Ref::Real(Real(text.parse().ok()?)),
        Kind::Time => Ref::Time(Time::from_micros(text.parse().ok()?)),
        Kind::Int | Kind::Seq | Kind::Text | Kind::Bytes => Ref::Int(text.parse().ok()?),
    })
}

/// A text that is none is shown as the bytes that it is: whoever looks sees that it does not belong there.
fn content_of<'a>(column: &Column, content: &'a [u8]) -> Ref<'a> {
    match std::str::from_utf8(content) {
        Ok(text) if column.kind == Kind::Text => Ref::Text(text),
        _ => Ref::Bytes(content),
    }
}
