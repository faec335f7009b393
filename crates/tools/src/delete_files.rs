//! `delete_files`: several files, or links themselves, in one call.

use std::collections::BTreeSet;

use broker::{Looked, Sight};
use domain::Stop;
use domain::call::Failure;
use domain::change::{Change, Changes, Standing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::delete::{self, Deleted};
use crate::expected::Expected;
use crate::several::{self, Room};
use crate::staged::changed_meanwhile;
use crate::standing::Found;
use crate::way;
use crate::workspace::{Workspace, shown};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Relative to the workspace, each once. Files, or links, which are then deleted themselves.
    pub(crate) paths: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct AllDeleted {
    /// In the order of the arguments.
    pub(crate) deleted: Vec<Deleted>,
    /// How many that are.
    pub(crate) count: usize,
}

/// One of them, as it was found.
struct Doomed<'a> {
    path: &'a str,
    shown: String,
    found: Found,
}

/// What this call would change. Nothing is changed by looking.
///
/// # Errors
/// As [`run`].
pub(crate) fn look(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Looked, Failure> {
    let all = find(workspace, args, Room::keeping(), stop)?;
    let sight = |doomed: Doomed<'_>| {
        let modes = way::modes(workspace, &doomed.shown);
        Sight {
            change: Change { modes, ..doomed.change() },
            modified: doomed.found.modified(),
            content: doomed.found.content,
        }
    };
    Ok(Looked { names: all.into_iter().map(sight).collect(), diff: None })
}

/// # Errors
/// If one of them is no file, or not as it was looked at: then all of them are still there. If the disk refuses one, or
/// it was stopped: then it says how far it came.
pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    expected: Expected<'_>,
    stop: &Stop,
) -> Result<AllDeleted, Failure> {
    let all = find(workspace, args, Room::comparing(), stop)?;
    let changes: Changes = all.iter().map(Doomed::change).collect();
    expected.check_all(&changes)?;
    let deleted = several::each(
        &all,
        "deleted",
        |doomed| &doomed.shown,
        |doomed| {
            let (place, _) = delete::find(workspace, doomed.path)?;
            let seen = several::still(&place, doomed.path, &doomed.found, stop)?;
            delete::unlink(&place, doomed.path, seen, stop)?;
            Ok(Deleted::new(doomed.shown.clone(), &doomed.found.standing, seen.bytes))
        },
    );
    let flushed = several::flush(workspace, all.iter().map(|doomed| doomed.shown.as_str()));
    let deleted = deleted?;
    flushed?;
    Ok(AllDeleted { count: deleted.len(), deleted })
}

fn find<'a>(
    workspace: &Workspace,
    args: &'a Args,
    mut room: Room,
    stop: &Stop,
) -> Result<Vec<Doomed<'a>>, Failure> {
    several::check_count(args.paths.len())?;
    let mut names = BTreeSet::new();
    let one = |path: &'a String| {
        let (place, seen) = delete::find(workspace, path)?;
        let found = room.look(&place, path, stop)?;
        if found.seen != Some(seen) {
            return Err(changed_meanwhile(path));
        }
        let shown = shown(path);
        if !names.insert(shown.clone()) {
            return Err(Failure::logical(format!("`{shown}` is named twice")));
        }
        Ok(Doomed { path, shown, found })
    };
    args.paths.iter().map(one).collect()
}

impl Doomed<'_> {
    fn change(&self) -> Change {
        Change::new(self.shown.clone(), self.found.standing.clone(), Standing::Nothing)
    }
}

#[cfg(test)]
mod tests;
