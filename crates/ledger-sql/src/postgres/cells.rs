//! Cells as PostgreSQL keeps them: whole numbers as `bigint`, others as `double precision`, texts as `text`, bytes as `bytea`, times as
//! `timestamptz`, which has microseconds as we have. All of them travel in the binary form.

use std::error::Error as StdError;
use std::fmt;

use bytes::{BufMut as _, Bytes, BytesMut};
use domain::Time;
use ledger::store::StoreError;
use ledger::table::Table;
use ledger::value::{Kind, Real, Row, Value};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};
use tokio_postgres::{Error, Row as AnswerRow};

use super::errors::failure;

type BoxError = Box<dyn StdError + Send + Sync>;

/// What a statement is given for one of its places: a cell, or a list of cells, in the form in which it is sent. It owns its
/// bytes, so that a statement can be under way while its rows are gone; a copy shares them.
#[derive(Clone)]
pub(super) struct Parameter {
    sql_type: Type,
    /// None: SQL's NULL.
    bytes: Option<Bytes>,
}

impl Parameter {
    /// A cell; an empty one has a type, too.
    pub(super) fn cell(kind: Kind, value: &Value) -> Self {
        let mut bytes = BytesMut::with_capacity(cell_size(value));
        put_cell(&mut bytes, value);
        Self { sql_type: cell_type(kind), bytes: (*value != Value::Null).then(|| bytes.freeze()) }
    }

    /// A cell whose type follows from what is in it. It is not empty: nothing is compared with an empty cell.
    pub(super) fn of(value: &Value) -> Self {
        Self::cell(kind_of(value), value)
    }

    pub(super) fn text(text: &str) -> Self {
        Self { sql_type: Type::TEXT, bytes: Some(Bytes::copy_from_slice(text.as_bytes())) }
    }

    pub(super) fn number(number: i64) -> Self {
        Self { sql_type: Type::INT8, bytes: Some(Bytes::copy_from_slice(&number.to_be_bytes())) }
    }

    /// An array of cells of one kind.
    pub(super) fn list<'v>(kind: Kind, values: impl ExactSizeIterator<Item = &'v Value> + Clone) -> Self {
        const DIMENSIONS: i32 = 1;
        const FIRST_INDEX: i32 = 1;
        const MAY_HOLD_NULL: i32 = 1;
        const NULL: i32 = -1;
        const HEAD: usize = 20;
        let size: usize = values.clone().map(|value| size_of::<i32>() + cell_size(value)).sum();
        let mut bytes = BytesMut::with_capacity(HEAD + size);
        bytes.put_i32(DIMENSIONS);
        bytes.put_i32(MAY_HOLD_NULL);
        bytes.put_u32(cell_type(kind).oid());
        bytes.put_i32(length(values.len()));
        bytes.put_i32(FIRST_INDEX);
        for value in values {
            match value {
                Value::Null => bytes.put_i32(NULL),
                value => {
                    bytes.put_i32(length(cell_size(value)));
                    put_cell(&mut bytes, value);
                }
            }
        }
        Self { sql_type: list_type(kind), bytes: Some(bytes.freeze()) }
    }

    pub(super) fn sql_type(&self) -> Type {
        self.sql_type.clone()
    }
}

impl fmt::Debug for Parameter {
    /// Without what it holds: the driver would write that into a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameter").field("sql_type", &self.sql_type).finish_non_exhaustive()
    }
}

impl ToSql for Parameter {
    fn to_sql(&self, _wanted: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        let Some(bytes) = &self.bytes else { return Ok(IsNull::Yes) };
        out.extend_from_slice(bytes);
        Ok(IsNull::No)
    }

    fn accepts(_wanted: &Type) -> bool {
        true
    }

    fn to_sql_checked(&self, wanted: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        if *wanted != self.sql_type {
            return Err(format!("the server wants {wanted} and is given {}", self.sql_type).into());
        }
        self.to_sql(wanted, out)
    }
}

/// Nothing for an empty cell.
fn put_cell(out: &mut BytesMut, value: &Value) {
    match value {
        Value::Null => {}
        Value::Int(number) => out.put_i64(*number),
        Value::Real(number) => out.put_f64(number.0),
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        Value::Bytes(bytes) => out.extend_from_slice(bytes),
        Value::Time(time) => out.put_i64(stamp_of(*time)),
    }
}

/// How many bytes [`put_cell`] writes.
const fn cell_size(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Int(_) | Value::Real(_) | Value::Time(_) => size_of::<i64>(),
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
    }
}

/// As the protocol counts. What is larger than it can say, the server refuses.
fn length(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

const fn cell_type(kind: Kind) -> Type {
    match kind {
        Kind::Int | Kind::Seq => Type::INT8,
        Kind::Real => Type::FLOAT8,
        Kind::Text => Type::TEXT,
        Kind::Bytes => Type::BYTEA,
        Kind::Time => Type::TIMESTAMPTZ,
    }
}

const fn list_type(kind: Kind) -> Type {
    match kind {
        Kind::Int | Kind::Seq => Type::INT8_ARRAY,
        Kind::Real => Type::FLOAT8_ARRAY,
        Kind::Text => Type::TEXT_ARRAY,
        Kind::Bytes => Type::BYTEA_ARRAY,
        Kind::Time => Type::TIMESTAMPTZ_ARRAY,
    }
}

const fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Int(_) => Kind::Int,
        Value::Real(_) => Kind::Real,
        Value::Text(_) | Value::Null => Kind::Text,
        Value::Bytes(_) => Kind::Bytes,
        Value::Time(_) => Kind::Time,
    }
}

/// 2000-01-01T00:00:00Z, from which `timestamptz` counts.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// The server refuses what is before its first time. The lowest number is not one of those: it means "-infinity".
const fn stamp_of(time: Time) -> i64 {
    const TOO_EARLY: i64 = i64::MIN + 1;
    match time.micros().checked_sub(EPOCH_MICROS) {
        Some(stamp) if stamp > TOO_EARLY => stamp,
        _ => TOO_EARLY,
    }
}

/// A time in the binary form of `timestamptz`.
#[derive(Clone, Copy, Debug)]
struct Stamp(Time);

impl<'a> FromSql<'a> for Stamp {
    fn from_sql(_found: &Type, bytes: &'a [u8]) -> Result<Self, BoxError> {
        let micros = i64::from_be_bytes(bytes.try_into()?).checked_add(EPOCH_MICROS);
        Ok(Self(Time::from_micros(micros.ok_or("a time after all times")?)))
    }

    fn accepts(found: &Type) -> bool {
        *found == Type::TIMESTAMPTZ
    }
}

pub(super) fn decode_all(table: &'static Table, rows: &[AnswerRow]) -> Result<Vec<Row>, StoreError> {
    rows.iter().map(|row| decode(table, row)).collect()
}

/// Rows of a table that this program may have no record for: each cell as its column's type has it.
pub(super) fn decode_stored(rows: &[AnswerRow]) -> Result<Vec<Row>, StoreError> {
    rows.iter().map(decode_columns).collect()
}

fn decode_columns(row: &AnswerRow) -> Result<Row, StoreError> {
    let kinds = [Kind::Int, Kind::Real, Kind::Text, Kind::Bytes, Kind::Time];
    let cell = |(at, column): (usize, &tokio_postgres::Column)| {
        let kind = kinds.into_iter().find(|kind| cell_type(*kind) == *column.type_());
        let unknown =
            || StoreError::Other(format!("the column `{}` has a type of another program", column.name()));
        decode_cell(kind.ok_or_else(unknown)?, row, at)
    };
    row.columns().iter().enumerate().map(cell).collect()
}

fn decode(table: &'static Table, row: &AnswerRow) -> Result<Row, StoreError> {
    table.columns.iter().enumerate().map(|(at, column)| decode_cell(column.kind, row, at)).collect()
}

fn decode_cell(kind: Kind, row: &AnswerRow, at: usize) -> Result<Value, StoreError> {
    let cell = || -> Result<Option<Value>, Error> {
        Ok(match kind {
            Kind::Int | Kind::Seq => row.try_get::<_, Option<i64>>(at)?.map(Value::Int),
            Kind::Real => row.try_get::<_, Option<f64>>(at)?.map(|number| Value::Real(Real(number))),
            Kind::Time => row.try_get::<_, Option<Stamp>>(at)?.map(|stamp| Value::Time(stamp.0)),
            Kind::Text => row.try_get::<_, Option<String>>(at)?.map(Value::Text),
            Kind::Bytes => row.try_get::<_, Option<Vec<u8>>>(at)?.map(Value::Bytes),
        })
    };
    Ok(cell().map_err(failure)?.unwrap_or(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::{FromSql as _, Parameter, Stamp, ToSql as _};
    use bytes::BytesMut;
    use domain::Time;
    use ledger::value::{Kind, Value};
    use tokio_postgres::types::{IsNull, Type};

    fn sent(parameter: &Parameter) -> Option<Vec<u8>> {
        let mut out = BytesMut::new();
        let written = parameter.to_sql_checked(&parameter.sql_type(), &mut out).expect("written");
        matches!(written, IsNull::No).then(|| out.to_vec())
    }

    #[test]
    fn a_time_is_sent_as_microseconds_since_2000() {
        for (micros, stamp) in
            [(946_684_800_000_000, 0_i64), (0, -946_684_800_000_000), (946_684_800_000_001, 1)]
        {
            let time = Time::from_micros(micros);
            let bytes = sent(&Parameter::cell(Kind::Time, &Value::Time(time))).expect("not empty");
            assert_eq!(bytes, stamp.to_be_bytes());
            assert_eq!(Stamp::from_sql(&Type::TIMESTAMPTZ, &bytes).expect("a time").0, time);
        }
    }

    #[test]
    fn an_empty_cell_has_a_type_and_no_bytes() {
        let empty = Parameter::cell(Kind::Bytes, &Value::Null);
        assert_eq!((empty.sql_type(), sent(&empty)), (Type::BYTEA, None));
        let mut out = BytesMut::new();
        let error = empty.to_sql_checked(&Type::TEXT, &mut out).map(drop).expect_err("another type");
        assert_eq!(error.to_string(), "the server wants text and is given bytea");
    }

    #[test]
    fn a_list_is_an_array_that_may_hold_empty_cells() {
        let values = [Value::Text("ab".into()), Value::Null];
        let list = Parameter::list(Kind::Text, values.iter());
        assert_eq!(list.sql_type(), Type::TEXT_ARRAY);
        let head = [1, 1, 25, 2, 1].iter().flat_map(|word: &i32| word.to_be_bytes());
        let cells = [0, 0, 0, 2, b'a', b'b', 255, 255, 255, 255];
        assert_eq!(sent(&list), Some(head.chain(cells).collect()));
    }

    #[test]
    fn a_parameter_does_not_show_what_it_holds() {
        let shown = format!("{:?}", Parameter::text("open-sesame"));
        assert!(!shown.contains("sesame"), "{shown}");
    }
}
