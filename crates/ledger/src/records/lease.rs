use domain::Time;

use crate::table::record;

record! {
    /// Who drives something, and since which epoch. The epoch is the fencing token: a driver with an
    /// older one can write nothing.
    Lease in "leases" by [subject], Replace {
        subject: String,
        epoch: u64,
        holder: String,
        until: Time,
    }
}
