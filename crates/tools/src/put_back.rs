//! `put_back`: one name in the workspace as it was before, with exactly its bytes and its name, and with its rights as far
//! as INVARIANT (narrow) of [`crate::staged`] lets them come back.
//!
//! It is the owner's hand and nobody else's, see [`handler`]: what an agent may write it writes with the other tools.
//! Access control lists and times are not put back. Names that differ in case only are no obstacle: they stood there
//! together before, and on a disk that does not tell them apart the other one is found under this name.
//!
//! Where `from` and `to` are the same, only what lies around is taken away: what killed writers left, and the folders.

mod handler;

use std::collections::BTreeMap;
use std::path::Path;

use broker::{Looked, Sight};
use domain::call::Failure;
use domain::change::{Change, Content, Standing};
use domain::limits::UNDO_BYTES;
use domain::{Digest, Stop};
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::confined::Seen;
use crate::diff::Diff;
use crate::expected::Expected;
use crate::names::{check_changeable, check_path};
use crate::staged::Rights;
use crate::standing::{self, Found};
use crate::way::{self, Making, Way};
use crate::workspace::{Place, Workspace, shown, tidied};
use crate::{delete, leftovers, staged};

pub use handler::{Kept, add_put_back};

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
    /// The permission bits of folders on the way, where they have to be made again.
    #[serde(default)]
    pub(crate) modes: BTreeMap<String, u32>,
    /// What has to be back by then: what was moved goes from where it is only then.
    #[serde(default)]
    pub(crate) with: Option<Beside>,
    /// The name that its bytes were moved to, and that they leave.
    #[serde(default)]
    pub(crate) moved_from: Option<String>,
}

/// Another name, and what stands there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beside {
    pub(crate) path: String,
    pub(crate) is: Standing,
}

impl Args {
    fn is_tidying(&self) -> bool {
        self.from.is_as(&self.to)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Done {
    pub(crate) path: String,
    /// What stands there now.
    pub(crate) now: Now,
    /// Of a file.
    pub(crate) bytes: Option<u64>,
    pub(crate) digest: Option<Digest>,
    /// Whether less is allowed with it than before: to whom it belonged, or what a list allowed, could not be put back.
    pub(crate) narrower: bool,
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
    let keep = if args.is_tidying() { 0 } else { UNDO_BYTES };
    let Errand { way, found, shown } = Errand::of(workspace, args, keep, stop)?;
    let to = match &args.to {
        Standing::File(file) if !args.is_tidying() => {
            let mode = change(args, content, &way.place, found.seen, Expected::default())?.mode()?;
            Standing::File(Content { mode, ..file.clone() })
        }
        to => to.clone(),
    };
    let (folders, modes) = match to {
        Standing::Nothing => (args.folders.clone(), way::modes(workspace, &shown)),
        _ => (way.folders(), BTreeMap::new()),
    };
    let texts = (found.content.as_deref(), content);
    let diff = match texts {
        (Some(old), Some(new)) => Diff::between(&shown, old, new).for_a_person(),
        _ => None,
    };
    let moved_from = args.moved_from.clone();
    let sight = Sight {
        modified: found.modified(),
        change: Change { path: shown, from: found.standing, to, folders, modes, moved_from },
        content: found.content.filter(|_| !args.is_tidying()),
    };
    Ok(Looked { diff, ..sight.into() })
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
    let tidy = |place: &Place<'_>| leftovers::tidy(place, &args.path, false);
    let done = |now: Now| Done { path: shown.clone(), now, bytes: None, digest: None, narrower: false };
    match &args.to {
        Standing::Nothing => {
            if !way.is_missing() {
                tidy(&way.place)?;
            }
            if let Some(seen) = found.seen {
                delete::remove(&way.place, &args.path, seen, stop)?;
            }
            way::remove_empty(workspace, &args.folders);
            Ok(done(Now::Nothing))
        }
        to if args.is_tidying() => {
            tidy(&way.place)?;
            Ok(done(if matches!(to, Standing::Link { .. }) { Now::Link } else { Now::File }))
        }
        Standing::Link { to } => {
            let place = way.make(workspace, Making::again(expected, &args.modes), stop)?;
            tidy(&place)?;
            staged::put_link(&place, &args.path, to, found.seen, stop)?;
            Ok(done(Now::Link))
        }
        Standing::File(file) => {
            let place = way.make(workspace, Making::again(expected, &args.modes), stop)?;
            tidy(&place)?;
            change(args, content, &place, found.seen, expected)?.make(stop)?;
            let narrower = expected.file(&args.path, &shown)?.is_some_and(|new| new.mode != file.mode);
            let (bytes, digest) = (Some(file.bytes), Some(file.digest));
            Ok(Done { bytes, digest, narrower, ..done(Now::File) })
        }
        Standing::Large { .. } => Err(not_kept(&args.path)),
    }
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
        if matches!(args.to, Standing::Large { .. }) && !args.is_tidying() {
            return Err(not_kept(path));
        }
        let way = way::to(workspace, path, stop)?;
        let found =
            if way.is_missing() { Found::NOTHING } else { standing::at(&way.place, path, keep, stop)? };
        if !found.standing.is_as(&args.from) {
            return Err(changed_since(path));
        }
        check_beside(workspace, args)?;
        Ok(Self { way, found, shown: shown(path) })
    }
}

/// Whether what has to be back is, with its bytes; with which rights is told when it is put back.
fn check_beside(workspace: &Workspace, args: &Args) -> Result<(), Failure> {
    let Some(Beside { path, is }) = &args.with else { return Ok(()) };
    let back = match (workspace.standing(path)?, is) {
        (Standing::File(now), Standing::File(file)) => now.digest == file.digest,
        (now, is) => now.is_as(is),
    };
    let why = || format!("`{path}`, which was moved to `{}`, is not back; it is left as it is", args.path);
    if back { Ok(()) } else { Err(Failure::environmental(why())) }
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
    let (path, rights) = (args.path.as_str(), Some(Rights::of(file)));
    let expected = expected.file(path, &shown(path))?;
    Ok(staged::Change { place, path, content: Bytes::Given(content), old, rights, expected })
}

fn not_kept(path: &str) -> Failure {
    Failure::environmental(format!("what `{path}` was is not kept"))
}

fn changed_since(path: &str) -> Failure {
    Failure::environmental(format!("`{path}` was changed since; it is left as it is"))
}

#[cfg(test)]
mod tests;
