//! A record type describes its own table; stores are generic over that description.

use crate::value::{BadCell, Cell, Kind, Row, Value};

#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    pub name: &'static str,
    pub key: &'static [&'static str],
    pub columns: &'static [Column],
    pub write: Write,
    /// Whether rows may be taken away again: where people and their words stand, and what holds only for a while.
    pub erasable: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    pub nullable: bool,
}

/// What writing a row means where one with the same key is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// The batch is refused: a row is written once.
    Append,
    /// Nothing: the same key is the same row.
    Keep,
    /// The new row replaces the old one: projections and leases.
    Replace,
}

impl Table {
    #[must_use]
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|known| known.name == column)
    }

    /// The columns that a writer gives; the store gives the rest.
    pub fn given(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().enumerate().filter(|(_, column)| column.kind != Kind::Seq)
    }
}

pub trait Record: Sized + Send {
    const TABLE: &'static Table;
    fn row(&self) -> Row;
    fn from_row(row: Row) -> Result<Self, BadCell>;
}

/// A record that may be erased. Everything else is for ever; `record!` says which is which.
pub trait Erasable: Record {}

/// One field out of a row; `record!` calls it for each column in turn.
pub fn take<T: Cell>(
    cells: &mut impl Iterator<Item = Value>,
    table: &'static str,
    column: &'static str,
) -> Result<T, BadCell> {
    let cell = cells.next().unwrap_or(Value::Null);
    T::from_value(cell).map_err(|found| BadCell { table, column, found: format!("{found:?}") })
}

/// Declares a record: its struct, table, key and columns in one place.
macro_rules! record {
    ($(#[$meta:meta])* $name:ident in $table:literal by [$($key:ident),+], $write:ident, Erasable { $($body:tt)+ }) => {
        $crate::table::record! { @true $(#[$meta])* $name in $table by [$($key),+], $write { $($body)+ } }

        impl $crate::table::Erasable for $name {}
    };
    ($(#[$meta:meta])* $name:ident in $table:literal by [$($key:ident),+], $write:ident { $($body:tt)+ }) => {
        $crate::table::record! { @false $(#[$meta])* $name in $table by [$($key),+], $write { $($body)+ } }
    };
    (@$erasable:ident $(#[$meta:meta])* $name:ident in $table:literal by [$($key:ident),+], $write:ident {
        $($(#[$field_meta:meta])* $field:ident: $type:ty,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)+
        }

        impl $crate::table::Record for $name {
            const TABLE: &'static $crate::table::Table = &$crate::table::Table {
                name: $table,
                key: &[$(stringify!($key)),+],
                columns: &[$($crate::table::Column {
                    name: stringify!($field),
                    kind: <$type as $crate::value::Cell>::KIND,
                    nullable: <$type as $crate::value::Cell>::NULLABLE,
                }),+],
                write: $crate::table::Write::$write,
                erasable: $erasable,
            };

            fn row(&self) -> $crate::value::Row {
                vec![$($crate::value::Cell::to_value(&self.$field)),+]
            }

            fn from_row(row: $crate::value::Row) -> Result<Self, $crate::value::BadCell> {
                let mut cells = row.into_iter();
                Ok(Self { $($field: $crate::table::take(&mut cells, $table, stringify!($field))?),+ })
            }
        }
    };
}
pub(crate) use record;
