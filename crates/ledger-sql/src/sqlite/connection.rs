//! Connections to a file: how they are opened, and what SQLite's errors mean for us.

use std::path::Path;
use std::time::Duration;

use ledger::store::StoreError;
use rusqlite::types::FromSql;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, ffi};

use super::{SqliteStore, hold};

/// Marks the file as ours ("RGNT").
pub(super) const APPLICATION_ID: i64 = 0x5247_4E54;

/// How long to wait for another process that is writing.
pub(super) const BUSY: Duration = Duration::from_secs(10);
/// Pages in the log before it is folded into the database: 16 MB. Many small writes touch the same pages again and
/// again, and the longer the log, the fewer of them are written twice.
const LOG_PAGES: i64 = 4000;
/// Statements that stay prepared, per connection.
const PREPARED: usize = 256;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Opens a file that is there, whatever is in it.
pub(super) fn open(path: &Path, access: Access) -> Result<Connection, StoreError> {
    open_with(path, access, OpenFlags::empty())
}

/// Opens a file for reading, and creates an empty one if it is missing.
pub(super) fn open_or_create(path: &Path) -> Result<Connection, StoreError> {
    open_with(path, Access::Read, OpenFlags::SQLITE_OPEN_CREATE)
}

fn open_with(path: &Path, access: Access, flags: OpenFlags) -> Result<Connection, StoreError> {
    // No mutex: one thread at a time has a connection, and Rust sees to that. Who only reads may write, too: the one who
    // closes the file last folds its log into it.
    let flags = flags
        | OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(path, flags).map_err(failure)?;
    connection.busy_timeout(BUSY).map_err(failure)?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    // What is sorted does not go through a file either, where it would outlive its erasure.
    execute(&connection, "PRAGMA temp_store = memory")?;
    // The journal mode is a property of the file, set when the schema is made: a file that is not ours is not changed.
    if access == Access::Write {
        execute(
            &connection,
            // What is erased is overwritten at once, and not only when the space is used again.
            &format!(
                "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = {LOG_PAGES}; PRAGMA secure_delete = on"
            ),
        )?;
    }
    Ok(connection)
}

/// Opens a file that is empty or ours.
pub(crate) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path, Access::Write)?;
    find_schema(&connection)?;
    Ok(connection)
}

/// The schema that is there; none in a new file. What is not ours or newer is an error.
pub(super) fn find_schema(connection: &Connection) -> Result<Option<i64>, StoreError> {
    // One statement is one snapshot: another process may be making the schema at this moment.
    const LOOK: &str = "SELECT (SELECT application_id FROM pragma_application_id), \
                        (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)";
    let row = connection.query_row(LOOK, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let (id, found, tables): (i64, i64, i64) = row.map_err(failure)?;
    if id != APPLICATION_ID && tables > 0 {
        return Err(StoreError::Foreign("the file belongs to another program".into()));
    }
    let known = SqliteStore::known_schema();
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    Ok((found > 0).then_some(found))
}

/// Runs statements whose answers, if any, are of no use.
pub(super) fn execute(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection.execute_batch(sql).map_err(failure)
}

/// Runs a statement that comes again and again: it stays prepared.
pub(super) fn execute_prepared(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(failure)?;
    statement.raw_execute().map(drop).map_err(failure)
}

/// One value of one row.
pub(super) fn query_value<T: FromSql>(connection: &Connection, sql: &str) -> Result<T, StoreError> {
    connection.query_row(sql, [], |row| row.get(0)).map_err(failure)
}

pub(super) fn read_pragma(connection: &Connection, name: &str) -> Result<i64, StoreError> {
    query_value(connection, &format!("PRAGMA {name}"))
}

/// What SQLite itself said, where it was not the driver.
pub(super) const fn spoken(error: &Error) -> Option<ffi::Error> {
    match error {
        Error::SqliteFailure(error, _) | Error::SqlInputError { error, .. } => Some(*error),
        _ => None,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the last use of every error, in `map_err`")]
pub(crate) fn failure(error: Error) -> StoreError {
    let text = error.to_string();
    if text.contains(hold::REPLACED) {
        return StoreError::Replaced;
    }
    let Some(spoken) = spoken(&error) else { return StoreError::Other(text) };
    match spoken.code {
        // The shared memory file beside the database could not grow.
        _ if spoken.extended_code == ffi::SQLITE_IOERR_SHMSIZE => StoreError::Full,
        ErrorCode::DiskFull => StoreError::Full,
        ErrorCode::DatabaseBusy => StoreError::Busy,
        ErrorCode::ReadOnly => StoreError::ReadOnly(text),
        ErrorCode::DatabaseCorrupt => StoreError::Corrupt(text),
        ErrorCode::NotADatabase => StoreError::Foreign(text),
        _ => StoreError::Other(text),
    }
}
