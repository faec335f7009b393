//! A person's word about one exact call.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where a question stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    Approved,
    Rejected,
    /// Approved with other arguments, which are what may run.
    Modified,
    /// Still open, with the next authority.
    Escalated,
    Expired,
}

impl Status {
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Approved, Self::Rejected, Self::Modified, Self::Escalated, Self::Expired];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Modified => "modified",
            Self::Escalated => "escalated",
            Self::Expired => "expired",
        }
    }

    /// Whether somebody can still answer it.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Escalated)
    }

    /// Whether it lets a call run.
    #[must_use]
    pub const fn is_leave(self) -> bool {
        matches!(self, Self::Approved | Self::Modified)
    }
}

/// What became of a leave: it is good for one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// The call was started with it.
    Used,
    /// It counts for nothing any more: the policy of now says no, or the call is not the one that was asked about.
    Void,
}

impl Fate {
    /// As an entry of the audit says it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Void => "voided",
        }
    }
}

/// How long a yes lasts. The last two write a grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    #[default]
    Once,
    Day,
    Always,
}

/// What a task is told of its question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Approved,
    Rejected {
        /// In the words of whoever said no; empty if they gave none.
        reason: String,
    },
    /// Approved, with these arguments instead.
    Modified {
        args: Value,
    },
    /// Nobody answered in time: neither yes nor no.
    Expired,
}
