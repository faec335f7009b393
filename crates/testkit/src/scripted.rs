//! A model that does what the test says: one task, with one subtask or several beside each other, and these moves in turn.

use domain::ask::{Action, Ask, Perception, Reply};
use domain::call::{Chooser, Evidence};
use domain::criterion::{Check, Criterion};
use domain::source::Text;
use domain::task::{Constraints, Plan, Subtask, TaskSpec};
use llm::Provider;
use serde_json::Value;

type Move = dyn Fn(u32, &[Evidence]) -> Action + Send + Sync;

/// What it does next follows from what it has seen so far, as with a real one.
pub struct Scripted {
    subtasks: usize,
    next: Box<Move>,
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scripted").finish_non_exhaustive()
    }
}

impl Scripted {
    pub fn new(next: impl Fn(&[Evidence]) -> Action + Send + Sync + 'static) -> Self {
        Self::beside(1, move |_, seen| next(seen))
    }

    /// Several subtasks that do not need each other; each move is told which of them it is for.
    pub fn beside(
        subtasks: usize,
        next: impl Fn(u32, &[Evidence]) -> Action + Send + Sync + 'static,
    ) -> Self {
        Self { subtasks, next: Box::new(next) }
    }

    /// These calls in turn, whatever comes of them, and then it is done.
    pub fn calling(calls: &[(&str, Value)]) -> Self {
        let calls: Vec<(String, Value)> =
            calls.iter().map(|(tool, args)| ((*tool).to_owned(), args.clone())).collect();
        Self::new(move |seen| match calls.get(seen.len()) {
            Some((tool, args)) => call(tool, args.clone()),
            None => Action::Finish { output: "done".into() },
        })
    }
}

/// One move: this call, chosen by a model.
///
/// # Panics
/// If the tool has no id.
#[must_use]
pub fn call(tool: &str, args: Value) -> Action {
    Action::Call { tool: tool.parse().expect("the id of a tool"), args, chosen_by: Chooser::Model }
}

impl Provider for Scripted {
    fn answer(&self, ask: &Ask) -> Reply {
        match ask {
            Ask::Perceive { request, .. } => Reply::Perceived(Perception::Task(Box::new(TaskSpec {
                task_class: "scripted".into(),
                intent: Text::model("what the test says"),
                constraints: Constraints::default(),
                raw_input: request.clone(),
            }))),
            Ask::Plan { spec } => {
                let subtask = Subtask {
                    intent: spec.intent.clone(),
                    context: Vec::new(),
                    success_criteria: vec![Criterion::checked(
                        "nothing in particular",
                        Check::AllOf(Vec::new()),
                    )],
                    depends_on: Vec::new(),
                    after: Vec::new(),
                };
                Reply::Planned(Plan { subtasks: vec![subtask; self.subtasks] })
            }
            Ask::Act { number, evidence, .. } => Reply::Acted((self.next)(*number, evidence)),
        }
    }
}
