//! Many rows of SQLite as one value. A row by itself costs more on its way through the driver than it costs to read; packed by
//! the database, a page of a few thousand arrives at once, and its cells are looked at where they stand.
//!
//! A row is its cells, each ended by a separator, and then the contents of the cells that hold bytes, whose length stands
//! in their place. A text that holds the separator shifts what follows it, so that nothing fits any more: it is an error,
//! never another row.

use domain::Time;
use ledger::query::Query;
use ledger::store::StoreError;
use ledger::table::{Column, Table};
use ledger::value::{Kind, Ref, Value};

use crate::sql;

const SEPARATOR: u8 = 0x1f;

/// One row with one value: all rows of the answer, packed.
pub(crate) fn select(query: &Query) -> (String, Vec<&Value>) {
    let cell = |column: &Column| {
        let name = column.name;
        match (column.kind, column.nullable) {
            (Kind::Bytes, _) => format!("length(\"{name}\"), '\u{1f}'"),
            (_, true) => format!("\"{name}\" IS NULL, \"{name}\", '\u{1f}'"),
            (_, false) => format!("\"{name}\", '\u{1f}'"),
        }
    };
    let contents = query.table.columns.iter().filter(|column| column.kind == Kind::Bytes);
    let parts =
        query.table.columns.iter().map(cell).chain(contents.map(|column| format!("\"{}\"", column.name)));
    let row = format!("concat({}) AS packed", parts.collect::<Vec<_>>().join(", "));
    let (rows, parameters) = sql::select_as(&row, query, sql::Dialect::Sqlite);
    (format!("SELECT CAST(group_concat(packed, '') AS BLOB) FROM ({rows})"), parameters)
}

/// Shows the rows one after the other.
pub(crate) fn unpack(
    table: &'static Table,
    packed: &[u8],
    visit: &mut (dyn for<'c, 'r> FnMut(&'c [Ref<'r>]) + Send),
) -> Result<(), StoreError> {
    let damaged = || StoreError::Corrupt(format!("rows of `{}` cannot be told apart", table.name));
    let mut cells: Vec<Ref<'_>> = Vec::with_capacity(table.columns.len());
    let mut rest = packed;
    while !rest.is_empty() {
        cells.clear();
        for column in table.columns {
            let at = memchr::memchr(SEPARATOR, rest).ok_or_else(damaged)?;
            let (text, after) = rest.split_at_checked(at).ok_or_else(damaged)?;
            rest = after.get(1..).ok_or_else(damaged)?;
            let text = std::str::from_utf8(text).map_err(|_other| damaged())?;
            cells.push(cell(column, text).ok_or_else(damaged)?);
        }
        for (cell, column) in cells.iter_mut().zip(table.columns) {
            if let (Kind::Bytes, Ref::Int(length)) = (column.kind, *cell) {
                let length = usize::try_from(length).map_err(|_other| damaged())?;
                let (content, after) = rest.split_at_checked(length).ok_or_else(damaged)?;
                (*cell, rest) = (Ref::Bytes(content), after);
            }
        }
        visit(&cells);
    }
    Ok(())
}

/// A cell; that of bytes is their length for now.
fn cell<'a>(column: &Column, text: &'a str) -> Option<Ref<'a>> {
    let text = match (column.kind, column.nullable) {
        (Kind::Bytes, _) if text.is_empty() => return Some(Ref::Null),
        (Kind::Bytes, _) | (_, false) => text,
        (_, true) => match text.split_at_checked(1)? {
            ("1", "") => return Some(Ref::Null),
            ("0", text) => text,
            _ => return None,
        },
    };
    Some(match column.kind {
        Kind::Text => Ref::Text(text),
        Kind::Int | Kind::Seq | Kind::Bytes => Ref::Int(text.parse().ok()?),
        Kind::Time => Ref::Time(Time::from_micros(text.parse().ok()?)),
    })
}
