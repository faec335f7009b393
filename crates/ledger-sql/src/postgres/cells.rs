//! Cells as PostgreSQL keeps them: whole numbers as `bigint`, others as `double precision`, texts as `text`, bytes as `bytea`, times as
//! `timestamptz`, which has microseconds as we have.

use domain::Time;
use ledger::store::StoreError;
use ledger::table::{Column, Table};
use ledger::value::{Kind, Real, Row, Value};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgRow, PgTypeInfo, PgValueRef};
use sqlx::query::Query as Statement;
use sqlx::{AssertSqlSafe, Decode, Encode, Postgres, Row as _, Type};

use super::errors::failure;

type Bound = Statement<'static, Postgres, PgArguments>;

/// Values that are compared with a column, none of them empty.
pub(super) fn bind_all<'v>(sql: &str, values: impl IntoIterator<Item = &'v Value>) -> Bound {
    bind_typed(sql, values.into_iter().map(|value| (Kind::Text, value)))
}

/// Values that are written into columns of these kinds; an empty one has a type, too.
pub(super) fn bind_typed<'v>(sql: &str, values: impl IntoIterator<Item = (Kind, &'v Value)>) -> Bound {
    let statement = sqlx::query(AssertSqlSafe(sql.to_owned()));
    values.into_iter().fold(statement, |statement, (kind, value)| match (value, kind) {
        (Value::Int(number), _) => statement.bind(*number),
        (Value::Real(number), _) => statement.bind(number.0),
        (Value::Text(text), _) => statement.bind(text.clone()),
        (Value::Bytes(bytes), _) => statement.bind(bytes.clone()),
        (Value::Time(time), _) => statement.bind(Stamp(*time)),
        (Value::Null, Kind::Int | Kind::Seq) => statement.bind(None::<i64>),
        (Value::Null, Kind::Real) => statement.bind(None::<f64>),
        (Value::Null, Kind::Text) => statement.bind(None::<String>),
        (Value::Null, Kind::Bytes) => statement.bind(None::<Vec<u8>>),
        (Value::Null, Kind::Time) => statement.bind(None::<Stamp>),
    })
}

pub(super) fn decode_all(table: &'static Table, rows: &[PgRow]) -> Result<Vec<Row>, StoreError> {
    rows.iter().map(|row| decode(table, row)).collect()
}

fn decode(table: &'static Table, row: &PgRow) -> Result<Row, StoreError> {
    let cell = |(at, column): (usize, &Column)| -> Result<Value, sqlx::Error> {
        Ok(match column.kind {
            Kind::Int | Kind::Seq => row.try_get::<Option<i64>, _>(at)?.map(Value::Int),
            Kind::Real => row.try_get::<Option<f64>, _>(at)?.map(|number| Value::Real(Real(number))),
            Kind::Time => row.try_get::<Option<Stamp>, _>(at)?.map(|stamp| Value::Time(stamp.0)),
            Kind::Text => row.try_get::<Option<String>, _>(at)?.map(Value::Text),
            Kind::Bytes => row.try_get::<Option<Vec<u8>>, _>(at)?.map(Value::Bytes),
        }
        .unwrap_or(Value::Null))
    };
    let cells: Result<Row, sqlx::Error> = table.columns.iter().enumerate().map(cell).collect();
    cells.map_err(failure)
}

/// A time in the binary form of `timestamptz`: microseconds since 2000.
#[derive(Clone, Copy, Debug)]
struct Stamp(Time);

/// 2000-01-01T00:00:00Z.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

impl Type<Postgres> for Stamp {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("timestamptz")
    }

    fn compatible(found: &PgTypeInfo) -> bool {
        found.to_string().eq_ignore_ascii_case("timestamptz")
    }
}

impl Encode<'_, Postgres> for Stamp {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let micros = self.0.micros().checked_sub(EPOCH_MICROS).ok_or("a time before all times")?;
        <i64 as Encode<Postgres>>::encode(micros, buffer)
    }
}

impl Decode<'_, Postgres> for Stamp {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        let bytes: [u8; 8] = value.as_bytes()?.try_into()?;
        let micros = i64::from_be_bytes(bytes).checked_add(EPOCH_MICROS).ok_or("a time after all times")?;
        Ok(Self(Time::from_micros(micros)))
    }
}
