//! The database of one simulated process: every question and every write waits at a gate until the simulation lets it
//! pass, or fail. A crash is a gate that never opens.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use domain::probe::{Point, Probe};
use ledger::batch::Expect;
use ledger::query::Query;
use ledger::records::Lease;
use ledger::store::Described;
use ledger::table::Record as _;
use ledger::value::Row;
use ledger::{Applied, Batch, Outcome, Refusal, Seal, Select, Snapshot, Store, StoreError, Written};
use tokio::sync::oneshot;

use super::dice::Dice;

/// How many questions in a thousand wait at a gate; the rest are answered at once.
const ASKED_SLOWLY: u64 = 200;

/// Where a process waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// About to read this table.
    Select(&'static str),
    /// About to write; nothing is there yet.
    Write,
    /// It is written; nobody has been told.
    Acknowledge,
}

/// Why the gate opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Pass,
    Busy,
    Full,
    Unreachable,
}

impl Fate {
    fn allows(self) -> Result<(), StoreError> {
        match self {
            Self::Pass => Ok(()),
            Self::Busy => Err(StoreError::Busy),
            Self::Full => Err(StoreError::Full),
            Self::Unreachable => Err(StoreError::Unreachable("the line is cut".into())),
        }
    }
}

/// What really happened, in order, whoever was told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// The store was asked to write, and said this of each batch.
    Wrote(Vec<Write>),
    Running {
        tool: String,
        call: String,
    },
}

/// What became of one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) outcome: Result<(), Refusal>,
    /// Whether its fences and epochs held at that moment; nothing where the group itself may have moved them.
    pub(super) held: Option<bool>,
}

#[derive(Debug, Default)]
pub(super) struct Gates(Mutex<Vec<(Gate, oneshot::Sender<Fate>)>>);

impl Gates {
    async fn wait(&self, gate: Gate) -> Result<(), StoreError> {
        let (open, opened) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((gate, open));
        match opened.await {
            Ok(fate) => fate.allows(),
            // The simulation is over.
            Err(_gone) => std::future::pending().await,
        }
    }

    /// Those that somebody waits at, in the order they came.
    pub(super) fn waiting(&self) -> Vec<Gate> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.retain(|(_, open)| !open.is_closed());
        gates.iter().map(|(gate, _)| *gate).collect()
    }

    pub(super) fn open(&self, at: usize, fate: Fate) {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if at < gates.len() {
            let (_, open) = gates.remove(at);
            // Whoever stopped waiting misses nothing.
            open.send(fate).unwrap_or(());
        }
    }
}

/// What one process reports of what really happened.
#[derive(Debug, Default)]
pub(super) struct Facts(Mutex<Vec<Fact>>);

impl Facts {
    fn add(&self, fact: Fact) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(fact);
    }

    pub(super) fn take(&self) -> Vec<Fact> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Probe for Facts {
    fn reached(&self, point: Point<'_>) {
        if let Point::Running { tool, call } = point {
            self.add(Fact::Running { tool: tool.into(), call: call.into() });
        }
    }
}

#[derive(Debug)]
pub(super) struct Flaky {
    pub(super) inner: Arc<dyn Store>,
    pub(super) gates: Arc<Gates>,
    pub(super) facts: Arc<Facts>,
    pub(super) dice: Mutex<Dice>,
}

impl Flaky {
    /// Whether everything that a batch says about leases is so.
    async fn holds(&self, batch: &Batch) -> Result<bool, StoreError> {
        for fence in batch.fences() {
            if self.lease(&fence.subject).await?.map_or(0, |lease| lease.epoch) != fence.epoch {
                return Ok(false);
            }
        }
        for expect in batch.expects() {
            if let Expect::LeaseIs { subject, lease } = expect
                && self.lease(subject).await? != *lease
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn lease(&self, subject: &String) -> Result<Option<Lease>, StoreError> {
        let rows = self.inner.select(&Select::<Lease>::by("subject", subject).query).await?;
        Ok(rows.into_iter().next().map(Lease::from_row).transpose()?)
    }
}

#[async_trait]
impl Store for Flaky {
    async fn transact(
        &self,
        group: Vec<Batch>,
        seal: &Arc<Seal>,
        probe: &Arc<dyn Probe>,
    ) -> Result<Applied, StoreError> {
        self.gates.wait(Gate::Write).await?;
        let mut held = Vec::with_capacity(group.len());
        for batch in &group {
            held.push(if group.len() == 1 { Some(self.holds(batch).await?) } else { None });
        }
        let applied = self.inner.transact(group, seal, probe).await?;
        let written = |outcome: &Outcome| outcome.clone().map(|_: Written| ());
        let writes = applied
            .outcomes
            .iter()
            .zip(held)
            .map(|(outcome, held)| Write { outcome: written(outcome), held });
        self.facts.add(Fact::Wrote(writes.collect()));
        self.gates.wait(Gate::Acknowledge).await?;
        Ok(applied)
    }

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let slowly = self.dice.lock().unwrap_or_else(PoisonError::into_inner).per_mille(ASKED_SLOWLY);
        if slowly {
            self.gates.wait(Gate::Select(query.table.name)).await?;
        }
        self.inner.select(query).await
    }

    async fn select_together(&self, queries: &[Query]) -> Result<Vec<Vec<Row>>, StoreError> {
        let slowly = self.dice.lock().unwrap_or_else(PoisonError::into_inner).per_mille(ASKED_SLOWLY);
        if let Some(last) = queries.last().filter(|_| slowly) {
            self.gates.wait(Gate::Select(last.table.name)).await?;
        }
        self.inner.select_together(queries).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError> {
        self.inner.snapshot().await
    }

    async fn scrub(&self) -> Result<(), StoreError> {
        self.inner.scrub().await
    }

    async fn upkeep(&self) -> Result<(), StoreError> {
        self.inner.upkeep().await
    }

    async fn describe(&self) -> Result<Described, StoreError> {
        self.inner.describe().await
    }
}
