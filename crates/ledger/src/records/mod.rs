//! One file per record type: the struct, its table, its key, its columns, its indexes. A new kind of record is one
//! file here, one line below, and one migration in `ledger-sql`.
//!
//! INVARIANT (spine): append-only rows hold ids, digests, times, numbers and words of ours. Texts of
//! people stand in `blobs`, who and where they are in `entity_identities` and `places`; both can be erased.

use crate::table::{Record, Table};

/// Declares the files of this folder: the records of each, whose tables are copied in this order, and after `+` what
/// else it exports.
macro_rules! records {
    ($($file:ident: $($record:ident),+ $(+ $($also:ident),+)?;)+) => {
        $(mod $file;)+
        $(pub use $file::{$($record,)+ $($($also),+)?};)+

        /// Every table there is, in the order in which they may be copied.
        pub const TABLES: [&Table; [$($($record::TABLE.name,)+)+].len()] = [$($($record::TABLE,)+)+];

        /// Sample rows of every table, in the same order.
        #[cfg(feature = "conformance")]
        #[must_use]
        pub fn samples() -> Vec<crate::sample::TableSamples> {
            vec![$($(crate::sample::TableSamples::of::<$record>(),)+)+]
        }
    };
}

records! {
    commit: Commit;
    blob: Blob;
    salt: Salt + SaltBytes;
    entity: Entity + EntityKind;
    tag: EntityTag;
    identity: Identity;
    place: Place;
    origin: Origin;
    event: Event;
    watermark: Watermark;
    policies: ActivePolicies, PolicySwitch;
    vpol: Vpol;
    reason: Reason;
    access: Access;
    knock: Knock + KnockKind;
    cursor: Cursor;
    lease: Lease;
    duty: Duty;
    tool: Tool;
    budget: Budget;
    halt: Halt;
    agent_note: AgentNote;
    agent_task: AgentTask;
    task_step: TaskStep;
    tool_call: ToolCall + CallStatus;
    approval: Approval, ApprovalCode;
    grant: Grant, GrantLog + GrantEvent;
    audit: AuditEntry, AuditHead + AuditPlace;
    checkpoint: Checkpoint;
    authority: AuthoritySeal;
    database: DatabaseStamp;
}
