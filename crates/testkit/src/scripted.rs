//! Models that do what the test says. [`Scripted`] knows one way: one task, with one subtask or several beside each other,
//! and these moves in turn. A [`Thinker`] answers every ask as the test has it, and may be corrected and plan again.

use domain::ask::{Action, Ask, Perception, Reply, Unanswered, Usage, Want};
use domain::call::{Chooser, Evidence};
use domain::criterion::{Check, Criterion};
use domain::source::Text;
use domain::task::{Constraints, Plan, Subtask, TaskSpec};
use llm::{Answer, Heard, Provider};
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
            None => Action::done("done"),
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
    fn ask(&self, ask: &Ask) -> Answer {
        Answer::Now(match &ask.want {
            Want::Perceive { request, .. } => Reply::Perceived(understood(request)),
            Want::Plan { spec, .. } => {
                let any_record = Check::Regex { pointer: Some(String::new()), pattern: String::new() };
                let anything = Criterion::checked("something was done", any_record);
                let subtask = Subtask::new(spec.intent.clone(), vec![anything]);
                Reply::Planned(Plan::of(vec![subtask; self.subtasks]))
            }
            Want::Act { number, evidence, .. } => Reply::Acted((self.next)(*number, evidence)),
            Want::Judge { .. } => Reply::Judged(Vec::new()),
        })
    }
}

/// A request as a task of the class `scripted`.
#[must_use]
pub fn understood(request: &Text) -> Perception {
    Perception::Task(Box::new(TaskSpec {
        task_class: "scripted".into(),
        intent: Text::model("what the test says"),
        constraints: Constraints::default(),
        raw_input: request.clone(),
    }))
}

type Thought = dyn Fn(&Ask) -> Result<Reply, Unanswered> + Send + Sync;

/// A model that has to be asked, and that knows other ways.
pub struct Thinker(Box<Thought>);

impl std::fmt::Debug for Thinker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Thinker").finish_non_exhaustive()
    }
}

impl Thinker {
    /// Every request is a task, unless this says otherwise by answering.
    pub fn new(think: impl Fn(&Ask) -> Result<Reply, Unanswered> + Send + Sync + 'static) -> Self {
        Self(Box::new(think))
    }
}

impl Provider for Thinker {
    fn ask(&self, ask: &Ask) -> Answer {
        let reply = (self.0)(ask);
        let usage = Usage {
            model: "thinker".into(),
            tokens_in: 10,
            tokens_out: 1,
            latency_ms: 5,
            ..Usage::default()
        };
        Answer::Later(Box::pin(async move { Heard { reply, usage } }))
    }

    fn knows_another_way(&self) -> bool {
        true
    }
}
