//! What a person is to know of a task that is worked at: everything that is shown follows from it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use domain::Time;
use domain::ask::Subject;
use domain::call::ToolCard;
use domain::gradient::{Loss, Macro, Params, PlanDirective};
use domain::id::{CallId, TaskId};
use domain::task::Plan;

/// A task as far as its steps have told.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Model {
    pub(crate) task: Option<TaskId>,
    /// How a person names it; empty as long as nobody has looked that up.
    pub(crate) name: String,
    pub(crate) began: Option<Time>,
    /// When the last step was taken.
    pub(super) last: Option<Time>,
    /// Nothing where whoever answers knows one way only.
    pub(crate) steering: Option<Params>,
    pub(super) cards: Vec<ToolCard>,
    pub(super) asks: BTreeSet<Subject>,
    pub(crate) calls: BTreeMap<CallId, Running>,
    pub(super) stand: Stand,
    pub(super) drafted: Option<Plan>,
    pub(crate) parts: Vec<Part>,
    /// What is asked of the whole, beyond its parts.
    pub(crate) checks_of_all: usize,
    /// Plans that were given up.
    pub(crate) replans: u32,
    /// What each round came to.
    pub(crate) rounds: Vec<Round>,
    /// How long nobody was at it, between one process and the next.
    pub(super) paused: Duration,
    /// How long nothing went on without a person.
    pub(crate) waited: Duration,
    /// Millionths of the house's currency.
    pub(crate) price: u64,
    /// Whether somebody has said that it is to stop.
    pub(crate) stopping: bool,
    /// The end of what a model has said so far, until its reply is a step. Nobody knows yet whether it can be used.
    pub(crate) saying: String,
}

/// How far it has come in this round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stand {
    #[default]
    Begun,
    Understood,
    /// The parts are those of a plan that is carried out.
    Planned,
    Reviewed,
    /// There is a result.
    Over,
}

/// One step of the plan: a subtask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) intent: String,
    pub(crate) checks: usize,
    pub(crate) met: usize,
    /// Numbers of those it needs, from 0.
    pub(crate) needs: Vec<u32>,
    pub(crate) state: State,
    pub(crate) began: Option<Time>,
    pub(crate) took: Duration,
    /// What the person has said to one of its calls.
    pub(crate) you: Option<You>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Later,
    Working,
    Done,
    /// Why.
    Failed(String),
    /// Something it needs failed.
    Skipped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum You {
    Yes,
    No,
    Changed,
    /// Nobody answered in time.
    Expired,
}

/// A call that was asked for and is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) part: u32,
    pub(crate) tool: String,
    /// What it is aimed at.
    pub(crate) aim: String,
    /// Whether it waits for a person.
    pub(crate) asked: bool,
}

/// One round, measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Round {
    pub(crate) loss: Loss,
    pub(crate) grad_l: f64,
    pub(crate) directive: Macro,
    /// In a few words; empty if nothing is known.
    pub(crate) why: String,
}

impl Round {
    pub(super) fn of(directive: &PlanDirective, why: String) -> Self {
        let PlanDirective { loss, grad_l, directive, .. } = directive;
        Self { loss: *loss, grad_l: *grad_l, directive: *directive, why }
    }
}

/// Where one of the roles stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Light {
    NotYet,
    Busy,
    Done,
}

/// How much of what is being said is kept: more than a line shows.
const SAYING: usize = 400;

impl Model {
    /// A model goes on with what it says.
    pub(crate) fn hear(&mut self, more: &str) {
        self.saying.push_str(more);
        if let Some((cut, _)) = self.saying.char_indices().rev().nth(SAYING) {
            self.saying.drain(..cut);
        }
    }

    pub(crate) fn checks(&self) -> usize {
        self.parts.iter().map(|part| part.checks).sum::<usize>() + self.checks_of_all
    }

    pub(crate) fn is_planned(&self) -> bool {
        self.stand >= Stand::Planned
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stand == Stand::Over
    }

    /// The share of checks that are not met yet.
    #[expect(clippy::cast_precision_loss, reason = "a plan has a handful of checks")]
    pub(crate) fn unmet(&self) -> f64 {
        let met: usize = self.parts.iter().map(|part| part.met).sum();
        match self.checks() {
            0 => 0.0,
            checks => checks.saturating_sub(met) as f64 / checks as f64,
        }
    }

    /// How much of the allowed effort is used: replans and time, as the solver weighs them.
    #[expect(clippy::cast_precision_loss, reason = "a budget of 2⁵³ milliseconds is none")]
    pub(crate) fn spent(&self, now: Time) -> f64 {
        let Some(params) = &self.steering else { return 0.0 };
        let share = |used: f64, budget: f64| if budget > 0.0 { used / budget } else { 1.0 };
        let replans = share(f64::from(self.replans), f64::from(params.max_replans));
        let time = share(self.worked(now).as_secs_f64() * 1000.0, params.time_budget_ms as f64);
        (params.replan_weight * replans + params.time_weight * time).clamp(0.0, 1.0)
    }

    pub(crate) fn elapsed(&self, now: Time) -> Duration {
        self.began.map_or(Duration::ZERO, |began| now.since(began)).saturating_sub(self.paused)
    }

    /// From its first step to its last.
    pub(crate) fn lasted(&self) -> Duration {
        self.last.map_or(Duration::ZERO, |last| self.elapsed(last))
    }

    fn worked(&self, now: Time) -> Duration {
        let waits = self.last.filter(|_| self.is_waiting()).map_or(Duration::ZERO, |last| now.since(last));
        self.elapsed(now).saturating_sub(self.waited + waits)
    }

    /// Whether nothing goes on without a person.
    pub(crate) fn is_waiting(&self) -> bool {
        self.asks.is_empty() && !self.calls.is_empty() && self.calls.values().all(|call| call.asked)
    }

    /// Whether this part waits for a person.
    pub(crate) fn asks_about(&self, part: u32) -> bool {
        self.calls.values().any(|call| call.part == part && call.asked)
    }

    /// Understand, plan, work, check, review, steer.
    pub(crate) fn lights(&self) -> [(&'static str, Light); 6] {
        let light = |busy: bool, done: bool| match (busy, done) {
            (true, _) => Light::Busy,
            (false, true) => Light::Done,
            (false, false) => Light::NotYet,
        };
        let asks = |which: fn(&Subject) -> bool| self.asks.iter().any(which);
        let planning = asks(|ask| matches!(ask, Subject::Plan)) || self.drafted.is_some();
        let works = !self.calls.is_empty() || asks(|ask| matches!(ask, Subject::Act(_)));
        let checks = asks(|ask| matches!(ask, Subject::Judge(Some(_))));
        let settled = |part: &Part| !matches!(part.state, State::Later | State::Working);
        let settled = self.is_planned() && self.parts.iter().all(settled);
        [
            (
                "understand",
                light(asks(|ask| matches!(ask, Subject::Perceive)), self.stand >= Stand::Understood),
            ),
            ("plan", light(planning, self.is_planned())),
            ("work", light(works, settled)),
            ("check", light(checks, settled)),
            ("review", light(asks(|ask| matches!(ask, Subject::Judge(None))), self.stand >= Stand::Reviewed)),
            ("steer", light(false, self.is_over())),
        ]
    }
}
