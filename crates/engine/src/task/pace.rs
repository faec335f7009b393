//! How long a task has worked: since it was opened, without the time in which it could not.

use std::time::Duration;

use domain::Time;

#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    opened_at: Time,
    last: Time,
    /// Spent waiting for a person, or with nobody at it.
    idle: Duration,
}

impl Pace {
    pub(super) const fn new(now: Time) -> Self {
        Self { opened_at: now, last: now, idle: Duration::ZERO }
    }

    /// Time goes by until a step; `idle` if nothing could be done in it.
    pub(super) fn pass(&mut self, now: Time, idle: bool) {
        if idle {
            self.idle = self.idle.saturating_add(now.since(self.last));
        }
        self.last = now;
    }

    pub(super) const fn opened_at(&self) -> Time {
        self.opened_at
    }

    pub(super) fn worked(&self) -> Duration {
        self.last.since(self.opened_at).saturating_sub(self.idle)
    }
}
