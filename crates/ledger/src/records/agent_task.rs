use domain::id::{EventId, OriginId, TaskId, VpolId};
use domain::task::{Directive, Status};
use domain::{Digest, Time};

use super::Event;
use crate::chain::Trail;
use crate::table::record;

record! {
    /// The board: where each task stands. A projection of its journal, written in the same batch.
    AgentTask in "agent_tasks" by [task_id], Replace; index [created_at], index [status, created_at] {
        task_id: TaskId,
        agent_id: String,
        status: Status,
        priority: u32,
        /// The event that opened it; its body is the request.
        payload: EventId,
        o_tag: OriginId,
        /// Nothing until the request was let in.
        vpol_id: Option<VpolId>,
        task_class: Option<String>,
        directive: Option<Directive>,
        steps: u64,
        created_at: Time,
        started_at: Option<Time>,
        completed_at: Option<Time>,
        /// Its event and its journal as one digest, so that nothing is gone on with but what this instance wrote; nothing for
        /// a task from before that was kept.
        journal: Option<Digest>,
    }
}

impl AgentTask {
    /// What [`Self::journal`] holds for an event and the bodies of its steps.
    #[must_use]
    pub fn journal_of(event: &Event, steps: Trail) -> Digest {
        Digest::of_parts(&[b"regent/work/", event.digest().as_bytes(), steps.digest().as_bytes()])
    }
}
