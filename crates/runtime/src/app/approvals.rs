//! What waits for a person, and what they say about it.

use domain::approval::{Fate, Lasting, Status};
use domain::id::{ApprovalId, CallId, GrantId, TaskId};
use domain::{Digest, Time};
use serde::Serialize;
use serde_json::Value;

use super::App;
use crate::problem::Problem;

/// One question, as it stands.
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
    /// The reason that was given with the answer.
    pub said: Option<String>,
    /// What was asked; nothing if it was erased.
    pub question: Option<broker::question::Question>,
    /// Alike questions have the same.
    pub shape: Digest,
    pub grant: Option<GrantId>,
    /// What the grant that could be given would have covered.
    pub coverage: Option<Coverage>,
    /// Whether a process that lives is at the task, and goes on by itself.
    pub attended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Coverage {
    pub covered: u64,
    pub of: u64,
}

/// What somebody does with a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Approve {
        lasting: Lasting,
        /// What they typed of the value, where a plain yes is not enough.
        typed: Option<String>,
    },
    Reject {
        reason: String,
    },
    Modify {
        args: Value,
        typed: Option<String>,
    },
    Escalate,
}

/// What has to be replied from a channel.
#[derive(Clone, Debug, Serialize)]
pub struct CodeView {
    pub approval: ApprovalId,
    pub number: u64,
    /// Shown once, and not kept.
    pub code: String,
    pub until: Time,
}

impl App {
    /// What waits for a person, next to expire first.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn approvals(&self) -> Result<Vec<ApprovalView>, Problem> {
        Err(Problem::internal("not yet"))
    }

    /// # Errors
    /// If there is no such question, or the ledger fails.
    pub async fn approval(&self, _id: &str) -> Result<ApprovalView, Problem> {
        Err(Problem::internal("not yet"))
    }

    /// The open questions of one task, oldest first.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn questions_of(&self, _task: TaskId) -> Result<Vec<ApprovalView>, Problem> {
        Err(Problem::internal("not yet"))
    }

    /// Answers a question. Of several who answer at once one wins; the others are told who, and how.
    ///
    /// # Errors
    /// If there is no such question, it is not open any more, the answer does not fit it, or the ledger fails.
    pub async fn resolve(&self, _id: &str, _act: Act, _via: &'static str) -> Result<ApprovalView, Problem> {
        Err(Problem::internal("not yet"))
    }

    /// A number and a one-time code to answer from elsewhere.
    ///
    /// # Errors
    /// If there is no such question, it is not open any more, or the ledger fails.
    pub async fn approval_code(&self, _id: &str) -> Result<CodeView, Problem> {
        Err(Problem::internal("not yet"))
    }

    /// A reply as a channel brings it: `yes 3 K7Q2MX8P`, `no 3 K7Q2MX8P because`.
    ///
    /// # Errors
    /// If it is no such reply, the code is wrong or used up, or the ledger fails.
    pub async fn approval_reply(&self, _text: &str) -> Result<ApprovalView, Problem> {
        Err(Problem::internal("not yet"))
    }
}
