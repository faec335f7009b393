//! `write_file`: a new file, or a whole new content for one that exists.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Component, Path};

use domain::call::Failure;
use domain::limits::WRITE_BYTES;
use domain::{Digest, Stop};
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{AccessFlags, faccessat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confined::{Denied, Folder, Kind, Seen};
use crate::diff::Diff;
use crate::names::check_writable;
use crate::staged::{self, Change};
use crate::stopping::{self, Heeding};
use crate::workspace::{self, Place, Workspace, through_a_link, tidied};

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

/// # Errors
/// If the path is none to write to, the file exists and is not to be replaced, or the disk refuses. Then the
/// file is as it was; folders that were made for it stay.
pub(crate) fn run(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Written, Failure> {
    check_writable(&args.path)?;
    check_size(args.content.len())?;
    let content = args.content.as_bytes();
    let place = make_place(workspace, &args.path, stop)?;
    let shown = tidied(&args.path).to_string_lossy().into_owned();
    let old = match place.folder.look(place.name) {
        Ok(_) if !args.replace => return Err(staged::exists(&args.path)),
        Ok(_) => Some(read_old(&place, &args.path, stop)?),
        Err(Errno::ENOENT) => None,
        Err(errno) => return Err(workspace::refused(&args.path, Denied::Os(errno))),
    };
    stopping::check(stop)?;
    tidy(&place, &args.path, old.is_none())?;
    let diff = match &old {
        Some((_, old)) => Diff::between(&shown, old, content),
        None => Diff::of_new(content),
    };
    stopping::check(stop)?;
    let change =
        Change { place: &place, path: &args.path, content, old: old.as_ref().map(|(seen, _)| *seen) };
    change.make(stop)?;
    Ok(Written {
        path: shown,
        bytes: content.len() as u64,
        digest: Digest::of(content),
        created: old.is_none(),
        diff,
    })
}

pub(crate) fn check_size(bytes: usize) -> Result<(), Failure> {
    if bytes <= WRITE_BYTES {
        return Ok(());
    }
    Err(Failure::logical(format!("the text has {bytes} bytes; at most {WRITE_BYTES} are written at once")))
}

/// The content that is there, and what the kernel said about it. Never through a link, and only of a file that
/// may be written.
pub(crate) fn read_old(place: &Place<'_>, path: &str, stop: &Stop) -> Result<(Seen, Vec<u8>), Failure> {
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
    let limit = WRITE_BYTES as u64;
    let reader = Heeding { reader: file, stop };
    reader.take(limit + 1).read_to_end(&mut content).map_err(|error| workspace::unreadable(path, &error))?;
    if content.len() > WRITE_BYTES {
        return Err(Failure::logical(format!(
            "`{path}` has more than {WRITE_BYTES} bytes, too many to change"
        )));
    }
    Ok((seen, content))
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

/// # Errors
/// If a file is to be made whose name only differs in case from another one.
pub(crate) fn tidy(place: &Place<'_>, path: &str, is_new: bool) -> Result<(), Failure> {
    let similar = staged::tidy(place).map_err(|errno| workspace::refused(path, Denied::Os(errno)))?;
    similar.filter(|_| is_new).map_or(Ok(()), |other| Err(same_but_for_case(path, &other)))
}

fn same_but_for_case(path: &str, other: &OsStr) -> Failure {
    let other = other.to_string_lossy();
    let why = "on a disk that does not tell them apart one would replace the other";
    Failure::logical(format!("`{path}` differs only in case from `{other}`, which exists; {why}"))
}

/// The folder that the file is to be in, made if it is missing, without a link on the way.
fn make_place<'a>(workspace: &Workspace, path: &'a str, stop: &Stop) -> Result<Place<'a>, Failure> {
    let refused = |denied| match denied {
        Denied::Os(Errno::ELOOP) => through_a_link(path),
        Denied::Os(Errno::ENOTDIR) => Failure::logical(format!("a file is on the way to `{path}`")),
        denied => workspace::refused(path, denied),
    };
    let (parent, name) = (Path::new(path).parent().unwrap_or(Path::new("")), Path::new(path).file_name());
    let name = name.ok_or_else(|| Failure::logical(format!("`{path}` is a folder, not a file")))?;
    let mut folder = workspace.folder_at(Path::new("")).map_err(refused)?;
    for part in parent.components() {
        if let Component::Normal(step) = part {
            stopping::check(stop)?;
            folder = enter_or_make(folder, step, path, &refused)?;
            if workspace.is_forbidden(&folder).map_err(|errno| refused(Denied::Os(errno)))? {
                return Err(refused(Denied::Forbidden));
            }
        }
    }
    Ok(Place { folder, name })
}

fn enter_or_make(
    folder: Folder,
    name: &OsStr,
    path: &str,
    refused: &impl Fn(Denied) -> Failure,
) -> Result<Folder, Failure> {
    let enter = |folder: &Folder| folder.enter(name);
    match enter(&folder) {
        Err(Errno::ENOENT) => {}
        done => return done.map_err(|errno| refused(Denied::Os(errno))),
    }
    let place = Place { folder, name };
    tidy(&place, path, true)?;
    match mkdirat(&place.folder, name, Mode::from_bits_truncate(0o777)) {
        Ok(()) | Err(Errno::EEXIST) => {} // somebody else was quicker: as good
        Err(errno) => return Err(staged::unwritten(path, &errno.into())),
    }
    enter(&place.folder).map_err(|errno| refused(Denied::Os(errno)))
}

#[cfg(test)]
mod tests;
