//! The progress of a task: what a person knows of it while it is worked at, and the events and lines that follow from each step.
//!
//! Start reading at [`TaskProgress::apply`].

mod event;
mod fold;
mod line;
#[cfg(any(test, feature = "samples"))]
pub mod recording;
mod state;
#[cfg(test)]
mod tests;
pub mod words;

pub use event::{ProgressEvent, ProgressEventKind, RoundMeasures};
pub use fold::{StepOutcome, list_events};
pub use line::{ProgressLine, choose_mark, describe_checks, describe_line, list_needs, render_line};
pub use state::{
    PersonAnswer, RoleState, RoundSummary, RunningCall, SubtaskRow, SubtaskState, TaskPhase, TaskProgress,
};
