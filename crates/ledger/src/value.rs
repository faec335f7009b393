//! What stands in a column, and how a field becomes one.

mod ratio;

use domain::call::ToolId;
use domain::event::{ContainerKind, Direction};
use domain::id::{Id, Kind as IdKind};
use domain::task::{Directive, Status};
use domain::{Digest, Time, Trust};

pub use ratio::{NotARatio, Ratio, Real};

/// One cell. Times keep a variant of their own, so that each database can keep them its own way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Null,
    Int(i64),
    Real(Real),
    Text(String),
    Bytes(Vec<u8>),
    Time(Time),
}

pub type Row = Vec<Value>;

/// A cell that is only looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ref<'a> {
    Null,
    Int(i64),
    Real(Real),
    Text(&'a str),
    Bytes(&'a [u8]),
    Time(Time),
}

impl<'a> Ref<'a> {
    /// The text, if it is one; nothing inside where the cell is empty, nothing at all where it holds something else.
    #[must_use]
    pub const fn text_or_null(self) -> Option<Option<&'a str>> {
        match self {
            Self::Text(text) => Some(Some(text)),
            Self::Null => Some(None),
            Self::Int(_) | Self::Real(_) | Self::Bytes(_) | Self::Time(_) => None,
        }
    }
}

impl Ref<'_> {
    #[must_use]
    pub fn keep(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Int(number) => Value::Int(number),
            Self::Real(number) => Value::Real(number),
            Self::Text(text) => Value::Text(text.to_owned()),
            Self::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            Self::Time(time) => Value::Time(time),
        }
    }
}

impl Value {
    #[must_use]
    pub fn look(&self) -> Ref<'_> {
        match self {
            Self::Null => Ref::Null,
            Self::Int(number) => Ref::Int(*number),
            Self::Real(number) => Ref::Real(*number),
            Self::Text(text) => Ref::Text(text),
            Self::Bytes(bytes) => Ref::Bytes(bytes),
            Self::Time(time) => Ref::Time(*time),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int,
    Real,
    Text,
    Bytes,
    Time,
    /// Given by the store when the batch is committed; the order of the ledger.
    Seq,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column `{table}.{column}` holds {found}, which does not belong there")]
pub struct BadCell {
    pub table: &'static str,
    pub column: &'static str,
    pub found: String,
}

/// A type that fits into one column.
pub trait Cell: Sized {
    const KIND: Kind;
    const NULLABLE: bool = false;
    fn to_value(&self) -> Value;
    fn from_value(value: Value) -> Result<Self, Value>;
}

/// A place in the ledger's order; empty until the record is committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seq(pub Option<i64>);

impl Cell for Seq {
    const KIND: Kind = Kind::Seq;
    fn to_value(&self) -> Value {
        self.0.map_or(Value::Null, Value::Int)
    }
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Int(seq) => Ok(Self(Some(seq))),
            Value::Null => Ok(Self(None)),
            other => Err(other),
        }
    }
}

impl<T: Cell> Cell for Option<T> {
    const KIND: Kind = T::KIND;
    const NULLABLE: bool = true;
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_value)
    }
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Null => Ok(None),
            other => T::from_value(other).map(Some),
        }
    }
}

impl Cell for String {
    const KIND: Kind = Kind::Text;
    fn to_value(&self) -> Value {
        Value::Text(self.clone())
    }
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Text(text) => Ok(text),
            other => Err(other),
        }
    }
}

impl Cell for Vec<u8> {
    const KIND: Kind = Kind::Bytes;
    fn to_value(&self) -> Value {
        Value::Bytes(self.clone())
    }
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Bytes(bytes) => Ok(bytes),
            other => Err(other),
        }
    }
}

impl Cell for Digest {
    const KIND: Kind = Kind::Bytes;
    fn to_value(&self) -> Value {
        Value::Bytes(self.as_bytes().to_vec())
    }
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Bytes(bytes) => match <[u8; 32]>::try_from(bytes) {
                Ok(bytes) => Ok(Self::from_bytes(bytes)),
                Err(bytes) => Err(Value::Bytes(bytes)),
            },
            other => Err(other),
        }
    }
}

impl Cell for Time {
    const KIND: Kind = Kind::Time;
    fn to_value(&self) -> Value {
        Value::Time(*self)
    }
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Time(time) => Ok(time),
            other => Err(other),
        }
    }
}

impl<K: IdKind> Cell for Id<K> {
    const KIND: Kind = Kind::Text;
    fn to_value(&self) -> Value {
        Value::Text(self.to_string())
    }
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Text(text) => text.parse().map_err(|_not_an_id| Value::Text(text)),
            other => Err(other),
        }
    }
}

macro_rules! whole_numbers {
    ($($type:ty),+) => {$(
        impl Cell for $type {
            const KIND: Kind = Kind::Int;
            /// A number past the range of the column is kept as its largest value, never wrapped.
            fn to_value(&self) -> Value {
                Value::Int(i64::try_from(*self).unwrap_or(i64::MAX))
            }
            fn from_value(value: Value) -> Result<Self, Value> {
                match value {
                    Value::Int(number) => Self::try_from(number).map_err(|_out_of_range| Value::Int(number)),
                    other => Err(other),
                }
            }
        }
    )+};
}
whole_numbers!(i64, u64, u32);

impl Cell for bool {
    const KIND: Kind = Kind::Int;
    fn to_value(&self) -> Value {
        Value::Int(i64::from(*self))
    }
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Int(0) => Ok(false),
            Value::Int(1) => Ok(true),
            other => Err(other),
        }
    }
}

/// Types that serde writes as one word.
macro_rules! words {
    ($($type:ty),+) => {$(
        impl $crate::value::Cell for $type {
            const KIND: $crate::value::Kind = $crate::value::Kind::Text;
            fn to_value(&self) -> $crate::value::Value {
                match serde_json::to_value(self) {
                    Ok(serde_json::Value::String(word)) => $crate::value::Value::Text(word),
                    _ => $crate::value::Value::Null,
                }
            }
            fn from_value(value: $crate::value::Value) -> Result<Self, $crate::value::Value> {
                match value {
                    $crate::value::Value::Text(word) => serde_json::from_value(serde_json::Value::String(word.clone()))
                        .map_err(|_unknown| $crate::value::Value::Text(word)),
                    other => Err(other),
                }
            }
        }

        #[cfg(feature = "conformance")]
        impl $crate::sample::SampleCell for $type {
            fn sample(n: u64) -> Self {
                $crate::sample::word(n)
            }
        }
    )+};
}
words!(Trust, Status, Directive, Direction, ContainerKind, ToolId);
pub(crate) use words;
