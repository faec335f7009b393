//! A transaction that is open: what it writes is sent at once, and what comes of it is known with the next answer.

use ledger::query::Query;
use ledger::store::{StoreError, Tx};
use ledger::table::Table;
use ledger::value::{Row, Value};

use super::cells::{self, Parameter};
use super::pipeline::Pipeline;
use super::select_of;
use crate::sql;

pub(super) struct OpenTx<'c>(pub(super) Pipeline<'c>);

impl Tx for OpenTx<'_> {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let answers = self.select_each(std::slice::from_ref(query)).await?;
        Ok(answers.into_iter().next().unwrap_or_default())
    }

    async fn select_each(&mut self, queries: &[Query]) -> Result<Vec<Vec<Row>>, StoreError> {
        for query in queries {
            let (sql, parameters) = select_of(query);
            self.0.query(&sql, parameters).await;
        }
        let answers = self.0.settle().await?;
        debug_assert_eq!(answers.len(), queries.len());
        queries.iter().zip(&answers).map(|(query, rows)| cells::decode_all(query.table, rows)).collect()
    }

    async fn write(&mut self, table: &'static Table, rows: &[&Row]) -> Result<(), StoreError> {
        let (sql, parameters) = match rows {
            [] => return Ok(()),
            [row] => {
                let given = table.given().map(|(at, column)| Parameter::cell(column.kind, cell(row, at)));
                (sql::insert(table, super::DIALECT), given.collect())
            }
            rows => {
                let given = table.given();
                let list = given.map(|(at, column)| {
                    Parameter::list(column.kind, rows.iter().map(move |row| cell(row, at)))
                });
                (sql::insert_listed(table), list.collect())
            }
        };
        self.0.insert((table, rows.len()), sql::check_insert, &sql, parameters).await;
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), StoreError> {
        self.0.settle().await.map(drop)
    }

    async fn erase(
        &mut self,
        table: &'static Table,
        column: &'static str,
        values: &[Value],
    ) -> Result<(), StoreError> {
        let list = Parameter::list(sql::kind_of(table, column), values.iter());
        self.0.execute(&sql::erase_listed(table, column), vec![list]).await;
        Ok(())
    }

    /// What was written before is known to be there: taking back ends here.
    async fn mark(&mut self) -> Result<(), StoreError> {
        self.0.run("SAVEPOINT mark").await;
        Ok(())
    }

    async fn take_back(&mut self) -> Result<(), StoreError> {
        self.0.settle_whatever_comes().await;
        self.0.run("ROLLBACK TO mark").await;
        self.flush().await
    }
}

fn cell(row: &Row, at: usize) -> &Value {
    row.get(at).unwrap_or(&Value::Null)
}
