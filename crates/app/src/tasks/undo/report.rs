//! What was put back, and what was not and why.

use std::fmt;

use domain::call::ToolId;
use domain::id::{CallId, TaskId};
use serde::{Serialize, Serializer};

use kernel::{Code, Problem};

/// What came of an undo, or would come of it.
#[derive(Clone, Debug, Serialize)]
pub struct Undone {
    /// Whose changes are taken back.
    pub task: TaskId,
    #[serde(skip)]
    pub short: String,
    pub workspace: String,
    pub dry_run: bool,
    /// The task that did it, which can be undone as any other.
    pub by: Option<TaskId>,
    #[serde(skip)]
    pub by_short: Option<String>,
    pub put_back: Vec<PutBack>,
    pub left: Vec<Left>,
    /// Names that were already as before.
    pub unchanged: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PutBack {
    /// Relative to the workspace.
    pub path: String,
    /// What stands there again.
    pub as_before: Before,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// What is to be said of something that was put back all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// It is put back to what somebody else made of it between two calls.
    Touched,
    Narrower,
    /// It was as before already; folders or unfinished files around it were not.
    Tidied,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Touched => "as somebody else left it between two calls",
            Self::Narrower => {
                "with fewer permissions, as its owner, group or access list could not be put back"
            }
            Self::Tidied => "it was as before; what was left around it goes",
        })
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// It was new.
    Nothing,
    File,
    Link,
}

/// What is as the task left it, or as somebody left it since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// `None` if only the call is known.
    pub path: Option<String>,
    pub call: Option<CallId>,
    #[serde(skip)]
    pub call_short: String,
    pub tool: Option<ToolId>,
    pub why: Obstacle,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    ChangedSince,
    TooLarge,
    Erased,
    /// The record of what it changed cannot be read.
    Unreadable,
    /// The tool says nothing about what it changes.
    NotAFile,
    /// What it was holds the value of a secret.
    Secret,
    TooMany,
    /// It was moved from this name, which could not be put back.
    NotBack(String),
    /// The call that was to put it back, or the disk, said no.
    Refused(String),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::NotBack(from) = self {
            return write!(f, "it was moved from `{from}`, which could not be put back");
        }
        f.write_str(match self {
            Self::NotBack(from) => from,
            Self::ChangedSince => "it was changed since",
            Self::TooLarge => "what it was is too large to be kept",
            Self::Erased => "what it was is erased",
            Self::Unreadable => "the record of what it changed cannot be read",
            Self::NotAFile => "it changed something that is no file of the workspace, or did not say what",
            Self::Secret => "what it was holds the value of a secret, which is never kept",
            Self::TooMany => "too many at once; undo again for the rest",
            Self::Refused(why) => why,
        })
    }
}

impl Serialize for Obstacle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Left {
    pub(super) fn file(path: impl Into<String>, why: Obstacle) -> Self {
        Self { path: Some(path.into()), call: None, call_short: String::new(), tool: None, why }
    }

    pub(super) const fn of_call(call: CallId, tool: ToolId, why: Obstacle) -> Self {
        Self { path: None, call: Some(call), call_short: String::new(), tool: Some(tool), why }
    }
}

impl Undone {
    /// Nothing yet.
    pub(super) const fn new(task: TaskId, short: String, workspace: String) -> Self {
        Self {
            task,
            short,
            workspace,
            dry_run: false,
            by: None,
            by_short: None,
            put_back: Vec::new(),
            left: Vec::new(),
            unchanged: Vec::new(),
        }
    }

    /// What is not as it should be, if anything. A plan alone is never wrong.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        if self.dry_run || self.left.is_empty() {
            return None;
        }
        let what = match (self.put_back.len(), self.left.len()) {
            (0, _) => "nothing could be put back".to_owned(),
            (_, 1) => "one could not be put back".to_owned(),
            (_, left) => format!("{left} could not be put back"),
        };
        let problem = Problem::new(Code::NOT_ALL_PUT_BACK, what).safe("what is listed was left as it is");
        Some(problem.remedy(format!("regent undo {} --dry-run", self.short)))
    }
}
