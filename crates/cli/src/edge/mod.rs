//! The edge of the program: the only place that reads the clock, the environment and randomness, and that makes
//! the house's own files.

use std::io;
use std::path::Path;

mod access;
mod anchor;
mod backup;
mod backup_list;
mod copies;
mod drafts;
mod file_drafts;
mod file_limit;
mod files;
mod holder;
mod host;
mod keys;
mod line;
mod matching;
mod minds;
mod owner;
mod policies;
mod restore;
mod seat;
mod setting;
mod shop;
mod surroundings;
mod swap;
mod trusted;
pub(crate) mod tty;
mod upgrade;
mod vault;
mod written;

pub(crate) use file_limit::FileLimit;
pub(crate) use host::OsHost;
pub(crate) use line::line;
pub(crate) use minds::{Choice, OwnersMinds};
pub(crate) use seat::Seat;
pub(crate) use setting::set as set_setting;
pub(crate) use shop::{
    Loopback, environment as shop_environment, guard as guard_keys, keep_confirmed, keep_told, told,
};
pub(crate) use surroundings::{OsIds, Surroundings, SystemClock};
pub(crate) use trusted::named_text;
pub(crate) use written::{Written, unreadable};

/// The lines of a file that somebody named, one by one; a line that is too long to be one of ours ends it.
#[expect(clippy::disallowed_methods, reason = "a file that the owner named")]
pub(crate) fn lines_of(path: &Path) -> io::Result<impl Iterator<Item = io::Result<String>>> {
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

/// Waits for something that blocks without holding up the rest of the program.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    #[expect(clippy::disallowed_methods, reason = "standard input blocks, and so do large files")]
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_panicked| Err(io::Error::other("reading broke down")))
}
