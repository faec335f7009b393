//! What the server's codes mean for us.

use std::io::ErrorKind;

use ledger::store::StoreError;

pub(super) fn is_duplicate(error: &sqlx::Error) -> bool {
    const UNIQUE_VIOLATION: &str = "23505";
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == UNIQUE_VIOLATION)
}

pub(super) fn failure(error: sqlx::Error) -> StoreError {
    let text = error.to_string();
    match &error {
        sqlx::Error::Database(answer) => {
            let code = answer.code().unwrap_or_default();
            answered(&code, answer.message().to_owned())
        }
        // Refused, no such host, no such socket: nobody is there.
        sqlx::Error::Io(io) if is_absent(io.kind()) => StoreError::Unreachable(text),
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::PoolTimedOut => StoreError::Lost(text),
        sqlx::Error::Tls(_) | sqlx::Error::Configuration(_) => StoreError::Unreachable(text),
        _ => StoreError::Other(text),
    }
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
