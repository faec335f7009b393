use domain::id::{AdmissionId, EventId, KnockId, ReasonId, VpolId};
use domain::{Digest, Time, Trust};

use crate::table::record;

record! {
    /// One admission decision: who spoke, whether they were let in, under which authority. An event without one has not
    /// been looked at yet; one about which the owner was asked has a second, made with the answer.
    Access in "access_log" by [id], Append, Unguarded; unique [event_id, n], index [knock_id] {
        id: AdmissionId,
        event_id: EventId,
        effect: String,
        principal: String,
        trust: Trust,
        reason_id: ReasonId,
        vpol_id: VpolId,
        /// The whole explained decision, as a blob.
        decision: Digest,
        at: Time,
        /// 0; and 1 where the owner was asked, and answered.
        n: u64,
        /// The question that stands for it, if somebody is asked.
        knock_id: Option<KnockId>,
    }
}
