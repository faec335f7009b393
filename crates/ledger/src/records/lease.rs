use std::time::Duration;

use domain::Time;

use crate::table::record;

record! {
    /// Who drives something, and since which epoch. The epoch is the fencing token: a driver with an
    /// older one can write nothing. Whoever takes over expects the row as it was looked at.
    Lease in "leases" by [subject], Replace {
        subject: String,
        epoch: u64,
        holder: String,
        until: Time,
        /// How often the driver has said that it is still there.
        beats: u64,
    }
}

impl Lease {
    /// Whether it still runs, if it is renewed for this length each time.
    #[must_use]
    pub fn is_running(&self, now: Time, length: Duration) -> bool {
        now.is_strictly_within(self.until.minus(length), self.until)
    }
}
