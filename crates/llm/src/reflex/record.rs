//! The records of the tools, as far as answers are made of them.

use serde::Deserialize;
use serde_json::Value;

use super::request::Files;

/// Of `find_files` and `glob`.
#[derive(Deserialize)]
pub(super) struct Found {
    pub count: u64,
    /// Nothing where only a count was asked for.
    pub bytes: Option<u64>,
    pub files: Vec<File>,
    pub complete: bool,
    pub unreadable: u64,
    pub left_out: String,
    pub binary_skipped: u64,
    pub lines: Option<u64>,
    pub words: Option<u64>,
    pub occurrences: Option<u64>,
    pub matching_lines: Option<u64>,
    pub groups: Option<Vec<Group>>,
    #[serde(default)]
    pub more_groups: u64,
    #[serde(default)]
    pub truncated_matches: bool,
}

#[derive(Deserialize)]
pub(super) struct File {
    pub path: String,
    pub bytes: u64,
    pub modified: String,
    pub matching_lines: Option<u64>,
    #[serde(default)]
    pub matches: Vec<Match>,
    pub lines: Option<u64>,
    pub words: Option<u64>,
    pub occurrences: Option<u64>,
    #[serde(default = "yes")]
    pub utf8: bool,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
pub(super) struct Match {
    pub line: Option<u64>,
    pub text: String,
}

#[derive(Deserialize)]
pub(super) struct Group {
    pub value: String,
    pub count: u64,
}

/// Of `read_file`.
#[derive(Deserialize)]
pub(super) struct Read {
    pub path: String,
    pub text: String,
    pub truncated: bool,
    #[serde(default)]
    pub shown: Vec<Match>,
}

/// Of the table tools.
#[derive(Deserialize)]
pub(super) struct Stats {
    pub path: String,
    pub column: String,
    pub rows: u64,
    pub matching_rows: u64,
    pub count: u64,
    pub sum: String,
    pub mean: Option<String>,
    pub min: Option<String>,
    pub max: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Groups {
    pub path: String,
    pub column: String,
    pub empty: u64,
    pub groups: u64,
    pub listed: Vec<Group>,
}

#[derive(Deserialize)]
pub(super) struct Columns {
    pub path: String,
    pub rows: u64,
    pub columns: Vec<Column>,
}

#[derive(Deserialize)]
pub(super) struct Column {
    pub name: String,
}

#[derive(Deserialize)]
pub(super) struct Hashed {
    pub algorithm: String,
    pub hex: String,
}

#[derive(Deserialize)]
pub(super) struct Calculated {
    pub result: String,
    pub exact: bool,
}

#[derive(Deserialize)]
pub(super) struct Deleted {
    pub deleted: Vec<Named>,
}

#[derive(Deserialize)]
pub(super) struct Named {
    pub path: String,
}

#[derive(Deserialize)]
pub(super) struct Placed {
    pub from: String,
    pub to: String,
}

#[derive(Deserialize)]
pub(super) struct Made {
    #[serde(alias = "moved")]
    pub made: Vec<Placed>,
}

pub(super) fn read<T: for<'de> Deserialize<'de>>(record: &Value) -> Result<T, String> {
    T::deserialize(record)
        .map_err(|error| format!("There is no answer: the tool's record is not as agreed, {error}."))
}

impl Found {
    pub(super) fn read(record: &Value) -> Result<Self, String> {
        read(record)
    }
}

/// The one file that a name means: the one with just this path, or else the only one that is called so.
pub(super) fn pick<'a>(files: &Files, found: &'a Found) -> Result<&'a File, String> {
    let exact = files.path.as_deref().and_then(|path| found.files.iter().find(|file| file.path == path));
    if exact.is_none() && !found.complete {
        return Err("Not every folder could be read, so I am not sure which file is meant.".into());
    }
    match (exact, found.files.as_slice()) {
        (Some(file), _) | (None, [file]) => Ok(file),
        (None, [file, ..]) if files.path.is_none() && files.top.is_some() => Ok(file),
        (None, []) => Err(match &files.path {
            Some(path) => format!("There is no file `{path}` here."),
            None => format!("There are no {}.", files.those(super::describe::MANY)),
        }),
        (None, [first, second, ..]) => Err(format!(
            "I am not sure which file is meant, there are {}: {}, {}{}. Say it with its folder.",
            found.count,
            one_line(&first.path),
            one_line(&second.path),
            if found.count > 2 { ", …" } else { "" }
        )),
    }
}

/// A name that cannot pass for several lines of an answer.
pub(super) fn one_line(path: &str) -> String {
    let mut shown = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() { shown.extend(c.escape_debug()) } else { shown.push(c) }
    }
    shown
}
