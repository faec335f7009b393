//! `move_files`: files get another name, or another folder. Nothing is ever overwritten.

use broker::{Looked, Sight};
use domain::call::Failure;
use domain::change::{Change, Changes, Standing};
use domain::{Digest, Stop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confined::Denied;
use crate::expected::Expected;
use crate::leftovers;
use crate::names::check_changeable;
use crate::pairs::{self, Errand, Pair};
use crate::several::{self, Names, Room, Use};
use crate::staged;
use crate::way::{self, Making, Way};
use crate::workspace::{self, Place, Workspace};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// What is moved, and to where; each name once.
    pub(crate) moves: Vec<Pair>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct AllMoved {
    /// In the order of the arguments.
    pub(crate) moved: Vec<Moved>,
    /// How many that are.
    pub(crate) count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Moved {
    /// Relative to the workspace.
    pub(crate) from: String,
    /// Its new name, relative to the workspace.
    pub(crate) to: String,
    /// Of the file.
    pub(crate) bytes: u64,
    /// SHA-256 of the file; null for a very large one.
    #[schemars(with = "Option<String>")]
    pub(crate) digest: Option<Digest>,
}

/// What this call would change: of each file two names. Nothing is changed by looking.
///
/// # Errors
/// As [`run`].
pub(crate) fn look(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Looked, Failure> {
    let all = find(workspace, args, Room::keeping(), stop)?;
    let sights = |(mut errand, ()): (Errand<'_>, ())| {
        let (modified, content) = (errand.found.modified(), errand.found.content.take());
        let [made, gone] = changes(&errand);
        let gone = Change { modes: way::modes(workspace, &errand.shown), ..gone };
        [Sight { change: made, content: None, modified: None }, Sight { change: gone, content, modified }]
    };
    Ok(Looked { names: all.into_iter().flat_map(sights).collect(), diff: None })
}

/// # Errors
/// If one of them cannot be moved, something is where it is to go, or it is not as it was looked at: then nothing was
/// moved. If the disk refuses one, or it was stopped: then it says how far it came. Folders that were made stay.
pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    expected: Expected<'_>,
    stop: &Stop,
) -> Result<AllMoved, Failure> {
    let all = find(workspace, args, Room::comparing(), stop)?;
    let changes: Changes = all.iter().flat_map(|(errand, ())| changes(errand)).collect();
    expected.check_all(&changes)?;
    let moved = several::each(
        &all,
        "moved",
        |(errand, ())| &errand.shown,
        |(errand, ())| {
            let place = way::to(workspace, &errand.to, stop)?.make(workspace, Making::new(expected), stop)?;
            leftovers::tidy(&place, &errand.to, false)?;
            let from = workspace.place(errand.from)?;
            let seen = several::still(&from, errand.from, &errand.found, stop)?;
            staged::rename((&from, errand.from), (&place, &errand.to), seen, stop)?;
            Ok(Moved::new(errand, seen.bytes))
        },
    );
    let names = all.iter().flat_map(|(errand, ())| [errand.to.as_str(), &errand.shown]);
    let flushed = several::flush(workspace, names);
    let moved = moved?;
    flushed?;
    Ok(AllMoved { count: moved.len(), moved })
}

fn find<'a>(
    workspace: &Workspace,
    args: &'a Args,
    room: Room,
    stop: &Stop,
) -> Result<Vec<(Errand<'a>, ())>, Failure> {
    let check = |place: &Place<'_>, errand: &Errand<'_>, way: &Way<'_>| {
        check_changeable(errand.from)?;
        check_disk(place, errand, way)?;
        // What it is called now is no other name: that one goes.
        way.check_case_but(Some(&errand.shown))
    };
    let all = pairs::find(workspace, &args.moves, room, &check, stop)?;
    let mut sources = Names::default();
    all.iter().try_for_each(|(errand, ())| sources.add(&errand.shown, Use::File))?;
    Ok(all)
}

/// No name leads from one disk to another.
fn check_disk(place: &Place<'_>, errand: &Errand<'_>, way: &Way<'_>) -> Result<(), Failure> {
    let disk = |place: &Place<'_>| {
        let folder =
            place.folder.seen().map_err(|errno| workspace::refused(errand.from, Denied::Os(errno)))?;
        Ok(folder.id.device())
    };
    if disk(place)? == disk(&way.place)? {
        return Ok(());
    }
    Err(staged::on_another_disk(errand.from, &errand.to))
}

/// What it makes comes first: taken back in turn, the old name is there again before the new one goes.
fn changes(errand: &Errand<'_>) -> [Change; 2] {
    let Errand { shown, to, found, folders, .. } = errand;
    let made = Change {
        folders: folders.clone(),
        moved_from: Some(shown.clone()),
        ..Change::new(to.clone(), Standing::Nothing, found.standing.clone())
    };
    [made, Change::new(shown.clone(), found.standing.clone(), Standing::Nothing)]
}

impl Moved {
    fn new(errand: &Errand<'_>, bytes: u64) -> Self {
        let digest = match &errand.found.standing {
            Standing::File(file) => Some(file.digest),
            _ => None,
        };
        Self { from: errand.shown.clone(), to: errand.to.clone(), bytes, digest }
    }
}

#[cfg(test)]
mod tests;
