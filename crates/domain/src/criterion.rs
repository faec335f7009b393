//! What must be true of a result, and whether it is. A criterion with a check is decided in code: it
//! costs no tokens and cannot be talked into passing.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{FailureClass, ToolId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Verifiable,
    Plausible,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    pub text: String,
    pub mode: Mode,
    pub check: Option<Check>,
}

impl Criterion {
    #[must_use]
    pub fn checked(text: impl Into<String>, check: Check) -> Self {
        Self { text: text.into(), mode: Mode::Verifiable, check: Some(check) }
    }
}

/// A small typed predicate over the evidence of one attempt. Pointers are JSON pointers (RFC 6901) into the record that
/// its last successful call returned. What is said of files is read from the same records, never from the disk: that a
/// file is there afterwards does not prove that this attempt put it there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// This tool ran and succeeded.
    ToolCalled {
        tool: ToolId,
    },
    JsonPath {
        pointer: String,
        equals: Value,
    },
    NumberInRange {
        pointer: String,
        min: Option<f64>,
        max: Option<f64>,
    },
    NotEmpty {
        pointer: String,
    },
    /// The last call that has an exit code ended with this one.
    ExitCode {
        code: i64,
    },
    /// A call wrote, read or found this file, and none after it took it away.
    FileExists {
        path: String,
    },
    /// A call took this file away, or looked for it and did not find it.
    FileAbsent {
        path: String,
    },
    /// A call read or wrote this file, with this text in it.
    FileContains {
        path: String,
        text: String,
    },
    /// The last search found this many files.
    FileCount {
        min: Option<u64>,
        max: Option<u64>,
    },
    /// The text at the pointer matches; without a pointer, the claimed output, which proves nothing.
    Regex {
        #[serde(default)]
        pointer: Option<String>,
        pattern: String,
    },
    AllOf(Vec<Check>),
    AnyOf(Vec<Check>),
    Not(Box<Check>),
}

impl Check {
    /// Whether it cannot hold unless a call shows something, or the executor at least says it. `{"all_of":[]}` holds
    /// where nothing was done, and so does that a tool was not called.
    #[must_use]
    pub fn wants_something(&self) -> bool {
        self.wants(true)
    }

    fn wants(&self, to_hold: bool) -> bool {
        match self {
            Self::Not(check) => check.wants(!to_hold),
            Self::AllOf(parts) if to_hold => parts.iter().any(|part| part.wants(true)),
            Self::AnyOf(parts) if !to_hold => parts.iter().any(|part| part.wants(false)),
            Self::AllOf(parts) | Self::AnyOf(parts) => {
                !parts.is_empty() && parts.iter().all(|part| part.wants(to_hold))
            }
            Self::Regex { pointer: None, .. } => true,
            single => to_hold || single.needs_a_record(),
        }
    }

    /// Whether neither it nor its opposite holds unless a record says so: what is in a file, how many were found.
    #[must_use]
    pub const fn needs_a_record(&self) -> bool {
        matches!(
            self,
            Self::FileExists { .. }
                | Self::FileAbsent { .. }
                | Self::FileContains { .. }
                | Self::FileCount { .. }
                | Self::ExitCode { .. }
        )
    }
}

/// What a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Only what the executor says. Such a criterion is neither met nor failed: it is unverified.
    Claim,
    /// The opinion of a model.
    Judge,
    /// The record of a call that succeeded: its number among those of the subtask in this round, from 1; for a criterion
    /// of the whole task, among those of the plan.
    Call(u32),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub criterion: String,
    /// A call or a judge says that it is met.
    pub passed: bool,
    pub failure_class: Option<FailureClass>,
    /// What was found, in a few words.
    pub evidence: String,
    /// Nothing where it failed, and in records from before this was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
}

impl Verdict {
    /// Whether it is shown not to be met. What only the executor says is not.
    #[must_use]
    pub const fn is_failed(&self) -> bool {
        !self.passed && !self.is_unverified()
    }

    #[must_use]
    pub const fn is_unverified(&self) -> bool {
        matches!(self.basis, Some(Basis::Claim))
    }

    /// Its kind, for people.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match (self.passed, self.basis) {
            (_, Some(Basis::Claim)) => "unverified",
            (true, Some(Basis::Call(_))) => "proved",
            (true, Some(Basis::Judge)) => "judged",
            (true, None) => "met",
            (false, _) => "not met",
        }
    }
}
