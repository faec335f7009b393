use domain::Digest;
use domain::id::VpolId;

use crate::table::record;

record! {
    /// The V-Pol: under which authority a chain runs. Its id is the digest of its rules, so a changed
    /// policy is another policy.
    Vpol in "validation_policies" by [vpol_id], Keep, Unguarded {
        vpol_id: VpolId,
        name: String,
        rules: Digest,
        context_bucket: Option<String>,
        enforcement_mode: String,
    }
}
