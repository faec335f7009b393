//! A task: what is wanted, the plan, how it ended. The machine that moves it is `engine`.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::call::ToolId;
use crate::criterion::{Criterion, Verdict};
use crate::gradient::Loss;
use crate::recall::Tag;
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
    /// Tools that the planner expects to be used, with the target where it knows one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_hints: Vec<Hint>,
    /// Its group, where the planner gave no dependencies: each group waits for the whole one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u32>,
}

/// A tool that a plan names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    pub tool: ToolId,
    #[serde(default)]
    pub target: Option<String>,
}

impl Subtask {
    /// One that needs no other, with these criteria.
    #[must_use]
    pub fn new(intent: Text, success_criteria: Vec<Criterion>) -> Self {
        Self {
            intent,
            context: Vec::new(),
            success_criteria,
            depends_on: Vec::new(),
            after: Vec::new(),
            tool_hints: Vec::new(),
            sequence: None,
        }
    }

    /// Every subtask that this one waits for.
    pub fn waits_for(&self) -> impl Iterator<Item = u32> {
        self.depends_on.iter().chain(&self.after).copied()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub subtasks: Vec<Subtask>,
    /// What must be true of all outputs together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub task_criteria: Vec<Criterion>,
}

impl Plan {
    /// A plan that asks nothing of the whole beyond what it asks of its parts.
    #[must_use]
    pub const fn of(subtasks: Vec<Subtask>) -> Self {
        Self { subtasks, task_criteria: Vec::new() }
    }
}

/// What a plan and its calls must not use: what did not work this time, and what memory says to stay away from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MustNot {
    pub tools: BTreeSet<String>,
    pub targets: BTreeSet<String>,
    /// Tools that must not be used on one target, by their tag.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub avoided: BTreeSet<Tag>,
}

impl MustNot {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.targets.is_empty() && self.avoided.is_empty()
    }

    /// Why this must not be done, if it must not.
    #[must_use]
    pub fn forbids(&self, tool: &str, target: Option<&str>) -> Option<String> {
        if self.tools.contains(tool) {
            return Some(format!("{tool} did not work here, and the plan is not to use it again"));
        }
        let target = target?;
        if self.targets.contains(target) {
            return Some(format!("`{target}` did not work here, and the plan is not to use it again"));
        }
        let avoided = self.avoided.contains(&Tag::tool(tool, target));
        avoided.then(|| format!("{tool} on `{target}` has gone wrong before"))
    }
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
    /// The model gave no answer that could be used.
    NoAnswer,
    /// Somebody said that it is to stop.
    Cancelled,
}

/// What the person gets, and how far it can be relied on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinalResult {
    pub directive: Directive,
    pub cause: Option<Cause>,
    /// The result, or what there is of it. Concrete data, not prose about it.
    pub text: String,
    /// What happened instead, if the task did not simply succeed.
    pub reason: Option<String>,
    pub verdicts: Vec<Verdict>,
    /// What was tried, round by round, where it was not simply accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<String>,
    /// What could be done next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    /// Where the solver stood when it ended the task; nothing where it ended before there was anything to measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
}

/// Where the solver stood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub loss: Loss,
    pub grad_l: f64,
    pub replans: u32,
    pub prev_directive: String,
}

impl FinalResult {
    #[must_use]
    pub const fn new(directive: Directive, text: String) -> Self {
        Self {
            directive,
            cause: None,
            text,
            reason: None,
            verdicts: Vec::new(),
            tried: Vec::new(),
            next: Vec::new(),
            measured: None,
        }
    }

    /// What is not met, and what is unverified.
    pub fn unmet(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| !verdict.passed)
    }

    /// How many of the checks there are of each kind: `all 4 checks proved`, `1 of 2 checks proved, 1 judged`.
    #[must_use]
    pub fn counted(&self) -> String {
        const KINDS: [&str; 5] = ["proved", "judged", "met", "unverified", "not met"];
        let all = self.verdicts.len();
        let of = |kind: &str| self.verdicts.iter().filter(|verdict| verdict.name() == kind).count();
        let mut kinds = KINDS.iter().map(|kind| (*kind, of(kind))).filter(|(_, count)| *count > 0);
        let checks = if all == 1 { "check" } else { "checks" };
        let first = match kinds.next() {
            None => return "no checks".to_owned(),
            Some((kind, 1)) if all == 1 => return format!("1 check {kind}"),
            Some((kind, count)) if count == all => return format!("all {all} {checks} {kind}"),
            Some((kind, count)) => format!("{count} of {all} {checks} {kind}"),
        };
        let rest = kinds.map(|(kind, count)| format!("{count} {kind}"));
        std::iter::once(first).chain(rest).collect::<Vec<_>>().join(", ")
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
