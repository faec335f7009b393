//! Sample values for tests: the same number gives the same value, different numbers give different ones as far as the
//! type has them, and each is valid for its type.
//!
//! 0 is the least that a type holds and 1 the most; what a database could get wrong is among the rest.

#![expect(clippy::expect_used, reason = "this is for tests")]

use domain::id::{Id, Kind as IdKind};
use domain::{Digest, Time};
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

use crate::batch::Batch;
use crate::table::{Index, Record, Table};
use crate::value::{BadCell, Cell, Ratio, Row, Seq, Value};

/// How many samples are made of each record: enough for every word of a column, in optional columns, too.
const SAMPLES: u64 = 16;
/// So many records have the same number in every column: each column meets the least and the most of its type.
const EXTREMES: u64 = 4;

/// A cell of which there are samples.
pub trait SampleCell: Cell {
    fn sample(n: u64) -> Self;
}

/// A record of which there are samples; `record!` makes every record one.
pub trait SampleRecord: Record {
    fn sample(n: u64) -> Self;
}

/// The numbers of the columns of the `n`-th record. Beyond the extremes no two columns have the same, so that columns
/// that are mistaken for each other are noticed.
pub(crate) fn numbers(n: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |column: u64| if n < EXTREMES { n } else { n + column * SAMPLES })
}

pub(crate) fn next<T: SampleCell>(numbers: &mut impl Iterator<Item = u64>) -> T {
    T::sample(numbers.next().expect("the numbers do not end"))
}

/// Rows of one table, none of which its key or a unique index keeps out.
#[derive(Debug)]
pub struct TableSamples {
    pub table: &'static Table,
    pub rows: Vec<Row>,
    reread: fn(Row) -> Result<Row, BadCell>,
}

impl TableSamples {
    #[must_use]
    pub fn of<T: SampleRecord>() -> Self {
        let mut rows: Vec<Row> = Vec::new();
        for row in (0..SAMPLES).map(|n| T::sample(n).row()) {
            if rows.iter().all(|other| fit_together(T::TABLE, other, &row)) {
                rows.push(row);
            }
        }
        Self { table: T::TABLE, rows, reread: |row| Ok(T::from_row(row)?.row()) }
    }

    /// The row as its record says it, after it was read as one.
    ///
    /// # Errors
    /// If it cannot be read as one.
    pub fn reread(&self, row: Row) -> Result<Row, BadCell> {
        (self.reread)(row)
    }

    pub fn put_into(&self, batch: &mut Batch) {
        batch.rows.extend(self.rows.iter().map(|row| (self.table, row.clone())));
    }
}

/// Whether a table takes both rows.
fn fit_together(table: &Table, one: &Row, other: &Row) -> bool {
    let cell = |row: &Row, column: &str| table.position(column).and_then(|at| row.get(at).cloned());
    let equal = |columns: &[&str]| {
        let same = |column: &&str| {
            cell(one, column) == cell(other, column) && cell(one, column) != Some(Value::Null)
        };
        columns.iter().all(same)
    };
    let both_in = |index: &Index| {
        let filter = index.filter.map(|(column, number)| (column, Some(Value::Int(number))));
        filter.is_none_or(|(column, number)| cell(one, column) == number && cell(other, column) == number)
    };
    let mut unique = table.indexes.iter().filter(|index| index.unique);
    !equal(table.key) && !unique.any(|index| both_in(index) && equal(index.columns))
}

/// The `n`-th word of a type that serde writes as one: an enum knows its words, whatever else is made from a text takes
/// one that fits a name.
pub(crate) fn word<T: DeserializeOwned>(n: u64) -> T {
    T::deserialize(Words(n)).expect("a word of its own")
}

struct Words(u64);

impl<'de> Deserializer<'de> for Words {
    type Error = WordError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WordError> {
        visitor.visit_string(format!("word-{}", self.0))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WordError> {
        let mut words = variants.iter().cycle();
        let word = words.nth(usize::try_from(self.0 % variants.len() as u64).expect("few words"));
        let word: StrDeserializer<'_, WordError> = word.expect("an enum has words").into_deserializer();
        visitor.visit_enum(word)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// The store gives it.
impl SampleCell for Seq {
    fn sample(_n: u64) -> Self {
        Self(None)
    }
}

/// Every other one is empty; the others are all that the type has, so that nothing and the least are told apart.
impl<T: SampleCell> SampleCell for Option<T> {
    fn sample(n: u64) -> Self {
        (n % 2 == 1).then(|| T::sample(n / 2))
    }
}

impl SampleCell for String {
    fn sample(n: u64) -> Self {
        match (n, n % 4) {
            (0, _) => Self::new(),
            (1, _) => "ключ 🗝 ́\u{202e}e\u{1f}\u{7f}\u{feff}\u{10ffff}".repeat(100),
            (_, 0) => format!("Léa {n}"),
            (_, 1) => format!("line {n}\r\n\tand \u{1f} the next "),
            (_, 2) => format!("it's \"{n}\" \\ % _ $1 ? ; --"),
            _ => format!("text-{n}"),
        }
    }
}

impl SampleCell for Vec<u8> {
    fn sample(n: u64) -> Self {
        match n {
            0 => Self::new(),
            1 => (0..=u8::MAX).cycle().take(5_000).collect(),
            _ => [&[0, 255, 10, 0x1f], &n.to_be_bytes()[..]].concat(),
        }
    }
}

impl SampleCell for Digest {
    fn sample(n: u64) -> Self {
        match n {
            0 => Self::ZERO,
            1 => Self::from_bytes([u8::MAX; 32]),
            _ => Self::of(&n.to_be_bytes()),
        }
    }
}

/// To the microsecond, from before 1970 to the year 9999.
impl SampleCell for Time {
    fn sample(n: u64) -> Self {
        match n {
            0 => Self::from_micros(-100_000_000_000_001),
            1 => Self::from_micros(253_370_764_799_999_999),
            _ => Self::from_micros(1_800_000_000_000_000 + n.cast_signed()),
        }
    }
}

impl<K: IdKind> SampleCell for Id<K> {
    fn sample(n: u64) -> Self {
        /// An odd number: multiplied by it, no two numbers are the same.
        const SPREAD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        Self::from_bits(if n == 1 { u128::MAX } else { u128::from(n).wrapping_mul(SPREAD) })
    }
}

impl SampleCell for bool {
    fn sample(n: u64) -> Self {
        n % 2 == 1
    }
}

impl SampleCell for i64 {
    fn sample(n: u64) -> Self {
        match n {
            0 => Self::MIN,
            1 => Self::MAX,
            _ if n.is_multiple_of(2) => n.cast_signed() / 2 - 1,
            _ => -n.cast_signed(),
        }
    }
}

/// Up to what a column holds.
impl SampleCell for u64 {
    fn sample(n: u64) -> Self {
        const MOST: u64 = i64::MAX.cast_unsigned();
        match n {
            0 => 0,
            1 => MOST,
            _ if n.is_multiple_of(2) => n,
            _ => MOST - n,
        }
    }
}

impl SampleCell for u32 {
    fn sample(n: u64) -> Self {
        let small = Self::try_from(n % u64::from(Self::MAX)).unwrap_or_default();
        if n == 1 { Self::MAX } else { small }
    }
}

/// Numbers that need every digit they have, and the smallest that there are.
impl SampleCell for Ratio {
    fn sample(n: u64) -> Self {
        let number = match (n, n % 4) {
            (0, _) => 0.0,
            (1, _) => 1.0,
            (_, 0) => f64::from_bits(n),
            (_, 1) => 1.0 - f64::EPSILON * n as f64,
            (_, 2) => 1.0 / n as f64,
            _ => 0.5 + (0.1 + 0.2) / n as f64,
        };
        Self::new(number).expect("from 0 to 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Trust;
    use domain::call::ToolId;

    fn are_distinct<T: SampleCell + PartialEq + std::fmt::Debug>() {
        let samples: Vec<T> = (0..600).map(T::sample).collect();
        for (n, sample) in samples.iter().enumerate() {
            assert_eq!(samples.iter().position(|other| other == sample), Some(n), "{sample:?}");
            assert_eq!(T::from_value(sample.to_value()).as_ref(), Ok(sample));
        }
    }

    #[test]
    fn different_numbers_give_different_values_that_fit() {
        are_distinct::<String>();
        are_distinct::<Vec<u8>>();
        are_distinct::<Digest>();
        are_distinct::<Time>();
        are_distinct::<domain::id::EventId>();
        are_distinct::<i64>();
        are_distinct::<u64>();
        are_distinct::<u32>();
        are_distinct::<Ratio>();
        are_distinct::<ToolId>();
    }

    #[test]
    fn all_words_are_among_the_samples_and_so_is_nothing() {
        let samples: Vec<Option<Trust>> = (0..SAMPLES).map(Option::sample).collect();
        for trust in Trust::ALL.map(Some).into_iter().chain([None]) {
            assert!(samples.contains(&trust), "{trust:?}");
        }
    }

    #[test]
    fn every_column_has_different_samples_and_optional_ones_are_empty_now_and_then() {
        for TableSamples { table, rows, .. } in crate::records::samples() {
            for (at, column) in table.given() {
                let mut cells: Vec<&Value> = rows.iter().filter_map(|row| row.get(at)).collect();
                assert_eq!(cells.contains(&&Value::Null), column.nullable, "{} {column:?}", table.name);
                cells.sort();
                cells.dedup();
                assert!(cells.len() > 1, "{} {column:?}", table.name);
            }
            assert!(rows.len() > 7, "{}: {}", table.name, rows.len());
        }
    }
}
