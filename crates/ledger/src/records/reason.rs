use domain::id::{OriginId, ReasonId, VpolId};
use domain::{Digest, Time};

use crate::table::record;

record! {
    /// The R-Tag: why this decision. A knock-on has one of its own, whose parent caused it.
    Reason in "reason_log" by [id], Append, Unguarded {
        id: ReasonId,
        /// The kind of decision: admit, plan, call, deliver.
        r_tag: String,
        o_tag: OriginId,
        vpol_id: VpolId,
        /// What hangs together: the task, or the event where there is no task.
        chain_id: String,
        parent_id: Option<ReasonId>,
        agent_id: String,
        /// In words, as a blob.
        thought: Digest,
        at: Time,
    }
}
