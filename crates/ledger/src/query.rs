//! A question to one table: enough for the read views, small enough that a map can answer it too.

use std::marker::PhantomData;

use crate::table::{Record, Table};
use crate::value::{Cell, Row, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Eq,
    Ne,
    Ge,
    Gt,
    Lt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    pub column: &'static str,
    pub test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    Is(Op, Value),
    AnyOf(Vec<Value>),
}

impl Test {
    /// An empty cell passes only the test for emptiness, as in SQL.
    fn holds(&self, cell: &Value) -> bool {
        let full = *cell != Value::Null;
        match self {
            Self::Is(Op::Eq, value) => cell == value,
            Self::Is(Op::Ne, value) => cell != value && full,
            Self::Is(Op::Ge, value) => cell >= value && full,
            Self::Is(Op::Gt, value) => cell > value && full,
            Self::Is(Op::Lt, value) => cell < value && full,
            Self::AnyOf(values) => values.contains(cell) && full,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Ascending,
    Descending,
}

#[derive(Clone, Debug)]
pub struct Query {
    pub table: &'static Table,
    pub filters: Vec<Filter>,
    pub order: Option<(&'static str, Order)>,
    pub limit: Option<u32>,
}

impl Query {
    /// Whether a row of this table answers the question; the in-memory store's whole query engine.
    #[must_use]
    pub fn matches(&self, row: &Row) -> bool {
        self.filters.iter().all(|filter| {
            let cell = self.table.position(filter.column).and_then(|at| row.get(at));
            cell.is_some_and(|cell| filter.test.holds(cell))
        })
    }
}

/// A question whose answers are records of one type.
#[derive(Clone, Debug)]
pub struct Select<T> {
    pub query: Query,
    record: PhantomData<fn() -> T>,
}

impl<T: Record> Select<T> {
    #[must_use]
    pub fn all() -> Self {
        let query = Query { table: T::TABLE, filters: Vec::new(), order: None, limit: None };
        Self { query, record: PhantomData }
    }

    #[must_use]
    pub fn by(column: &'static str, value: &impl Cell) -> Self {
        Self::all().filter(column, Op::Eq, value)
    }

    #[must_use]
    pub fn filter(self, column: &'static str, op: Op, value: &impl Cell) -> Self {
        self.filter_value(column, op, value.to_value())
    }

    #[must_use]
    pub fn filter_value(mut self, column: &'static str, op: Op, value: Value) -> Self {
        self.query.filters.push(Filter { column, test: Test::Is(op, value) });
        self
    }

    /// Rows whose column holds one of these.
    #[must_use]
    pub fn any_of<'a, C: Cell + 'a>(column: &'static str, values: impl IntoIterator<Item = &'a C>) -> Self {
        let mut select = Self::all();
        let values = values.into_iter().map(Cell::to_value).collect();
        select.query.filters.push(Filter { column, test: Test::AnyOf(values) });
        select
    }

    /// Rows whose text column begins with `prefix`.
    #[must_use]
    pub fn starting_with(self, column: &'static str, prefix: &str) -> Self {
        // `~` sorts after every character an id can have.
        self.filter(column, Op::Ge, &prefix.to_owned()).filter(column, Op::Lt, &format!("{prefix}~"))
    }

    #[must_use]
    pub fn ascending(mut self, column: &'static str) -> Self {
        self.query.order = Some((column, Order::Ascending));
        self
    }

    #[must_use]
    pub fn descending(mut self, column: &'static str) -> Self {
        self.query.order = Some((column, Order::Descending));
        self
    }

    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.query.limit = Some(limit);
        self
    }
}
