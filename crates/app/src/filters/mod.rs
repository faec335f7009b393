//! Filters that belong to no feature: they show what the broker and the solver decide, need no instance and write nothing.

mod authorize;
mod ggs_step;

pub use authorize::AuthorizeEpisodes;
pub use ggs_step::SolveRounds;

use crate::operation::{OperationEntry, OperationGroup};

pub const GROUP: OperationGroup = OperationGroup::new(
    "ggs",
    "The Goal Gradient Solver: what a round of work means for the next one",
    &["regent ggs step < rounds.jsonl"],
    &[OperationEntry::of::<SolveRounds>()],
);

/// The commands of one word.
pub const COMMANDS: OperationGroup =
    OperationGroup::of_one_word(&[OperationEntry::of::<AuthorizeEpisodes>()]);

const UNCHANGED: &str = "all other lines were answered, and nothing was written";
