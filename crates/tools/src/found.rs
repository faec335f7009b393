//! What a search for files gives back: how many there are, and the first of them.

use domain::Time;
use domain::call::Failure;
use domain::limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Found {
    /// All matching regular files, or folders if those were asked for, not only the listed ones.
    pub(crate) count: u64,
    /// The size of all of them together. Null if they were only counted.
    pub(crate) bytes: Option<u64>,
    /// The matching lines of all of them; only of a search for lines.
    pub(crate) matching_lines: Option<u64>,
    /// The lines of all of them, if they were measured; so are the next two.
    pub(crate) lines: Option<u64>,
    /// Runs of anything but white space, as `wc -w` counts them without a locale.
    pub(crate) words: Option<u64>,
    /// How often the text occurs, no occurrence over another.
    pub(crate) occurrences: Option<u64>,
    /// The first of them in the order that was asked for.
    pub(crate) files: Vec<File>,
    /// Whether matching lines that were asked for are not listed, because they are too many.
    pub(crate) truncated_matches: bool,
    /// The groups that were asked for, with most files first, equals by value.
    pub(crate) groups: Option<Vec<Group>>,
    /// How many groups are not listed.
    pub(crate) more_groups: u64,
    /// Whether everything could be looked at.
    pub(crate) complete: bool,
    /// Folders and files that could not be read.
    pub(crate) unreadable: u64,
    /// What was not looked at on purpose.
    pub(crate) left_out: LeftOut,
    /// Files whose content was not looked at because it is no text.
    pub(crate) binary_skipped: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct File {
    /// Relative to the workspace, with `/` and without a leading `./`. What is not UTF-8 is replaced.
    pub(crate) path: String,
    /// Whether `path` is exactly its name. If not, no other tool can be given it.
    pub(crate) utf8: bool,
    pub(crate) bytes: u64,
    /// When its content was last changed, in UTC.
    #[schemars(with = "String")]
    pub(crate) modified: Time,
    #[serde(flatten)]
    pub(crate) counts: Counts,
    /// The first of its matching lines.
    pub(crate) matches: Vec<Match>,
}

/// What was counted in a file. Null is what was not asked for, or could not be read as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Counts {
    /// Only of a search for lines.
    pub(crate) matching_lines: Option<u64>,
    /// A last line without a line end counts too.
    pub(crate) lines: Option<u64>,
    pub(crate) words: Option<u64>,
    pub(crate) occurrences: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Match {
    /// The first line is 1.
    pub(crate) line: u64,
    /// The line without its end and the blanks there, cut at [`Match::CHARS`].
    pub(crate) text: String,
}

impl Match {
    pub(crate) const CHARS: usize = 200;
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Group {
    /// The extension in lower case and without its dot, empty if there is none; or the folder, `.` being the workspace.
    pub(crate) value: String,
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum LeftOut {
    #[serde(rename = "hidden files, ignored files and links")]
    HiddenIgnoredAndLinks,
}

/// What files have in common that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GroupBy {
    Extension,
    /// The one that a file lies in directly.
    Folder,
}

/// Files that are equal otherwise are ordered by path, byte by byte. What was not counted comes last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    #[default]
    Name,
    Largest,
    Smallest,
    Newest,
    Oldest,
    MostMatches,
    FewestMatches,
    MostLines,
    FewestLines,
    MostWords,
}

impl Order {
    pub(crate) const fn needs_matches(self) -> bool {
        matches!(self, Self::MostMatches | Self::FewestMatches)
    }

    pub(crate) const fn needs_lines(self) -> bool {
        matches!(self, Self::MostLines | Self::FewestLines)
    }

    pub(crate) const fn needs_words(self) -> bool {
        matches!(self, Self::MostWords)
    }
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
