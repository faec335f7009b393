use domain::call::ToolId;
use domain::id::{CallId, OriginId, ReasonId, TaskId, VpolId};
use domain::{Digest, Time};
use serde::{Deserialize, Serialize};

use crate::table::record;
use crate::value::{Ratio, words};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Authority said no, or a person did; it never ran.
    Refused,
    /// A person is asked; it has not run.
    Waiting,
    /// Journalled; from here on the effect may have happened.
    Started,
    Finished,
    Failed,
    /// It may have run, nobody knows, and running it again could do harm.
    Unknown,
}
words!(CallStatus);

impl CallStatus {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Waiting => "waiting",
            Self::Started => "started",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

record! {
    /// One call. A projection of the journal of its task, in which its arguments and its result stand.
    ToolCall in "tool_calls" by [id], Replace; index [task_id, timestamp] {
        id: CallId,
        tool_id: ToolId,
        agent_id: String,
        task_id: TaskId,
        r_tag: ReasonId,
        o_tag: OriginId,
        vpol_id: VpolId,
        status: CallStatus,
        /// Digest of the canonical arguments.
        input: Digest,
        /// Digest of the canonical outcome.
        output: Option<Digest>,
        /// What every layer said, as a blob.
        decision: Digest,
        duration_ms: Option<u64>,
        timestamp: Time,
        /// What it left behind, as a blob.
        artifacts: Option<Digest>,
        /// How well it served what was asked for, once somebody has said so.
        alignment_rating: Option<Ratio>,
        /// Which budgets hold how much for it, in canonical JSON of ours.
        reserved: Option<String>,
        /// What it was to change, as it was looked at before, as a blob.
        change: Option<Digest>,
    }
}
