//! The store in memory: a map of table → key → row. For tests and simulations; it keeps nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use domain::probe::Probe;
use tokio::sync::Mutex;

use crate::batch::Batch;
use crate::chain::Seal;
use crate::query::{Filter, Order, Query, Test};
use crate::records::TABLES;
use crate::store::{Applied, Described, Snapshot, Store, StoreError, Tx, any_written, apply, key_of};
use crate::table::{Column, Table, Write};
use crate::value::{Kind, Row, Value};

#[derive(Debug, Default)]
struct Tables {
    rows: BTreeMap<&'static str, BTreeMap<Vec<Value>, Row>>,
    last_seq: BTreeMap<&'static str, i64>,
    /// What stood where something was written in the open transaction, newest last.
    undo: Vec<(&'static str, Vec<Value>, Option<Row>)>,
    mark: usize,
}

impl Tables {
    fn take_back_to(&mut self, mark: usize) {
        for (table, key, before) in self.undo.drain(mark..).rev() {
            let rows = self.rows.entry(table).or_default();
            match before {
                Some(row) => drop(rows.insert(key, row)),
                None => drop(rows.remove(&key)),
            }
        }
    }
}

#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

/// What another program can do to a database: for tests.
impl MemoryStore {
    /// Puts a row where it belongs, or takes the row with its key away.
    pub async fn tamper(&self, table: &'static Table, row: &Row, put: bool) {
        let mut tables = self.tables.lock().await;
        let rows = tables.rows.entry(table.name).or_default();
        match put {
            true => drop(rows.insert(key_of(table, row), row.clone())),
            false => drop(rows.remove(&key_of(table, row))),
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn transact(
        &self,
        group: Vec<Batch>,
        seal: &Arc<Seal>,
        probe: &Arc<dyn Probe>,
    ) -> Result<Applied, StoreError> {
        let mut tables = self.tables.lock().await;
        // A transaction that was dropped half-way is taken back by the next one, as a database does it at once.
        tables.take_back_to(0);
        let applied = apply(&mut *tables, &group, seal, &**probe).await;
        if !applied.as_ref().is_ok_and(|applied| any_written(&applied.outcomes)) {
            tables.take_back_to(0);
        }
        tables.undo.clear();
        applied
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError> {
        let mut tables = self.tables.lock().await;
        tables.take_back_to(0);
        Ok(Box::new(Tables { rows: tables.rows.clone(), ..Tables::default() }))
    }

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let mut tables = self.tables.lock().await;
        tables.take_back_to(0);
        Tx::select(&mut *tables, query).await
    }

    async fn select_together(&self, queries: &[Query]) -> Result<Vec<Vec<Row>>, StoreError> {
        let mut tables = self.tables.lock().await;
        tables.take_back_to(0);
        let mut answers = Vec::with_capacity(queries.len());
        for query in queries {
            answers.push(Tx::select(&mut *tables, query).await?);
        }
        Ok(answers)
    }

    async fn describe(&self) -> Result<Described, StoreError> {
        Ok(Described { what: "in memory".into(), warnings: Vec::new() })
    }

    async fn scrub(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn upkeep(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[async_trait]
impl Snapshot for Tables {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        Tx::select(self, query).await
    }

    async fn count(&mut self, table: &'static Table) -> Result<u64, StoreError> {
        Ok(self.rows.get(table.name).map_or(0, |rows| rows.len() as u64))
    }
}

/// The row in the columns that are asked for: a record may show a part of its table.
fn shown(asked: &Table, row: &Row) -> Row {
    let whole =
        TABLES.iter().find(|table| table.name == asked.name).filter(|table| table.columns != asked.columns);
    whole.map_or_else(
        || row.clone(),
        |whole| {
            let cell = |column: &Column| whole.position(column.name).and_then(|at| row.get(at).cloned());
            asked.columns.iter().map(|column| cell(column).unwrap_or(Value::Null)).collect()
        },
    )
}

impl Tx for Tables {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let rows = self.rows.get(query.table.name).into_iter().flat_map(BTreeMap::values);
        let rows = rows.map(|row| shown(query.table, row));
        let mut found: Vec<Row> = rows.filter(|row| query.matches(row)).collect();
        if let Some((column, order)) = query.order {
            let at = query.table.position(column).unwrap_or(0);
            found.sort_by(|a, b| a.get(at).cmp(&b.get(at)));
            if order == Order::Descending {
                found.reverse();
            }
        }
        if let Some(limit) = query.limit {
            found.truncate(limit as usize);
        }
        Ok(found)
    }

    async fn write(&mut self, table: &'static Table, rows: &[&Row]) -> Result<(), StoreError> {
        for &row in rows {
            let (mut row, key) = (row.clone(), key_of(table, row));
            let there = self.rows.get(table.name).is_some_and(|rows| rows.contains_key(&key));
            match table.write {
                Write::Append if there => return Err(StoreError::Duplicate(table.name)),
                Write::Keep if there => continue,
                Write::Append | Write::Keep | Write::Replace => {}
            }
            for (column, cell) in table.columns.iter().zip(&mut row) {
                if column.kind == Kind::Seq {
                    let last = self.last_seq.entry(table.name).or_default();
                    *last += 1;
                    *cell = Value::Int(*last);
                }
            }
            let before = self.rows.entry(table.name).or_default().insert(key.clone(), row);
            self.undo.push((table.name, key, before));
        }
        Ok(())
    }

    async fn erase(
        &mut self,
        table: &'static Table,
        column: &'static str,
        values: &[Value],
    ) -> Result<(), StoreError> {
        let filters = vec![Filter { column, test: Test::AnyOf(values.to_vec()) }];
        let query = Query { table, filters, order: None, limit: None };
        let rows = self.rows.entry(table.name).or_default();
        for (key, row) in rows.extract_if(.., |_, row| query.matches(row)) {
            self.undo.push((table.name, key, Some(row)));
        }
        Ok(())
    }

    async fn mark(&mut self) -> Result<(), StoreError> {
        self.mark = self.undo.len();
        Ok(())
    }

    async fn take_back(&mut self) -> Result<(), StoreError> {
        self.take_back_to(self.mark);
        Ok(())
    }
}
