//! `put_back`: one name in the workspace as it was before, with exactly its bytes, its permission bits and its name.
//!
//! It is the owner's hand and nobody else's, see [`handler`]: what an agent may write it writes with the other tools.
//! Owner, group, access control lists and times are not put back, nor is what a folder's permissions were.

mod handler;

use std::path::Path;

use broker::Looked;
use domain::call::Failure;
use domain::change::{Change, Standing};
use domain::limits::UNDO_BYTES;
use domain::{Digest, Stop};
use serde::{Deserialize, Serialize};

use crate::confined::Seen;
use crate::diff::Diff;
use crate::expected::Expected;
use crate::names::{check_changeable, check_path};
use crate::standing::{self, Found};
use crate::way::{self, Way};
use crate::workspace::{Place, Workspace, tidied};
use crate::{delete, leftovers, staged};

pub use handler::{Kept, put_back};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    pub(crate) path: String,
    /// What has to be there now.
    pub(crate) from: Standing,
    /// What is put there.
    pub(crate) to: Standing,
    /// Folders on the way that were made for it: they go with it, if nothing else is in them.
    #[serde(default)]
    pub(crate) folders: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Done {
    pub(crate) path: String,
    /// What stands there now.
    pub(crate) now: Now,
    /// Of a file.
    pub(crate) bytes: Option<u64>,
    pub(crate) digest: Option<Digest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Now {
    Nothing,
    File,
    Link,
}

/// What this call would change. Nothing is changed by looking.
///
/// # Errors
/// As [`run`].
pub(crate) fn look(
    workspace: &Workspace,
    args: &Args,
    content: Option<&[u8]>,
    stop: &Stop,
) -> Result<Looked, Failure> {
    let Errand { way, found, shown } = Errand::of(workspace, args, UNDO_BYTES, stop)?;
    if let Standing::File(_) = args.to {
        change(args, content, &way.place, found.seen, Expected::default())?.mode()?;
    }
    let folders = match args.to {
        Standing::Nothing => args.folders.clone(),
        Standing::File(_) | Standing::Link { .. } => way.folders(),
    };
    let texts = (found.content.as_deref(), content);
    let diff =
        if let (Some(old), Some(new)) = texts { Diff::between(&shown, old, new).diff } else { String::new() };
    Ok(Looked {
        modified: found.modified(),
        change: Change { path: shown, from: found.standing, to: args.to.clone(), folders },
        content: found.content,
        diff: Some(diff).filter(|diff| !diff.is_empty()),
    })
}

/// # Errors
/// If something else is there than what should be, the bytes are not those that are wanted, or the disk refuses. Then
/// what is there is as it was; folders that were made for it stay.
pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    content: Option<&[u8]>,
    expected: Expected<'_>,
    stop: &Stop,
) -> Result<Done, Failure> {
    let Errand { way, found, shown } = Errand::of(workspace, args, 0, stop)?;
    expected.check(&args.path, &shown, &found.standing)?;
    let (now, file) = match &args.to {
        Standing::Nothing => {
            if let Some(seen) = found.seen {
                delete::remove(&way.place, &args.path, seen, stop)?;
            }
            way::remove_empty(workspace, &args.folders);
            (Now::Nothing, None)
        }
        Standing::Link { to } => {
            let place = way.make(workspace, expected, stop)?;
            staged::put_link(&place, &args.path, to, found.seen, stop)?;
            (Now::Link, None)
        }
        Standing::File(file) => {
            let place = way.make(workspace, expected, stop)?;
            leftovers::tidy(&place, &args.path, found.seen.is_none())?;
            change(args, content, &place, found.seen, expected)?.make(stop)?;
            (Now::File, Some(file))
        }
    };
    Ok(Done { path: shown, now, bytes: file.map(|file| file.bytes), digest: file.map(|file| file.digest) })
}

/// Where it is to be put back, and what is there now, which is what should be.
struct Errand<'a> {
    way: Way<'a>,
    found: Found,
    shown: String,
}

impl<'a> Errand<'a> {
    fn of(workspace: &Workspace, args: &'a Args, keep: usize, stop: &Stop) -> Result<Self, Failure> {
        let path = &args.path;
        check_changeable(path)?;
        check_folders(args)?;
        if args.from.is_as(&args.to) {
            return Err(Failure::logical("`from` and `to` are the same; there is nothing to put back"));
        }
        let way = way::to(workspace, path, stop)?;
        let found =
            if way.is_missing() { Found::NOTHING } else { standing::at(&way.place, path, keep, stop)? };
        if !found.standing.is_as(&args.from) {
            return Err(changed_since(path));
        }
        if found.seen.is_none() {
            way.check_case()?;
        }
        Ok(Self { way, found, shown: tidied(path).to_string_lossy().into_owned() })
    }
}

/// Only what is on the way to the file may go with it.
fn check_folders(args: &Args) -> Result<(), Failure> {
    let path = tidied(&args.path);
    args.folders.iter().try_for_each(|folder| {
        check_path(folder)?;
        let on_the_way = path.parent().is_some_and(|parent| parent.starts_with(Path::new(folder)));
        let why = || format!("`{folder}` is not on the way to `{}`", args.path);
        if on_the_way { Ok(()) } else { Err(Failure::logical(why())) }
    })
}

/// The file, with bytes that are exactly those that are wanted.
fn change<'a>(
    args: &'a Args,
    content: Option<&'a [u8]>,
    place: &'a Place<'a>,
    old: Option<Seen>,
    expected: Expected<'a>,
) -> Result<staged::Change<'a>, Failure> {
    let (Standing::File(file), Some(content)) = (&args.to, content) else { return Err(not_kept(&args.path)) };
    if (file.digest, file.bytes) != (Digest::of(content), content.len() as u64) {
        let why = "is not what was kept of it; the database may be damaged";
        return Err(Failure::environmental(format!("`{}` {why}", args.path)));
    }
    let (path, mode) = (args.path.as_str(), Some(file.mode));
    Ok(staged::Change { place, path, content, old, mode, expected: expected.file(path)? })
}

fn not_kept(path: &str) -> Failure {
    Failure::environmental(format!("what `{path}` was is not kept"))
}

fn changed_since(path: &str) -> Failure {
    Failure::environmental(format!("`{path}` was changed since; it is left as it is"))
}

#[cfg(test)]
mod tests;
