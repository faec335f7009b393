//! What goes into the machine, what comes out, and what of it is journalled.

use domain::approval::Answer;
use domain::ask::{Action, Ask, Perception};
use domain::call::{Call, Outcome};
use domain::constitution::Rule;
use domain::id::{ApprovalId, CallId, ReasonId, TaskId};
use domain::principal::Principal;
use domain::source::Text;
use domain::task::Plan;
use domain::{Tags, Time, Trust};
use serde::{Deserialize, Serialize};

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
}

/// An answer from outside. It is durable before the machine acts on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    Opened(Opening),
    Perceived(Perception),
    Planned(Plan),
    Acted {
        subtask: u32,
        action: Action,
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
}

impl Input {
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Opened(_) => "opened",
            Self::Perceived(_) => "perceived",
            Self::Planned(_) => "planned",
            Self::Acted { .. } => "acted",
            Self::Ruled { .. } => "ruled",
            Self::Answered { .. } => "answered",
            Self::Returned { .. } => "returned",
            Self::TakenOver => "taken over",
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

/// What the outside world is to do. Models and tools; memory comes later. People are asked where authority wants them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Ask(Box<Ask>),
    Call(Call),
}

impl Effect {
    pub(super) fn ask(ask: Ask) -> Self {
        Self::Ask(Box::new(ask))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// R7
    Solver,
}

/// What one role said to another; the bus is a projection of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub from: Role,
    pub to: Role,
    pub kind: String,
    pub subtask: Option<u32>,
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
    pub messages: Vec<Message>,
    pub reasons: Vec<NewReason>,
    #[serde(skip)]
    pub effects: Vec<Effect>,
}

impl Step {
    pub(super) fn say(&mut self, from: Role, to: Role, kind: &str, subtask: Option<u32>) {
        self.messages.push(Message { from, to, kind: kind.into(), subtask });
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unexpected {
    #[error("the journal does not begin with the opening of a task")]
    NotOpened,
    #[error("nobody asked for the input `{0}`")]
    NobodyAsked(&'static str),
}
