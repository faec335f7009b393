//! Answers whatever is open, at random, and keeps its own account of what is.

use std::time::Duration;

use domain::Time;
use domain::approval::Answer;
use domain::ask::Subject;
use domain::id::CallId;
use domain::source::{Source, Text};
use domain::task::Status;
use serde_json::json;

use super::super::world::opening;
use super::chance::Chance;
use crate::task::{DELIVER, Effect, Input, Ruling, Step, Task};

/// More than any history can have: rounds × subtasks × attempts × moves, each repaired, ruled on, reviewed and returned.
const STEPS: usize = 4 * 5 * 3 * 10 * 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Recall,
    Ask(Subject),
    Call(CallId),
}

fn key(effect: &Effect) -> Key {
    match effect {
        Effect::Recall(_) => Key::Recall,
        Effect::Ask(ask) => Key::Ask(ask.subject()),
        Effect::Call(call) => Key::Call(call.id),
    }
}

pub(super) struct Driver {
    seed: u64,
    chance: Chance,
    /// Whether another process takes over now and then, at the moment of the last step.
    taken_over: Option<Chance>,
    now: Time,
    pub(super) task: Task,
    pub(super) journal: Vec<Step>,
    /// In the order in which they were started.
    open: Vec<Effect>,
    waiting: Vec<CallId>,
    ruled: Vec<CallId>,
}

impl Driver {
    pub(super) fn new(seed: u64) -> Self {
        let now = Time::from_micros(0);
        let (task, step) = Task::open(opening(), now);
        let open = step.effects.clone();
        Self {
            seed,
            chance: Chance::new(seed),
            taken_over: None,
            now,
            task,
            journal: vec![step],
            open,
            waiting: Vec::new(),
            ruled: Vec::new(),
        }
    }

    pub(super) fn taken_over(seed: u64) -> Self {
        Self { taken_over: Some(Chance::new(!seed)), ..Self::new(seed) }
    }

    /// From here to its end, and on until nothing is open; `look` sees every step.
    pub(super) fn run(mut self, mut look: impl FnMut(&Self, &Step)) -> Self {
        while let Some(input) = self.next() {
            assert!(self.journal.len() < STEPS, "seed {}: it does not end", self.seed);
            if self.taken_over.as_mut().is_some_and(|chance| chance.percent(20)) && !self.is_over() {
                self.give(Input::TakenOver);
            }
            self.now = self.now.plus(Duration::from_secs(self.chance.pause()));
            self.give(input);
            look(&self, self.journal.last().expect("a step"));
        }
        assert!(self.is_over(), "seed {}: nothing is open, and it is not over", self.seed);
        self
    }

    fn is_over(&self) -> bool {
        self.task.status().is_over()
    }

    /// One answer to something that is open.
    fn next(&mut self) -> Option<Input> {
        if self.task.result().is_none() && self.task.spec().is_some() && self.chance.below(200) == 0 {
            return Some(Input::Cancelled { by: "the owner".into() });
        }
        if self.task.question().is_some() {
            return Some(Input::Clarified(Text::new("that one", Source::Owner)));
        }
        if self.open.is_empty() || (self.is_over() && self.chance.percent(10)) {
            return None;
        }
        let at = self.chance.below(self.open.len());
        Some(match self.open[at].clone() {
            Effect::Recall(recall) => Input::Recalled(self.chance.recalled(&recall)),
            Effect::Ask(ask) => self.chance.reply(&ask),
            Effect::Call(call) if self.waiting.contains(&call.id) => {
                Input::Answered { call: call.id, answer: self.chance.answer(call.tool.as_str() == DELIVER) }
            }
            Effect::Call(call) if self.ruled.contains(&call.id) => {
                let delivers = call.tool.as_str() == DELIVER && !self.chance.percent(5);
                let outcome = if delivers { Ok(json!({})) } else { self.chance.outcome() };
                Input::Returned { call: call.id, outcome }
            }
            Effect::Call(call) => Input::Ruled { call: call.id, ruling: self.chance.ruling() },
        })
    }

    fn give(&mut self, input: Input) {
        let seed = self.seed;
        self.account(&input);
        let repeats = matches!(&input, Input::TakenOver | Input::Answered { answer: Answer::Approved, .. });
        let step = self.task.handle(input, self.now).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for effect in &step.effects {
            let known = self.open.iter().any(|open| key(open) == key(effect));
            assert_eq!(known, repeats, "seed {seed}: started twice, or started again unasked: {effect:?}");
            if !known {
                self.open.push(effect.clone());
            }
        }
        self.journal.push(step);
        let same = self.task.pending().count() == self.open.len()
            && self.task.pending().all(|pending| self.open.contains(pending));
        assert!(same, "seed {seed}: what is open is not what was started and not answered");
        assert_eq!(self.task.waiting().len(), self.waiting.len(), "seed {seed}");
    }

    /// What an input closes, by the driver's own reckoning.
    fn account(&mut self, input: &Input) {
        match input {
            Input::Recalled(_) => self.close(Key::Recall),
            Input::Ruled { call, ruling: Ruling::Execute } => self.ruled.push(*call),
            Input::Ruled { call, ruling: Ruling::Review { .. } } => self.waiting.push(*call),
            Input::Answered { call, answer } => {
                self.waiting.retain(|waiting| waiting != call);
                let overtaken = self.task.result().is_some() && !self.delivers(*call);
                if overtaken || *answer != Answer::Approved {
                    self.close(Key::Call(*call));
                }
            }
            Input::Ruled { call, .. } | Input::Returned { call, .. } => self.close(Key::Call(*call)),
            other => {
                if let Some(subject) = other.subject() {
                    self.close(Key::Ask(subject));
                }
            }
        }
    }

    fn delivers(&self, id: CallId) -> bool {
        self.open
            .iter()
            .any(|open| matches!(open, Effect::Call(call) if call.id == id && call.tool.as_str() == DELIVER))
    }

    fn close(&mut self, closed: Key) {
        self.open.retain(|open| key(open) != closed);
    }

    pub(super) fn status(&self) -> Status {
        self.task.status()
    }
}
