//! An approval request with everything that a surface shows of it.

use broker::question::Question;
use domain::approval::{Fate, Status};
use domain::id::{ApprovalId, CallId, GrantId, TaskId};
use domain::{Digest, Time};
use serde::Serialize;
use serde_json::Value;

/// One approval request, as it is now.
#[derive(Clone, Debug, Serialize)]
pub struct ApprovalView {
    pub id: ApprovalId,
    pub short: String,
    pub task: TaskId,
    pub task_short: String,
    pub call: CallId,
    pub status: Status,
    pub fate: Option<Fate>,
    /// Who is to answer.
    pub authority: String,
    pub created_at: Time,
    pub timeout_at: Time,
    pub resolved_at: Option<Time>,
    pub resolved_by: Option<String>,
    pub resolved_via: Option<String>,
    /// The reason that was given with a no.
    pub said: Option<String>,
    /// The arguments that were written instead of those that were asked about.
    pub changed: Option<Value>,
    /// What was asked; `None` if it was erased.
    pub question: Option<Question>,
    /// The same for requests that are alike.
    pub shape: Digest,
    pub grant: Option<GrantId>,
    /// What the grant that could be given would have covered; only where one question is looked at.
    pub coverage: Option<Coverage>,
    /// Whether a process that lives is at the task, and goes on by itself.
    pub attended: bool,
}

/// How many of the last approval requests a grant would have covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Coverage {
    pub covered: u64,
    pub of: u64,
}
