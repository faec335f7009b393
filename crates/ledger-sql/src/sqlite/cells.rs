//! Cells as SQLite keeps them: whole numbers and times (microseconds since 1970) as `INTEGER`, others as `REAL`, texts as `TEXT`,
//! bytes as `BLOB`.

use domain::Time;
use ledger::store::StoreError;
use ledger::table::{Column, Table};
use ledger::value::{Kind, Real, Ref, Row, Value};
use rusqlite::types::{Null, ToSqlOutput, ValueRef};
use rusqlite::{Statement, ToSql};

use super::connection::failure;

/// A value on its way into a statement.
struct Parameter<'v>(&'v Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self.0 {
            Value::Null => Null.to_sql(),
            Value::Int(number) => Ok(ToSqlOutput::from(*number)),
            Value::Real(number) => Ok(ToSqlOutput::from(number.0)),
            Value::Text(text) => Ok(ToSqlOutput::from(text.as_str())),
            Value::Bytes(bytes) => Ok(ToSqlOutput::from(bytes.as_slice())),
            Value::Time(time) => Ok(ToSqlOutput::from(time.micros())),
        }
    }
}

/// Binds all parameters of a statement, in order.
pub(super) fn bind<'v>(
    statement: &mut Statement<'_>,
    values: impl IntoIterator<Item = &'v Value>,
) -> Result<(), StoreError> {
    for (place, value) in (1_usize..).zip(values) {
        statement.raw_bind_parameter(place, Parameter(value)).map_err(failure)?;
    }
    Ok(())
}

/// The rows that a statement answers with, whose parameters are bound.
pub(super) fn read_rows(
    table: &'static Table,
    statement: &mut Statement<'_>,
) -> Result<Vec<Row>, StoreError> {
    let (mut rows, mut read) = (statement.raw_query(), Vec::new());
    while let Some(row) = rows.next().map_err(failure)? {
        let cell = |(at, column): (usize, &Column)| {
            let found = row.get_ref(at).map_err(failure)?;
            match view(column, found) {
                Some(Ref::Bytes(_)) if column.kind == Kind::Text => Err(misplaced(table, column, found)),
                Some(cell) => Ok(cell.keep()),
                None => Err(misplaced(table, column, found)),
            }
        };
        read.push(table.columns.iter().enumerate().map(cell).collect::<Result<Row, _>>()?);
    }
    Ok(read)
}

/// Shows each row that a statement answers with, whose parameters are bound, without copying it.
pub(super) fn visit_rows(
    table: &'static Table,
    statement: &mut Statement<'_>,
    visit: &mut (dyn for<'c, 'r> FnMut(&'c [Ref<'r>]) + Send),
) -> Result<(), StoreError> {
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(failure)? {
        let mut cells: Vec<Ref<'_>> = Vec::with_capacity(table.columns.len());
        for (at, column) in table.columns.iter().enumerate() {
            let found = row.get_ref(at).map_err(failure)?;
            let cell = view(column, found);
            cells.push(cell.ok_or_else(|| misplaced(table, column, found))?);
        }
        visit(&cells);
    }
    Ok(())
}

/// A cell as its column wants it; a text that is no UTF-8 is shown as the bytes that it is. `None` if it does not fit.
fn view<'r>(column: &Column, found: ValueRef<'r>) -> Option<Ref<'r>> {
    Some(match (found, column.kind) {
        (ValueRef::Null, _) => Ref::Null,
        (ValueRef::Integer(number), Kind::Int | Kind::Seq) => Ref::Int(number),
        (ValueRef::Integer(micros), Kind::Time) => Ref::Time(Time::from_micros(micros)),
        (ValueRef::Real(number), Kind::Real) => Ref::Real(Real(number)),
        (ValueRef::Text(bytes), Kind::Text) => {
            std::str::from_utf8(bytes).map_or(Ref::Bytes(bytes), Ref::Text)
        }
        (ValueRef::Blob(bytes), Kind::Bytes) => Ref::Bytes(bytes),
        _ => return None,
    })
}

/// The tables are strict: SQLite itself writes no such cell.
fn misplaced(table: &Table, column: &Column, found: ValueRef<'_>) -> StoreError {
    let found = match found {
        ValueRef::Text(_) if column.kind == Kind::Text => "a text that is not UTF-8".to_owned(),
        other => format!("a value of type {}", other.data_type()),
    };
    StoreError::Corrupt(format!("column `{}.{}` holds {found}", table.name, column.name))
}
