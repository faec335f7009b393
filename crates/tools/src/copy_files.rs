//! `copy_files`: files under another name too. Nothing is ever overwritten.

use broker::{Looked, Sight};
use domain::call::Failure;
use domain::change::{Change, Changes, Content, Standing};
use domain::{Digest, Stop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::confined::Kind;
use crate::expected::Expected;
use crate::leftovers;
use crate::pairs::{self, Errand, Pair};
use crate::several::{self, Room};
use crate::staged::{self, Rights, changed_meanwhile};
use crate::way::{self, Making, Way};
use crate::workspace::{Place, Workspace};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// What is copied, and to where; each target once.
    pub(crate) copies: Vec<Pair>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct AllCopied {
    /// In the order of the arguments.
    pub(crate) made: Vec<Copied>,
    /// How many that are.
    pub(crate) count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Copied {
    /// Relative to the workspace.
    pub(crate) from: String,
    /// The new file, relative to the workspace.
    pub(crate) to: String,
    /// Of the new file.
    pub(crate) bytes: u64,
    /// SHA-256 of the new file.
    #[schemars(with = "String")]
    pub(crate) digest: Digest,
}

/// One copy, and what it will be.
type Copying<'a> = (Errand<'a>, Content);

/// What this call would change. Nothing is changed by looking.
///
/// # Errors
/// As [`run`].
pub(crate) fn look(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Looked, Failure> {
    let all = find(workspace, args, stop)?;
    let sight = |copying: &Copying<'_>| Sight { change: change(copying), content: None, modified: None };
    Ok(Looked { names: all.iter().map(sight).collect(), diff: None })
}

/// # Errors
/// If one of them cannot be copied, something is where it is to go, or it is not as it was looked at: then nothing was
/// made. If the disk refuses one, or it was stopped: then it says how far it came. Folders that were made stay.
pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    expected: Expected<'_>,
    stop: &Stop,
) -> Result<AllCopied, Failure> {
    let all = find(workspace, args, stop)?;
    for (errand, content) in &all {
        let looked = expected.file(&errand.to, &errand.to)?;
        if looked.is_some_and(|looked| looked.digest != content.digest) {
            return Err(changed_meanwhile(errand.from));
        }
    }
    let changes: Changes = all.iter().map(change).collect();
    expected.check_all(&changes)?;
    let made = several::each(
        &all,
        "copied",
        |(errand, _)| &errand.shown,
        |(errand, content)| {
            let place = way::to(workspace, &errand.to, stop)?.make(workspace, Making::new(expected), stop)?;
            copy(workspace, (errand, content), &place, stop)?;
            let (from, to) = (errand.shown.clone(), errand.to.clone());
            Ok(Copied { from, to, bytes: content.bytes, digest: content.digest })
        },
    );
    let flushed = several::flush(workspace, all.iter().map(|(errand, _)| errand.to.as_str()));
    let made = made?;
    flushed?;
    Ok(AllCopied { count: made.len(), made })
}

fn find<'a>(workspace: &Workspace, args: &'a Args, stop: &Stop) -> Result<Vec<Copying<'a>>, Failure> {
    let content = |_: &Place<'_>, errand: &Errand<'_>, way: &Way<'_>| {
        let content = errand.content()?;
        way.check_case()?;
        let mode = planned(errand, content, &way.place, Bytes::Given(&[])).mode()?;
        Ok(Content::new(content.digest, content.bytes, mode))
    };
    // The bytes that are read stay where they are: nothing of them is kept.
    pairs::find(workspace, &args.copies, Room::comparing(), &content, stop)
}

fn change((errand, content): &Copying<'_>) -> Change {
    let to = Standing::File(content.clone());
    let folders = errand.folders.clone();
    Change { folders, ..Change::new(errand.to.clone(), Standing::Nothing, to) }
}

fn planned<'a>(
    errand: &'a Errand<'_>,
    looked: &Content,
    place: &'a Place<'a>,
    content: Bytes<'a>,
) -> staged::Change<'a> {
    let rights = Some(Rights::of_copy(looked));
    staged::Change { place, path: &errand.to, content, old: None, rights, expected: None }
}

/// With exactly the bytes that were checked.
fn copy(
    workspace: &Workspace,
    (errand, made): (&Errand<'_>, &Content),
    place: &Place<'_>,
    stop: &Stop,
) -> Result<(), Failure> {
    let (from, to) = (errand.from, errand.to.as_str());
    let source = workspace.place(from)?;
    let opened = source.folder.open(source.name).ok().filter(|(_, seen)| seen.kind == Kind::File);
    let (file, _) = opened.ok_or_else(|| changed_meanwhile(from))?;
    if place.folder.look(place.name).is_ok() {
        return Err(staged::taken(to));
    }
    leftovers::tidy(place, to, false)?;
    let looked = errand.content()?;
    let bytes = Bytes::Of { file: &file, path: from, looked };
    let change = planned(errand, looked, place, bytes);
    staged::Change { expected: Some(made), ..change }.put_in_place(stop)
}

#[cfg(test)]
mod tests;
