//! What the server's codes mean for us.

use std::error::Error as _;
use std::io::{self, ErrorKind};

use ledger::store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

pub(super) fn is_duplicate(error: &Error) -> bool {
    error.code() == Some(&SqlState::UNIQUE_VIOLATION)
}

pub(super) fn failure(error: Error) -> StoreError {
    if let Some(answer) = error.as_db_error() {
        return answered(answer.code().code(), answer.message().to_owned());
    }
    match error.source() {
        Some(cause) => match cause.downcast_ref::<io::Error>() {
            Some(io) => io_failure(io),
            // What was sent or received does not fit.
            None => StoreError::Other(format!("{error}: {cause}")),
        },
        // It was closed, or the server sends an answer to no question.
        None => StoreError::Lost(error.to_string()),
    }
}

pub(super) fn io_failure(error: &io::Error) -> StoreError {
    let text = format!("error communicating with the server: {error}");
    // Refused, no such host, no such socket: no server is there.
    if is_absent(error.kind()) { StoreError::Unreachable(text) } else { StoreError::Lost(text) }
}

/// Whether nobody answered at all, and not somebody who went away.
fn is_absent(kind: ErrorKind) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, TimedOut, UnexpectedEof};
    !matches!(
        kind,
        BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | TimedOut | UnexpectedEof
    )
}

/// By SQLSTATE; two digits are a class.
fn answered(code: &str, text: String) -> StoreError {
    match code {
        "53100" => StoreError::Full,
        "53300" => StoreError::Crowded(text),
        "25006" => StoreError::ReadOnly(text),
        "55P03" | "40P01" | "40001" => StoreError::Busy,
        // No right to it, or no such database.
        "42501" | "3D000" => StoreError::Denied(text),
        // Shut down, crashed, starting, or it put us out because we were silent.
        "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "25P04" => StoreError::Lost(text),
        "XX001" | "XX002" => StoreError::Corrupt(text),
        code if code.starts_with("28") => StoreError::Denied(text),
        code if code.starts_with("08") => StoreError::Lost(text),
        _ => StoreError::Other(text),
    }
}
