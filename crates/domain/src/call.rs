//! A call of a tool and what came of it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical;
use crate::id::{CallId, TaskId};
use crate::tags::Tags;
use crate::tier::Tier;

/// The name of a tool: it fits every wire.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolId(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no tool id: 1 to 64 of a-z, 0-9, _ and - are allowed")]
pub struct NotAToolId(String);

impl FromStr for ToolId {
    type Err = NotAToolId;

    fn from_str(text: &str) -> Result<Self, NotAToolId> {
        let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_' || c == b'-';
        if (1..=64).contains(&text.len()) && text.bytes().all(fits) {
            Ok(Self(text.into()))
        } else {
            Err(NotAToolId(text.into()))
        }
    }
}

impl TryFrom<String> for ToolId {
    type Error = NotAToolId;
    fn try_from(text: String) -> Result<Self, NotAToolId> {
        text.parse()
    }
}

impl From<ToolId> for String {
    fn from(id: ToolId) -> Self {
        id.0
    }
}

impl ToolId {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Who picked this call and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chooser {
    /// A rule of the program, from the request's own words.
    Rule,
    /// A language model, which may have been talked into it.
    Model,
    /// The owner's own hand, without an agent in between; `confirmed` if they have said yes to this very call.
    Owner { confirmed: bool },
}

/// One use of one tool, as it is asked for. What may be done with it is the broker's word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub id: CallId,
    pub tool: ToolId,
    pub args: Value,
    pub task: TaskId,
    /// Which subtask of the plan wants it; none for the delivery of the answer.
    pub subtask: Option<u32>,
    pub chosen_by: Chooser,
    pub tags: Tags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The wrong approach: trying again changes nothing.
    Logical,
    /// The world refused: missing file, permission, time-out.
    Environmental,
    /// Authority said no, or wants a person's word. It did not run.
    Refused,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub class: FailureClass,
    pub message: String,
    /// What would be allowed instead, where somebody knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// It did not come to its end: time ran out, it was stopped, or nobody knows. Trying again would not be a correction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}

impl Failure {
    const fn of(class: FailureClass, message: String) -> Self {
        Self { class, message, instead: Vec::new(), interrupted: false }
    }

    #[must_use]
    pub fn environmental(message: impl Into<String>) -> Self {
        Self::of(FailureClass::Environmental, message.into())
    }

    #[must_use]
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self { interrupted: true, ..Self::environmental(message) }
    }

    #[must_use]
    pub fn logical(message: impl Into<String>) -> Self {
        Self::of(FailureClass::Logical, message.into())
    }

    /// A denial teaches: it says why, and what would be allowed instead.
    #[must_use]
    pub fn refused(message: impl Into<String>, instead: Vec<String>) -> Self {
        Self { instead, ..Self::of(FailureClass::Refused, message.into()) }
    }
}

/// What a handler gave back: a typed record, or why there is none.
pub type Outcome = Result<Value, Failure>;

/// The truth about one call, which a claim is checked against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub call: CallId,
    pub tool: ToolId,
    pub args: Value,
    pub outcome: Outcome,
    /// From the word of authority to the outcome; nothing where that was not kept.
    #[serde(default)]
    pub took_ms: Option<u64>,
}

/// What is shown of one result in a line of evidence.
const EVIDENCE_CHARS: usize = 200;

impl Evidence {
    #[must_use]
    pub const fn is_ok(&self) -> bool {
        self.outcome.is_ok()
    }

    /// What the process behind it ended with, where there was one.
    #[must_use]
    pub fn exit_code(&self) -> Option<i64> {
        self.outcome.as_ref().ok()?.get("exit_code")?.as_i64()
    }

    /// The result, as it is shown.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.outcome {
            Ok(Value::String(text)) => text.clone(),
            Ok(record) => record.to_string(),
            Err(failure) => format!("failed: {}", failure.message),
        }
    }
}

/// `name: input → the first 200 characters`, with exit code and time where they are known.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.shown();
        let end = shown.char_indices().nth(EVIDENCE_CHARS).map_or(shown.len(), |(at, _)| at);
        write!(f, "{}: {} → {}", self.tool, self.args, shown.get(..end).unwrap_or_default())?;
        if end < shown.len() {
            f.write_str("…")?;
        }
        if let Some(code) = self.exit_code() {
            write!(f, " (exit {code})")?;
        }
        match self.took_ms {
            Some(ms) => write!(f, " ({ms} ms)"),
            None => Ok(()),
        }
    }
}

/// What the engine knows of a tool: enough to tell acting from looking, and what a call is aimed at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCard {
    pub id: ToolId,
    /// The registry's category: what is blocked together when things get worse.
    pub class: String,
    pub tier: Tier,
    /// The argument that says what a call is aimed at.
    #[serde(default)]
    pub target: Option<String>,
}

/// What a call is aimed at: the argument of this name; where there is none, all of them. The same arguments in another
/// order are aimed at the same.
#[must_use]
pub fn target(argument: Option<&str>, args: &Value) -> String {
    match argument.and_then(|name| args.get(name)).unwrap_or(args) {
        Value::String(text) => text.clone(),
        value => canonical::bytes(value)
            .map_or_else(|_| value.to_string(), |bytes| String::from_utf8_lossy(&bytes).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::ToolId;

    #[test]
    fn a_tool_id_fits_every_wire() {
        for good in ["find_files", "a", "mcp__x-1", &"x".repeat(64)] {
            assert!(good.parse::<ToolId>().is_ok(), "{good}");
        }
        for bad in ["", "File", "a.b", "a b", "ä", &"x".repeat(65)] {
            assert!(bad.parse::<ToolId>().is_err(), "{bad}");
        }
    }
}
