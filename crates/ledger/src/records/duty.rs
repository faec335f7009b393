use std::time::Duration;

use domain::Time;

use crate::table::record;

record! {
    /// Something the house does by itself now and then: when it is due next, and how it went the last time.
    Duty in "duties" by [name], Replace {
        name: String,
        next_due: Time,
        last_run: Option<Time>,
        /// `done`, or `failed`; the code of why it failed stands in the audit.
        outcome: Option<String>,
        runs: u64,
    }
}

impl Duty {
    /// The outcome of a run that succeeded.
    pub const DONE: &'static str = "done";
    /// The outcome of a run that failed.
    pub const FAILED: &'static str = "failed";

    /// Whether it is due, if it is to be done once in each interval. A run that lies in the future, or a next one that is
    /// further away than the interval, was dated by a wrong clock.
    #[must_use]
    pub fn is_due(&self, now: Time, interval: Duration) -> bool {
        let since = self.next_due.minus(interval);
        !now.is_strictly_within(self.last_run.map_or(since, |last| last.max(since)), self.next_due)
    }
}
