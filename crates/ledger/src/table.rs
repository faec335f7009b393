//! A record type describes its own table; stores are generic over that description.

use crate::value::{BadCell, Cell, Kind, Row, Value};

#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    pub name: &'static str,
    pub key: &'static [&'static str],
    pub columns: &'static [Column],
    /// Beside the key, which every database looks up anyway.
    pub indexes: &'static [Index],
    pub write: Write,
    pub lifetime: RowLifetime,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    pub nullable: bool,
}

/// Columns by which rows are looked up, or which no two rows share.
#[derive(Debug, PartialEq, Eq)]
pub struct Index {
    pub columns: &'static [&'static str],
    pub unique: bool,
    /// Only rows with this number in this column are in it.
    pub filter: Option<(&'static str, i64)>,
}

/// Whether rows may be taken away again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLifetime {
    /// Never. Unless rows are replaced, triggers of the database refuse to change or delete them.
    ForEver,
    /// Never, and no trigger guards it: tables from before the rule, whose schema stays as it is.
    Unguarded,
    /// What holds only for a while.
    Erasable,
    /// People and their words: what `forget` erases.
    Personal,
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

    /// Whether the database itself refuses to change and to delete rows.
    #[must_use]
    pub const fn is_append_only(&self) -> bool {
        matches!((self.lifetime, self.write), (RowLifetime::ForEver, Write::Append | Write::Keep))
    }

    #[must_use]
    pub const fn is_erasable(&self) -> bool {
        matches!(self.lifetime, RowLifetime::Erasable | RowLifetime::Personal)
    }

    #[must_use]
    pub const fn is_personal(&self) -> bool {
        matches!(self.lifetime, RowLifetime::Personal)
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

/// Declares a record: its struct, table, key, columns and indexes in one place.
///
/// ```text
/// Name in "table" by [key], Write, Lifetime; index [a], index [b, c], unique [d], unique [e] where e == 1 { fields }
/// ```
///
/// `Write` is one of [`Write`], `Lifetime` one of [`RowLifetime`] (left out, it is `ForEver`); the indexes may be left out.
/// A column that is added to a table later is its last field.
macro_rules! record {
    ($(#[$meta:meta])* $name:ident in $table:literal by [$($key:ident),+], $write:ident $(, $lifetime:ident)?
        $(; $($index:ident [$($indexed:ident),+] $(where $filtered:ident == $filter:literal)?),+)?
    {
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
                indexes: &[$($($crate::table::Index {
                    columns: &[$(stringify!($indexed)),+],
                    unique: $crate::table::record!(@unique $index),
                    filter: $crate::table::record!(@filter $($filtered $filter)?),
                }),+)?],
                write: $crate::table::Write::$write,
                lifetime: $crate::table::record!(@lifetime $($lifetime)?),
            };

            fn row(&self) -> $crate::value::Row {
                vec![$($crate::value::Cell::to_value(&self.$field)),+]
            }

            fn from_row(row: $crate::value::Row) -> Result<Self, $crate::value::BadCell> {
                let mut cells = row.into_iter();
                Ok(Self { $($field: $crate::table::take(&mut cells, $table, stringify!($field))?),+ })
            }
        }

        $($crate::table::record! { @erasable $lifetime $name })?

        // What is a key or indexed is a field.
        const _: fn(&$name) = |record| {
            $(_ = &record.$key;)+
            $($($(_ = &record.$indexed;)+ $(_ = &record.$filtered;)?)+)?
        };

        #[cfg(feature = "conformance")]
        impl $crate::sample::SampleRecord for $name {
            fn sample(n: u64) -> Self {
                let mut numbers = $crate::sample::numbers(n);
                Self { $($field: $crate::sample::next(&mut numbers)),+ }
            }
        }
    };

    (@unique index) => { false };
    (@unique unique) => { true };
    (@filter) => { None };
    (@filter $column:ident $value:literal) => { Some((stringify!($column), $value)) };
    (@lifetime) => { $crate::table::RowLifetime::ForEver };
    (@lifetime $lifetime:ident) => { $crate::table::RowLifetime::$lifetime };
    (@erasable Unguarded $name:ident) => {};
    (@erasable $lifetime:ident $name:ident) => { impl $crate::table::Erasable for $name {} };
}
pub(crate) use record;
