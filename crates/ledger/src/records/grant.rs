use domain::call::ToolId;
use domain::id::{ApprovalId, CallId, GrantId};
use domain::{Digest, Time};
use serde::{Deserialize, Serialize};

use crate::table::record;
use crate::value::{Seq, words};

record! {
    /// A leave for calls to come.
    Grant in "grants" by [id], Replace; index [live], index [tool_id, live] {
        id: GrantId,
        /// Its id as long as it was not revoked: what a call that relies on it expects.
        live: Option<String>,
        tool_id: ToolId,
        /// For whom, for which arguments, in which session, and why, as a blob.
        terms: Digest,
        created_at: Time,
        /// Nothing: until it is revoked.
        expires_at: Option<Time>,
        revoked_at: Option<Time>,
        /// A word of ours: `owner`.
        granted_by: String,
        /// The question that it was an answer to; nothing if it was written by hand.
        request_id: Option<ApprovalId>,
    }
}

impl Grant {
    /// Whether its time is over. One that lasts until it is revoked has none.
    #[must_use]
    pub fn is_expired(&self, now: Time) -> bool {
        self.expires_at.is_some_and(|end| !now.is_within(self.created_at, end))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantEvent {
    Created,
    Used,
    Expired,
    Revoked,
}
words!(GrantEvent);

impl GrantEvent {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Used => "used",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

record! {
    /// What became of a grant, use by use.
    GrantLog in "grant_log" by [grant_id, n], Append, Unguarded {
        seq: Seq,
        grant_id: GrantId,
        /// Unique within the grant: `created`, `expired`, `revoked`, or the call that used it.
        n: String,
        event: GrantEvent,
        call_id: Option<CallId>,
        at: Time,
    }
}
