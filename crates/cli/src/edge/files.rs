//! Files that are whole or not there, for nobody else to read: copies with their digests, and folders that get their
//! name when they are complete.

#![expect(clippy::disallowed_methods, reason = "the house's own files")]

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use domain::digest::Digesting;
use domain::{BACKUP_MARK, Digest};
use rustix::fs::OFlags;

use super::trusted::{self, Links};

/// What every unfinished folder's name begins with.
const DRAFT: &str = ".draft-";

pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A folder that was not there before, for its owner only.
pub(super) fn make_new_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// A new file for its owner only.
pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// One more line at the end.
pub(super) fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = open_to_write(OpenOptions::new().append(true).create(true).mode(0o600), path)?;
    // One write: lines of two processes do not mix. A line that was torn before stays alone.
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_all()
}

/// A file or a folder: what is in it, and the names in it, are durable.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// A durable copy; the digest and the length of what was copied.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<(Digest, u64)> {
    let from = existing(from)?;
    let mut into = create(to)?;
    let read = read_through(from, |part| into.write_all(part))?;
    into.sync_all()?;
    Ok(read)
}

pub(super) fn digest(path: &Path) -> io::Result<(Digest, u64)> {
    read_through(existing(path)?, |_| Ok(()))
}

fn existing(path: &Path) -> io::Result<File> {
    trusted::open(path, Links::Followed)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn read_through(mut file: File, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<(Digest, u64)> {
    let (mut digesting, mut length, mut buffer) = (Digesting::default(), 0, vec![0; 1 << 16]);
    loop {
        let read = file.read(&mut buffer)?;
        let part = buffer.get(..read).unwrap_or_default();
        if part.is_empty() {
            return Ok((digesting.finish(), length));
        }
        each(part)?;
        digesting.update(part);
        length += part.len() as u64;
    }
}

/// Opens a file of ours in order to change it. A link or a pipe in its place is refused, and not waited for.
pub(super) fn open_to_write(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no file")) }
}

/// A folder as a file: to lock it, or to make the names in it durable.
pub(super) fn open_folder(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlags::DIRECTORY.bits().cast_signed()).open(path)
}

/// The names of the files in a folder, in order; none if it is not there.
pub(super) fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    match std::fs::read_dir(folder) {
        Ok(entries) => {
            for entry in entries {
                names.push(entry?.file_name().to_string_lossy().into_owned());
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    names.sort();
    Ok(names)
}

/// When something in the folder was last changed.
pub(super) fn changed(folder: &Path) -> domain::Time {
    let changed = std::fs::metadata(folder).map_or(0, |found| found.mtime());
    domain::Time::from_micros(changed.saturating_mul(1_000_000))
}

/// A folder that only this process uses until it gets its name. Dropped without one, it is removed.
#[derive(Debug)]
pub(super) struct Draft {
    path: PathBuf,
    /// Whoever finds it unlocked finds what a process that died has left.
    _lock: File,
    named: bool,
}

impl Draft {
    pub(super) fn make(parent: &Path, unique: &str) -> io::Result<Self> {
        const TRIES: u32 = 100;
        make_folder(parent)?;
        clear(parent, Drafts::Marked)?;
        let path = parent.join(format!("{DRAFT}{unique}"));
        for _ in 0..TRIES {
            make_new_folder(&path)?;
            let lock = match open_folder(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                lock => lock?,
            };
            match lock.lock() {
                // Then nobody tidies up there either.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                locked => locked?,
            }
            // Somebody who tidies up may have found it before it was locked.
            if is_named(&lock, &path)? {
                let draft = Self { path, _lock: lock, named: false };
                // Another user may have exchanged a folder on the way since it was checked.
                trusted::folder(&draft.path)?;
                // Before anything else is in it: file tools leave a folder with this mark alone, and `clear` removes it.
                write(&draft.path.join(BACKUP_MARK), b"")?;
                return Ok(draft);
            }
        }
        Err(io::Error::other("it is removed as soon as it is made"))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it the name, or that name and a number if it is taken.
    pub(super) fn name(mut self, name: &Path) -> io::Result<PathBuf> {
        sync(&self.path)?;
        let last = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let others = (2..).map(|n: u32| name.with_file_name(format!("{last}-{n}")));
        for name in std::iter::once(name.to_owned()).chain(others) {
            match std::fs::rename(&self.path, &name) {
                Ok(()) => {
                    self.named = true;
                    name.parent().map_or(Ok(()), sync)?;
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
    pub(super) fn leave(mut self) -> PathBuf {
        self.named = true;
        self.path.clone()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.named {
            // What cannot be removed now is removed by the next one.
            drop(remove_marked(&self.path));
        }
    }
}

/// Which drafts are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drafts {
    /// In a folder of the instance: all of them. Those of earlier versions have no mark.
    All,
    /// In a folder that the owner named: those that the caller owns and that hold the mark of a backup.
    Marked,
}

/// Removes the drafts that dead processes have left.
pub(super) fn clear(parent: &Path, drafts: Drafts) -> io::Result<()> {
    for name in names(parent)?.iter().filter(|name| name.starts_with(DRAFT)) {
        let path = parent.join(name);
        let Ok(folder) = open_folder(&path) else { continue };
        if drafts == Drafts::Marked && !is_marked(&path) {
            continue;
        }
        match folder.try_lock() {
            Ok(()) => remove_marked(&path)?,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(())
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
        for name in names(path)?.iter().filter(|name| *name != BACKUP_MARK) {
            remove(&path.join(name))?;
        }
    }
    remove(path)
}

/// A file or a folder with everything in it; that it is not there is fine.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Whether the open file is still the one that has this name.
pub(super) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let (found, named) = (file.metadata()?, std::fs::metadata(path));
    match named {
        Ok(named) => Ok((found.dev(), found.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{Draft, Drafts, clear, copy, digest, make_folder, names, write};
    use domain::{BACKUP_MARK, Digest};

    #[test]
    fn a_draft_is_removed_unless_it_got_its_name_and_a_name_is_given_once() {
        let folder = tempfile::tempdir().expect("folder");
        drop(Draft::make(folder.path(), "a").expect("draft"));
        assert_eq!(names(folder.path()).expect("names"), [""; 0]);
        for unique in ["b", "c"] {
            let draft = Draft::make(folder.path(), unique).expect("draft");
            write(&draft.path().join("file"), unique.as_bytes()).expect("write");
            draft.name(&folder.path().join("name")).expect("name");
        }
        assert_eq!(names(folder.path()).expect("names"), ["name", "name-2"]);
    }

    #[test]
    fn what_a_dead_process_left_is_removed_and_what_a_living_one_works_on_is_not() {
        let folder = tempfile::tempdir().expect("folder");
        let living = Draft::make(folder.path(), "living").expect("draft");
        make_folder(&folder.path().join(".draft-dead")).expect("folder");
        for name in ["half", BACKUP_MARK] {
            write(&folder.path().join(".draft-dead").join(name), b"half").expect("write");
        }
        let mine = Draft::make(folder.path(), "mine").expect("draft");
        assert_eq!(names(folder.path()).expect("names"), [".draft-living", ".draft-mine"]);
        drop((living, mine));
    }

    #[test]
    fn no_draft_is_made_where_others_could_exchange_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("folder");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o757)).expect("mode");
        assert!(Draft::make(folder.path(), "a").is_err());
        assert_eq!(names(folder.path()).expect("names"), [""; 0]);
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
        let before = names(folder.path()).expect("names");
        drop(Draft::make(folder.path(), "a").expect("draft"));
        assert_eq!(names(folder.path()).expect("names"), before);
        assert_eq!(names(&at(".draft-book")).expect("names"), ["chapter"]);
        assert!(Draft::make(folder.path(), "book").is_err(), "it is not shared, either");
        clear(folder.path(), Drafts::All).expect("clear");
        assert_eq!(names(folder.path()).expect("names"), [".draft-file", "backup"]);
        assert_eq!(names(&at("backup")).expect("names"), [BACKUP_MARK]);
    }

    #[test]
    fn a_copy_has_the_digest_of_what_it_is_a_copy_of() {
        let folder = tempfile::tempdir().expect("folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
        write(&from, &bytes).expect("write");
        assert_eq!(copy(&from, &to).expect("copy"), (Digest::of(&bytes), 200_000));
        assert_eq!(digest(&to).expect("digest").0, Digest::of(&bytes));
        assert!(copy(&from, &to).is_err(), "what is there is not overwritten");
        assert!(digest(folder.path()).is_err(), "a folder is no file");
    }
}
