use domain::approval::{Fate, Status};
use domain::call::ToolId;
use domain::id::{ApprovalId, CallId, GrantId, OriginId, ReasonId, TaskId, VpolId};
use domain::{Digest, Time};

use crate::table::record;
use crate::value::{Ratio, words};

words!(Status);
words!(Fate);

record! {
    /// One question to a person, about one exact call. Every act on it changes the stamp, and whoever acts expects the
    /// stamp that they saw: of two who answer at once, one is refused.
    Approval in "approval_queue" by [id], Replace;
        index [status, timeout_at], index [task_id], index [stamp], index [created_at], index [live]
    {
        id: ApprovalId,
        stamp: String,
        tool_id: ToolId,
        agent_id: String,
        task_id: TaskId,
        call_id: CallId,
        r_tag: ReasonId,
        o_tag: OriginId,
        vpol_id: VpolId,
        /// What the call would be given, as a blob.
        arguments: Digest,
        /// Why the agent wants it, in its words, as a blob.
        reason: Digest,
        /// What would happen, in one line, as a blob.
        summary: Digest,
        /// All that a person is shown, as a blob.
        question: Digest,
        risk_level: String,
        /// What the model stated, if it did.
        confidence: Option<Ratio>,
        /// A JSON array of words of ours.
        tags: String,
        status: Status,
        /// Who is to answer: a name out of `approvals.chain`.
        authority: String,
        /// The call that was asked about.
        fingerprint: Digest,
        /// The call that may run: nothing until somebody said yes.
        leave: Option<Digest>,
        /// Alike questions have the same.
        shape: Digest,
        created_at: Time,
        timeout_at: Time,
        resolved_at: Option<Time>,
        /// A word of ours: `owner`, `clock`.
        resolved_by: Option<String>,
        /// Where: `terminal`, `prompt`, `code`.
        resolved_via: Option<String>,
        /// What was said with the answer, as a blob: a reason, other arguments.
        answer: Option<Digest>,
        /// The grant that the answer wrote.
        grant_id: Option<GrantId>,
        fate: Option<Fate>,
        /// Until when a call may rely on a yes; nothing until somebody said yes.
        token_until: Option<Time>,
        /// Its id while it carries authority: until it is answered, and then until its yes was used or counts for nothing.
        live: Option<String>,
    }
}

record! {
    /// What has to be replied to answer from a channel: a number, and a code that is good once. Erased with the answer.
    ApprovalCode in "approval_codes" by [number], Replace, Erasable {
        number: u64,
        approval: ApprovalId,
        /// Of the code; it is never kept itself.
        digest: Digest,
        until: Time,
        /// Wrong replies that are still allowed.
        tries: u64,
        /// Changes with every reply.
        stamp: String,
    }
}

impl Approval {
    /// The stamp of a new question.
    #[must_use]
    pub fn first_stamp(id: ApprovalId) -> String {
        format!("{id}/0")
    }

    /// The stamp after the next act.
    #[must_use]
    pub fn next_stamp(&self) -> String {
        next_stamp(&self.id, &self.stamp)
    }

    /// Whether somebody can still answer it.
    #[must_use]
    pub fn is_open(&self, now: Time) -> bool {
        self.status.is_open() && now.is_within(self.created_at, self.timeout_at)
    }

    /// It counts for nothing any more, for this reason.
    #[must_use]
    pub fn spent(&self, fate: Fate) -> Self {
        Self { stamp: self.next_stamp(), fate: Some(fate), live: None, ..self.clone() }
    }

    /// Whether it is a yes that no call has used, and whose time is over. One from before yeses had an end has none.
    #[must_use]
    pub fn is_stale(&self, now: Time) -> bool {
        let given = self.resolved_at.unwrap_or(self.created_at);
        self.unspent().is_some() && self.token_until.is_some_and(|until| !now.is_within(given, until))
    }

    /// The call that may run with it, if it was not used yet.
    #[must_use]
    pub fn unspent(&self) -> Option<Digest> {
        self.leave.filter(|_| self.status.is_leave() && self.fate.is_none())
    }
}

/// What was acted on `n` times is acted on once more.
pub(super) fn next_stamp(id: &impl std::fmt::Display, stamp: &str) -> String {
    let acts = stamp.rsplit_once('/').and_then(|(_, acts)| acts.parse::<u64>().ok());
    format!("{id}/{}", acts.map_or(1, |acts| acts.saturating_add(1)))
}
