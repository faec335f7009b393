//! `write_file`: a new file, or a whole new content for one that exists.

use std::io::Read;

use broker::{Looked, Sight};
use domain::call::Failure;
use domain::change::{self, Content, Standing};
use domain::limits::WRITE_BYTES;
use domain::{Digest, Stop};
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::unistd::{AccessFlags, faccessat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::confined::{Denied, Kind, Seen};
use crate::diff::Diff;
use crate::expected::Expected;
use crate::leftovers;
use crate::names::check_writable;
use crate::staged::{self, Change};
use crate::standing::{self, Old};
use crate::stopping::{self, Heeding};
use crate::way::{self, Making};
use crate::workspace::{self, Place, Workspace};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Relative to the workspace. Folders on the way are made if they are missing.
    pub(crate) path: String,
    /// The whole text of the file.
    pub(crate) content: String,
    /// Whether a file that exists may be replaced. Without it, it is left alone.
    #[serde(default)]
    pub(crate) replace: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Written {
    /// Relative to the workspace.
    pub(crate) path: String,
    /// Of the file as it is now.
    pub(crate) bytes: u64,
    /// SHA-256 of the file as it is now.
    #[schemars(with = "String")]
    pub(crate) digest: Digest,
    /// Whether there was no such file before.
    pub(crate) created: bool,
    #[serde(flatten)]
    pub(crate) diff: Diff,
}

/// What this call would change. Nothing is changed by looking.
///
/// # Errors
/// As [`run`].
pub(crate) fn look(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Looked, Failure> {
    check(args)?;
    let way = way::to(workspace, &args.path, stop)?;
    let old = if way.is_missing() { None } else { old_of(&way.place, args, stop)? };
    if old.is_none() {
        way.check_case()?;
    }
    let planned = Planned::new(args, old.as_ref(), Expected::default())?;
    let mode = planned.change(&way.place).mode()?;
    let path = planned.shown.clone();
    let diff = planned.diff(old.as_ref());
    let to = Standing::File(standing::of_content(args.content.as_bytes(), mode));
    let change = change::Change::new(path, standing_of(old.as_ref()), to);
    let sight = Sight {
        change: change::Change { folders: way.folders(), ..change },
        modified: old.as_ref().map(|old| old.seen.modified_at()),
        content: old.map(|old| old.content),
    };
    Ok(Looked { diff: diff.for_a_person(), ..sight.into() })
}

/// # Errors
/// If the path is none to write to, the file exists and is not to be replaced, it is not as it was looked at, or the
/// disk refuses. Then the file is as it was; folders that were made for it stay.
pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    expected: Expected<'_>,
    stop: &Stop,
) -> Result<Written, Failure> {
    check(args)?;
    let place = way::to(workspace, &args.path, stop)?.make(workspace, Making::new(expected), stop)?;
    let old = old_of(&place, args, stop)?;
    stopping::check(stop)?;
    leftovers::tidy(&place, &args.path, old.is_none())?;
    let planned = Planned::new(args, old.as_ref(), expected)?;
    let diff = planned.diff(old.as_ref());
    stopping::check(stop)?;
    planned.change(&place).make(stop)?;
    let content = args.content.as_bytes();
    Ok(Written {
        path: planned.shown,
        bytes: content.len() as u64,
        digest: Digest::of(content),
        created: old.is_none(),
        diff,
    })
}

fn check(args: &Args) -> Result<(), Failure> {
    check_writable(&args.path)?;
    check_size(args.content.len())
}

/// What is replaced.
fn old_of(place: &Place<'_>, args: &Args, stop: &Stop) -> Result<Option<Old>, Failure> {
    match place.folder.look(place.name) {
        Ok(_) if !args.replace => Err(staged::exists(&args.path)),
        Ok(_) => read_old(place, &args.path, stop).map(Some),
        Err(Errno::ENOENT) => Ok(None),
        Err(errno) => Err(workspace::refused(&args.path, Denied::Os(errno))),
    }
}

fn standing_of(old: Option<&Old>) -> Standing {
    old.map_or(Standing::Nothing, Old::standing)
}

/// What this call makes of what is there.
struct Planned<'a> {
    args: &'a Args,
    shown: String,
    old: Option<Seen>,
    expected: Option<&'a Content>,
}

impl<'a> Planned<'a> {
    /// # Errors
    /// If it is not what somebody looked at before.
    fn new(args: &'a Args, old: Option<&Old>, expected: Expected<'a>) -> Result<Self, Failure> {
        let shown = workspace::shown(&args.path);
        expected.check(&args.path, &shown, &standing_of(old))?;
        let expected = expected.file(&args.path, &shown)?;
        Ok(Self { args, shown, old: old.map(|old| old.seen), expected })
    }

    fn diff(&self, old: Option<&Old>) -> Diff {
        let content = self.args.content.as_bytes();
        match old {
            Some(old) => Diff::between(&self.shown, &old.content, content),
            None => Diff::of_new(content),
        }
    }

    fn change<'b>(&'b self, place: &'b Place<'b>) -> Change<'b> {
        Change {
            place,
            path: &self.args.path,
            content: Bytes::Given(self.args.content.as_bytes()),
            old: self.old,
            rights: None,
            expected: self.expected,
        }
    }
}

pub(crate) fn check_size(bytes: usize) -> Result<(), Failure> {
    if bytes <= WRITE_BYTES {
        return Ok(());
    }
    Err(Failure::logical(format!("the text has {bytes} bytes; at most {WRITE_BYTES} are written at once")))
}

/// What is there. Never through a link, and only of a file that
/// may be written.
pub(crate) fn read_old(place: &Place<'_>, path: &str, stop: &Stop) -> Result<Old, Failure> {
    let (file, seen) = place.folder.open(place.name).map_err(|errno| match errno {
        Errno::ENOENT => Failure::environmental(format!("`{path}` does not exist in the workspace")),
        Errno::ELOOP => Failure::logical(format!("`{path}` is a link; name the file that it leads to")),
        Errno::ENXIO => workspace::not_regular(path),
        _ => workspace::refused(path, Denied::Os(errno)),
    })?;
    match seen.kind {
        Kind::File => {}
        Kind::Folder => return Err(Failure::logical(format!("`{path}` is a folder, not a file"))),
        Kind::Link | Kind::Other => return Err(workspace::not_regular(path)),
    }
    check_allowed(place, path)?;
    let mut content = Vec::new();
    let (limit, listed) = (WRITE_BYTES as u64, staged::has_list(&file));
    let reader = Heeding { reader: file, stop };
    reader.take(limit + 1).read_to_end(&mut content).map_err(|error| workspace::unreadable(path, &error))?;
    if content.len() > WRITE_BYTES {
        return Err(Failure::logical(format!(
            "`{path}` has more than {WRITE_BYTES} bytes, too many to change"
        )));
    }
    Ok(Old { seen, content, listed })
}

/// Replacing needs the right to write in the folder only. Who took the right to write from the file meant it.
fn check_allowed(place: &Place<'_>, path: &str) -> Result<(), Failure> {
    match faccessat(&place.folder, place.name, AccessFlags::W_OK, AtFlags::AT_EACCESS) {
        Ok(()) => Ok(()),
        Err(Errno::EACCES | Errno::EPERM) => {
            let advice = "its owner has to allow it first";
            Err(Failure::environmental(format!("`{path}` is protected from being written; {advice}")))
        }
        Err(errno) => Err(staged::unwritten(path, &errno.into())),
    }
}

#[cfg(test)]
mod tests;
