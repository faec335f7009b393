//! A word from outside that work should end: given to whatever runs, asked by it now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether to stop. Every clone hears the same word, and it is never taken back.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn now(&self) {
        self.0.store(true, Ordering::Release);
    }

    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
