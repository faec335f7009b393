//! Time and ids, given.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use domain::{Clock, Digest, IdSource, Time};

/// Stands still until it is turned.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    #[must_use]
    pub fn at(time: &str) -> Self {
        Self(AtomicI64::new(time.parse::<Time>().expect("a time").micros()))
    }

    pub fn turn(&self, span: Duration) {
        self.0.fetch_add(i64::try_from(span.as_micros()).expect("a short span"), Ordering::SeqCst);
    }

    /// As clocks do that were wrong before.
    pub fn turn_back(&self, span: Duration) {
        self.0.fetch_sub(i64::try_from(span.as_micros()).expect("a short span"), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// The same seed gives the same ids; they look random, so that short prefixes differ.
#[derive(Debug)]
pub struct CountingIds {
    seed: u64,
    next: AtomicU64,
}

impl CountingIds {
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self { seed, next: AtomicU64::new(0) }
    }
}

impl IdSource for CountingIds {
    fn bits(&self) -> u128 {
        let n = self.next.fetch_add(1, Ordering::SeqCst);
        let digest = Digest::of_parts(&[&self.seed.to_be_bytes(), &n.to_be_bytes()]);
        let bytes: Vec<u8> = digest.as_bytes().iter().copied().take(16).collect();
        u128::from_be_bytes(bytes.try_into().expect("sixteen bytes"))
    }
}
