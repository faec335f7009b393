//! What goes in comes out again.

use std::sync::Arc;

use super::batch;
use crate::committer::Ledger;
use crate::query::Query;
use crate::records::samples;
use crate::sample::TableSamples;
use crate::store::{Store, key_of};
use crate::table::Table;
use crate::value::{Kind, Ref, Row, Value};

/// The samples of every table, each written by one batch. A database comes with rows of its own, which are left aside.
pub(super) async fn every_record_comes_back_as_it_went_in(ledger: Ledger, store: Arc<dyn Store>) {
    for (n, samples) in (1..).zip(samples()) {
        let TableSamples { table, rows, .. } = &samples;
        let mut work = batch(n);
        samples.put_into(&mut work);
        ledger.commit(work).await.unwrap_or_else(|error| panic!("{}: {error}", table.name));
        let all = Query { table, filters: Vec::new(), order: None, limit: None };
        let selected = store.select(&all).await.unwrap_or_else(|error| panic!("{}: {error}", table.name));
        assert_eq!(came_back(table, rows, &selected), *rows, "{}", table.name);

        let mut scanned: Vec<Row> = Vec::new();
        let mut snapshot = store.snapshot().await.expect("snapshot");
        let mut visit = |cells: &[Ref<'_>]| scanned.push(cells.iter().map(|cell| cell.keep()).collect());
        let scan = snapshot.scan(&all, &mut visit).await;
        scan.unwrap_or_else(|error| panic!("{}: {error}", table.name));
        drop(snapshot);
        assert_eq!(came_back(table, rows, &scanned), *rows, "{}, looked at one by one", table.name);

        for row in selected {
            assert_eq!(samples.reread(row.clone()), Ok(row), "{}", table.name);
        }
    }
}

/// Those of the rows that have the key of a sample, in the order of the samples, without the numbers that the store gave.
fn came_back(table: &Table, samples: &[Row], found: &[Row]) -> Vec<Row> {
    let of = |sample: &Row| found.iter().find(|row| key_of(table, row) == key_of(table, sample)).cloned();
    let mut rows: Vec<Row> = samples.iter().filter_map(of).collect();
    for (at, _) in table.columns.iter().enumerate().filter(|(_, column)| column.kind == Kind::Seq) {
        let numbers: Vec<Value> =
            rows.iter_mut().map(|row| std::mem::replace(&mut row[at], Value::Null)).collect();
        let given = numbers.iter().all(|number| matches!(number, Value::Int(_)));
        assert!(given && numbers.is_sorted_by(|a, b| a < b), "{}: {numbers:?}", table.name);
    }
    rows
}
