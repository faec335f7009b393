//! SQLite: one file, WAL, `synchronous = FULL`; nothing to install.
//!
//! One connection writes, on a thread of its own, where a whole group of batches is applied without waiting for anything but
//! the disk. Others read beside it, each on the caller's thread: with its log, SQLite never lets a reader wait. What looks at
//! the whole file has a thread as well, and a caller that reads page after page lets others have their turn in between.
//!
//! Writing transactions are `BEGIN IMMEDIATE`, because a deferred one that reads and then writes fails at
//! once under contention, whatever the time-out. Several processes may have the file open.

mod cells;
mod connection;
mod connection_thread;
mod copy;
mod hold;
mod transaction;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use domain::probe::Probe;
use ledger::Seal;
use ledger::batch::Batch;
use ledger::query::Query;
use ledger::store::{Applied, Described, Snapshot, Store, StoreError, any_written, apply};
use ledger::table::Table;
use ledger::value::{Ref, Row};
use rusqlite::Connection;
use tokio::sync::OnceCell;
use tokio::task::coop::consume_budget;
use tokio::task::yield_now;

use connection::{
    APPLICATION_ID, Access, BUSY, execute, execute_prepared, find_schema, query_value, read_pragma,
};
pub(crate) use connection::{connect, failure};
pub(crate) use connection_thread::ConnectionThread;
pub(crate) use copy::{FileReader, FileWriter};
pub use hold::Hold;
use transaction::{WriteTransaction, finish};

use crate::migrations::{KNOWN, MIGRATIONS};
use crate::sql;

const DIALECT: sql::SqlDialect = sql::SqlDialect::Sqlite;

/// How often to ask for a log while others hold the file.
const WAL_TRIES: u32 = 500;
/// Connections that are kept for the next who reads.
const IDLE_READERS: usize = 4;

/// A database in a file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    /// Started by the first who writes: most commands only read.
    writer: OnceCell<ConnectionThread>,
    /// Connections that are free; `None` once the database is closed.
    idle_readers: Mutex<Option<Vec<Connection>>>,
}

impl SqliteStore {
    /// Opens the database, and creates it where there is none. One that is not ours, from a newer program or from an
    /// older one is left untouched: [`Hold::migrate`] brings an older one forward.
    ///
    /// # Errors
    /// If it cannot be opened, read or made.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let idle_readers = Mutex::new(Some(Vec::new()));
        let store = Self { path: path.to_owned(), writer: OnceCell::new(), idle_readers };
        let reader = connection::open_or_create(path)?;
        let known = Self::known_schema();
        match find_schema(&reader)? {
            Some(found) if found == known => {}
            Some(found) => return Err(StoreError::Older { found, known }),
            None => store.writer().await?.run(|connection| make_schema(connection)).await?,
        }
        store.keep_reader(reader);
        Ok(store)
    }

    /// Closes every connection: everything is in the one file afterwards, unless a snapshot or another process has it open.
    pub async fn close(&self) {
        let idle = self.idle_readers().take();
        drop(idle);
        if let Some(writer) = self.writer.get() {
            writer.close().await;
        }
    }

    /// The newest schema this program knows.
    #[must_use]
    pub const fn known_schema() -> i64 {
        KNOWN
    }

    async fn writer(&self) -> Result<&ConnectionThread, StoreError> {
        self.writer.get_or_try_init(|| ConnectionThread::open(&self.path, Access::Write)).await
    }

    fn idle_readers(&self) -> MutexGuard<'_, Option<Vec<Connection>>> {
        self.idle_readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_reader(&self) -> Result<Connection, StoreError> {
        let closed = || StoreError::Other("the database was closed".into());
        let idle = self.idle_readers().as_mut().ok_or_else(closed)?.pop();
        idle.map_or_else(|| connection::open(&self.path, Access::Read), Ok)
    }

    fn keep_reader(&self, reader: Connection) {
        match self.idle_readers().as_mut() {
            Some(idle) if idle.len() < IDLE_READERS => idle.push(reader),
            _ => {}
        }
    }

    /// Reads, and keeps the connection for the next one, unless it failed.
    async fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // A caller that asks many times, and never waits, lets others have their turn now and then: a signal, a timer.
        consume_budget().await;
        let reader = self.take_reader()?;
        let found = read(&reader)?;
        self.keep_reader(reader);
        Ok(found)
    }
}

/// Makes the schema, unless another process was faster.
fn make_schema(connection: &Connection) -> Result<(), StoreError> {
    turn_log_on(connection)?;
    in_transaction(connection, |connection| migrate(connection, KNOWN))
}

/// Unlike everything else, this does not wait for another process that is just making the database.
fn turn_log_on(connection: &Connection) -> Result<(), StoreError> {
    let mut tries = 0..WAL_TRIES;
    while let Err(error) = execute(connection, "PRAGMA journal_mode = WAL") {
        match (error, tries.next()) {
            (StoreError::Busy, Some(_)) => std::thread::sleep(BUSY / WAL_TRIES),
            (error, _) => return Err(error),
        }
    }
    Ok(())
}

/// Inside the transaction the number is read again: another process may have been faster.
fn migrate(connection: &Connection, schema: i64) -> Result<(), StoreError> {
    let count = |schema: i64| usize::try_from(schema).unwrap_or(0);
    let found = count(read_pragma(connection, "user_version")?);
    for migration in MIGRATIONS.iter().take(count(schema)).skip(found) {
        execute(connection, migration.sqlite)?;
    }
    execute(connection, &format!("PRAGMA application_id = {APPLICATION_ID}"))?;
    execute(connection, &format!("PRAGMA user_version = {schema}"))
}

/// Commits what was done without an error, and takes everything else back.
fn in_transaction<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    execute_prepared(connection, "BEGIN IMMEDIATE")?;
    let done = work(connection).and_then(|done| execute_prepared(connection, "COMMIT").map(|()| done));
    if done.is_err() {
        take_back(connection);
    }
    done
}

/// After a failure that SQLite has answered by taking the transaction back itself, there is none any more.
fn take_back(connection: &Connection) {
    if !connection.is_autocommit() {
        // The next `BEGIN` would say what is wrong.
        drop(execute_prepared(connection, "ROLLBACK"));
    }
}

fn select(connection: &Connection, query: &Query) -> Result<Vec<Row>, StoreError> {
    let (sql, parameters) = sql::select(query, DIALECT);
    let mut statement = connection.prepare_cached(&sql).map_err(failure)?;
    cells::bind(&mut statement, parameters)?;
    cells::read_rows(query.table, &mut statement)
}

#[async_trait]
impl Store for SqliteStore {
    async fn transact(
        &self,
        group: Vec<Batch>,
        seal: &Arc<Seal>,
        probe: &Arc<dyn Probe>,
    ) -> Result<Applied, StoreError> {
        let (seal, probe) = (Arc::clone(seal), Arc::clone(probe));
        let transact = move |connection: &mut Connection| {
            execute_prepared(connection, "BEGIN IMMEDIATE")?;
            let mut transaction = WriteTransaction::within(connection);
            let applied = finish(apply(&mut transaction, &group, &seal, &*probe));
            let is_written = applied.as_ref().is_ok_and(|applied| any_written(&applied.outcomes));
            let ended = if is_written { execute_prepared(connection, "COMMIT") } else { Ok(()) };
            take_back(connection);
            ended.and(applied)
        };
        self.writer().await?.run(transact).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError> {
        let reader = self.take_reader()?;
        execute_prepared(&reader, "BEGIN")?;
        Ok(Box::new(ReadTransaction { store: self, connection: Some(reader) }))
    }

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        self.read(|connection| select(connection, query)).await
    }

    async fn count(&self, query: &Query) -> Result<u64, StoreError> {
        let query = sql::count_of(query);
        let (sql, parameters) = sql::select_as("count(*)", &query, DIALECT);
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&sql).map_err(failure)?;
            cells::bind(&mut statement, parameters)?;
            let mut rows = statement.raw_query();
            let row = rows
                .next()
                .map_err(failure)?
                .ok_or_else(|| StoreError::Other("nothing was counted".into()))?;
            let rows: i64 = row.get(0).map_err(failure)?;
            Ok(u64::try_from(rows).unwrap_or(0))
        })
        .await
    }

    /// Every page is looked at, on a thread and a connection of its own: meanwhile others read and write.
    async fn describe(&self) -> Result<Described, StoreError> {
        let describe = |connection: &mut Connection| {
            let check: String = query_value(connection, "PRAGMA quick_check(1)")?;
            if check != "ok" {
                return Err(StoreError::Corrupt(check));
            }
            let version: String = query_value(connection, "SELECT sqlite_version()")?;
            Ok(Described { what: format!("SQLite {version}, schema {KNOWN}"), warnings: Vec::new() })
        };
        let thread = ConnectionThread::open(&self.path, Access::Read).await?;
        let described = thread.run(describe).await;
        thread.close().await;
        described
    }

    /// Freed space is overwritten at once (`secure_delete`), but pages that were split or joined keep copies of what
    /// stood on them, and so does the log. So the file is written anew, and the log cut to nothing; other processes
    /// are waited for as every writer does.
    async fn scrub(&self) -> Result<(), StoreError> {
        let scrub = |connection: &mut Connection| {
            execute(connection, "VACUUM")?;
            let busy: i64 = query_value(connection, "PRAGMA wal_checkpoint(TRUNCATE)")?;
            if busy == 0 { Ok(()) } else { Err(StoreError::Busy) }
        };
        self.writer().await?.run(scrub).await
    }

    async fn upkeep(&self) -> Result<(), StoreError> {
        let keep_up = |connection: &mut Connection| {
            // As every writer: a transaction that reads first fails at once when another process has written meanwhile.
            in_transaction(connection, |connection| execute(connection, "PRAGMA optimize"))?;
            match execute(connection, "PRAGMA wal_checkpoint(PASSIVE)") {
                Err(StoreError::Busy) => Ok(()), // another process is at it
                folded => folded,
            }
        };
        self.writer().await?.run(keep_up).await
    }
}

/// A reading transaction: with its log, SQLite shows it the database as it was when it first looked. Before each page others
/// have their turn: who walks the whole database never waits for anything else.
struct ReadTransaction<'s> {
    store: &'s SqliteStore,
    /// Until it is dropped.
    connection: Option<Connection>,
}

impl ReadTransaction<'_> {
    fn connection(&self) -> Result<&Connection, StoreError> {
        self.connection.as_ref().ok_or_else(|| StoreError::Other("the snapshot is over".into()))
    }
}

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take()
            && execute_prepared(&connection, "ROLLBACK").is_ok()
        {
            self.store.keep_reader(connection);
        }
    }
}

#[async_trait]
impl Snapshot for ReadTransaction<'_> {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        yield_now().await;
        select(self.connection()?, query)
    }

    async fn scan(
        &mut self,
        query: &Query,
        visit: &mut (dyn for<'c, 'r> FnMut(&'c [Ref<'r>]) + Send),
    ) -> Result<(), StoreError> {
        yield_now().await;
        let (sql, parameters) = sql::select(query, DIALECT);
        let mut statement = self.connection()?.prepare_cached(&sql).map_err(failure)?;
        cells::bind(&mut statement, parameters)?;
        cells::visit_rows(query.table, &mut statement, visit)
    }

    async fn count(&mut self, table: &'static Table) -> Result<u64, StoreError> {
        let rows: i64 = query_value(self.connection()?, &sql::count(table, DIALECT))?;
        Ok(u64::try_from(rows).unwrap_or(0))
    }
}
