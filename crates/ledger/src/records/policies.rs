use domain::{Digest, Time};

use crate::table::record;

record! {
    /// The policies in force: the last good set of its kind (`acl`, `vpol`).
    ActivePolicies in "active_policies" by [kind], Replace, Erasable {
        kind: String,
        /// The whole set, as a blob.
        policies: Digest,
        /// Of everything that it was made from: as long as that is the same, so is the set.
        sources: Digest,
        at: Time,
    }
}

record! {
    /// Whether the owner has switched a policy on or off, whatever its file says.
    PolicySwitch in "policy_switches" by [name], Replace, Erasable {
        name: String,
        enabled: bool,
        at: Time,
    }
}
