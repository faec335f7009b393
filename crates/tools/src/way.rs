//! The way to a file that may not be there yet: the folders that are, and those that would have to be made.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use domain::Stop;
use domain::call::Failure;
use nix::errno::Errno;
use nix::libc::mode_t;
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::confined::{Denied, Folder};
use crate::expected::Expected;
use crate::leftovers;
use crate::staged::{self, changed_meanwhile};
use crate::standing::permissions;
use crate::stopping;
use crate::workspace::{self, Place, Workspace, through_a_link, tidied};

/// No link is on it, and nothing was made for it yet.
#[derive(Debug)]
pub(crate) struct Way<'a> {
    /// The last folder that is there, and the name of the file, which is only its place if nothing is missing.
    pub(crate) place: Place<'a>,
    path: &'a str,
    /// The path of that folder, relative to the workspace.
    there: PathBuf,
    missing: Vec<&'a OsStr>,
}

/// How folders are made on the way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Making<'a> {
    expected: Expected<'a>,
    /// They were there before, with these permission bits. Where those are not known, nobody else gets in.
    again: Option<&'a BTreeMap<String, u32>>,
}

impl<'a> Making<'a> {
    pub(crate) const fn new(expected: Expected<'a>) -> Self {
        Self { expected, again: None }
    }

    pub(crate) const fn again(expected: Expected<'a>, modes: &'a BTreeMap<String, u32>) -> Self {
        Self { expected, again: Some(modes) }
    }

    /// What is asked of the kernel, which gives no more than any new folder gets.
    fn mode(self, folder: &str) -> Mode {
        let before = self.again.map(|modes| modes.get(folder).copied().unwrap_or(0o700));
        Mode::from_bits_truncate(before.map_or(0o777, |mode| mode as mode_t & 0o777))
    }
}

/// The permission bits of the folders on the way, as far as they can be seen.
pub(crate) fn modes(workspace: &Workspace, path: &str) -> BTreeMap<String, u32> {
    let above = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let mode = |folder: &Path| {
        let seen = workspace.folder_at(folder).ok()?.seen().ok()?;
        Some((folder.to_string_lossy().into_owned(), permissions(seen.mode)))
    };
    above.filter_map(mode).collect()
}

/// # Errors
/// If a link, a file or a forbidden place is on the way, or the path names no file.
pub(crate) fn to<'a>(workspace: &Workspace, path: &'a str, stop: &Stop) -> Result<Way<'a>, Failure> {
    let parent = Path::new(path).parent().unwrap_or(Path::new(""));
    let name = Path::new(path).file_name();
    let name = name.ok_or_else(|| Failure::logical(format!("`{path}` is a folder, not a file")))?;
    let mut folder = workspace.folder_at(Path::new("")).map_err(|denied| refused(path, denied))?;
    let (mut there, mut missing) = (PathBuf::new(), Vec::new());
    for part in parent.components() {
        let Component::Normal(step) = part else { continue };
        stopping::check(stop)?;
        if !missing.is_empty() {
            missing.push(step);
            continue;
        }
        match folder.enter(step) {
            Ok(next) => {
                check_open(workspace, &next, path)?;
                folder = next;
                there.push(step);
            }
            Err(Errno::ENOENT) => missing.push(step),
            Err(errno) => return Err(refused(path, Denied::Os(errno))),
        }
    }
    Ok(Way { place: Place { folder, name }, path, there, missing })
}

impl<'a> Way<'a> {
    pub(crate) fn is_missing(&self) -> bool {
        !self.missing.is_empty()
    }

    /// The folders that would have to be made, outermost first, relative to the workspace.
    pub(crate) fn folders(&self) -> Vec<String> {
        let grow = |path: &mut PathBuf, step: &&OsStr| {
            path.push(step);
            Some(path.to_string_lossy().into_owned())
        };
        self.missing.iter().scan(self.there.clone(), grow).collect()
    }

    /// # Errors
    /// If the first thing to be made is called as something that is there, but for case.
    pub(crate) fn check_case(&self) -> Result<(), Failure> {
        self.check_case_but(None)
    }

    /// The same, where one name goes that is there now.
    pub(crate) fn check_case_but(&self, goes: Option<&str>) -> Result<(), Failure> {
        let made = self.missing.first().copied().unwrap_or(self.place.name);
        let goes = goes.map(Path::new).filter(|path| path.parent() == Some(&self.there));
        leftovers::check_case(&self.place.folder, made, goes.and_then(Path::file_name), self.path)
    }

    /// # Errors
    /// If a folder cannot be made, or was not to be made when somebody looked. Those that were made stay.
    pub(crate) fn make(
        self,
        workspace: &Workspace,
        making: Making<'_>,
        stop: &Stop,
    ) -> Result<Place<'a>, Failure> {
        let folders = self.folders();
        let Self { place: Place { mut folder, name }, path, missing, .. } = self;
        for (step, made) in missing.into_iter().zip(folders) {
            stopping::check(stop)?;
            folder = enter_or_make(folder, step, path, (making, &made))?;
            check_open(workspace, &folder, path)?;
        }
        Ok(Place { folder, name })
    }
}

fn enter_or_make(
    folder: Folder,
    name: &OsStr,
    path: &str,
    (making, made): (Making<'_>, &str),
) -> Result<Folder, Failure> {
    let enter = |folder: &Folder| folder.enter(name);
    match enter(&folder) {
        Err(Errno::ENOENT) if !making.expected.may_make(made) => return Err(changed_meanwhile(path)),
        Err(Errno::ENOENT) => {}
        done => return done.map_err(|errno| refused(path, Denied::Os(errno))),
    }
    let place = Place { folder, name };
    leftovers::tidy(&place, path, making.again.is_none())?;
    match mkdirat(&place.folder, name, making.mode(made)) {
        Ok(()) | Err(Errno::EEXIST) => {} // somebody else was quicker: as good
        Err(errno) => return Err(staged::unwritten(path, &errno.into())),
    }
    enter(&place.folder).map_err(|errno| refused(path, Denied::Os(errno)))
}

/// Takes away folders, the innermost first, as long as nothing is in them. What is not empty, or is no folder any more,
/// is somebody's, and stays with everything above it.
pub(crate) fn remove_empty(workspace: &Workspace, folders: &[String]) {
    let mut inwards: Vec<PathBuf> = folders.iter().map(|folder| tidied(folder)).collect();
    inwards.sort_by_key(|folder| folder.components().count());
    for folder in inwards.iter().rev() {
        let (parent, Some(name)) = (folder.parent().unwrap_or(Path::new("")), folder.file_name()) else {
            return;
        };
        let removed = workspace.folder_at(parent).map(|parent| {
            let gone = unlinkat(&parent, name, UnlinkatFlags::RemoveDir);
            matches!(gone, Ok(()) | Err(Errno::ENOENT))
        });
        if !removed.unwrap_or(false) {
            return;
        }
    }
}

impl Workspace {
    /// Whether something lies around a path that nobody needs: what a killed write left beside it, or an empty folder that
    /// is the innermost of these. It blocks.
    #[must_use]
    pub fn is_untidy(&self, path: &str, folders: &[String]) -> bool {
        let left = to(self, path, &Stop::default())
            .is_ok_and(|way| !way.is_missing() && leftovers::are_beside(&way.place));
        let innermost = folders.iter().map(|folder| tidied(folder)).filter_map(|folder| {
            let depth = folder.components().count();
            self.folder_at(&folder).ok().map(|folder| (depth, folder))
        });
        let innermost = innermost.max_by_key(|(depth, _)| *depth);
        left || innermost.is_some_and(|(_, folder)| leftovers::is_empty(&folder))
    }
}

fn check_open(workspace: &Workspace, folder: &Folder, path: &str) -> Result<(), Failure> {
    match workspace.is_forbidden(folder) {
        Ok(false) => Ok(()),
        Ok(true) => Err(refused(path, Denied::Forbidden)),
        Err(errno) => Err(refused(path, Denied::Os(errno))),
    }
}

fn refused(path: &str, denied: Denied) -> Failure {
    match denied {
        Denied::Os(Errno::ELOOP) => through_a_link(path),
        Denied::Os(Errno::ENOTDIR) => Failure::logical(format!("a file is on the way to `{path}`")),
        denied => workspace::refused(path, denied),
    }
}
