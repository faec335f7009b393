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

/// A small typed predicate over the evidence of a subtask. Pointers are JSON pointers (RFC 6901) into
/// the record that its last successful call returned. More kinds come with the loop.
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
    AllOf(Vec<Check>),
    AnyOf(Vec<Check>),
    Not(Box<Check>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub criterion: String,
    pub passed: bool,
    pub failure_class: Option<FailureClass>,
    /// What was found, in a few words.
    pub evidence: String,
}
