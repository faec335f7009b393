//! Files that are whole or not there, for nobody else to read; copies with their digests.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use domain::Digest;
use domain::digest::Digesting;
use rustix::fs::OFlags;

use crate::trusted_files::{self, LinkPolicy};

pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A folder that was not there before, for its owner only.
pub(crate) fn make_new_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// A new file for its owner only.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// One more line at the end, durably.
pub(crate) fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = open_to_write(OpenOptions::new().read(true).append(true).create(true).mode(0o600), path)?;
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    // A line that was torn before stays alone. One write: lines of two processes do not mix.
    let end = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{end}{line}\n").as_bytes())?;
    file.sync_all()?;
    if length == 0 { path.parent().map_or(Ok(()), sync) } else { Ok(()) }
}

/// A file or a folder: what is in it, and the names in it, are durable.
pub(crate) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// A durable copy; the digest and the length of what was copied.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<(Digest, u64)> {
    let from = open_existing(from)?;
    let mut into = create(to)?;
    let read = read_through(from, |part| into.write_all(part))?;
    into.sync_all()?;
    Ok(read)
}

pub(crate) fn compute_digest(path: &Path) -> io::Result<(Digest, u64)> {
    read_through(open_existing(path)?, |_| Ok(()))
}

fn open_existing(path: &Path) -> io::Result<File> {
    trusted_files::open(path, LinkPolicy::Followed)?.ok_or_else(|| io::ErrorKind::NotFound.into())
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
pub(crate) fn open_to_write(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no file")) }
}

/// A folder as a file: to lock it, or to make the names in it durable.
pub(crate) fn open_folder(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlags::DIRECTORY.bits().cast_signed()).open(path)
}

/// The names of the files in a folder, in order; none if it is not there.
pub(crate) fn list_names(folder: &Path) -> io::Result<Vec<String>> {
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

/// When the names in the folder were last changed, rounded up: who was known by then may be in it.
pub(crate) fn read_change_time(folder: &Path) -> domain::Time {
    let changed = std::fs::metadata(folder).map_or(0, |found| found.mtime());
    domain::Time::from_micros(changed.saturating_add(1).saturating_mul(1_000_000))
}

/// A file or a folder with everything in it; that it is not there is fine.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
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
pub(crate) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let (found, named) = (file.metadata()?, std::fs::metadata(path));
    match named {
        Ok(named) => Ok((found.dev(), found.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{append, compute_digest, copy, write};
    use domain::Digest;

    #[test]
    fn a_line_stands_alone_after_one_that_was_torn() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("list");
        append(&path, "one").expect("append");
        std::fs::write(&path, "one\ntw").expect("write");
        append(&path, "three").expect("append");
        append(&path, "four").expect("append");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "one\ntw\nthree\nfour\n");
    }

    #[test]
    fn a_copy_has_the_digest_of_what_it_is_a_copy_of() {
        let folder = tempfile::tempdir().expect("folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
        write(&from, &bytes).expect("write");
        assert_eq!(copy(&from, &to).expect("copy"), (Digest::of(&bytes), 200_000));
        assert_eq!(compute_digest(&to).expect("digest").0, Digest::of(&bytes));
        assert!(copy(&from, &to).is_err(), "what is there is not overwritten");
        assert!(compute_digest(folder.path()).is_err(), "a folder is no file");
    }
}
