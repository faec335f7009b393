//! The instance's secrets: made once, whole, readable by their owner only.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::file_drafts::{self, FileDraft};
use crate::trusted_files::TrustedFolder;
use crate::{files, trusted_files};

/// Reads a small file of ours; nothing if it is not there.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    Ok(trusted_files::read_text(path)?.map(|text| text.trim().to_owned()))
}

/// The same in a folder that is open already.
pub(crate) fn read_in(folder: &TrustedFolder, path: &Path) -> io::Result<Option<String>> {
    let Some(name) = path.file_name() else { return Ok(None) };
    Ok(folder.read_text(name)?.map(|text| text.trim().to_owned()))
}

/// Makes the file with this content unless it is there; says whether it was made. Two processes may try at once:
/// one wins, and nobody ever sees half a file, because it gets its name only when it is complete.
pub(crate) fn make(path: &Path, content: &str, unique: &str) -> io::Result<bool> {
    if path.exists() {
        return Ok(false);
    }
    // Here, because an instance may make a key every day and never a backup.
    path.parent().map_or(Ok(()), file_drafts::clear)?;
    FileDraft::write(path, content.as_bytes(), unique)?.link()
}

/// What an erased secret is written over with: no key, should somebody be killed before the file is gone.
const ERASED: u8 = b'-';

/// Whether this is what is left of a secret that was just being erased.
pub(crate) fn is_erased(text: &str) -> bool {
    text.bytes().all(|byte| byte == ERASED)
}

/// Writes over a secret, from its beginning.
pub(crate) fn overwrite(mut file: &File) -> io::Result<()> {
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
    file.write_all(&vec![ERASED; length])?;
    file.sync_all()
}

/// Writes over a secret, and removes it. What the disk itself keeps of it is beyond us.
pub(crate) fn erase(path: &Path) -> io::Result<()> {
    let file = match files::open_to_write(OpenOptions::new().write(true), path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    overwrite(&file)?;
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()), // somebody else was faster
        removed => removed.and_then(|()| sync_folder(path)),
    }
}

/// The name is durable only when the folder is.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::{make, read};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_first_one_wins_and_only_the_owner_reads_it() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("audit.key");
        assert_eq!(read(&path).expect("read"), None);
        assert!(make(&path, "one", "a").expect("make"));
        assert!(!make(&path, "two", "b").expect("make"));
        assert_eq!(read(&path).expect("read").as_deref(), Some("one"));
        let mode = std::fs::metadata(&path).expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 1, "no drafts are left");
    }
}
