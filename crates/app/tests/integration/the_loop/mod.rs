//! The loop as the product drives it: a model plans, acts, is judged and corrected, and plans again where the gradient
//! says so. On every store.

mod directives;
mod endings;
mod questions;
mod words;

use std::sync::{Arc, Mutex, PoisonError};

use domain::ask::{Action, Ask, Perception, Reply, Unanswered, Want};
use domain::criterion::{Check, Criterion};
use domain::source::Text;
use domain::task::{Plan, Subtask};
use serde_json::{Value, json};
use testkit::scripted::{call, understood};
use testkit::{Thinker, World};

/// What a model was asked, by role and round.
pub(crate) type Asked = Arc<Mutex<Vec<(&'static str, u32)>>>;

/// A subtask that is met when this check is.
pub(crate) fn subtask(intent: &str, check: Check) -> Subtask {
    Subtask::new(Text::model(intent), vec![Criterion::checked(format!("{intent}, checked"), check)])
}

pub(crate) fn count_is(count: u64) -> Check {
    Check::JsonPath { pointer: "/count".into(), equals: json!(count) }
}

pub(crate) fn find(under: &str) -> Action {
    call("find_files", json!({ "under": under }))
}

pub(crate) fn write(path: &str, content: &str) -> Action {
    call("write_file", json!({ "path": path, "content": content }))
}

/// What a test decides; every request is a task.
pub(crate) struct Script {
    pub(crate) plan: fn(round: u32) -> Result<Plan, Unanswered>,
    pub(crate) act: fn(&Move<'_>) -> Action,
}

/// Where an attempt stands.
pub(crate) struct Move<'a> {
    pub(crate) round: u32,
    pub(crate) subtask: u32,
    pub(crate) attempt: u32,
    pub(crate) last: Option<&'a Result<Value, domain::call::Failure>>,
    pub(crate) moves: usize,
}

impl Script {
    /// A world in which this is the model, and what it was asked.
    pub(crate) fn play(self, world: &mut World) -> Asked {
        let asked: Asked = Arc::default();
        let notes = Arc::clone(&asked);
        world.think(Arc::new(Thinker::new(move |ask| {
            notes.lock().unwrap_or_else(PoisonError::into_inner).push((ask.subject().role(), ask.round));
            self.answer(ask)
        })));
        asked
    }

    fn answer(&self, ask: &Ask) -> Result<Reply, Unanswered> {
        match &ask.want {
            Want::Perceive { request, .. } => Ok(Reply::Perceived(understood(request))),
            Want::Plan { .. } => (self.plan)(ask.round).map(Reply::Planned),
            Want::Act { number, evidence, attempt, .. } => Ok(Reply::Acted((self.act)(&Move {
                round: ask.round,
                subtask: *number,
                attempt: *attempt,
                last: evidence.last().map(|last| &last.outcome),
                moves: evidence.len(),
            }))),
            Want::Judge { .. } => Err(Unanswered::unreachable("no judge in this test")),
        }
    }
}

/// The journal's inputs of the only task, in order.
pub(crate) async fn journal(world: &World) -> Vec<&'static str> {
    let task = world.app.tasks().list(1).await.unwrap().remove(0).task.to_string();
    let view = world.app.tasks().show(&task).await.unwrap();
    view.journal.iter().map(|step| step.input).collect()
}

pub(crate) fn counted(asked: &Asked, role: &str) -> usize {
    asked.lock().unwrap().iter().filter(|(of, _)| *of == role).count()
}

pub(crate) fn answers(perception: Perception) -> Thinker {
    Thinker::new(move |_| Ok(Reply::Perceived(perception.clone())))
}
