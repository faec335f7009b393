use domain::id::{NodeId, OriginId, ReasonId, VpolId};
use domain::{Digest, Time, Trust};

use crate::table::record;

record! {
    /// One link of the chain. `bytes` is the entry; the other columns are projections of it, which
    /// `verify` compares.
    AuditEntry in "audit" by [stream, seq], Append; index [origin_id] {
        stream: NodeId,
        seq: u64,
        bytes: Vec<u8>,
        prev_hash: Digest,
        hash: Digest,
        at: Time,
        kind: String,
        actor: String,
        subject: String,
        trust: Option<Trust>,
        origin_id: Option<OriginId>,
        reason_id: Option<ReasonId>,
        vpol_id: Option<VpolId>,
    }
}

record! {
    /// The tip of one stream, read and advanced in the transaction that appends to it.
    AuditHead in "audit_heads" by [stream], Replace {
        stream: NodeId,
        seq: u64,
        hash: Digest,
        /// The epoch whose secret made the MAC.
        epoch: u64,
        mac: Digest,
        /// The MAC over the seals of all rows that carry authority; nothing before they had any.
        authority: Option<Digest>,
    }
}

record! {
    /// As much of an entry as the next one hangs on. Whatever somebody did to the rest of the row, this can be read.
    AuditPlace in "audit" by [stream, seq], Append {
        stream: String,
        seq: i64,
        hash: Vec<u8>,
    }
}
