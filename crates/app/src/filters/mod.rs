//! Filters that belong to no feature: they show what the broker and the solver decide, need no instance and write nothing.

mod authorize;
mod ggs_step;

pub use authorize::AuthorizeEpisodes;
pub use ggs_step::SolveRounds;

use crate::operation::{OperationEntry, OperationGroup};

pub const GROUP: OperationGroup = OperationGroup {
    name: "ggs",
    about: "The Goal Gradient Solver: what a round of work means for the next one",
    examples: &["regent ggs step < rounds.jsonl"],
    operations: &[OperationEntry::of::<SolveRounds>()],
};

/// The commands of one word.
pub const COMMANDS: OperationGroup = OperationGroup {
    name: "",
    about: "",
    examples: &[],
    operations: &[OperationEntry::of::<AuthorizeEpisodes>()],
};

const UNCHANGED: &str = "all other lines were answered, and nothing was written";
