use domain::Time;
use domain::approval::Status;
use domain::id::{EntityId, IdentityId, KnockId};
use serde::{Deserialize, Serialize};

use crate::table::record;
use crate::value::words;

/// Why the owner is asked about somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnockKind {
    /// A policy wants to be asked each time.
    Ask,
    /// Nobody knows who this is.
    Pairing,
}
words!(KnockKind);

record! {
    /// One question to the owner about somebody who wants in. Messages that come meanwhile join it. Every act on it, and
    /// every message that joins, changes the stamp: what is answered is what was seen.
    Knock in "knocks" by [id], Replace;
        unique [waiting], index [status, timeout_at], index [sender, created_at], index [stamp]
    {
        id: KnockId,
        stamp: String,
        kind: KnockKind,
        sender: IdentityId,
        /// The sender, as long as nobody else may knock for them: no sender has two.
        waiting: Option<String>,
        /// How many messages wait behind it.
        events: u64,
        status: Status,
        created_at: Time,
        timeout_at: Time,
        resolved_at: Option<Time>,
        /// A word of ours: `owner`, `clock`.
        resolved_by: Option<String>,
        /// Where: `terminal`, `people`.
        resolved_via: Option<String>,
        /// Who they turned out to be.
        entity_id: Option<EntityId>,
    }
}

impl Knock {
    /// The stamp of a new question.
    #[must_use]
    pub fn first_stamp(id: KnockId) -> String {
        format!("{id}/0")
    }

    /// The stamp after the next act.
    #[must_use]
    pub fn next_stamp(&self) -> String {
        super::approval::next_stamp(&self.id, &self.stamp)
    }

    /// Whether somebody can still answer it.
    #[must_use]
    pub fn is_open(&self, now: Time) -> bool {
        self.status.is_open() && now.is_within(self.created_at, self.timeout_at)
    }
}
