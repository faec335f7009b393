//! The folder of a server, and the watcher that cleans up after a process that could not.
//!
//! INVARIANT (no orphans): a server ends and its folder goes when the process that started it is gone, however that happened.
//! The watcher is a shell that reads from a pipe which only that process holds: the pipe closes when the process is killed, at
//! its end (statics are not dropped), and when the folder is dropped, by which time nothing is left to do. What there is to
//! end, the server's own `postmaster.pid` says; a server that is gone has removed it, or we have.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use tempfile::TempDir;

use crate::account::Account;

/// `$1` is the folder. SIGCONT, because a stopped process takes no SIGQUIT; ten seconds, because PostgreSQL itself gives its
/// children five. A process that the system has not reaped yet has removed its file all the same.
const WATCH: &str = r#"
while read -r line; do :; done
file=$1/data/postmaster.pid
if read -r pid < "$file"; then
    kill -QUIT "$pid"; kill -CONT "$pid"
    tries=0
    while [ -e "$file" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
    [ -e "$file" ] && kill -KILL "$pid"
fi
tries=0
until rm -rf "$1" || [ $tries -ge 20 ]; do sleep 0.1; tries=$((tries + 1)); done
"#;

#[derive(Debug)]
pub(crate) struct Folder {
    /// None only while it is dropped.
    folder: Option<TempDir>,
    path: PathBuf,
    watcher: Child,
}

impl Folder {
    pub(crate) fn new(account: &Account) -> Result<Self, String> {
        let folder = tempfile::Builder::new()
            .prefix("regent-pg-")
            .tempdir()
            .map_err(|error| format!("could not create a temporary folder: {error}"))?;
        account.own(folder.path())?;
        let watcher = account
            .command("sh")
            .args(["-c", WATCH, "sh"])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("could not start the watcher: {error}"))?;
        Ok(Self { path: folder.path().to_owned(), folder: Some(folder), watcher })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    /// Where the server says who it is, and whether it is ready.
    pub(crate) fn pid_file(&self) -> PathBuf {
        self.data().join("postmaster.pid")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed here the watcher tries again, as the owner of the files; there is nobody to tell.
        self.folder.take().map(TempDir::close).transpose().unwrap_or_default();
        drop(self.watcher.stdin.take());
        self.watcher.wait().map(drop).unwrap_or_default();
    }
}
