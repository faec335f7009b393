//! A store on which rivals look before any of them leaps.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use domain::probe::Probe;
use ledger::query::Query;
use ledger::store::{Applied, Described, Snapshot};
use ledger::value::Row;
use ledger::{Batch, Seal, Store, StoreError};

/// The first looks at one table wait for each other: as many as there are rivals have all seen the same before the
/// first of them writes.
#[derive(Debug)]
pub struct Together {
    inner: Arc<dyn Store>,
    table: &'static str,
    rivals: usize,
    looked: AtomicUsize,
    barrier: tokio::sync::Barrier,
}

impl Together {
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, table: &'static str, rivals: usize) -> Arc<Self> {
        let (looked, barrier) = (AtomicUsize::new(0), tokio::sync::Barrier::new(rivals));
        Arc::new(Self { inner, table, rivals, looked, barrier })
    }

    async fn meet(&self, queries: &[Query]) {
        if queries.iter().any(|query| query.table.name == self.table)
            && self.looked.fetch_add(1, Ordering::SeqCst) < self.rivals
        {
            self.barrier.wait().await;
        }
    }
}

#[async_trait]
impl Store for Together {
    async fn transact(
        &self,
        group: Vec<Batch>,
        seal: &Arc<Seal>,
        probe: &Arc<dyn Probe>,
    ) -> Result<Applied, StoreError> {
        self.inner.transact(group, seal, probe).await
    }

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let rows = self.inner.select(query).await;
        self.meet(std::slice::from_ref(query)).await;
        rows
    }

    async fn select_together(&self, queries: &[Query]) -> Result<Vec<Vec<Row>>, StoreError> {
        let answers = self.inner.select_together(queries).await;
        self.meet(queries).await;
        answers
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError> {
        self.inner.snapshot().await
    }

    async fn describe(&self) -> Result<Described, StoreError> {
        self.inner.describe().await
    }

    async fn scrub(&self) -> Result<(), StoreError> {
        self.inner.scrub().await
    }

    async fn upkeep(&self) -> Result<(), StoreError> {
        self.inner.upkeep().await
    }
}
