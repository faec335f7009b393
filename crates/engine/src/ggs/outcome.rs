//! What the solver is told of a round: per subtask what was called, and how its criteria were judged.

use domain::criterion::Mode;
use serde::{Deserialize, Serialize};

/// What one subtask came to. Verdicts on the task's own criteria are one more, called `task`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub subtask: String,
    pub status: Status,
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    #[serde(default)]
    pub criteria: Vec<Judged>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Matched,
    Failed,
    /// It never ran, because something it needs failed.
    Skipped,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub tool: String,
    /// What it was about: a path, a query, an address.
    pub target: Option<String>,
    /// The registry's category of the tool.
    pub class: Option<String>,
    /// Whether it did what it should. Where nobody says so, it is judged by its subtask.
    pub ok: Option<bool>,
}

/// A criterion with its verdict in this round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    pub text: String,
    pub mode: Mode,
    pub verdict: Verdict,
    pub failure_class: Option<Class>,
    /// One per attempt; true is a pass.
    #[serde(default)]
    pub attempts: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The wrong approach: trying again changes nothing.
    Logical,
    /// The world refused.
    Environmental,
}

impl Outcome {
    /// Whether something in it went wrong. What was skipped went neither right nor wrong.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        match self.status {
            Status::Failed => true,
            Status::Matched => self.failed().next().is_some(),
            Status::Skipped => false,
        }
    }

    pub(super) fn failed(&self) -> impl Iterator<Item = &Judged> {
        self.criteria.iter().filter(|judged| judged.verdict == Verdict::Fail)
    }
}

impl Judged {
    /// How much a failure counts: all of it, or the share of attempts that failed where it is a matter of judgement.
    #[expect(clippy::cast_precision_loss, reason = "a criterion has a handful of attempts")]
    pub(super) fn weight(&self) -> f64 {
        match self.mode {
            Mode::Plausible if !self.attempts.is_empty() => {
                let failed = self.attempts.iter().filter(|passed| !**passed).count();
                failed as f64 / self.attempts.len() as f64
            }
            Mode::Plausible | Mode::Verifiable => 1.0,
        }
    }

    /// Whether it failed as often as it was tried.
    pub(super) fn never_passed(&self) -> bool {
        self.verdict == Verdict::Fail && !self.attempts.is_empty() && !self.attempts.contains(&true)
    }
}
