//! The right to drive a task. A lease in the ledger tells other processes who drives; [`ActiveTasks`] tells the other
//! tasks of this process.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use domain::id::TaskId;
use ledger::Batch;
use ledger::records::Lease;

/// The epoch of the process that drives a task first.
pub(crate) const FIRST_EPOCH: u64 = 1;

/// The right to drive a task.
#[derive(Clone, Debug)]
pub struct TaskLease {
    pub(crate) epoch: u64,
    pub(crate) claim: LeaseClaim,
}

#[derive(Clone, Debug)]
pub(crate) enum LeaseClaim {
    /// This process holds the lease already.
    Held,
    /// The lease is free, as it was seen: no process had it, or the holder is gone. If that changes before the first
    /// batch, the batch is refused.
    Free(Option<Lease>),
}

impl TaskLease {
    /// The lease of a task that this process opens.
    pub(crate) const fn first() -> Self {
        Self { epoch: FIRST_EPOCH, claim: LeaseClaim::Held }
    }

    /// The lease that follows the one that was seen.
    #[must_use]
    pub fn after(seen: Option<Lease>) -> Self {
        Self { epoch: seen.as_ref().map_or(0, |lease| lease.epoch) + 1, claim: LeaseClaim::Free(seen) }
    }

    /// The lease as it was seen, if it is not held by this process.
    #[must_use]
    pub fn into_seen(self) -> Option<Option<Lease>> {
        match self.claim {
            LeaseClaim::Held => None,
            LeaseClaim::Free(seen) => Some(seen),
        }
    }

    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Lets the batch be refused if another process holds the lease by then.
    pub(crate) fn expect(&self, subject: String, batch: &mut Batch) {
        match &self.claim {
            LeaseClaim::Free(seen) => batch.expect_lease(subject, seen.clone()),
            LeaseClaim::Held => batch.fence(subject, self.epoch),
        };
    }
}

/// The tasks that this process drives.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveTasks(Arc<Mutex<BTreeSet<TaskId>>>);

/// As long as this lives, the task counts as driven by this process.
#[derive(Debug)]
pub(crate) struct ActiveTask {
    task: TaskId,
    active: ActiveTasks,
}

impl ActiveTasks {
    pub(crate) fn begin(&self, task: TaskId) -> ActiveTask {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(task);
        ActiveTask { task, active: self.clone() }
    }

    pub(crate) fn any(&self) -> bool {
        !self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(crate) fn holds(&self, task: TaskId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&task)
    }
}

impl Drop for ActiveTask {
    fn drop(&mut self) {
        self.active.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.task);
    }
}
