//! Batches that count only in their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::batch::Refusal;

/// An order that several batches of one process are written in: once one of them is refused, all later ones are refused, too.
///
/// With it a writer hands in many batches without waiting for each, and knows that none overtook another.
#[derive(Clone, Debug, Default)]
pub struct CommitSequence {
    is_broken: Arc<AtomicBool>,
}

impl CommitSequence {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Acquire)
    }

    pub(crate) fn break_off(&self) {
        self.is_broken.store(true, Ordering::Release);
    }

    /// What a refusal means for the batches after it. A batch whose record is there already has nothing that could be overtaken.
    pub(crate) fn note(&self, refusal: &Refusal) {
        if !matches!(refusal, Refusal::Present { .. }) {
            self.break_off();
        }
    }
}
