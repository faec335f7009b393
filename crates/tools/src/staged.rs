//! A file that is written beside its place and then put there in one step, so that nobody ever sees half of it.
//!
//! INVARIANT (whole): under a name there is the old content or the new one, whatever is killed, full or stopped
//! in between. The new content is on the disk before the name points to it.
//!
//! Whoever writes holds a lock on the unfinished file, which ends with the process. So the next write to the
//! same name can tell what a killed one left behind from what another one is busy with, and removes it.
//!
//! What replaces a file has its rights and, where that is allowed, its owner and group. INVARIANT (narrow): nobody
//! but the one who writes can do more with the new file than with the old one. So if the group cannot be kept,
//! the new file gives no rights to a group. The same goes for one with an access control list (on Linux): lists
//! are not taken over, and next to one the bits of the group say what is allowed to all that are on it, not to
//! the group. A list that the new file has from its folder is closed by the same step.
//!
//! Other extended attributes are not taken over, and other hard links to the old file keep the old content.
//!
//! What is replaced is looked at once more right before the step. Between that look and the step there is a
//! moment that no system call closes; what can be lost in it is somebody else's change to that same file, never
//! anything outside.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, fchown};

use domain::call::Failure;
use domain::{Digest, Stop};
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, renameat};
use nix::sys::stat::{Mode, fchmod};
use nix::unistd::{UnlinkatFlags, fsync, linkat, unlinkat};

use crate::confined::{Folder, Seen};
use crate::names::{self, LEFTOVER, LEFTOVER_END};
use crate::stopping;
use crate::workspace::Place;

/// Files of killed writers to one name that may be in the way.
const TRIES: u32 = 64;

/// What is to stand under a name, and what stands there now.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    pub(crate) place: &'a Place<'a>,
    /// As the caller calls it, for messages.
    pub(crate) path: &'a str,
    pub(crate) content: &'a [u8],
    /// What is replaced. If nothing is, then nothing may be there.
    pub(crate) old: Option<Seen>,
}

impl Change<'_> {
    /// # Errors
    /// If the disk refuses, somebody else was quicker, or it was stopped. Then nothing has changed.
    pub(crate) fn make(&self, stop: &Stop) -> Result<(), Failure> {
        let unfinished = Unfinished::new(self)?;
        unfinished.write(self).map_err(|error| unwritten(self.path, &error))?;
        stopping::check(stop)?;
        match self.old {
            Some(old) => self.replace(&unfinished, old)?,
            None => self.put(&unfinished)?,
        }
        unfinished.keep();
        // The change is made; a folder that cannot be flushed cannot take it back.
        let folder = &self.place.folder;
        folder.listable().and_then(fsync).map_err(|errno| {
            let kind = io::Error::from(errno).kind();
            Failure::environmental(format!(
                "`{}` is written, but may not survive a power cut: {kind}",
                self.path
            ))
        })
    }

    fn replace(&self, unfinished: &Unfinished<'_>, old: Seen) -> Result<(), Failure> {
        if self.place.folder.look(self.place.name) != Ok(old) {
            return Err(changed_meanwhile(self.path));
        }
        let folder = &self.place.folder;
        let done = renameat(folder, unfinished.name.as_os_str(), folder, self.place.name);
        done.map_err(|errno| unwritten(self.path, &errno.into()))
    }

    fn put(&self, unfinished: &Unfinished<'_>) -> Result<(), Failure> {
        let folder = &self.place.folder;
        put_new(folder, &unfinished.name, self.place.name).map_err(|errno| match errno {
            Errno::EEXIST => exists(self.path),
            _ => unwritten(self.path, &errno.into()),
        })
    }
}

/// Gives a file its name if that is free (`EEXIST`), in one step.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn put_new(folder: &Folder, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    use nix::fcntl::{RenameFlags, renameat2};
    match renameat2(folder, from, folder, to, RenameFlags::RENAME_NOREPLACE) {
        Err(Errno::EINVAL | Errno::ENOSYS) => link_new(folder, from, to), // not every file system can
        done => done,
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn put_new(folder: &Folder, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    link_new(folder, from, to)
}

fn link_new(folder: &Folder, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    linkat(folder, from, folder, to, AtFlags::empty())?;
    // The file has its place. A second name that stays is removed by the next write.
    unlinkat(folder, from, UnlinkatFlags::NoRemoveDir).unwrap_or_default();
    Ok(())
}

/// A file under a name of its own. It goes when this is dropped, unless it was given its place by then.
#[derive(Debug)]
struct Unfinished<'a> {
    folder: &'a Folder,
    name: OsString,
    file: File,
    placed: bool,
}

impl<'a> Unfinished<'a> {
    fn new(change: &Change<'a>) -> Result<Self, Failure> {
        let folder = &change.place.folder;
        let content = short(Digest::of(change.content));
        // A new file gets the rights that any program would give it; one that replaces waits for the old ones.
        let mode = if change.old.is_some() { 0o600 } else { 0o666 };
        for count in 0..TRIES {
            let name =
                OsString::from(format!("{}{content}-{count}{LEFTOVER_END}", prefix(change.place.name)));
            match folder.create(&name, Mode::from_bits_truncate(mode)) {
                // If the lock is not ours or the file is gone, a cleaner took it for a leftover.
                Ok(file) => {
                    let ours =
                        file.try_lock().is_ok() && file.metadata().is_ok_and(|found| found.nlink() > 0);
                    if ours {
                        return Ok(Self { folder, name, file, placed: false });
                    }
                }
                Err(Errno::EEXIST) => {}
                Err(errno) => return Err(unwritten(change.path, &errno.into())),
            }
        }
        Err(Failure::environmental(format!("`{}` is being written by too many others", change.path)))
    }

    /// It has its place.
    fn keep(mut self) {
        self.placed = true;
    }

    fn write(&self, change: &Change<'_>) -> io::Result<()> {
        (&self.file).write_all(change.content)?;
        if let Some(old) = change.old {
            self.give_rights(change, old)?;
        }
        self.file.sync_all()
    }

    fn give_rights(&self, change: &Change<'_>, old: Seen) -> io::Result<()> {
        let (uid, gid) = old.owner;
        let found = self.file.metadata()?;
        // Who may not give files away becomes the owner, as with any editor; the group may still be his to give.
        let kept = (found.uid(), found.gid()) == old.owner
            || allowed(fchown(&self.file, Some(uid), Some(gid)))?
            || found.gid() == gid
            || allowed(fchown(&self.file, None, Some(gid)))?;
        let listed = || {
            // One that is gone or cannot be opened any more is as good as one with a list.
            let old = change.place.folder.open(change.place.name);
            old.map_or(true, |(old, _)| has_list(&old)) || has_list(&self.file)
        };
        // Not the right to run as somebody else: that was given to the old content.
        let mode = if kept && !listed() { old.mode & 0o777 } else { old.mode & 0o707 };
        Ok(fchmod(&self.file, Mode::from_bits_truncate(mode))?)
    }
}

/// Whether it was done; not being allowed to is no error, nor is an owner that our namespace has no number for.
fn allowed(done: io::Result<()>) -> io::Result<bool> {
    use io::ErrorKind::{InvalidInput, PermissionDenied};
    match done {
        Err(error) if matches!(error.kind(), PermissionDenied | InvalidInput) => Ok(false),
        done => done.map(|()| true),
    }
}

/// Whether there is an access control list besides the mode. What cannot be told counts as yes.
#[cfg(target_os = "linux")]
fn has_list(file: &File) -> bool {
    use rustix::io::Errno;
    let size = rustix::fs::fgetxattr_query(file, "system.posix_acl_access");
    !matches!(size, Ok(0) | Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS))
}

/// Known gap: on other systems it is not asked for.
#[cfg(not(target_os = "linux"))]
fn has_list(_: &File) -> bool {
    false
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        // Once it is placed, its old name may already be another writer's. If it cannot be removed, the next
        // write to this name does it.
        if !self.placed {
            unlinkat(self.folder, self.name.as_os_str(), UnlinkatFlags::NoRemoveDir).unwrap_or_default();
        }
    }
}

/// What the names of unfinished files for this target begin with.
fn prefix(target: &OsStr) -> String {
    format!("{LEFTOVER}{}-", short(Digest::of(target.as_bytes())))
}

fn short(digest: Digest) -> String {
    digest.to_string().chars().take(16).collect()
}

/// Looks through the folder once: what killed writers to this name left is removed, and a name that only
/// differs in case comes back.
pub(crate) fn tidy(place: &Place<'_>) -> Result<Option<OsString>, Errno> {
    let prefix = prefix(place.name);
    let mut similar = None;
    for entry in Dir::from_fd(place.folder.listable()?)?.iter() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if names::is_leftover(name) && name.as_bytes().starts_with(prefix.as_bytes()) {
            remove_leftover(&place.folder, name);
        } else if names::differ_in_case_only(name, place.name) {
            similar = Some(name.to_os_string());
        }
    }
    Ok(similar)
}

/// What cannot be removed does no harm: it is hidden, and never in the way.
fn remove_leftover(folder: &Folder, name: &OsStr) {
    if let Ok((file, _)) = folder.open(name)
        && file.try_lock().is_ok()
    {
        unlinkat(folder, name, UnlinkatFlags::NoRemoveDir).unwrap_or_default();
    }
}

pub(crate) fn exists(path: &str) -> Failure {
    Failure::logical(format!("`{path}` exists already; say `replace` to write it anew, or use `edit_file`"))
}

pub(crate) fn changed_meanwhile(path: &str) -> Failure {
    Failure::environmental(format!("`{path}` was changed by somebody else meanwhile; read it again"))
}

pub(crate) fn unwritten(path: &str, error: &io::Error) -> Failure {
    Failure::environmental(format!("`{path}` cannot be written: {}", error.kind()))
}

#[cfg(test)]
mod tests {
    use super::{Change, exists, prefix, tidy};
    use crate::testing::Tree;
    use domain::Stop;
    use domain::call::Failure;
    use std::ffi::OsStr;
    use std::fs::File;

    /// The stop comes when everything is written and only the last step is missing.
    #[test]
    fn after_a_stop_nothing_is_put_in_place_and_nothing_is_left() {
        let tree = Tree::new(&[("f", "old")]);
        let stop = Stop::default();
        stop.now();
        for name in ["f", "new"] {
            let place = tree.workspace().place(name).unwrap();
            let old = place.folder.look(place.name).ok();
            let change = Change { place: &place, path: name, content: b"new", old };
            assert_eq!(change.make(&stop), Err(Failure::environmental("stopped")));
        }
        assert_eq!((tree.names("."), tree.content("f")), (vec!["f".into()], b"old".to_vec()));
    }

    #[test]
    fn what_was_changed_meanwhile_is_not_replaced() {
        let tree = Tree::new(&[("f", "old")]);
        let place = tree.workspace().place("f").unwrap();
        let old = place.folder.look(place.name).ok();
        tree.write("f", "their");
        let change = Change { place: &place, path: "f", content: b"ours", old };
        let message = "`f` was changed by somebody else meanwhile; read it again";
        assert_eq!(change.make(&Stop::default()), Err(Failure::environmental(message)));
        let change = Change { place: &place, path: "f", content: b"ours", old: None };
        assert_eq!(change.make(&Stop::default()), Err(exists("f")));
        assert_eq!((tree.names("."), tree.content("f")), (vec!["f".into()], b"their".to_vec()));
    }

    #[test]
    fn what_a_killed_write_left_is_removed_by_the_next_one_to_the_same_name_only() {
        let tree = Tree::new(&[("f", "old")]);
        let left = |target: &str, count: u32| format!("{}abc-{count}.tmp", prefix(OsStr::new(target)));
        for name in [left("f", 0), left("f", 1), left("other", 0)] {
            tree.write(name, "half");
        }
        #[expect(clippy::disallowed_methods, reason = "the test plays a writer that is still alive")]
        let busy = File::open(tree.path(left("f", 1))).unwrap();
        busy.lock().unwrap();
        assert_eq!(tidy(&tree.workspace().place("f").unwrap()), Ok(None));
        let mut expected = vec![left("f", 1), left("other", 0), "f".into()];
        expected.sort();
        assert_eq!(tree.names("."), expected);
    }
}
