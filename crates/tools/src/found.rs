//! What a search for files gives back: how many there are, and the first of them.

use domain::Time;
use domain::call::Failure;
use domain::limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Found {
    /// All matching regular files, not only the listed ones.
    pub(crate) count: u64,
    /// The size of all of them together.
    pub(crate) bytes: u64,
    /// The first of them in the order that was asked for.
    pub(crate) files: Vec<File>,
    /// Whether everything could be looked at.
    pub(crate) complete: bool,
    /// Folders and files that could not be read.
    pub(crate) unreadable: u64,
    /// What was not looked at on purpose.
    pub(crate) left_out: LeftOut,
    /// Files whose content was not searched because it is no text.
    pub(crate) binary_skipped: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct File {
    /// Relative to the workspace, with `/` and without a leading `./`. What is not UTF-8 is replaced.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// When its content was last changed, in UTC.
    #[schemars(with = "String")]
    pub(crate) modified: Time,
    /// Only of a search for content.
    pub(crate) matching_lines: Option<u64>,
    /// The first line that contains it.
    pub(crate) first_match: Option<Match>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Match {
    /// The first line is 1.
    pub(crate) line: u64,
    /// The line without the white space around it, cut at [`Match::CHARS`].
    pub(crate) text: String,
}

impl Match {
    pub(crate) const CHARS: usize = 200;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum LeftOut {
    #[serde(rename = "hidden files, ignored files and links")]
    HiddenIgnoredAndLinks,
}

/// Files that are equal in size or age are ordered by path, byte by byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    #[default]
    Name,
    Largest,
    Newest,
}

pub(crate) const fn default_limit() -> usize {
    limits::FOUND_FILES
}

pub(crate) fn check_limit(limit: usize) -> Result<(), Failure> {
    if limit <= limits::FOUND_FILES {
        Ok(())
    } else {
        let most = limits::FOUND_FILES;
        Err(Failure::logical(format!("`limit` is {limit}, but at most {most} files are listed")))
    }
}
