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
