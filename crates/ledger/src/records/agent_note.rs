use domain::{Digest, Time};

use crate::table::record;

record! {
    /// A note of the owner that an agent always has before it: a standing instruction. Erasable: one that is removed is
    /// gone.
    AgentNote in "agent_notes" by [id], Append, Erasable {
        /// Counted up, so that people can type it.
        id: u64,
        agent_id: String,
        note_type: String,
        /// The owner's words, as a blob.
        content: Digest,
        /// Higher ones come first.
        priority: i64,
        created_at: Time,
    }
}

impl AgentNote {
    /// The one type there is: a part of every system prompt.
    pub const INSTRUCTION: &'static str = "instruction";
}
