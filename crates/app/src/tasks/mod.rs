//! Tasks: run a request, resume, cancel, plan, undo; list and show what ran.

mod cost;
mod list;
mod report;
mod run;
mod undo;

pub use cost::RoleCost;
pub(crate) use list::said;
pub use list::{CallLine, StepLine, TaskLine, TaskView};
pub use report::{Report, shortcoming};
pub use undo::{Before, Left, Note, Obstacle, PutBack, Undo, Undone};

use crate::App;

/// The tasks of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'a> {
    pub(crate) app: &'a App,
}
