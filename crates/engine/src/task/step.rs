//! What goes into the machine, what comes out, and what of it is journalled.

use domain::approval::Answer;
use domain::ask::{Action, Ask, Exchange, Judgement, NotPlanned, Perception, Subject, Unanswered, Usage};
use domain::call::{Call, Outcome, ToolCard};
use domain::constitution::Rule;
use domain::gradient::Params;
use domain::id::{ApprovalId, CallId, ReasonId, TaskId};
use domain::principal::Principal;
use domain::recall::{Recall, Recalled};
use domain::source::Text;
use domain::task::Plan;
use domain::{Tags, Time, Trust};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::contract::Said;

/// Everything that is fixed for a task when it is opened, from the admission that let it in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    pub task: TaskId,
    pub agent: String,
    pub tags: Tags,
    pub principal: Principal,
    pub trust: Trust,
    /// Globs over the tool ids that the admission allows.
    pub tools: Vec<String>,
    pub request: Text,
    /// Where the work is done: the folder that file tools cannot leave.
    pub workspace: String,
    /// How corrections and replans are steered. Nothing where whoever answers knows one way only: a reflex, a call by the
    /// owner's own hand, and every task before there was a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steering: Option<Params>,
    /// The tools there are, as far as the machine has to know them. Only a steered task has to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<ToolCard>,
    /// What was asked for before in the same place, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Exchange>,
    /// What the guardian made of the request; nothing where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<Assessment>,
}

/// How risky a request looks. Nobody assesses requests yet; whoever does says it here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    pub risk: f64,
    pub action: String,
}

/// An answer from outside. It is durable before the machine acts on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "an input is taken in one at a time; the opening comes once")]
pub enum Input {
    Opened(Opening),
    Perceived(Perception),
    /// What a person said to the one question back.
    Clarified(Text),
    Recalled(Recalled),
    Planned(Plan),
    NotPlanned(NotPlanned),
    Acted {
        subtask: u32,
        action: Action,
    },
    /// What a judge says of the criteria that it was asked about: of a subtask, or of the whole.
    Judged {
        of: Option<u32>,
        judgements: Vec<Judgement>,
    },
    /// A model gave no reply that could be used.
    Unanswered {
        ask: Subject,
        why: Unanswered,
    },
    /// What authority says about a call that was asked for.
    Ruled {
        call: CallId,
        ruling: Ruling,
    },
    /// What a person said about a call that waited for them.
    Answered {
        call: CallId,
        answer: Answer,
    },
    Returned {
        call: CallId,
        outcome: Outcome,
    },
    /// Another process drives the task from here on.
    TakenOver,
    /// Somebody says that it is to stop.
    Cancelled {
        by: String,
    },
}

impl Input {
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Opened(_) => "opened",
            Self::Perceived(_) => "perceived",
            Self::Clarified(_) => "clarified",
            Self::Recalled(_) => "recalled",
            Self::Planned(_) => "planned",
            Self::NotPlanned(_) => "not planned",
            Self::Acted { .. } => "acted",
            Self::Judged { .. } => "judged",
            Self::Unanswered { .. } => "unanswered",
            Self::Ruled { .. } => "ruled",
            Self::Answered { .. } => "answered",
            Self::Returned { .. } => "returned",
            Self::TakenOver => "taken over",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// The ask that it answers, if it answers one.
    #[must_use]
    pub const fn subject(&self) -> Option<Subject> {
        match self {
            Self::Perceived(_) => Some(Subject::Perceive),
            Self::Planned(_) | Self::NotPlanned(_) => Some(Subject::Plan),
            Self::Acted { subtask, .. } => Some(Subject::Act(*subtask)),
            Self::Judged { of, .. } => Some(Subject::Judge(*of)),
            Self::Unanswered { ask, .. } => Some(*ask),
            Self::Opened(_)
            | Self::Clarified(_)
            | Self::Recalled(_)
            | Self::Ruled { .. }
            | Self::Answered { .. }
            | Self::Returned { .. }
            | Self::TakenOver
            | Self::Cancelled { .. } => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    Execute,
    /// A person is asked, and the call waits for them.
    Review {
        approval: ApprovalId,
    },
    /// As journals of the first rules have it: the subtask ends.
    Refused {
        why: String,
    },
    /// The attempt is told why, and what would be allowed instead.
    Denied {
        why: String,
        instead: Vec<String>,
        /// Rules of the constitution that the call violates.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        violated: Vec<Rule>,
    },
    /// A budget is used up: the task ends.
    Exhausted {
        why: String,
    },
}

/// What the outside world is to do. Models, tools and memory; people are asked where authority wants them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Ask(Box<Ask>),
    Call(Call),
    Recall(Recall),
}

/// What an open effect is known by until its answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Open {
    Recall,
    Ask(Subject),
    Call(CallId),
}

impl Effect {
    pub(super) fn key(&self) -> Open {
        match self {
            Self::Recall(_) => Open::Recall,
            Self::Ask(ask) => Open::Ask(ask.subject()),
            Self::Call(call) => Open::Call(call.id),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    /// R1
    Perceiver,
    /// R2
    Planner,
    /// R3
    Executor,
    /// R4a
    Validator,
    /// R4b
    MetaValidator,
    /// R5
    Memory,
    /// R7
    Solver,
}

/// What one role said to another; the bus is a projection of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub from: Role,
    pub to: Role,
    pub kind: String,
    pub subtask: Option<u32>,
    /// As the type behind the kind has it (`contract`); nothing where the step's input says it all.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
}

/// A reason that this step brought forth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewReason {
    pub id: ReasonId,
    /// The kind of decision.
    pub r_tag: String,
    pub parent: Option<ReasonId>,
    pub thought: Text,
}

/// One step of the journal. The input is the truth, the rest follows from it and can be compared on replay;
/// effects are not kept, because folding brings them forth again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub n: u64,
    pub at: Time,
    /// Of the machine that took it; 0 where that was not kept yet.
    #[serde(default)]
    pub rules: u32,
    pub input: Input,
    /// What the answer of a model has cost. Nothing follows from it here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    pub messages: Vec<Message>,
    pub reasons: Vec<NewReason>,
    #[serde(skip)]
    pub effects: Vec<Effect>,
}

impl Step {
    pub(super) fn say(&mut self, from: Role, to: Role, said: &Said<'_>, subtask: Option<u32>) {
        let (kind, body) = (said.kind().into(), said.body());
        self.messages.push(Message { from, to, kind, subtask, body });
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unexpected {
    #[error("the journal does not begin with the opening of a task")]
    NotOpened,
    #[error("nobody asked for the input `{0}`")]
    NobodyAsked(&'static str),
}
