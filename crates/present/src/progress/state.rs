//! What a person knows of a task while it is worked at. Everything that is displayed follows from it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use domain::Time;
use domain::ask::Subject;
use domain::call::ToolCard;
use domain::gradient::{Loss, Macro, Params, PlanDirective};
use domain::id::{CallId, TaskId};
use domain::task::Plan;

/// The state of a task as its steps describe it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskProgress {
    pub task: Option<TaskId>,
    /// How a person names it; empty until the caller has looked it up.
    pub name: String,
    pub began: Option<Time>,
    /// When the last step was taken.
    pub(super) last: Option<Time>,
    /// `None` if the provider knows only one way.
    pub steering: Option<Params>,
    pub(super) cards: Vec<ToolCard>,
    pub(super) asks: BTreeSet<Subject>,
    pub calls: BTreeMap<CallId, RunningCall>,
    pub(super) phase: TaskPhase,
    pub(super) drafted: Option<Plan>,
    pub subtasks: Vec<SubtaskRow>,
    /// Checks of the whole task, beyond those of its subtasks.
    pub checks_of_all: usize,
    /// Plans that were given up.
    pub replans: u32,
    /// What each round came to.
    pub rounds: Vec<RoundSummary>,
    /// How long no process worked at it, between one process and the next.
    pub(super) paused: Duration,
    /// How long the task could not go on without a person.
    pub waited: Duration,
    /// Millionths of the house's currency.
    pub price: u64,
    /// Whether the task is to stop.
    pub stopping: bool,
    /// The end of the reply that a model is writing, until the reply is a step.
    pub partial_reply: String,
}

/// How far it has come in this round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskPhase {
    #[default]
    Begun,
    Understood,
    /// The subtasks are those of the plan that is carried out.
    Planned,
    Reviewed,
    /// There is a result.
    Over,
}

/// One step of the plan: a subtask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubtaskRow {
    pub intent: String,
    pub checks: usize,
    pub met: usize,
    /// Numbers of those it needs, from 0.
    pub needs: Vec<u32>,
    pub state: SubtaskState,
    pub began: Option<Time>,
    pub took: Duration,
    /// What the person answered about one of its calls.
    pub answer: Option<PersonAnswer>,
}

/// How far a subtask is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SubtaskState {
    #[default]
    Later,
    Working,
    Done,
    /// Why.
    Failed(String),
    /// Something it needs failed.
    Skipped,
}

/// What a person answered about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonAnswer {
    Yes,
    No,
    Changed,
    /// There was no answer in time.
    Expired,
}

/// A call that was asked for and is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningCall {
    pub subtask: u32,
    pub tool: String,
    /// What it is aimed at.
    pub target: String,
    /// Whether it waits for a person.
    pub asked: bool,
}

/// One round, measured.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundSummary {
    pub loss: Loss,
    pub grad_l: f64,
    pub directive: Macro,
    /// In a few words; empty if nothing is known.
    pub why: String,
}

impl RoundSummary {
    pub(super) fn new(directive: &PlanDirective, why: String) -> Self {
        let PlanDirective { loss, grad_l, directive, .. } = directive;
        Self { loss: *loss, grad_l: *grad_l, directive: *directive, why }
    }
}

/// How far one of the roles is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleState {
    NotYet,
    Busy,
    Done,
}

/// How much of a reply is kept: more than a line shows.
const REPLY_CHARACTERS: usize = 400;

impl TaskProgress {
    /// A model goes on with its reply.
    pub fn append_reply(&mut self, more: &str) {
        self.partial_reply.push_str(more);
        if let Some((cut, _)) = self.partial_reply.char_indices().rev().nth(REPLY_CHARACTERS) {
            self.partial_reply.drain(..cut);
        }
    }

    #[must_use]
    pub fn checks(&self) -> usize {
        self.subtasks.iter().map(|row| row.checks).sum::<usize>() + self.checks_of_all
    }

    #[must_use]
    pub fn is_planned(&self) -> bool {
        self.phase >= TaskPhase::Planned
    }

    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == TaskPhase::Over
    }

    /// The share of checks that are not met yet.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a plan has a handful of checks")]
    pub fn unmet(&self) -> f64 {
        let met: usize = self.subtasks.iter().map(|row| row.met).sum();
        match self.checks() {
            0 => 0.0,
            checks => checks.saturating_sub(met) as f64 / checks as f64,
        }
    }

    /// How much of the allowed effort is used: replans and time, as the solver weighs them.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a budget of 2⁵³ milliseconds is none")]
    pub fn spent(&self, now: Time) -> f64 {
        let Some(params) = &self.steering else { return 0.0 };
        let share = |used: f64, budget: f64| if budget > 0.0 { used / budget } else { 1.0 };
        let replans = share(f64::from(self.replans), f64::from(params.max_replans));
        let time = share(self.worked(now).as_secs_f64() * 1000.0, params.time_budget_ms as f64);
        (params.replan_weight * replans + params.time_weight * time).clamp(0.0, 1.0)
    }

    #[must_use]
    pub fn elapsed(&self, now: Time) -> Duration {
        self.began.map_or(Duration::ZERO, |began| now.since(began)).saturating_sub(self.paused)
    }

    /// From its first step to its last.
    #[must_use]
    pub fn lasted(&self) -> Duration {
        self.last.map_or(Duration::ZERO, |last| self.elapsed(last))
    }

    fn worked(&self, now: Time) -> Duration {
        let waits = self.last.filter(|_| self.is_waiting()).map_or(Duration::ZERO, |last| now.since(last));
        self.elapsed(now).saturating_sub(self.waited + waits)
    }

    /// Whether nothing goes on without a person.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.asks.is_empty() && !self.calls.is_empty() && self.calls.values().all(|call| call.asked)
    }

    /// Whether this subtask waits for a person.
    #[must_use]
    pub fn waits_for_person(&self, subtask: u32) -> bool {
        self.calls.values().any(|call| call.subtask == subtask && call.asked)
    }

    /// Understand, plan, work, check, review, steer.
    #[must_use]
    pub fn role_states(&self) -> [(&'static str, RoleState); 6] {
        let light = |busy: bool, done: bool| match (busy, done) {
            (true, _) => RoleState::Busy,
            (false, true) => RoleState::Done,
            (false, false) => RoleState::NotYet,
        };
        let asks = |which: fn(&Subject) -> bool| self.asks.iter().any(which);
        let planning = asks(|ask| matches!(ask, Subject::Plan)) || self.drafted.is_some();
        let works = !self.calls.is_empty() || asks(|ask| matches!(ask, Subject::Act(_)));
        let checks = asks(|ask| matches!(ask, Subject::Judge(Some(_))));
        let settled = |row: &SubtaskRow| !matches!(row.state, SubtaskState::Later | SubtaskState::Working);
        let settled = self.is_planned() && self.subtasks.iter().all(settled);
        [
            (
                "understand",
                light(asks(|ask| matches!(ask, Subject::Perceive)), self.phase >= TaskPhase::Understood),
            ),
            ("plan", light(planning, self.is_planned())),
            ("work", light(works, settled)),
            ("check", light(checks, settled)),
            (
                "review",
                light(asks(|ask| matches!(ask, Subject::Judge(None))), self.phase >= TaskPhase::Reviewed),
            ),
            ("steer", light(false, self.is_over())),
        ]
    }
}
