//! The one writer of a process: batches that wait together become one durable transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use domain::id::BatchId;
use domain::limits::{GROUP_BATCHES, WAITING_BATCHES};
use domain::probe::{Point, Probe};
use tokio::sync::{mpsc, oneshot};

use crate::batch::{Batch, Refusal, Token};
use crate::chain::Seal;
use crate::query::Select;
use crate::sequence::CommitSequence;
use crate::store::{Described, Outcome, Snapshot, Store, StoreError, Written};
use crate::table::Record;

/// Proof that a batch is durable. INVARIANT (receipt): made only here, after the transaction that holds
/// the batch was committed; it cannot be copied, stored or made elsewhere.
#[derive(Debug)]
pub struct Receipt {
    batch: BatchId,
    /// Nothing if a batch of this id was written before: then nothing of this one was.
    token: Option<Token>,
}

impl Receipt {
    #[must_use]
    pub const fn batch(&self) -> BatchId {
        self.batch
    }

    /// Whether this is the receipt of the very batch that the token came from.
    #[must_use]
    pub fn is_for(&self, token: &Token) -> bool {
        self.token.as_ref() == Some(token)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error(transparent)]
    Refused(Refusal),
    #[error(transparent)]
    Store(Arc<StoreError>),
    #[error("the ledger was closed before the batch was written")]
    Closed,
}

/// A batch that was handed in, and waits for its transaction.
#[derive(Debug)]
pub struct PendingCommit {
    batch: BatchId,
    token: Token,
    outcome: oneshot::Receiver<Result<Written, CommitError>>,
    decided: Option<Result<Written, CommitError>>,
}

impl PendingCommit {
    /// Waits until it is decided. It may be dropped and called again.
    pub async fn decided(&mut self) {
        if self.decided.is_none() {
            self.decided = Some((&mut self.outcome).await.unwrap_or(Err(CommitError::Closed)));
        }
    }

    /// # Errors
    /// As [`Ledger::commit`].
    pub async fn receipt(mut self) -> Result<Receipt, CommitError> {
        self.decided().await;
        let written = self.decided.unwrap_or(Err(CommitError::Closed))?;
        Ok(Receipt { batch: self.batch, token: (written == Written::Now).then_some(self.token) })
    }
}

struct Job {
    batch: Batch,
    done: oneshot::Sender<Result<Written, CommitError>>,
}

/// Any number of writers and readers share one of these.
#[derive(Debug)]
pub struct Ledger {
    store: Arc<dyn Store>,
    seal: Arc<Seal>,
    jobs: mpsc::Sender<Job>,
    barriers: Arc<AtomicU64>,
    healed: Arc<AtomicBool>,
}

impl Ledger {
    /// Starts the committer on the current runtime. It ends with the last handle on the ledger. When more
    /// batches wait than the channel holds, writers wait too: nothing is dropped.
    #[must_use]
    pub fn start(store: Arc<dyn Store>, seal: impl Into<Arc<Seal>>, probe: Arc<dyn Probe>) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING_BATCHES);
        let ledger =
            Self { store, seal: seal.into(), jobs, barriers: Arc::default(), healed: Arc::default() };
        let committer = Committer {
            store: Arc::clone(&ledger.store),
            seal: Arc::clone(&ledger.seal),
            probe,
            barriers: Arc::clone(&ledger.barriers),
            healed: Arc::clone(&ledger.healed),
        };
        #[expect(clippy::disallowed_methods, reason = "the one committer of this process")]
        drop(tokio::spawn(committer.run(waiting)));
        ledger
    }

    /// Writes the batch, all or nothing, and returns once it is durable. Handing in the same batch again
    /// changes nothing and succeeds.
    ///
    /// # Errors
    /// If an expectation or a fence does not hold: nothing was written then. If the database fails: nothing, or all of
    /// it, where only the answer was lost; handing in the same batch again tells.
    pub async fn commit(&self, batch: Batch) -> Result<Receipt, CommitError> {
        self.submit(batch).await?.receipt().await
    }

    /// Hands the batch in, and does not wait until it is durable. Batches are written in the order of these calls; see
    /// [`Batch::follow`] for what becomes of those after one that is refused.
    ///
    /// # Errors
    /// If the ledger was closed.
    pub async fn submit(&self, batch: Batch) -> Result<PendingCommit, CommitError> {
        let (id, token) = (batch.id(), batch.token());
        let (done, outcome) = oneshot::channel();
        let sent = self.jobs.send(Job { batch, done }).await;
        sent.map_err(|_closed| CommitError::Closed)?;
        Ok(PendingCommit { batch: id, token, outcome, decided: None })
    }

    /// How many durable transactions this process has waited for.
    #[must_use]
    pub fn barriers(&self) -> u64 {
        self.barriers.load(Ordering::Relaxed)
    }

    /// Whether this process found the audit damaged, and went on in a new epoch.
    #[must_use]
    pub fn healed(&self) -> bool {
        self.healed.load(Ordering::Relaxed)
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    #[must_use]
    pub fn seal(&self) -> &Seal {
        &self.seal
    }

    /// # Errors
    /// If the database fails or holds something that is no record.
    pub async fn select<T: Record>(&self, select: Select<T>) -> Result<Vec<T>, StoreError> {
        let rows = self.store.select(&select.query).await?;
        rows.into_iter().map(|row| T::from_row(row).map_err(StoreError::from)).collect()
    }

    /// # Errors
    /// As [`Ledger::select`].
    pub async fn first<T: Record>(&self, select: Select<T>) -> Result<Option<T>, StoreError> {
        Ok(self.select(select.limit(1)).await?.into_iter().next())
    }

    /// How many records answer a question.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn count<T: Record>(&self, select: Select<T>) -> Result<u64, StoreError> {
        self.store.count(&select.query).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError> {
        self.store.snapshot().await
    }

    /// # Errors
    /// If the database cannot say.
    pub async fn describe(&self) -> Result<Described, StoreError> {
        self.store.describe().await
    }

    /// # Errors
    /// If the database cannot do it now.
    pub async fn scrub(&self) -> Result<(), StoreError> {
        self.store.scrub().await
    }

    /// # Errors
    /// If the database cannot do it now.
    pub async fn upkeep(&self) -> Result<(), StoreError> {
        self.store.upkeep().await
    }
}

struct Committer {
    store: Arc<dyn Store>,
    seal: Arc<Seal>,
    probe: Arc<dyn Probe>,
    barriers: Arc<AtomicU64>,
    healed: Arc<AtomicBool>,
}

impl Committer {
    async fn run(self, mut waiting: mpsc::Receiver<Job>) {
        let mut jobs = Vec::with_capacity(GROUP_BATCHES);
        let mut last = 0;
        loop {
            gather(&waiting, last).await;
            last = waiting.recv_many(&mut jobs, GROUP_BATCHES).await;
            if last == 0 {
                return;
            }
            let (group, done): (Vec<_>, Vec<_>) = jobs.drain(..).map(|job| (job.batch, job.done)).unzip();
            let sequences: Vec<_> = group.iter().filter_map(|batch| batch.sequence.clone()).collect();
            self.probe.reached(Point::Committing);
            let applied = self.store.transact(group, &self.seal, &self.probe).await;
            if let Ok(applied) = &applied
                && applied.outcomes.iter().any(Result::is_ok)
            {
                self.barriers.fetch_add(1, Ordering::Relaxed);
                self.probe.reached(Point::Committed);
                if let Some(after) = &applied.after {
                    self.healed.fetch_or(after.healed, Ordering::Relaxed);
                    self.seal.settle(after);
                }
            }
            if applied.is_err() {
                sequences.iter().for_each(CommitSequence::break_off);
            }
            answer(done, applied.map(|applied| applied.outcomes));
        }
    }
}

/// Writers that were answered a moment ago get their turn before the next group is closed: where many write, a group
/// that is twice as large costs little more than half as many.
async fn gather(waiting: &mpsc::Receiver<Job>, last: usize) {
    const TURNS: usize = 4;
    for _ in 0..if last > 1 { TURNS } else { 0 } {
        if waiting.len() >= last {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Whoever stopped waiting is not told; the batch is durable all the same.
fn answer(
    done: Vec<oneshot::Sender<Result<Written, CommitError>>>,
    outcomes: Result<Vec<Outcome>, StoreError>,
) {
    match outcomes {
        Ok(outcomes) => {
            for (done, outcome) in done.into_iter().zip(outcomes) {
                drop(done.send(outcome.map_err(CommitError::Refused)));
            }
        }
        Err(error) => {
            let error = Arc::new(error);
            for done in done {
                drop(done.send(Err(CommitError::Store(Arc::clone(&error)))));
            }
        }
    }
}
