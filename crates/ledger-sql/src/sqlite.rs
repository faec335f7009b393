//! SQLite: one file, WAL, `synchronous = FULL`; nothing to install.
//!
//! Writing transactions are `BEGIN IMMEDIATE`, because a deferred one that reads and then writes fails at
//! once under contention, whatever the time-out. Several processes may have the file open.

mod copy;
mod hold;

use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use async_trait::async_trait;
use domain::Time;
use domain::probe::Probe;
use ledger::Seal;
use ledger::batch::Batch;
use ledger::query::Query;
use ledger::store::{Applied, Described, Snapshot, Store, StoreError, Tx, any_written, apply};
use ledger::table::Table;
use ledger::value::{Kind, Real, Ref, Row, Value};
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteConnection, SqlitePool, SqlitePoolOptions, SqliteRow,
    SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, Executor as _, Row as _, Sqlite, query::Query as Statement};

pub(crate) use copy::{Draining, Filling, close, connect};
pub use hold::Hold;

use crate::migrations::{KNOWN, MIGRATIONS};
use crate::{packed, sql};

const DIALECT: sql::SqlDialect = sql::SqlDialect::Sqlite;

/// Marks the file as ours ("RGNT").
const APPLICATION_ID: i64 = 0x5247_4E54;

/// How long to wait for another process that is writing.
const BUSY: Duration = Duration::from_secs(10);
/// How often to ask for a log while others hold the file.
const WAL_TRIES: u32 = 500;
/// Connections that read; one more writes.
const READERS: u32 = 4;
/// Pages in the log before it is folded into the database: 16 MB. Many small writes touch the same pages again and
/// again, and the longer the log, the fewer of them are written twice.
const LOG_PAGES: &str = "4000";
/// Statements that stay prepared, per connection.
const PREPARED: usize = 512;

/// One connection writes, because SQLite has one writer anyway and its statements stay prepared there; the others
/// read beside it.
#[derive(Debug)]
pub struct SqliteStore {
    writer: SqlitePool,
    readers: SqlitePool,
}

impl SqliteStore {
    /// Opens the database, and creates it where there is none. One that is not ours, from a newer program or from an
    /// older one is left untouched: [`Hold::migrate`] brings an older one forward.
    ///
    /// # Errors
    /// If it cannot be opened, read or made.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let options = options(path).create_if_missing(true);
        // The journal mode is a property of the file, set when the schema is made: a file that is not ours is not changed.
        // Nor is a connection asked whether it is still there: a file does not hang up.
        let pool = |most| {
            let pool = SqlitePoolOptions::new().max_connections(most).test_before_acquire(false);
            pool.connect_lazy_with(options.clone())
        };
        let (writer, readers) = (pool(1), pool(READERS));
        let mut connection = writer.acquire().await.map_err(|error| failure(&error))?;
        make(&mut connection).await?;
        drop(connection);
        Ok(Self { writer, readers })
    }

    /// Closes every connection: everything is in the one file afterwards, unless somebody else has it open.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    /// The newest schema this program knows.
    #[must_use]
    pub const fn known_schema() -> i64 {
        KNOWN
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY)
        .synchronous(SqliteSynchronous::Full)
        .statement_cache_capacity(PREPARED)
        .pragma("wal_autocheckpoint", LOG_PAGES)
        // What is erased is overwritten, here and not only when the space is used again.
        .pragma("secure_delete", "on")
        .pragma("temp_store", "memory")
}

/// The schema that is there; none in a new file. What is not ours or newer is an error.
async fn look(connection: &mut SqliteConnection) -> Result<Option<i64>, StoreError> {
    // One statement is one snapshot: another process may be making the schema at this moment.
    const LOOK: &str = "SELECT (SELECT application_id FROM pragma_application_id), \
                        (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)";
    let (id, found, tables): (i64, i64, i64) =
        sqlx::query_as(LOOK).fetch_one(&mut *connection).await.map_err(|error| failure(&error))?;
    if id != APPLICATION_ID && tables > 0 {
        return Err(StoreError::Foreign("the file belongs to another program".into()));
    }
    let known = SqliteStore::known_schema();
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    Ok((found > 0).then_some(found))
}

async fn make(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let known = SqliteStore::known_schema();
    match look(connection).await? {
        Some(found) if found == known => return Ok(()),
        Some(found) => return Err(StoreError::Older { found, known }),
        None => {}
    }
    log_ahead(connection).await?;
    execute(connection, "BEGIN IMMEDIATE").await?;
    let made = migrate_from(connection).await;
    execute(connection, if made.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    made
}

/// Unlike everything else, this does not wait for another process that is just making the database.
async fn log_ahead(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let mut tries = 0..WAL_TRIES;
    while let Err(error) = execute(connection, "PRAGMA journal_mode = WAL").await {
        match (error, tries.next()) {
            (StoreError::Busy, Some(_)) => tokio::time::sleep(BUSY / WAL_TRIES).await,
            (error, _) => return Err(error),
        }
    }
    Ok(())
}

/// Inside the transaction the number is read again: another process may have been faster.
async fn migrate_from(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let found = usize::try_from(pragma(connection, "user_version").await?).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(found) {
        execute(connection, migration.sqlite).await?;
    }
    execute(connection, &format!("PRAGMA application_id = {APPLICATION_ID}")).await?;
    execute(connection, &format!("PRAGMA user_version = {}", SqliteStore::known_schema())).await
}

async fn pragma(connection: &mut SqliteConnection, name: &str) -> Result<i64, StoreError> {
    let sql = AssertSqlSafe(format!("PRAGMA {name}"));
    sqlx::query_scalar(sql).fetch_one(connection).await.map_err(|error| failure(&error))
}

async fn execute(connection: &mut SqliteConnection, sql: &str) -> Result<(), StoreError> {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(connection).await;
    done.map(drop).map_err(|error| failure(&error))
}

#[async_trait]
impl Store for SqliteStore {
    async fn transact(&self, group: &[Batch], seal: &Seal, probe: &dyn Probe) -> Result<Applied, StoreError> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await.map_err(|error| failure(&error))?;
        let applied = apply(&mut OpenTx::new(&mut tx), group, seal, probe).await?;
        let end = if any_written(&applied.outcomes) { tx.commit().await } else { tx.rollback().await };
        end.map_err(|error| failure(&error))?;
        Ok(applied)
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError> {
        Ok(Box::new(OneMoment(self.readers.begin().await.map_err(|error| failure(&error))?)))
    }

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let (sql, parameters) = sql::select(query, DIALECT);
        let rows = bind_all(&sql, parameters).fetch_all(&self.readers).await;
        decode_all(query.table, &rows.map_err(|error| failure(&error))?)
    }

    async fn count(&self, query: &Query) -> Result<u64, StoreError> {
        let query = sql::count_of(query);
        let (sql, parameters) = sql::select_as("count(*)", &query, DIALECT);
        let row =
            bind_all(&sql, parameters).fetch_one(&self.readers).await.map_err(|error| failure(&error))?;
        let rows: i64 = row.try_get(0).map_err(|error| failure(&error))?;
        Ok(u64::try_from(rows).unwrap_or(0))
    }

    async fn describe(&self) -> Result<Described, StoreError> {
        let mut connection = self.readers.acquire().await.map_err(|error| failure(&error))?;
        let check: String = sqlx::query_scalar("PRAGMA quick_check(1)")
            .fetch_one(&mut *connection)
            .await
            .map_err(|error| failure(&error))?;
        if check != "ok" {
            return Err(StoreError::Corrupt(check));
        }
        let version: String = sqlx::query_scalar("SELECT sqlite_version()")
            .fetch_one(&mut *connection)
            .await
            .map_err(|error| failure(&error))?;
        Ok(Described {
            what: format!("SQLite {version}, schema {}", Self::known_schema()),
            warnings: Vec::new(),
        })
    }

    /// Freed space is overwritten at once (`secure_delete`), but pages that were split or joined keep copies of what
    /// stood on them, and so does the log. So the file is written anew, and the log cut to nothing; other processes
    /// are waited for as every writer does.
    async fn scrub(&self) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await.map_err(|error| failure(&error))?;
        execute(&mut connection, "VACUUM").await?;
        let checkpoint = sqlx::query_as("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut *connection).await;
        let (busy, _log, _done): (i64, i64, i64) = checkpoint.map_err(|error| failure(&error))?;
        if busy == 0 { Ok(()) } else { Err(StoreError::Busy) }
    }

    async fn upkeep(&self) -> Result<(), StoreError> {
        // As every writer: a transaction that reads first fails at once when somebody else has written meanwhile.
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await.map_err(|error| failure(&error))?;
        execute(&mut tx, "PRAGMA optimize").await?;
        tx.commit().await.map_err(|error| failure(&error))?;
        let mut connection = self.writer.acquire().await.map_err(|error| failure(&error))?;
        match execute(&mut connection, "PRAGMA wal_checkpoint(PASSIVE)").await {
            Err(StoreError::Busy) => Ok(()), // another process is at it
            folded => folded,
        }
    }
}

/// A reading transaction: with its log, SQLite shows it the database as it was when it first looked.
struct OneMoment(sqlx::Transaction<'static, Sqlite>);

#[async_trait]
impl Snapshot for OneMoment {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let (sql, parameters) = sql::select(query, DIALECT);
        let rows = bind_all(&sql, parameters).fetch_all(&mut *self.0).await;
        decode_all(query.table, &rows.map_err(|error| failure(&error))?)
    }

    async fn scan(
        &mut self,
        query: &Query,
        visit: &mut (dyn for<'c, 'r> FnMut(&'c [Ref<'r>]) + Send),
    ) -> Result<(), StoreError> {
        let (sql, parameters) = packed::select(query);
        let packed =
            bind_all(&sql, parameters).fetch_one(&mut *self.0).await.map_err(|error| failure(&error))?;
        let rows: i64 = packed.try_get(1).map_err(|error| failure(&error))?;
        let packed: Option<&[u8]> = packed.try_get(0).map_err(|error| failure(&error))?;
        packed::unpack(query.table, packed.unwrap_or_default(), rows, visit)
    }

    async fn count(&mut self, table: &'static Table) -> Result<u64, StoreError> {
        let sql = AssertSqlSafe(sql::count(table, DIALECT));
        let rows: Result<i64, _> = sqlx::query_scalar(sql).fetch_one(&mut *self.0).await;
        rows.map(|rows| u64::try_from(rows).unwrap_or(0)).map_err(|error| failure(&error))
    }
}

/// Every statement is handed to the thread that has the connection, and waited for: what is written in a row is handed over in
/// one piece, before anything else is done.
struct OpenTx<'a> {
    connection: &'a mut SqliteConnection,
    sql: String,
    cells: Vec<Value>,
    /// Whose rows are held back, and how many of them each statement writes.
    portions: Vec<(&'static Table, usize)>,
}

impl<'a> OpenTx<'a> {
    fn new(connection: &'a mut SqliteConnection) -> Self {
        Self { connection, sql: String::new(), cells: Vec::new(), portions: Vec::new() }
    }
}

impl Tx for OpenTx<'_> {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        self.flush().await?;
        let (sql, parameters) = sql::select(query, DIALECT);
        let rows = bind_all(&sql, parameters).fetch_all(&mut *self.connection).await;
        decode_all(query.table, &rows.map_err(|error| failure(&error))?)
    }

    async fn write(&mut self, table: &'static Table, rows: &[&Row]) -> Result<(), StoreError> {
        for portion in sql::portions(table, rows) {
            self.sql.push_str(&sql::insert(table, portion.len(), DIALECT));
            self.sql.push(';');
            let cells = portion
                .iter()
                .flat_map(|row| table.given().map(|(at, _)| row.get(at).unwrap_or(&Value::Null)));
            self.cells.extend(cells.cloned());
            self.portions.push((table, portion.len()));
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), StoreError> {
        if self.portions.is_empty() {
            return Ok(());
        }
        let (sql, cells) = (std::mem::take(&mut self.sql), std::mem::take(&mut self.cells));
        let portions = std::mem::take(&mut self.portions);
        let statements = bind_all(&sql, &cells).persistent(sql.len() <= KEPT);
        let written = execute_each(self.connection, statements).await;
        let written = written.map_err(|error| match duplicated(&error, &portions) {
            Some(table) => StoreError::Duplicate(table),
            None => failure(&error),
        })?;
        let written = written.into_iter().chain(std::iter::repeat(0));
        let mut compared = portions.into_iter().zip(written);
        compared.try_for_each(|((table, rows), written)| sql::check_insert(table, rows, written))
    }

    async fn erase(
        &mut self,
        table: &'static Table,
        column: &'static str,
        values: &[Value],
    ) -> Result<(), StoreError> {
        self.flush().await?;
        for portion in sql::erased_by(values) {
            let (sql, parameters) = sql::erase(table, column, portion, DIALECT);
            bind_all(&sql, parameters)
                .execute(&mut *self.connection)
                .await
                .map_err(|error| failure(&error))?;
        }
        Ok(())
    }

    async fn mark(&mut self) -> Result<(), StoreError> {
        self.flush().await?;
        execute(self.connection, "SAVEPOINT mark").await
    }

    async fn take_back(&mut self) -> Result<(), StoreError> {
        (self.sql, self.cells, self.portions) = Default::default();
        execute(self.connection, "ROLLBACK TO mark").await
    }
}

/// Runs statements that were sent as one text. How many rows each of them has changed.
async fn execute_each(
    connection: &mut SqliteConnection,
    statements: Bound<'_>,
) -> Result<Vec<u64>, sqlx::Error> {
    let (mut results, mut written) = (connection.fetch_many(statements), Vec::new());
    while let Some(result) = std::future::poll_fn(|context| results.as_mut().poll_next(context)).await {
        written.extend(result?.left().map(|done| done.rows_affected()));
    }
    Ok(written)
}

/// The longest text whose compiled form is kept: what a large transaction writes has a shape that hardly comes again, and
/// would push out those that do.
const KEPT: usize = 4096;

type Bound<'q> = Statement<'q, Sqlite, SqliteArguments>;

fn bind_all<'v>(sql: &str, values: impl IntoIterator<Item = &'v Value>) -> Bound<'static> {
    values.into_iter().fold(sqlx::query(AssertSqlSafe(sql.to_owned())), bind)
}

fn bind<'q>(statement: Bound<'q>, value: &Value) -> Bound<'q> {
    match value {
        Value::Null => statement.bind(None::<i64>),
        Value::Int(number) => statement.bind(*number),
        Value::Real(number) => statement.bind(number.0),
        Value::Text(text) => statement.bind(text.clone()),
        Value::Bytes(bytes) => statement.bind(bytes.clone()),
        Value::Time(time) => statement.bind(time.micros()),
    }
}

fn decode_all(table: &'static Table, rows: &[SqliteRow]) -> Result<Vec<Row>, StoreError> {
    rows.iter().map(|row| decode(table, row)).collect()
}

fn decode(table: &'static Table, row: &SqliteRow) -> Result<Row, StoreError> {
    let cell = |(at, column): (usize, &ledger::table::Column)| -> Result<Value, sqlx::Error> {
        Ok(match column.kind {
            Kind::Int | Kind::Seq => row.try_get::<Option<i64>, _>(at)?.map(Value::Int),
            Kind::Real => row.try_get::<Option<f64>, _>(at)?.map(|number| Value::Real(Real(number))),
            Kind::Time => {
                row.try_get::<Option<i64>, _>(at)?.map(|micros| Value::Time(Time::from_micros(micros)))
            }
            Kind::Text => row.try_get::<Option<String>, _>(at)?.map(Value::Text),
            Kind::Bytes => row.try_get::<Option<Vec<u8>>, _>(at)?.map(Value::Bytes),
        }
        .unwrap_or(Value::Null))
    };
    let cells: Result<Row, sqlx::Error> = table.columns.iter().enumerate().map(cell).collect();
    cells.map_err(|error| failure(&error))
}

/// SQLite's extended result code, where the database itself spoke.
fn code(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error()?.code()?;
    i32::from_str(&code).ok()
}

/// Which of these tables already held a row with the key of one of its new rows: `UNIQUE constraint failed: events.key`.
fn duplicated(error: &sqlx::Error, portions: &[(&'static Table, usize)]) -> Option<&'static str> {
    const UNIQUE: i32 = 2067;
    const PRIMARY_KEY: i32 = 1555;
    if !matches!(code(error), Some(UNIQUE | PRIMARY_KEY)) {
        return None;
    }
    let message = error.as_database_error()?.message();
    let (_, columns) = message.rsplit_once(": ")?;
    let (named, _) = columns.split_once('.')?;
    portions.iter().map(|(table, _)| table.name).find(|table| *table == named)
}

pub(crate) fn failure(error: &sqlx::Error) -> StoreError {
    const BUSY: i32 = 5;
    const READ_ONLY: i32 = 8;
    const CORRUPT: i32 = 11;
    const FULL: i32 = 13;
    const NOT_A_DATABASE: i32 = 26;
    /// The shared memory file beside the database could not grow.
    const SHARED_MEMORY: i32 = 4874;
    let text = error.to_string();
    if text.contains(hold::REPLACED) {
        return StoreError::Replaced;
    }
    let Some(code) = code(error) else { return StoreError::Other(text) };
    match code & 0xff {
        _ if code == SHARED_MEMORY => StoreError::Full,
        BUSY => StoreError::Busy,
        READ_ONLY => StoreError::ReadOnly(text),
        CORRUPT => StoreError::Corrupt(text),
        NOT_A_DATABASE => StoreError::Foreign(text),
        FULL => StoreError::Full,
        _ => StoreError::Other(text),
    }
}
