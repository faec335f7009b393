//! A folder made for one test.

#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use domain::Time;
use tempfile::TempDir;

use crate::workspace::Workspace;

#[derive(Debug)]
pub(crate) struct Tree {
    folder: TempDir,
    workspace: Workspace,
}

/// When every file of a tree was changed, unless the test says otherwise.
pub(crate) const CHANGED: u64 = 1_700_000_000;

impl Tree {
    pub(crate) fn new<C: AsRef<[u8]>>(files: &[(&str, C)]) -> Self {
        let folder = TempDir::new().unwrap();
        let workspace = Workspace::new(folder.path().into()).unwrap();
        let tree = Self { folder, workspace };
        for (path, content) in files {
            tree.write(path, content);
        }
        tree
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(relative)
    }

    pub(crate) fn write(&self, relative: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        set_changed(&path, CHANGED);
    }

    pub(crate) fn content(&self, relative: &str) -> Vec<u8> {
        fs::read(self.path(relative)).unwrap()
    }

    /// What is in a folder, hidden things too.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub(crate) fn change(&self, relative: &str, seconds: u64) {
        set_changed(&self.path(relative), seconds);
    }

    /// Puts one file, and one more in a folder, where their paths are too long for the kernel to open.
    /// They get there by moving the folder they are in.
    pub(crate) fn write_too_deep(&self, file: &str, file_in_folder: &str) {
        let (long, total) = ("d".repeat(200), 3_990);
        let mut deep = self.path(&long);
        while deep.as_os_str().len() + 1 + long.len() < total - 1 {
            deep.push(&long);
        }
        deep.push("d".repeat(total - deep.as_os_str().len() - 1));
        fs::create_dir_all(&deep).unwrap();
        for name in [file, file_in_folder] {
            self.write(format!("moved/{long}{name}"), "x");
        }
        fs::rename(self.path("moved"), deep.join("moved")).unwrap();
    }
}

pub(crate) fn time(seconds: u64) -> Time {
    Time::from_micros(i64::try_from(seconds * 1_000_000).unwrap())
}

fn set_changed(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Runs it in a thread that the kernel takes for this user, if we are root. Without the right to be somebody else,
/// or on a system without such threads, it does not run.
#[cfg(target_os = "linux")]
pub(crate) fn as_user(id: u32, run: impl FnOnce() + Send) {
    use nix::unistd::{Gid, Uid, setfsgid, setfsuid};
    std::thread::scope(|scope| {
        scope.spawn(|| {
            setfsgid(Gid::from_raw(id));
            setfsuid(Uid::from_raw(id));
            if setfsuid(Uid::from_raw(id)) == Uid::from_raw(id) {
                run();
            }
        });
    });
}

#[cfg(target_os = "linux")]
pub(crate) const SOMEBODY: u32 = 65_534;

/// An access control list: the owner and this user may read and write, the group and others nothing; the mask lets it
/// through.
#[cfg(target_os = "linux")]
pub(crate) fn list_for(user: u32) -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 6, user), (4, 0, u32::MAX), (16, 6, u32::MAX), (32, 0, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend([&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat());
    }
    list
}
