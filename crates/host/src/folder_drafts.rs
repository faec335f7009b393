//! Folders that have no name yet. A process makes a draft under a hidden name and locks it until it gets its name or is
//! removed. A process that is killed leaves its draft unlocked, and another process removes it.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use app::instance::paths::InstancePaths;
use domain::BACKUP_MARK;

use crate::backup_list::DraftEntry;
use crate::{files, trusted_files};

/// What every unfinished folder's name begins with.
const PREFIX: &str = ".draft-";

/// A folder that only this process uses until it gets its name. Dropped without one, it is removed.
#[derive(Debug)]
pub(crate) struct FolderDraft {
    path: PathBuf,
    /// Whoever finds it unlocked finds what a process that died has left.
    _lock: File,
    named: bool,
    /// Its line on the list of backups, if it is in a folder that the owner named.
    entry: Option<DraftEntry>,
}

/// Where a new draft is made.
pub(crate) fn draft_path(parent: &Path, unique: &str) -> PathBuf {
    parent.join(format!("{PREFIX}{unique}"))
}

impl FolderDraft {
    /// Makes a draft in a folder that is there.
    pub(crate) fn make(path: PathBuf, entry: Option<DraftEntry>) -> io::Result<Self> {
        let lock = match make_locked(&path) {
            Ok(lock) => lock,
            Err(error) => {
                if error.kind() == io::ErrorKind::AlreadyExists || !path.exists() {
                    drop(entry.map(|entry| entry.end())); // the line that stays names a folder that was not made
                }
                return Err(error);
            }
        };
        let draft = Self { path, _lock: lock, named: false, entry };
        // Another user may have exchanged a folder on the way since it was checked.
        trusted_files::check_folder(&draft.path)?;
        // Before anything else is in it: file tools leave a folder with this mark alone, and `clear` removes it.
        files::write(&draft.path.join(BACKUP_MARK), b"")?;
        Ok(draft)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is on the list of backups.
    pub(crate) const fn is_listed(&self) -> bool {
        self.entry.is_some()
    }

    /// Gives it the name, or that name and a number if it is taken.
    pub(crate) fn name(mut self, name: &Path) -> io::Result<PathBuf> {
        files::sync(&self.path)?;
        let last = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let others = (2..).map(|n: u32| name.with_file_name(format!("{last}-{n}")));
        for name in std::iter::once(name.to_owned()).chain(others) {
            match std::fs::rename(&self.path, &name) {
                Ok(()) => {
                    self.named = true;
                    name.parent().map_or(Ok(()), files::sync)?;
                    return Ok(name);
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::DirectoryNotEmpty
                            | io::ErrorKind::AlreadyExists
                            | io::ErrorKind::NotADirectory
                    ) => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("every name is taken"))
    }

    /// It is somebody else's to remove.
    pub(crate) fn leave(mut self) -> PathBuf {
        self.named = true;
        self.path.clone()
    }
}

impl Drop for FolderDraft {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next process, and `forget` shows it until then.
        if !self.named && remove_marked(&self.path).is_ok() {
            drop(self.entry.take().map(|entry| entry.end())); // the line that stays names a folder that is gone
        }
    }
}

/// Makes the folder and locks it. A process that tidies up may remove it in between; then it is made again.
fn make_locked(path: &Path) -> io::Result<File> {
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        files::make_new_folder(path)?;
        let lock = match files::open_folder(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            lock => lock?,
        };
        match lock.lock() {
            // Then no process tidies up there either.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            locked => locked?,
        }
        if files::is_named(&lock, path)? {
            return Ok(lock);
        }
    }
    Err(io::Error::other("it is removed as soon as it is made"))
}

/// Which drafts are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DraftScope<'a> {
    /// In a folder of the instance: all of them, unless a restore is under way, which they may belong to. Those of earlier
    /// versions have no mark.
    Own(&'a InstancePaths),
    /// In a folder that the owner named: those that the caller owns and that hold the mark of a backup.
    Marked,
}

impl DraftScope<'_> {
    /// Whether a restore may need them. It leaves its draft unlocked, and only when the file `restoring` is there.
    fn are_needed(self) -> bool {
        match self {
            Self::Own(instance) => !is_surely_absent(&instance.restoring()),
            Self::Marked => false,
        }
    }
}

/// A draft that was not removed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LeftoverDraft {
    pub(crate) path: PathBuf,
    /// Its process works on it, or is not known to be dead.
    pub(crate) may_be_in_use: bool,
}

/// Removes the drafts that dead processes have left. The drafts that are still there.
pub(crate) fn clear(parent: &Path, drafts: DraftScope<'_>) -> io::Result<Vec<LeftoverDraft>> {
    let names = files::list_names(parent)?.into_iter().filter(|name| name.starts_with(PREFIX));
    let paths = names.map(|name| parent.join(name));
    let ours = paths.filter(|path| drafts != DraftScope::Marked || is_marked(path));
    let remove = |path: &Path| {
        // Looked at under the lock of the draft.
        if drafts.are_needed() { Err(io::ErrorKind::ResourceBusy.into()) } else { remove_marked(path) }
    };
    Ok(ours.filter_map(|path| remove_dead(&path, remove)).collect())
}

/// Removes a draft that is on the list of backups, unless its process lives. What is left of it. Its process may have died
/// before it wrote the mark: then it is empty.
pub(crate) fn clear_listed(path: &Path) -> Option<LeftoverDraft> {
    if is_marked(path) {
        remove_dead(path, remove_marked)
    } else {
        remove_dead(path, |path| std::fs::remove_dir(path))
    }
}

fn remove_dead(path: &Path, remove: impl Fn(&Path) -> io::Result<()>) -> Option<LeftoverDraft> {
    let left = |may_be_in_use| Some(LeftoverDraft { path: path.to_owned(), may_be_in_use });
    let folder = match files::open_folder(path) {
        Ok(folder) => folder,
        Err(error) if is_absent(&error) => return None,
        Err(_unreadable) => return left(false),
    };
    match folder.try_lock() {
        // Another process has removed it, and the name may be that of a new one.
        Ok(()) if !files::is_named(&folder, path).unwrap_or(true) => None,
        Ok(()) if remove(path).is_ok() => None,
        Err(TryLockError::WouldBlock) => left(true),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => left(true),
        Ok(()) | Err(TryLockError::Error(_)) => left(false),
    }
}

/// Whether there is nothing with this name. What cannot be looked at may be there.
pub(crate) fn is_surely_absent(path: &Path) -> bool {
    matches!(std::fs::symlink_metadata(path), Err(error) if is_absent(&error))
}

/// Whether there is no folder with this name.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether it is a folder of the caller that holds the mark of a backup.
fn is_marked(path: &Path) -> bool {
    let caller = nix::unistd::Uid::effective().as_raw();
    let own = |path: &Path| std::fs::symlink_metadata(path).ok().filter(|found| found.uid() == caller);
    own(path).is_some_and(|found| found.is_dir())
        && own(&path.join(BACKUP_MARK)).is_some_and(|found| found.is_file())
}

/// The mark goes last: if the process is killed meanwhile, what is left still has it.
fn remove_marked(path: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        for name in files::list_names(path)?.iter().filter(|name| *name != BACKUP_MARK) {
            files::remove(&path.join(name))?;
        }
    }
    files::remove(path)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{DraftScope, FolderDraft, LeftoverDraft, clear, clear_listed, draft_path};
    use crate::files::{list_names, make_folder, write};
    use app::instance::paths::InstancePaths;
    use domain::BACKUP_MARK;

    fn make(folder: &Path, unique: &str) -> std::io::Result<FolderDraft> {
        FolderDraft::make(draft_path(folder, unique), None)
    }

    #[test]
    fn a_draft_is_removed_unless_it_got_its_name_and_a_name_is_given_once() {
        let folder = tempfile::tempdir().expect("folder");
        drop(make(folder.path(), "a").expect("draft"));
        assert_eq!(list_names(folder.path()).expect("names"), [""; 0]);
        for unique in ["b", "c"] {
            let draft = make(folder.path(), unique).expect("draft");
            write(&draft.path().join("file"), unique.as_bytes()).expect("write");
            draft.name(&folder.path().join("name")).expect("name");
        }
        assert_eq!(list_names(folder.path()).expect("names"), ["name", "name-2"]);
    }

    #[test]
    fn what_a_dead_process_left_is_removed_and_what_a_living_one_works_on_is_not() {
        let folder = tempfile::tempdir().expect("folder");
        let living = make(folder.path(), "living").expect("draft");
        make_folder(&folder.path().join(".draft-dead")).expect("folder");
        for name in ["half", BACKUP_MARK] {
            write(&folder.path().join(".draft-dead").join(name), b"half").expect("write");
        }
        let left = [LeftoverDraft { path: living.path().to_owned(), may_be_in_use: true }];
        assert_eq!(clear(folder.path(), DraftScope::Marked).expect("clear"), left);
        assert_eq!(list_names(folder.path()).expect("names"), [".draft-living"]);
        assert_eq!(clear_listed(living.path()), left.into_iter().next(), "nor if it is listed");
    }

    /// A process that dies before it writes the mark leaves an empty folder; only the list says whose it is.
    #[test]
    fn a_listed_draft_without_a_mark_is_removed_if_it_is_empty() {
        let folder = tempfile::tempdir().expect("folder");
        let (empty, full) = (folder.path().join(".draft-1"), folder.path().join(".draft-2"));
        make_folder(&empty).expect("folder");
        make_folder(&full).expect("folder");
        write(&full.join("chapter"), b"one").expect("write");
        assert_eq!(clear(folder.path(), DraftScope::Marked).expect("clear"), []);
        assert_eq!(clear_listed(&empty), None);
        assert_eq!(clear_listed(&full), Some(LeftoverDraft { path: full.clone(), may_be_in_use: false }));
        assert_eq!(list_names(folder.path()).expect("names"), [".draft-2"]);
        assert_eq!(clear_listed(&folder.path().join(".draft-3")), None);
    }

    /// A restore that was cut off is carried on from its draft.
    #[test]
    fn a_draft_of_a_restore_is_not_removed_before_the_restore_is_over() {
        let folder = tempfile::tempdir().expect("folder");
        let instance = InstancePaths { config: folder.path().into(), data: folder.path().into() };
        let draft = make(folder.path(), "1").expect("draft");
        write(&instance.restoring(), b"").expect("write");
        let path = draft.leave();
        let left = [LeftoverDraft { path, may_be_in_use: false }];
        assert_eq!(clear(folder.path(), DraftScope::Own(&instance)).expect("clear"), left);
        std::fs::remove_file(instance.restoring()).expect("remove");
        assert_eq!(clear(folder.path(), DraftScope::Own(&instance)).expect("clear"), []);
        assert_eq!(list_names(folder.path()).expect("names"), [""; 0]);
    }

    #[test]
    fn no_draft_is_made_where_others_could_exchange_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("folder");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o757)).expect("mode");
        assert!(make(folder.path(), "a").is_err());
        assert_eq!(list_names(folder.path()).expect("names"), [""; 0]);
    }

    #[test]
    fn folders_of_the_owner_are_not_removed_because_of_their_names() {
        let folder = tempfile::tempdir().expect("folder");
        let at = |name: &str| folder.path().join(name);
        make_folder(&at("backup")).expect("folder");
        write(&at("backup").join(BACKUP_MARK), b"").expect("write");
        make_folder(&at(".draft-book")).expect("folder");
        write(&at(".draft-book/chapter"), b"one").expect("write");
        make_folder(&at(".draft-nest").join(BACKUP_MARK)).expect("folder");
        std::os::unix::fs::symlink("backup", at(".draft-link")).expect("link");
        write(&at(".draft-file"), b"").expect("write");
        make_folder(&at(".draft-theirs")).expect("folder");
        write(&at(".draft-theirs").join(BACKUP_MARK), b"").expect("write");
        if nix::unistd::Uid::effective().is_root() {
            std::os::unix::fs::chown(at(".draft-theirs"), Some(1001), None).expect("chown");
        } else {
            std::fs::remove_dir_all(at(".draft-theirs")).expect("remove");
        }
        let before = list_names(folder.path()).expect("names");
        assert_eq!(clear(folder.path(), DraftScope::Marked).expect("clear"), []);
        assert_eq!(list_names(folder.path()).expect("names"), before);
        assert_eq!(list_names(&at(".draft-book")).expect("names"), ["chapter"]);
        assert!(make(folder.path(), "book").is_err(), "it is not shared, either");
        let instance = InstancePaths { config: folder.path().into(), data: folder.path().into() };
        assert_eq!(clear(folder.path(), DraftScope::Own(&instance)).expect("clear"), []);
        assert_eq!(list_names(folder.path()).expect("names"), [".draft-file", "backup"]);
        assert_eq!(list_names(&at("backup")).expect("names"), [BACKUP_MARK]);
    }
}
