//! Tasks: run a request, resume, cancel, plan, undo; list and show what ran.

mod cancel;
mod cost;
mod follow;
mod list;
mod report;
mod run;
mod show;
mod show_page;
mod undo;

pub use cancel::{CancelTask, CancelledTask};
pub use cost::RoleCost;
pub use follow::{FollowTasks, FollowedStep};
pub(crate) use list::said;
pub use list::{ListTasks, TaskLine, TaskList};
pub use report::{Report, shortcoming};
pub use show::{CallLine, ShowTask, StepLine, TaskView};
pub use undo::{Before, Left, Note, Obstacle, PutBack, Undo, Undone};

use crate::App;
use crate::operation::{OperationEntry, OperationGroup};

pub const GROUP: OperationGroup = OperationGroup {
    name: "tasks",
    about: "What ran and what waits",
    examples: &["regent tasks list"],
    operations: &[
        OperationEntry::of::<ListTasks>(),
        OperationEntry::of::<FollowTasks>(),
        OperationEntry::of::<ShowTask>(),
    ],
};

/// The commands of one word.
pub const COMMANDS: OperationGroup =
    OperationGroup { name: "", about: "", examples: &[], operations: &[OperationEntry::of::<CancelTask>()] };

/// The tasks of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'a> {
    pub(crate) app: &'a App,
}
