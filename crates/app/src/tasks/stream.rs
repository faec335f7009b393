//! The events of tasks as data: one vocabulary for everything that streams. `run`, `resume` and `tools call` write the progress
//! of their task and end with one of the last three; `tasks follow` writes the steps of every task.

use domain::id::TaskId;
use domain::task::FinalResult;
use kernel::TappedLine;
use present::approval::ApprovalView;
use present::progress::ProgressEvent;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::shortcoming;

/// The version of the vocabulary. A new field or a new type does not change it.
const VERSION: u32 = 1;

/// One line of a stream.
#[derive(Clone, Copy, Debug)]
pub enum TaskStreamEvent<'a> {
    /// What followed from a step of the task.
    Progress(&'a ProgressEvent<'a>),
    /// A step of any task, just after it became durable.
    Step(&'a TappedLine),
    /// The end: the task can only go on after a person has answered.
    Waiting { task: TaskId, waiting: &'a [ApprovalView], question: Option<&'a str>, exit: u8 },
    /// The end: the process was asked to stop. `None` if there was no task yet.
    Interrupted { task: Option<TaskId>, exit: u8 },
    /// The end: the answer.
    Response { task: TaskId, result: &'a FinalResult },
}

impl TaskStreamEvent<'_> {
    /// The name of the event in JSON.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Progress(event) => event.kind.name(),
            Self::Step(_) => "task:step",
            Self::Waiting { .. } => "core:waiting",
            Self::Interrupted { .. } => "core:interrupted",
            Self::Response { .. } => "core:response",
        }
    }
}

impl Serialize for TaskStreamEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (v, kind) = (VERSION, self.name());
        match self {
            Self::Progress(event) => event.serialize(serializer),
            Self::Step(TappedLine { seq, task, n, at, input }) => {
                json!({ "seq": seq, "task": task, "n": n, "at": at, "input": input, "v": v, "type": kind }).serialize(serializer)
            }
            Self::Waiting { task, waiting, question, exit } => {
                json!({ "v": v, "type": kind, "task_id": task, "exit": exit, "waiting": waiting, "question": question })
                    .serialize(serializer)
            }
            Self::Interrupted { task, exit } => {
                json!({ "v": v, "type": kind, "task_id": task, "exit": exit }).serialize(serializer)
            }
            Self::Response { task, result } => {
                let problem = shortcoming(result, &task.to_string());
                let exit = problem.as_ref().map_or(0, |problem| problem.code.exit());
                json!({
                    "v": v, "type": kind, "task_id": task, "directive": result.directive, "exit": exit,
                    "message": result.text, "verdicts": result.verdicts, "tried": result.tried, "next": result.next,
                    "measured": result.measured, "problem": problem,
                })
                .serialize(serializer)
            }
        }
    }
}
