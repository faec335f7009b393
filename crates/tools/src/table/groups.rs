//! `table_groups`: how often each value of a column occurs.

use std::collections::HashMap;

use domain::call::Failure;
use domain::limits::{LISTED_GROUPS, TABLE_GROUPS};
use domain::{Digest, Stop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cell::{Cell, shortened};
use super::source::{self, Only, Source, cell};
use crate::workspace::Workspace;

/// Groups that are listed unless more are asked for.
const LISTED: usize = 20;
/// What is shown of a value, in characters. Longer ones are told apart by their digest.
const SHOWN_CHARS: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// A CSV or JSON file, relative to the workspace.
    pub(crate) path: String,
    /// The name of the column, as `table_columns` shows it. Case and blanks around it matter only if several are alike.
    pub(crate) column: String,
    /// Only the rows in which another column has this value.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub(crate) only: Option<Only>,
    /// How many groups are listed. All are counted.
    #[serde(default = "listed")]
    pub(crate) limit: usize,
}

fn listed() -> usize {
    LISTED
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Groups {
    /// Relative to the workspace, links followed.
    pub(crate) path: String,
    /// The one that was asked for, by its real name.
    pub(crate) column: String,
    /// Of the whole table, without the header line.
    pub(crate) rows: u64,
    /// Rows that were looked at: those that `where` lets through.
    pub(crate) matching_rows: u64,
    /// Cells with nothing in them; they are no group.
    pub(crate) empty: u64,
    /// How many different values there are, listed or not.
    pub(crate) groups: u64,
    /// The most frequent first, equals by value.
    pub(crate) listed: Vec<Group>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Group {
    /// Shortened if it is very long.
    pub(crate) value: String,
    pub(crate) count: u64,
}

/// # Errors
/// If the file cannot be read or is no table, there is no such column, or too many different values are in it.
pub(crate) fn run(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Groups, Failure> {
    if args.limit > LISTED_GROUPS {
        let limit = args.limit;
        return Err(Failure::logical(format!(
            "`limit` is {limit}, but at most {LISTED_GROUPS} groups are listed"
        )));
    }
    let (mut source, mut counted) = count(workspace, args, stop)?;
    let real = args.in_source(&source)?;
    if real != *args {
        // What columns there are is known only at the end of a table.
        (source, counted) = count(workspace, &real, stop)?;
    }
    let Counted { values: counts, rows, empty } = counted;
    let groups = counts.len() as u64;
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|((value, long), count), ((other, other_long), other_count)| {
        other_count.cmp(count).then_with(|| value.cmp(other)).then_with(|| long.cmp(other_long))
    });
    let listed = sorted.into_iter().take(args.limit).map(|((value, _), count)| Group { value, count });
    Ok(Groups {
        path: source.path,
        column: real.column,
        rows: source.rows,
        matching_rows: rows,
        empty,
        groups,
        listed: listed.collect(),
    })
}

#[derive(Debug, Default)]
struct Counted {
    values: HashMap<(String, Option<Digest>), u64>,
    rows: u64,
    empty: u64,
}

fn count(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<(Source, Counted), Failure> {
    let mut counted = Counted::default();
    let source = source::read(workspace, &args.path, stop, &mut |_, row| {
        if args.only.as_ref().is_some_and(|only| !only.admits(row)) {
            return Ok(());
        }
        counted.rows += 1;
        match cell(row, &args.column) {
            Cell::Empty => counted.empty += 1,
            found => *counted.values.entry(key(found.text())).or_insert(0) += 1,
        }
        if counted.values.len() <= TABLE_GROUPS { Ok(()) } else { Err(too_many(args)) }
    })?;
    Ok((source, counted))
}

impl Args {
    /// With the real names of the columns.
    fn in_source(&self, source: &Source) -> Result<Self, Failure> {
        let only = self.only.as_ref().map(|only| only.in_source(source)).transpose()?;
        Ok(Self { column: source.column(&self.column)?.into(), only, ..self.clone() })
    }
}

fn too_many(args: &Args) -> Failure {
    let column = &args.column;
    Failure::logical(format!("`{column}` has more than {TABLE_GROUPS} different values, too many to count"))
}

/// What is kept of a value: all of it, or its beginning and a digest.
fn key(text: &str) -> (String, Option<Digest>) {
    let shown = shortened(text, SHOWN_CHARS);
    let long = shown.len() < text.len() || shown != text;
    let digest = long.then(|| Digest::of(text.as_bytes()));
    (shown, digest)
}
