//! A store with one guard taken out. What claims to notice that must notice it: the simulation and the kill test run
//! against each of these. Never part of the program.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use domain::id::BatchId;
use domain::probe::Probe;

use crate::batch::{Batch, Expect};
use crate::chain::Seal;
use crate::query::Query;
use crate::records::{Approval, Halt, TaskStep};
use crate::store::{Applied, Described, Snapshot, Store, StoreError, Written};
use crate::table::Record;
use crate::value::Row;

/// Every group of this number is said to be written, and is not.
const FORGOTTEN: u64 = 5;

/// What keeps the ledger honest, and can be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Fences and epoch expectations.
    Fence,
    /// The steps of tasks.
    Journal,
    /// Writing before saying so.
    Durability,
    /// The id of a batch, and what it expects to be absent.
    Idempotence,
    /// The limits of what is spent.
    Reservation,
    /// That nothing starts after a halt.
    Halt,
    /// That whoever acts on a question acts on it as it was seen.
    Stamp,
}

impl Guard {
    pub const ALL: [Self; 7] = [
        Self::Fence,
        Self::Journal,
        Self::Durability,
        Self::Idempotence,
        Self::Reservation,
        Self::Halt,
        Self::Stamp,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Fence => "fence",
            Self::Journal => "journal",
            Self::Durability => "durability",
            Self::Idempotence => "idempotence",
            Self::Reservation => "reservation",
            Self::Halt => "halt",
            Self::Stamp => "stamp",
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no guard: fence, journal, durability, idempotence, reservation, halt or stamp")]
pub struct NoGuard(String);

impl FromStr for Guard {
    type Err = NoGuard;

    fn from_str(text: &str) -> Result<Self, NoGuard> {
        Self::ALL.into_iter().find(|guard| guard.name() == text).ok_or_else(|| NoGuard(text.into()))
    }
}

#[derive(Debug)]
pub struct Mutant {
    inner: Arc<dyn Store>,
    without: Guard,
    /// Groups so far.
    groups: AtomicU64,
    /// Batches that were given an id of their own.
    renamed: AtomicU64,
}

impl Mutant {
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, without: Guard) -> Self {
        Self { inner, without, groups: AtomicU64::new(0), renamed: AtomicU64::new(0) }
    }

    fn weaken(&self, batch: &Batch) -> Batch {
        let mut weak = batch.again();
        match self.without {
            Guard::Fence => {
                weak.fences.clear();
                weak.expects.retain(|expect| !matches!(expect, Expect::LeaseIs { .. }));
            }
            Guard::Journal => weak.rows.retain(|(table, _)| table.name != TaskStep::TABLE.name),
            Guard::Durability => {}
            Guard::Idempotence => {
                weak.expects.retain(|expect| !matches!(expect, Expect::Absent { .. }));
                let n = self.renamed.fetch_add(1, Ordering::Relaxed);
                weak.rename(BatchId::derived(batch.id(), n, 0));
            }
            Guard::Reservation => weak.spends.iter_mut().for_each(|spend| spend.limit = None),
            Guard::Halt => weak.expects.retain(
                |expect| !matches!(expect, Expect::Absent { table, .. } if table.name == Halt::TABLE.name),
            ),
            Guard::Stamp => weak.expects.retain(
                |expect| !matches!(expect, Expect::Present { table, .. } if table.name == Approval::TABLE.name),
            ),
        }
        weak
    }
}

#[async_trait]
impl Store for Mutant {
    async fn transact(
        &self,
        group: Vec<Batch>,
        seal: &Arc<Seal>,
        probe: &Arc<dyn Probe>,
    ) -> Result<Applied, StoreError> {
        let groups = self.groups.fetch_add(1, Ordering::Relaxed) + 1;
        if self.without == Guard::Durability && groups.is_multiple_of(FORGOTTEN) {
            return Ok(Applied { outcomes: group.iter().map(|_| Ok(Written::Now)).collect(), after: None });
        }
        let weak: Vec<Batch> = group.iter().map(|batch| self.weaken(batch)).collect();
        self.inner.transact(weak, seal, probe).await
    }

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        self.inner.select(query).await
    }

    async fn select_together(&self, queries: &[Query]) -> Result<Vec<Vec<Row>>, StoreError> {
        self.inner.select_together(queries).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError> {
        self.inner.snapshot().await
    }

    async fn describe(&self) -> Result<Described, StoreError> {
        let mut described = self.inner.describe().await?;
        described.warnings.push(format!("a build without {}", self.without));
        Ok(described)
    }

    async fn scrub(&self) -> Result<(), StoreError> {
        self.inner.scrub().await
    }

    async fn upkeep(&self) -> Result<(), StoreError> {
        self.inner.upkeep().await
    }
}

#[cfg(test)]
mod tests {
    use super::Guard;

    #[test]
    fn a_guard_is_read_as_it_is_printed() {
        for guard in Guard::ALL {
            assert_eq!(guard.to_string().parse(), Ok(guard));
        }
        assert!("fences".parse::<Guard>().is_err());
    }
}
