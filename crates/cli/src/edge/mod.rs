//! The edge of the program: the only place that reads the clock, the environment and randomness, and that makes
//! the house's own files.

mod holder;
mod host;
mod keys;
mod surroundings;

pub(crate) use host::OsHost;
pub(crate) use surroundings::{OsIds, Surroundings, SystemClock};

/// A text file of the house; nothing if it is not there.
pub(crate) fn text_of(path: &std::path::Path) -> std::io::Result<Option<String>> {
    #[expect(clippy::disallowed_methods, reason = "the settings file")]
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Waits for something that blocks without holding up the rest of the program.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> std::io::Result<T> {
    #[expect(clippy::disallowed_methods, reason = "standard input blocks")]
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_panicked| Err(std::io::Error::other("reading broke down")))
}
