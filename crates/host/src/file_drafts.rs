//! Files that get their name when they are whole. A process writes a draft beside the file, under a hidden name, and locks
//! it. A process that is killed leaves its draft unlocked, and another process removes it: it may hold a key, or settings
//! with a password.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::{files, key_files};

/// The numbers in the names of drafts have 128 random bits. No other file is taken for a draft.
const DIGITS: usize = 20;

/// A whole file without its name. Dropped, it is removed.
#[derive(Debug)]
pub(crate) struct FileDraft {
    path: PathBuf,
    target: PathBuf,
    /// Locked until it has its name.
    file: File,
}

impl FileDraft {
    /// Writes a draft of `target`, durably. Removes other drafts of it that dead processes have left.
    pub(crate) fn write(target: &Path, content: &[u8], unique: &str) -> io::Result<Self> {
        let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let prefix = format!(".{name}.");
        if let Some(folder) = target.parent() {
            drop(clear_those(folder, |name| name.starts_with(&prefix))); // a folder that cannot be read is left as it is
        }
        let path = target.with_file_name(format!("{prefix}{unique}"));
        let file = create_locked(&path)?;
        let mut draft = Self { path, target: target.to_owned(), file };
        draft.file.write_all(content)?;
        draft.file.sync_all()?;
        Ok(draft)
    }

    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Gives it its name, unless a file has that name already. Whether it did.
    pub(crate) fn link(self) -> io::Result<bool> {
        match std::fs::hard_link(&self.path, &self.target) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(error),
        }
        files::remove(&self.path)?;
        key_files::sync_folder(&self.target)?;
        Ok(true)
    }

    /// Gives it its name, in the place of the file that had it. The file is locked until it is dropped.
    pub(crate) fn replace(self) -> io::Result<File> {
        std::fs::rename(&self.path, &self.target)?;
        key_files::sync_folder(&self.target)?;
        self.file.try_clone()
    }
}

impl Drop for FileDraft {
    fn drop(&mut self) {
        // It may have its name. What cannot be removed now is removed by the next process.
        drop(files::remove(&self.path));
    }
}

/// Creates the file and locks it. A process that tidies up may remove it in between; then it is created again.
fn create_locked(path: &Path) -> io::Result<File> {
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        let file = files::create(path)?;
        match file.lock() {
            // Then no process tidies up there either.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            locked => locked?,
        }
        if files::is_named(&file, path)? {
            return Ok(file);
        }
    }
    Err(io::Error::other("it is removed as soon as it is made"))
}

/// Whether a draft has this name, `.audit-2.key.1597…`. Drafts of earlier versions had other beginnings.
fn is_draft(name: &str) -> bool {
    let number = name.rsplit(['.', '-']).next().unwrap_or_default();
    name.starts_with('.') && number.len() >= DIGITS && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Removes the drafts that dead processes have left in a folder of the instance. What cannot be removed is left to the
/// next process.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn clear(folder: &Path) -> io::Result<()> {
    clear_those(folder, |_| true)
}

fn clear_those(folder: &Path, is_meant: impl Fn(&str) -> bool) -> io::Result<()> {
    for name in files::list_names(folder)?.iter().filter(|name| is_draft(name) && is_meant(name)) {
        drop(remove_dead(&folder.join(name)));
    }
    Ok(())
}

fn remove_dead(path: &Path) -> io::Result<()> {
    let caller = nix::unistd::Uid::effective().as_raw();
    let found = std::fs::symlink_metadata(path)?;
    if !found.is_file() || found.uid() != caller {
        return Ok(());
    }
    let file = files::open_to_write(std::fs::OpenOptions::new().write(true), path)?;
    if file.try_lock().is_err() || !files::is_named(&file, path)? {
        return Ok(()); // its process lives, or another process has removed it
    }
    files::remove(path)?;
    // A second name is that of the file itself: its process was killed after it gave it.
    if file.metadata()?.nlink() == 0 { key_files::overwrite(&file) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{FileDraft, clear};
    use crate::files::{list_names, make_folder, write};

    const NUMBER: &str = "336309831285090527989698778482032745788";

    #[test]
    fn what_a_dead_process_left_is_removed_and_what_a_living_one_writes_is_not() {
        let folder = tempfile::tempdir().expect("folder");
        let at = |name: &str| folder.path().join(name);
        let dead = [".audit.key.", ".regent-", ".tool-access-", ".draft-", ".people.yaml."];
        for name in dead {
            write(&at(&format!("{name}{NUMBER}")), b"secret").expect("write");
        }
        let number = NUMBER.replace('3', "4");
        let living = FileDraft::write(&at("audit.key"), b"whole", &number).expect("draft");
        assert_eq!(
            list_names(folder.path()).expect("names").len(),
            dead.len(),
            "the other of this file is removed"
        );
        clear(folder.path()).expect("clear");
        assert_eq!(list_names(folder.path()).expect("names"), [format!(".audit.key.{number}")]);
        drop(living);
        assert_eq!(list_names(folder.path()).expect("names"), [""; 0]);
    }

    /// The process was killed between giving the name and removing the draft.
    #[test]
    fn a_key_stays_whole_if_its_draft_is_still_there() {
        let folder = tempfile::tempdir().expect("folder");
        let (key, draft) =
            (folder.path().join("audit.key"), folder.path().join(format!(".audit.key.{NUMBER}")));
        write(&draft, b"secret").expect("write");
        std::fs::hard_link(&draft, &key).expect("link");
        clear(folder.path()).expect("clear");
        assert_eq!(list_names(folder.path()).expect("names"), ["audit.key"]);
        assert_eq!(std::fs::read(&key).expect("key"), b"secret");
    }

    #[test]
    fn no_other_file_is_taken_for_a_draft() {
        let folder = tempfile::tempdir().expect("folder");
        let others = [
            "audit.key.1",
            ".audit.key.1",
            ".notes-2026",
            ".regent-",
            &format!("notes.{NUMBER}"),
            &format!(".{NUMBER}x"),
        ];
        for name in others {
            write(&folder.path().join(name), b"mine").expect("write");
        }
        make_folder(&folder.path().join(format!(".draft-{NUMBER}"))).expect("folder");
        std::os::unix::fs::symlink("nowhere", folder.path().join(format!(".link.{NUMBER}"))).expect("link");
        let before = list_names(folder.path()).expect("names");
        clear(folder.path()).expect("clear");
        assert_eq!(list_names(folder.path()).expect("names"), before);
        clear(&folder.path().join("nowhere")).expect("nothing");
    }

    #[test]
    fn it_gets_its_name_once_or_in_the_place_of_another() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("file");
        let draft = |text: &str| FileDraft::write(&path, text.as_bytes(), text).expect("draft");
        assert!(draft("one").link().expect("link"));
        assert!(!draft("two").link().expect("link"), "it is taken");
        assert_eq!(std::fs::read(&path).expect("read"), b"one");
        let file = draft("three").replace().expect("replace");
        assert_eq!(std::fs::read(&path).expect("read"), b"three");
        assert!(std::fs::File::open(&path).expect("open").try_lock().is_err(), "it is locked");
        drop(file);
        assert!(std::fs::File::open(&path).expect("open").try_lock().is_ok());
        assert_eq!(list_names(folder.path()).expect("names"), ["file"]);
    }
}
