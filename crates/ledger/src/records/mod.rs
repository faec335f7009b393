//! One file per record type: the struct, its table, its key, its columns. A new kind of record is one
//! file here and one migration in `ledger-sql`.
//!
//! INVARIANT (spine): append-only rows hold ids, digests, times, numbers and words of ours. Texts of
//! people stand in `blobs`, who and where they are in `entity_identities` and `places`; both can be erased.

mod access;
mod agent_task;
mod approval;
mod audit;
mod authority;
mod blob;
mod budget;
mod checkpoint;
mod commit;
mod cursor;
mod database;
mod duty;
mod entity;
mod event;
mod grant;
mod halt;
mod identity;
mod knock;
mod lease;
mod origin;
mod place;
mod policies;
mod reason;
mod salt;
mod tag;
mod task_step;
mod tool;
mod tool_call;
mod vpol;
mod watermark;

pub use access::Access;
pub use agent_task::AgentTask;
pub use approval::{Approval, ApprovalCode};
pub use audit::{AuditEntry, AuditHead, AuditPlace};
pub use authority::AuthoritySeal;
pub use blob::Blob;
pub use budget::Budget;
pub use checkpoint::Checkpoint;
pub use commit::Commit;
pub use cursor::Cursor;
pub use database::DatabaseStamp;
pub use duty::Duty;
pub use entity::{Entity, EntityKind};
pub use event::Event;
pub use grant::{Grant, GrantEvent, GrantLog};
pub use halt::Halt;
pub use identity::Identity;
pub use knock::{Knock, KnockKind};
pub use lease::Lease;
pub use origin::Origin;
pub use place::Place;
pub use policies::{ActivePolicies, PolicySwitch};
pub use reason::Reason;
pub use salt::{Salt, SaltBytes};
pub use tag::EntityTag;
pub use task_step::TaskStep;
pub use tool::Tool;
pub use tool_call::{CallStatus, ToolCall};
pub use vpol::Vpol;
pub use watermark::Watermark;

use crate::table::{Record, Table};

/// Every table there is, in the order in which they may be copied.
pub const TABLES: [&Table; 34] = [
    Commit::TABLE,
    Blob::TABLE,
    Salt::TABLE,
    Entity::TABLE,
    EntityTag::TABLE,
    Identity::TABLE,
    Place::TABLE,
    Origin::TABLE,
    Event::TABLE,
    Watermark::TABLE,
    ActivePolicies::TABLE,
    PolicySwitch::TABLE,
    Vpol::TABLE,
    Reason::TABLE,
    Access::TABLE,
    Knock::TABLE,
    Cursor::TABLE,
    Lease::TABLE,
    Duty::TABLE,
    Tool::TABLE,
    Budget::TABLE,
    Halt::TABLE,
    AgentTask::TABLE,
    TaskStep::TABLE,
    ToolCall::TABLE,
    Approval::TABLE,
    ApprovalCode::TABLE,
    Grant::TABLE,
    GrantLog::TABLE,
    AuditEntry::TABLE,
    AuditHead::TABLE,
    Checkpoint::TABLE,
    AuthoritySeal::TABLE,
    DatabaseStamp::TABLE,
];
