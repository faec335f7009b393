//! Tasks: run a request, resume, cancel, plan, undo; list and show what ran.

mod cancel;
mod cost;
mod follow;
mod list;
mod outcome;
mod plan;
mod report;
mod resume;
mod run;
mod show;
mod show_page;
mod stream;
mod undo;

pub use cancel::{CancelTask, CancelledTask};
pub use cost::RoleCost;
pub use follow::{FollowTasks, FollowedStep};
pub(crate) use list::said;
pub use list::{ListTasks, TaskLine, TaskList};
pub use outcome::{TaskOutcome, describe_waiting, result_text};
pub use report::{Report, shortcoming};
pub use resume::{ResumeOutput, ResumeTask};
pub(crate) use run::conclude;
pub use run::{RunOutput, RunTask};
pub use show::{CallLine, ShowTask, StepLine, TaskView};
pub use stream::TaskStreamEvent;
pub use undo::{Before, Left, Note, Obstacle, PutBack, Undo, UndoTask, Undone};

use crate::App;
use crate::operation::{OperationEntry, OperationGroup};

/// The commands of one word.
pub const COMMANDS: OperationGroup = OperationGroup::of_one_word(&[
    OperationEntry::of::<RunTask>(),
    OperationEntry::of::<ResumeTask>(),
    OperationEntry::of::<CancelTask>(),
    OperationEntry::of::<UndoTask>(),
]);

pub const GROUP: OperationGroup = OperationGroup::new(
    "tasks",
    "What ran and what waits",
    &["regent tasks list"],
    &[
        OperationEntry::of::<ListTasks>(),
        OperationEntry::of::<FollowTasks>(),
        OperationEntry::of::<ShowTask>(),
    ],
);

/// The tasks of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'a> {
    pub(crate) app: &'a App,
}
