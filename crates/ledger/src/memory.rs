//! The store in memory: a map of table → key → row. For tests and simulations; it keeps nothing.

use std::collections::BTreeMap;

use async_trait::async_trait;

use tokio::sync::Mutex;

use crate::batch::Batch;
use crate::chain::Seal;
use crate::query::{Order, Query};
use crate::store::{Outcome, Store, StoreError, Tx, apply, key_of};
use crate::table::{Table, Write};
use crate::value::{Kind, Row, Value};

#[derive(Clone, Debug, Default)]
struct Tables {
    rows: BTreeMap<&'static str, BTreeMap<Vec<Value>, Row>>,
    last_seq: BTreeMap<&'static str, i64>,
}

#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

#[async_trait]
impl Store for MemoryStore {
    async fn transact(&self, group: &[Batch], seal: &Seal) -> Result<Vec<Outcome>, StoreError> {
        let mut tables = self.tables.lock().await;
        let mut outcomes = Vec::with_capacity(group.len());
        for batch in group {
            let mut attempt = tables.clone();
            let outcome = apply(&mut attempt, batch, seal).await?;
            if outcome.is_ok() {
                *tables = attempt;
            }
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        self.tables.lock().await.select(query).await
    }

    async fn describe(&self) -> Result<String, StoreError> {
        Ok("in memory".into())
    }
}

impl Tx for Tables {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let rows = self.rows.get(query.table.name).into_iter().flat_map(BTreeMap::values);
        let mut found: Vec<Row> = rows.filter(|row| query.matches(row)).cloned().collect();
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

    async fn write(&mut self, table: &'static Table, rows: Vec<Row>) -> Result<(), StoreError> {
        for mut row in rows {
            let key = key_of(table, &row);
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
            self.rows.entry(table.name).or_default().insert(key, row);
        }
        Ok(())
    }
}
