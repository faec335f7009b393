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
