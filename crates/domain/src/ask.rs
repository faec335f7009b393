//! What the engine asks of a model, and what it gets back, as types. Only the adapters of real models
//! render prompts and parse text; the reflex provider answers the ask itself, and a recording is keyed on it.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{Chooser, Evidence, FailureClass, ToolId};
use crate::canonical::EXACT;
use crate::gradient::PlanDirective;
use crate::recall::Recalled;
use crate::source::Text;
use crate::task::{Plan, Subtask, TaskSpec};
use crate::time::Time;

/// One question to a model: what is wanted of it, and what every role is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub want: Want,
    /// Which plan this is about: 0 for the first, one more with every replan.
    pub round: u32,
    /// When it is asked, and in which folder the work is done: relative dates and places must resolve.
    pub now: Time,
    pub workspace: String,
    /// What was wrong with the reply before. There is one such second try.
    pub repair: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// R1: what does this request need?
    Perceive { request: Text, history: Vec<Exchange>, clarified: Option<Clarified> },
    /// R2: how is it to be done, and how will we know?
    Plan {
        spec: TaskSpec,
        clarified: Option<Clarified>,
        recalled: Recalled,
        /// What the plan before came to, and where to go from there.
        replan: Option<Replan>,
    },
    /// R3: given what has been seen so far, what is the next move for this subtask?
    Act {
        spec: TaskSpec,
        number: u32,
        subtask: Subtask,
        /// What this attempt has seen.
        evidence: Vec<Evidence>,
        /// From 0.
        attempt: u32,
        correction: Option<Correction>,
    },
    /// R4a for a subtask, R4b for the whole: which of these are met?
    Judge { spec: TaskSpec, of: Option<u32>, criteria: Vec<String>, claim: String, evidence: Vec<Evidence> },
}

/// Which ask it is: at most one of each is open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    Perceive,
    Plan,
    Act(u32),
    /// The whole, or one subtask.
    Judge(Option<u32>),
}

impl Ask {
    #[must_use]
    pub const fn subject(&self) -> Subject {
        match &self.want {
            Want::Perceive { .. } => Subject::Perceive,
            Want::Plan { .. } => Subject::Plan,
            Want::Act { number, .. } => Subject::Act(*number),
            Want::Judge { of, .. } => Subject::Judge(*of),
        }
    }
}

impl Subject {
    /// The role that asks; its cost is counted under this name.
    #[must_use]
    pub const fn role(self) -> &'static str {
        match self {
            Self::Perceive => "perceiver",
            Self::Plan => "planner",
            Self::Act(_) => "executor",
            Self::Judge(Some(_)) => "validator",
            Self::Judge(None) => "meta_validator",
        }
    }
}

/// What was asked for before in the same place, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    pub input: String,
    pub summary: String,
}

/// The one question back, and what was said to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clarified {
    pub question: String,
    pub answer: Text,
}

/// What a planner is told when it plans again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replan {
    pub directive: PlanDirective,
    /// What each subtask of the plan before came to, in a line.
    pub outcomes: Vec<String>,
    /// What is there already, subtask by subtask.
    pub achieved: Vec<Text>,
}

/// R4a to R3: what was wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    pub what_was_wrong: Vec<String>,
    pub what_to_do: String,
    pub failure_class: FailureClass,
    /// Calls of earlier attempts, not to be repeated.
    pub not_again: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Perceived(Perception),
    Planned(Plan),
    NotPlanned(NotPlanned),
    Acted(Action),
    /// One for each criterion that was asked about, in that order.
    Judged(Vec<Judgement>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Perception {
    Task(Box<TaskSpec>),
    /// Greetings, identity, small talk, arithmetic: the answer itself, and no task.
    Direct {
        answer: String,
    },
    /// What it means is not certain: one question back.
    Clarify {
        question: String,
    },
    /// Not understood with certainty. A reflex never guesses.
    Beyond {
        why: String,
    },
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotPlanned {
    Clarify { question: String },
    Impossible { why: String },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Call {
        tool: ToolId,
        args: Value,
        chosen_by: Chooser,
    },
    /// What came out, as a claim; the evidence is the truth.
    Finish {
        output: String,
        #[serde(default, skip_serializing_if = "Claim::is_completed")]
        status: Claim,
    },
}

/// What an executor says of its own work. It is never more than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    #[default]
    Completed,
    /// It cannot tell; the criteria can.
    Uncertain,
    Failed,
}

impl Claim {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks this way")]
    const fn is_completed(&self) -> bool {
        matches!(self, Self::Completed)
    }
}

impl Action {
    /// The claim to be done.
    #[must_use]
    pub fn done(output: impl Into<String>) -> Self {
        Self::Finish { output: output.into(), status: Claim::Completed }
    }

    /// The word that it cannot be done.
    #[must_use]
    pub fn failed(output: impl Into<String>) -> Self {
        Self::Finish { output: output.into(), status: Claim::Failed }
    }
}

/// A judge's word on one criterion. What is unclear is not met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub verdict: Opinion,
    #[serde(default)]
    pub failure_class: Option<FailureClass>,
    pub evidence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    Pass,
    Fail,
    Unclear,
}

/// Why a model gave no reply that can be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    pub kind: Silence,
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Silence {
    /// It answered, and not in the form that was asked for: one more try, told what was wrong.
    Unusable,
    /// It cannot be reached, or takes too long.
    Unreachable,
    /// It will not answer this.
    Declined,
    /// Authority did not let it be asked.
    Refused,
    /// What asking could have cost was more than a budget has left.
    Exhausted,
}

impl Unanswered {
    #[must_use]
    pub fn new(kind: Silence, why: impl Into<String>) -> Self {
        Self { kind, why: why.into() }
    }

    #[must_use]
    pub fn unusable(why: impl Into<String>) -> Self {
        Self::new(Silence::Unusable, why)
    }

    #[must_use]
    pub fn unreachable(why: impl Into<String>) -> Self {
        Self::new(Silence::Unreachable, why)
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Silence::Unusable => "its reply cannot be used",
            Silence::Unreachable => "it did not answer",
            Silence::Declined => "it will not answer",
            Silence::Refused | Silence::Exhausted => "it was not asked",
        };
        write!(f, "{kind}: {}", self.why)
    }
}

/// What one ask has cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub model: String,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Of those that went in, how many the provider had kept.
    #[serde(default)]
    pub cached: u64,
    pub latency_ms: u64,
    /// Millionths of the house's currency.
    #[serde(default)]
    pub price: u64,
}

impl Usage {
    /// The same with every count clamped to what can be kept: a server may count whatever it likes.
    #[must_use]
    pub fn clamped(self) -> Self {
        let Self { model, tokens_in, tokens_out, cached, latency_ms, price } = self;
        let [tokens_in, tokens_out, cached, latency_ms, price] =
            [tokens_in, tokens_out, cached, latency_ms, price].map(|count| count.min(EXACT));
        Self { model, tokens_in, tokens_out, cached, latency_ms, price }
    }
}
