//! The edge without a terminal: the files and keys of the instance, the clock, ids and the environment; backup, upgrade and
//! restore; and which models are asked. The program and a server are built on it.
//!
//! This crate does not print, does not ask and knows no terminal: what the owner has to see goes through a callback or comes back
//! as data. It does not decide whether a call is allowed, and it does not parse arguments.
//!
//! Invariants:
//! - No other crate reads the files, keys, clock or environment of the instance. File tools read the workspace.
//! - INVARIANT (trusted), `trusted_files`: no other user could have written what the instance obeys.
//! - INVARIANT (one-vault), `vault_match`: a database is used with its own keys only.
//! - INVARIANT (listed), `backup_list`: a copy in a folder of the owner is on the list before its first byte is there.
//! - INVARIANT (disclosed-first), [`model_selection`]: the owner sees what is sent to a host before it is sent.
//!
//! Start reading at [`OsHost`], which implements [`app::Host`]; for models at [`model_selection`].

mod audit_anchor;
mod backup;
mod backup_copies;
mod backup_list;
mod file_drafts;
mod file_size_limit;
mod files;
mod folder_drafts;
mod key_files;
mod logging;
pub mod model_selection;
mod os_host;
mod policy_files;
mod process_environment;
mod process_name;
mod restore;
mod restore_swap;
mod server_url;
mod setting_edit;
mod settings_source;
mod system_zone;
mod tool_access;
mod trusted_files;
mod upgrade;
mod vault_files;
mod vault_match;
mod vault_owner;

use std::io;
use std::path::Path;

pub use file_size_limit::FileSizeLimit;
pub use logging::start_logging;
pub use os_host::{HostConfig, OsHost, StoreWrapper};
pub use process_environment::{OsIds, ProcessEnvironment, SystemClock};
pub use settings_source::{SettingsError, SettingsSource};
pub use trusted_files::{UntrustedFile, read_named_text};

/// Reads the lines of a file that the owner named, one by one. A line that is too long to be one of ours ends the lines.
///
/// # Errors
/// If the file cannot be opened.
#[expect(clippy::disallowed_methods, reason = "a file that the owner named")]
pub fn read_lines(path: &Path) -> io::Result<impl Iterator<Item = io::Result<String>> + use<>> {
    use std::io::{BufRead as _, Read as _};
    const LARGEST: u64 = 16 * 1024 * 1024;
    let mut file = io::BufReader::new(std::fs::File::open(path)?);
    Ok(std::iter::from_fn(move || {
        let mut line = String::new();
        match file.by_ref().take(LARGEST).read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(Ok(line.trim_end_matches('\n').to_owned())),
            Err(error) => Some(Err(error)),
        }
    }))
}

/// Starts work that blocks for as long as the process lives, and does not wait for it.
pub fn start_blocking(work: impl FnOnce() + Send + 'static) {
    #[expect(clippy::disallowed_methods, reason = "standard input blocks")]
    drop(tokio::task::spawn_blocking(work));
}

/// Waits for work that blocks, without holding up other tasks.
///
/// # Errors
/// What the work fails with, or that it panicked.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    #[expect(clippy::disallowed_methods, reason = "standard input blocks, and so do large files")]
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_panicked| Err(io::Error::other("reading broke down")))
}
