//! A file that is written beside its place and then put there in one step, so that nobody ever sees half of it.
//!
//! INVARIANT (whole): under a name there is the old content or the new one, whatever is killed, full or stopped
//! in between. The new content is on the disk before the name points to it.
//!
//! Whoever writes holds a lock on the unfinished file, which ends with the process. So the next write to the
//! same name can tell what a killed one left behind from what another one is busy with, and removes it.
//!
//! What replaces a file has its rights and, where that is allowed, its owner and group; so has what is put back.
//! INVARIANT (narrow): nobody but the one who writes can do more with the new file than with the old one. So the right to
//! run as somebody else comes back only to whom it belonged. If the group cannot be kept, the new file gives no rights to a
//! group, and to others only what that group had too. The same goes for one with an access control list (on Linux): lists
//! are not taken over, and next to one the bits of the group say what is allowed to all that are on it, not to
//! the group. A list that the new file has from its folder is taken away, or closed by the same step.
//!
//! Other extended attributes are not taken over, and other hard links to the old file keep the old content.
//!
//! What is replaced is looked at once more right before the step. Between that look and the step there is a
//! moment that no system call closes; what can be lost in it is somebody else's change to that same file, never
//! anything outside.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, fchown};

use domain::call::Failure;
use domain::change::Content;
use domain::{Digest, Stop};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, renameat};
use nix::libc::mode_t;
use nix::sys::stat::{Mode, fchmod};
use nix::unistd::{UnlinkatFlags, fsync, linkat, symlinkat, unlinkat};

use crate::bytes::Bytes;
use crate::confined::{Folder, Seen};
use crate::leftovers;
use crate::standing::permissions;
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
    pub(crate) content: Bytes<'a>,
    /// What is replaced. If nothing is, then nothing may be there.
    pub(crate) old: Option<Seen>,
    /// What it had once; else it gets the rights of what is replaced, or of any new file.
    pub(crate) rights: Option<Rights>,
    /// What somebody who looked before was told would stand there. It does, or nothing happens.
    pub(crate) expected: Option<&'a Content>,
}

/// Who might do what with a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rights {
    mode: mode_t,
    /// Where it is known.
    owner: Option<(u32, u32)>,
    listed: bool,
}

impl Rights {
    pub(crate) const fn of(file: &Content) -> Self {
        Self { mode: file.mode as mode_t, owner: file.owner, listed: file.listed }
    }

    /// Those of a copy: the right to run as somebody else was given to the other file.
    pub(crate) const fn of_copy(file: &Content) -> Self {
        Self { mode: file.mode as mode_t & 0o777, ..Self::of(file) }
    }

    /// What is left of them in other hands.
    const fn narrowed(self, kept: Kept, listed: bool) -> mode_t {
        let Self { mode, .. } = self;
        let (user, mut group, mut other) = (mode >> 6 & 0o7, mode >> 3 & 0o7, mode & 0o7);
        if !kept.group {
            other &= group; // those who were in the group are others now
        }
        if !kept.user {
            group &= user;
            other &= user;
        }
        if !kept.group || listed || self.listed {
            group = 0;
        }
        let special = if kept.user && kept.group { mode & 0o7000 } else { mode & 0o1000 };
        special | user << 6 | group << 3 | other
    }
}

/// Which of them are those of the old file.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    user: bool,
    group: bool,
}

impl Change<'_> {
    /// # Errors
    /// If the disk refuses, somebody else was quicker, or it was stopped. Then nothing has changed.
    pub(crate) fn make(&self, stop: &Stop) -> Result<(), Failure> {
        self.put_in_place(stop)?;
        flush(&self.place.folder, self.path)
    }

    /// The same, and the folder is still to be flushed.
    ///
    /// # Errors
    /// As [`Change::make`].
    pub(crate) fn put_in_place(&self, stop: &Stop) -> Result<(), Failure> {
        let unfinished = Unfinished::new(self)?;
        let mode = unfinished.write(self, stop)?;
        self.check(mode)?;
        stopping::check(stop)?;
        match self.old {
            Some(old) => self.replace(&unfinished, old)?,
            None => self.put(&unfinished)?,
        }
        unfinished.keep();
        Ok(())
    }

    /// The permission bits that the file would get, found out with one that is made the same way and thrown away.
    ///
    /// # Errors
    /// If no file can be made here.
    pub(crate) fn mode(&self) -> Result<u32, Failure> {
        let Ok(unnamed) = self.place.folder.create_unnamed(self.first_mode()) else {
            let unfinished = Unfinished::new(self)?;
            return self.give_rights(&unfinished.file).map_err(|error| unwritten(self.path, &error));
        };
        self.give_rights(&unnamed).map_err(|error| unwritten(self.path, &error))
    }

    /// A new file gets the rights that any program would give it; one that replaces, or gets rights of its own, waits.
    fn first_mode(&self) -> Mode {
        Mode::from_bits_truncate(if self.old.is_some() || self.rights.is_some() { 0o600 } else { 0o666 })
    }

    /// Whether it came out as it should; `mode` is what the file got.
    fn check(&self, mode: u32) -> Result<(), Failure> {
        if self.rights.is_some_and(|had| mode & !permissions(had.mode) != 0) {
            let why = "cannot have as few permissions here as it had";
            return Err(Failure::environmental(format!("`{}` {why}", self.path)));
        }
        let is = |expected: &Content| {
            (expected.mode, expected.bytes) == (mode, self.content.len())
                && expected.digest == self.content.digest()
        };
        if self.expected.is_none_or(is) { Ok(()) } else { Err(changed_meanwhile(self.path)) }
    }

    fn replace(&self, unfinished: &Unfinished<'_>, old: Seen) -> Result<(), Failure> {
        replace(self.place, self.path, &unfinished.name, old)
    }

    fn put(&self, unfinished: &Unfinished<'_>) -> Result<(), Failure> {
        let folder = &self.place.folder;
        put_new((folder, &unfinished.name), (folder, self.place.name)).map_err(|errno| match errno {
            Errno::EEXIST => exists(self.path),
            _ => unwritten(self.path, &errno.into()),
        })
    }
}

/// Puts what has a name of its own in the place of what was looked at, in one step.
fn replace(place: &Place<'_>, path: &str, from: &OsStr, old: Seen) -> Result<(), Failure> {
    if place.folder.look(place.name) != Ok(old) {
        return Err(changed_meanwhile(path));
    }
    let done = renameat(&place.folder, from, &place.folder, place.name);
    done.map_err(|errno| unwritten(path, &errno.into()))
}

/// Makes a link, in the place of what was looked at or where nothing is. Where it leads is not asked.
///
/// # Errors
/// If the disk refuses, somebody else was quicker, or it was stopped. Then nothing has changed.
pub(crate) fn put_link(
    place: &Place<'_>,
    path: &str,
    to: &str,
    old: Option<Seen>,
    stop: &Stop,
) -> Result<(), Failure> {
    let unwritten = |errno: Errno| unwritten(path, &errno.into());
    stopping::check(stop)?;
    let Some(old) = old else {
        symlinkat(to, &place.folder, place.name).map_err(|errno| match errno {
            Errno::EEXIST => changed_meanwhile(path),
            errno => unwritten(errno),
        })?;
        return flush(&place.folder, path);
    };
    let digest = Digest::of(to.as_bytes());
    let mut names = (0..TRIES).map(|count| leftovers::name(place.name, digest, count));
    let made = names.find_map(|name| match symlinkat(to, &place.folder, name.as_os_str()) {
        Err(Errno::EEXIST) => None,
        done => Some(done.map(|()| name)),
    });
    let name = made.unwrap_or(Err(Errno::EEXIST)).map_err(unwritten)?;
    replace(place, path, &name, old).inspect_err(|_| {
        unlinkat(&place.folder, name.as_os_str(), UnlinkatFlags::NoRemoveDir).unwrap_or_default();
    })?;
    flush(&place.folder, path)
}

/// The change is made; a folder that cannot be flushed cannot take it back.
fn flush(folder: &Folder, path: &str) -> Result<(), Failure> {
    folder.listable().and_then(fsync).map_err(|errno| {
        let kind = io::Error::from(errno).kind();
        Failure::environmental(format!("`{path}` is written, but may not survive a power cut: {kind}"))
    })
}

/// A name in a folder.
type Name<'a> = (&'a Folder, &'a OsStr);

/// Gives a file its name if that is free (`EEXIST`), in one step.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn put_new(from: Name<'_>, to: Name<'_>) -> Result<(), Errno> {
    use nix::fcntl::{RenameFlags, renameat2};
    match renameat2(from.0, from.1, to.0, to.1, RenameFlags::RENAME_NOREPLACE) {
        Err(Errno::EINVAL | Errno::ENOSYS) => link_new(from, to), // not every file system can
        done => done,
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn put_new(from: Name<'_>, to: Name<'_>) -> Result<(), Errno> {
    link_new(from, to)
}

/// It has both names for a moment. If the old one cannot go, the new one does.
fn link_new(from: Name<'_>, to: Name<'_>) -> Result<(), Errno> {
    linkat(from.0, from.1, to.0, to.1, AtFlags::empty())?;
    unlinkat(from.0, from.1, UnlinkatFlags::NoRemoveDir).inspect_err(|_| {
        unlinkat(to.0, to.1, UnlinkatFlags::NoRemoveDir).unwrap_or_default();
    })
}

/// Gives what was looked at another name, if that is free. The folders are still to be flushed.
///
/// # Errors
/// If the disk refuses, somebody else was quicker, or it was stopped. Then nothing has changed.
pub(crate) fn rename(
    (from, from_path): (&Place<'_>, &str),
    (to, to_path): (&Place<'_>, &str),
    seen: Seen,
    stop: &Stop,
) -> Result<(), Failure> {
    stopping::check(stop)?;
    if from.folder.look(from.name) != Ok(seen) {
        return Err(changed_meanwhile(from_path));
    }
    put_new((&from.folder, from.name), (&to.folder, to.name)).map_err(|errno| match errno {
        Errno::EEXIST => taken(to_path),
        Errno::EXDEV => on_another_disk(from_path, to_path),
        errno => {
            let kind = io::Error::from(errno).kind();
            Failure::environmental(format!("`{from_path}` cannot be moved to `{to_path}`: {kind}"))
        }
    })
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
        let (folder, digest) = (&change.place.folder, change.content.digest());
        for count in 0..TRIES {
            let name = leftovers::name(change.place.name, digest, count);
            match folder.create(&name, change.first_mode()) {
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

    /// Gives back the permission bits that it has now.
    fn write(&self, change: &Change<'_>, stop: &Stop) -> Result<u32, Failure> {
        let unwritten = |error: &io::Error| unwritten(change.path, error);
        change.content.write(&self.file, unwritten, stop)?;
        let mode = change.give_rights(&self.file).and_then(|mode| self.file.sync_all().map(|()| mode));
        mode.map_err(|error| unwritten(&error))
    }
}

impl Change<'_> {
    /// Gives a new file the rights that it is to have, and says which it has then.
    fn give_rights(&self, file: &File) -> io::Result<u32> {
        if let Some(had) = self.had() {
            if self.rights.is_some() {
                drop_list(file);
            }
            let kept = had.owner.map_or(Ok(Kept::default()), |owner| give_owner(file, owner))?;
            fchmod(file, Mode::from_bits_truncate(had.narrowed(kept, has_list(file))))?;
        }
        Ok(permissions(file.metadata()?.mode() as mode_t))
    }

    /// The rights that it is to have. What replaces another file does not get the right to run as somebody else: that was
    /// given to the old content.
    fn had(&self) -> Option<Rights> {
        let replaced = |old: Seen| {
            // One that is gone or cannot be opened any more is as good as one with a list.
            let open = self.place.folder.open(self.place.name);
            let listed = open.map_or(true, |(old, _)| has_list(&old));
            Rights { mode: old.mode & 0o777, owner: Some(old.owner), listed }
        };
        self.rights.or_else(|| self.old.map(replaced))
    }
}

/// Who may not give files away becomes the owner, as with any editor; the group may still be his to give.
fn give_owner(file: &File, (uid, gid): (u32, u32)) -> io::Result<Kept> {
    let kept = || file.metadata().map(|found| Kept { user: found.uid() == uid, group: found.gid() == gid });
    match kept()? {
        Kept { user: true, group: true } => {}
        Kept { group, .. } => {
            let given = allowed(fchown(file, Some(uid), Some(gid)))?;
            if !given && !group {
                allowed(fchown(file, None, Some(gid)))?;
            }
        }
    }
    kept()
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
pub(crate) fn has_list(file: &File) -> bool {
    use rustix::io::Errno;
    let size = rustix::fs::fgetxattr_query(file, "system.posix_acl_access");
    !matches!(size, Ok(0) | Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS))
}

/// What cannot be taken away is found by [`has_list`].
#[cfg(target_os = "linux")]
fn drop_list(file: &File) {
    rustix::fs::fremovexattr(file, "system.posix_acl_access").unwrap_or_default();
}

#[cfg(not(target_os = "linux"))]
const fn drop_list(_: &File) {}

/// Known gap: on other systems it is not asked for.
#[cfg(not(target_os = "linux"))]
pub(crate) fn has_list(_: &File) -> bool {
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

pub(crate) fn exists(path: &str) -> Failure {
    Failure::logical(format!("`{path}` exists already; say `replace` to write it anew, or use `edit_file`"))
}

/// Of what is copied or moved.
pub(crate) fn taken(path: &str) -> Failure {
    Failure::logical(format!(
        "`{path}` exists already; nothing is ever overwritten by this, choose another name"
    ))
}

pub(crate) fn on_another_disk(from: &str, to: &str) -> Failure {
    let advice = "copy it and delete the old one";
    Failure::logical(format!("`{from}` cannot be moved to `{to}`, which is on another disk; {advice}"))
}

pub(crate) fn changed_meanwhile(path: &str) -> Failure {
    Failure::environmental(format!("`{path}` was changed by somebody else meanwhile; read it again"))
}

pub(crate) fn unwritten(path: &str, error: &io::Error) -> Failure {
    Failure::environmental(format!("`{path}` cannot be written: {}", error.kind()))
}

#[cfg(test)]
mod tests {
    use super::{Change, exists};
    use crate::bytes::Bytes;
    use crate::testing::Tree;
    use domain::Stop;
    use domain::call::Failure;

    /// The stop comes when everything is written and only the last step is missing.
    #[test]
    fn after_a_stop_nothing_is_put_in_place_and_nothing_is_left() {
        let tree = Tree::new(&[("f", "old")]);
        let stop = Stop::default();
        stop.now();
        for name in ["f", "new"] {
            let place = tree.workspace().place(name).unwrap();
            let old = place.folder.look(place.name).ok();
            let change = Change {
                place: &place,
                path: name,
                content: Bytes::Given(b"new"),
                old,
                rights: None,
                expected: None,
            };
            assert_eq!(change.make(&stop), Err(Failure::interrupted("stopped")));
        }
        assert_eq!((tree.names("."), tree.content("f")), (vec!["f".into()], b"old".to_vec()));
    }

    #[test]
    fn what_was_changed_meanwhile_is_not_replaced() {
        let tree = Tree::new(&[("f", "old")]);
        let place = tree.workspace().place("f").unwrap();
        let old = place.folder.look(place.name).ok();
        tree.write("f", "their");
        let change = Change {
            place: &place,
            path: "f",
            content: Bytes::Given(b"ours"),
            old,
            rights: None,
            expected: None,
        };
        let message = "`f` was changed by somebody else meanwhile; read it again";
        assert_eq!(change.make(&Stop::default()), Err(Failure::environmental(message)));
        let change = Change {
            place: &place,
            path: "f",
            content: Bytes::Given(b"ours"),
            old: None,
            rights: None,
            expected: None,
        };
        assert_eq!(change.make(&Stop::default()), Err(exists("f")));
        assert_eq!((tree.names("."), tree.content("f")), (vec!["f".into()], b"their".to_vec()));
    }
}
