//! A disk that is as small as a test wants it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A small disk of our own, in memory; unmounted whatever happens.
pub(crate) struct Disk {
    path: PathBuf,
}

impl Disk {
    pub(crate) fn mount(below: &Path, size: &str) -> Self {
        let path = below.join("disk");
        std::fs::create_dir(&path).expect("folder");
        system("mount", &["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], &path);
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes what is left of the room, to the last byte.
    pub(crate) fn fill(&self) {
        let mut ballast = std::fs::File::create(self.path.join("ballast")).expect("a file");
        let error = std::io::copy(&mut std::io::repeat(0), &mut ballast).expect_err("it is small");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    }

    pub(crate) fn remount(&self, options: &str) {
        system("mount", &["-o", &format!("remount,{options}")], &self.path);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let done = Command::new("umount").arg(&self.path).status();
        if !done.is_ok_and(|status| status.success()) {
            eprintln!("cannot unmount {}", self.path.display());
        }
    }
}

fn system(program: &str, args: &[&str], path: &Path) {
    let status = Command::new(program).args(args).arg(path).status().expect("start");
    assert!(status.success(), "{program} {args:?}: {status}");
}
