//! Tasks: run a request, resume, cancel, plan, undo; list and show what ran.

mod cost;
mod list;
mod outcome;
mod plan;
mod report;
mod resume;
mod run;
mod undo;

pub use cost::RoleCost;
pub(crate) use list::said;
pub use list::{CallLine, StepLine, TaskLine, TaskView};
pub use outcome::{TaskOutcome, describe_waiting, response_line, result_text};
pub use report::{Report, shortcoming};
pub use resume::{ResumeOutput, ResumeTask};
pub(crate) use run::conclude;
pub use run::{RunOutput, RunTask};
pub use undo::{Before, Left, Note, Obstacle, PutBack, Undo, UndoTask, Undone};

use crate::App;
use crate::operation::{OperationEntry, OperationGroup};

pub const WORK: OperationGroup = OperationGroup::of_one_word(&[
    OperationEntry::of::<RunTask>(),
    OperationEntry::of::<ResumeTask>(),
    OperationEntry::of::<UndoTask>(),
]);

/// The tasks of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'a> {
    pub(crate) app: &'a App,
}
