//! A task: what is wanted, the plan, how it ended. The machine that moves it is `engine`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::criterion::{Criterion, Verdict};
use crate::source::Text;

/// What R1 makes of a request: restated, not interpreted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// The kind of request, the same in any wording; memory is tagged with it.
    pub task_class: String,
    pub intent: Text,
    pub constraints: Constraints,
    /// Verbatim.
    pub raw_input: Text,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraints {
    pub scope: Option<String>,
    pub deadline: Option<String>,
}

/// One node of the plan. Its number is its place in the plan; a model never gives ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subtask {
    pub intent: Text,
    pub context: Vec<Text>,
    pub success_criteria: Vec<Criterion>,
    /// Numbers of subtasks whose outputs this one needs.
    pub depends_on: Vec<u32>,
    /// Numbers of subtasks that have to be over first, whatever they came to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<u32>,
}

impl Subtask {
    /// Every subtask that this one waits for.
    pub fn waits_for(&self) -> impl Iterator<Item = u32> {
        self.depends_on.iter().chain(&self.after).copied()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub subtasks: Vec<Subtask>,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Directive {
    /// Every criterion is met.
    Accept,
    /// Good enough, and what is unmet is listed.
    Success,
    /// Stopped; never shown as done.
    Abandon,
}

/// Why a task was abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The provider does not understand the request, and no other provider is there.
    NeedsModel,
    /// No plan that could be carried out.
    Unplannable,
    /// Authority said no, or wants a person's word.
    Refused,
    /// The work failed, or too much of it is unmet.
    Failed,
    /// It went round in circles.
    Loop,
    /// A budget is used up.
    Exhausted,
}

/// What the person gets, and how far it can be relied on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalResult {
    pub directive: Directive,
    pub cause: Option<Cause>,
    /// The result, or what there is of it. Concrete data, not prose about it.
    pub text: String,
    /// What happened instead, if the task did not simply succeed.
    pub reason: Option<String>,
    pub verdicts: Vec<Verdict>,
}

impl FinalResult {
    pub fn unmet(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| !verdict.passed)
    }
}

/// Where a task stands on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Written down, and nobody has decided about it yet.
    Queued,
    Running,
    /// Nothing can go on before a person has answered.
    Waiting,
    Done,
    Stopped,
}

impl Status {
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Stopped)
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Stopped => "stopped",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accept => "accept",
            Self::Success => "success",
            Self::Abandon => "abandon",
        })
    }
}
