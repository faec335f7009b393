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
    /// The text at the pointer matches; without a pointer, the claimed output.
    Regex {
        #[serde(default)]
        pointer: Option<String>,
        pattern: String,
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
