use domain::Time;

use crate::table::record;

record! {
    /// How much an account has used of something. What it may use is said by whoever spends: `Batch::spend` is how the row
    /// moves, so that nobody spends what another has spent meanwhile.
    Budget in "budgets" by [account, unit], Replace {
        account: String,
        unit: String,
        used: u64,
        changed_at: Time,
    }
}
