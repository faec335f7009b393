//! Which tasks this very process drives: a lease tells other processes, this tells its own other tasks.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use domain::id::TaskId;

#[derive(Clone, Debug, Default)]
pub(crate) struct Driven(Arc<Mutex<BTreeSet<TaskId>>>);

/// As long as this lives, the task is driven.
#[derive(Debug)]
pub(crate) struct Driving {
    task: TaskId,
    driven: Driven,
}

impl Driven {
    pub(crate) fn begin(&self, task: TaskId) -> Driving {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(task);
        Driving { task, driven: self.clone() }
    }

    pub(crate) fn any(&self) -> bool {
        !self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(crate) fn holds(&self, task: TaskId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&task)
    }
}

impl Drop for Driving {
    fn drop(&mut self) {
        self.driven.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.task);
    }
}
