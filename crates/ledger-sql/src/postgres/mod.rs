//! PostgreSQL, 15 or newer: the same behaviour as SQLite, for more than one machine.
//!
//! Everything stands in the schema `brainframe`. A writing transaction begins by taking one lock, so that there is
//! one writer at a time, as in SQLite: INVARIANT (one-writer) of `ledger::store`. Whoever holds it and falls silent
//! is put out by the server after a few seconds.
//!
//! A connection that breaks is made again, and what was under way is tried again for a while: always safe, because a
//! batch is written once whatever happens. If it broke in the middle of a commit, the next try finds the batch there.

mod cells;
mod errors;
mod hold;
mod migrate;
mod readers;
mod rows;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::probe::Probe;
use ledger::Seal;
use ledger::batch::Batch;
use ledger::query::Query;
use ledger::records::TABLES;
use ledger::store::{
    Applied, Described, Outcome, Snapshot, Store, StoreError, Tx, Written, any_written, apply,
};
use ledger::table::Table;
use ledger::value::{Row, Value};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection as _, Row as _};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use crate::sql;
use errors::failure;
pub use hold::PostgresHold;
use readers::{Reader, Readers};

const DIALECT: sql::SqlDialect = sql::SqlDialect::Postgres;
/// The schema that holds everything.
pub(crate) const SCHEMA: &str = "brainframe";
/// The name of the writers' lock: "regent".
const WRITER: i64 = 0x7265_6765_6E74;
/// How long to wait for another writer.
const LOCK: &str = "10s";
/// How long a transaction may be silent before the server ends it: less than others wait for its lock.
const SILENCE: &str = "5s";
/// How long one attempt may take in all. A server that says nothing for so long is not asked again.
const ATTEMPT: Duration = Duration::from_secs(30);
/// How long the first connection may take.
const FIRST: Duration = Duration::from_secs(10);
/// How long to wait between attempts; together as long as SQLite waits for a locked file.
const PAUSES: [Duration; 8] = [
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(600),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(3),
    Duration::from_secs(3),
];
/// Statements that stay prepared, per connection.
const PREPARED: usize = 512;

pub struct PostgresStore {
    options: PgConnectOptions,
    writer: Mutex<Option<PgConnection>>,
    readers: Readers,
}

impl std::fmt::Debug for PostgresStore {
    /// Without the password, which the options would show.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Connects, and makes the schema where there is none. One that is not ours, from a newer program or from an older one
    /// is left untouched: [`PostgresHold`] brings an older one forward.
    ///
    /// # Errors
    /// If the server cannot be reached, does not let us in, is too old, or its schema is not ours.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let options = options(url)?;
        let connection = retried(is_opening, || async {
            let silent = |_elapsed| StoreError::Unreachable(no_answer(FIRST));
            let mut connection = timeout(FIRST, connect(&options)).await.map_err(silent)??;
            migrate::make(&mut connection).await?;
            Ok(connection)
        })
        .await?;
        let readers = Readers::new(options.clone());
        Ok(Self { options, writer: Mutex::new(Some(connection)), readers })
    }

    /// Where a database is: host or socket, port and name; without user and password.
    ///
    /// # Errors
    /// If the URL cannot be understood.
    pub fn place_of(url: &str) -> Result<String, StoreError> {
        let options = options(url)?;
        let socket = options.get_socket().map(|socket| socket.display().to_string());
        let host = socket.unwrap_or_else(|| options.get_host().to_owned());
        let database = options.get_database().unwrap_or_else(|| options.get_username());
        Ok(format!("{host}:{}/{database}", options.get_port()))
    }

    /// One attempt. `sent` remembers what was under way when the commit was sent.
    async fn attempt(
        &self,
        group: &[Batch],
        seal: &Seal,
        probe: &dyn Probe,
        sent: &mut Vec<Outcome>,
    ) -> Result<Applied, StoreError> {
        let mut writer = self.writer.lock().await;
        // Taken out: whatever breaks, breaks with the connection, and only a good one is put back.
        let mut connection = match writer.take() {
            Some(connection) => connection,
            None => connect(&self.options).await?,
        };
        let mut tx = connection.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED").await.map_err(failure)?;
        let locked = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(WRITER).execute(&mut *tx).await;
        locked.map_err(failure)?;
        let applied = apply(&mut OpenTx(&mut tx), group, seal, probe).await?;
        if any_written(&applied.outcomes) {
            sent.clone_from(&applied.outcomes);
            tx.commit().await.map_err(failure)?;
        } else {
            tx.rollback().await.map_err(failure)?;
        }
        *writer = Some(connection);
        Ok(applied)
    }
}

fn options(url: &str) -> Result<PgConnectOptions, StoreError> {
    let options: PgConnectOptions =
        url.parse().map_err(|error: sqlx::Error| StoreError::Unreachable(error.to_string()))?;
    Ok(options.application_name("regent").statement_cache_capacity(PREPARED).options([
        ("search_path", format!("{SCHEMA},public").as_str()),
        ("lock_timeout", LOCK),
        ("idle_in_transaction_session_timeout", SILENCE),
        // A prepared statement keeps the plan that it got while its table was small: reading all of it. Ours
        // ask by key or by sequence number, and what has an index is asked through it.
        ("enable_seqscan", "off"),
    ]))
}

/// Not limited in time: whoever calls it is.
async fn connect(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    // A server that forgets what it acknowledged is no ledger; whoever runs it may ask for more, not for less.
    const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false) \
                           WHERE current_setting('synchronous_commit') = 'off'";
    let mut connection = PgConnection::connect_with(options).await.map_err(failure)?;
    sqlx::query(DURABLE).execute(&mut connection).await.map_err(failure)?;
    Ok(connection)
}

/// Tries again while the failure is of a kind that may pass. Silence is not: it was waited for.
async fn retried<T, F: Future<Output = Result<T, StoreError>>>(
    passes: fn(&StoreError) -> bool,
    mut attempt: impl FnMut() -> F,
) -> Result<T, StoreError> {
    let mut pauses = PAUSES.iter();
    loop {
        let silent = |_elapsed| StoreError::Lost(no_answer(ATTEMPT));
        match (timeout(ATTEMPT, attempt()).await.map_err(silent)?, pauses.next()) {
            (Err(error), Some(pause)) if passes(&error) => sleep(*pause).await,
            (done, _) => return done,
        }
    }
}

fn no_answer(limit: Duration) -> String {
    format!("no answer within {} s", limit.as_secs())
}

/// While opening, a server that is not there is said so at once; one that starts or is full is waited for.
const fn is_opening(error: &StoreError) -> bool {
    matches!(error, StoreError::Crowded(_) | StoreError::Lost(_))
}

/// While working, a server that is gone may come back.
const fn may_pass(error: &StoreError) -> bool {
    matches!(error, StoreError::Crowded(_) | StoreError::Lost(_) | StoreError::Unreachable(_))
}

#[async_trait]
impl Store for PostgresStore {
    async fn transact(
        &self,
        group: Vec<Batch>,
        seal: &Arc<Seal>,
        probe: &Arc<dyn Probe>,
    ) -> Result<Applied, StoreError> {
        let mut sent = Vec::new();
        let mut pauses = PAUSES.iter();
        loop {
            let before = std::mem::take(&mut sent);
            let silent = |_elapsed| StoreError::Lost(no_answer(ATTEMPT));
            let attempt = timeout(ATTEMPT, self.attempt(&group, seal, &**probe, &mut sent)).await;
            let attempt = attempt.map_err(silent)?;
            match (attempt, pauses.next()) {
                (Ok(Applied { outcomes, after }), _) => {
                    return Ok(Applied { outcomes: ours(outcomes, &before), after });
                }
                (Err(error), Some(pause)) if may_pass(&error) => {
                    if sent.is_empty() {
                        sent = before;
                    }
                    sleep(*pause).await;
                }
                (Err(error), _) => return Err(error),
            }
        }
    }

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let (sql, parameters) = sql::select(query, DIALECT);
        let rows = retried(may_pass, || async {
            let mut reader = self.readers.take().await?;
            let statement = cells::bind_all(&sql, parameters.iter().copied());
            let rows = statement.fetch_all(&mut reader.connection).await;
            reader.done(rows.map_err(failure))
        })
        .await?;
        cells::decode_all(query.table, &rows)
    }

    async fn count(&self, query: &Query) -> Result<u64, StoreError> {
        let query = sql::count_of(query);
        let (sql, parameters) = sql::select_as("count(*)", &query, DIALECT);
        let row = retried(may_pass, || async {
            let mut reader = self.readers.take().await?;
            let statement = cells::bind_all(&sql, parameters.iter().copied());
            let row = statement.fetch_one(&mut reader.connection).await;
            reader.done(row.map_err(failure))
        })
        .await?;
        let rows: i64 = row.try_get(0).map_err(failure)?;
        Ok(u64::try_from(rows).unwrap_or(0))
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError> {
        // It may be silent for a while, whoever looks; and it ends with its connection.
        const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
                             SET LOCAL idle_in_transaction_session_timeout = 0";
        let reader = retried(may_pass, || async {
            let mut reader = self.readers.take().await?;
            sqlx::raw_sql(BEGIN).execute(&mut reader.connection).await.map_err(failure)?;
            Ok(reader)
        });
        Ok(Box::new(OneMoment(reader.await?)))
    }

    async fn describe(&self) -> Result<Described, StoreError> {
        let mut reader = retried(may_pass, || self.readers.take()).await?;
        let described = migrate::describe(&mut reader.connection).await;
        reader.done(described)
    }

    /// The space of erased rows becomes free at once instead of some time. What the server's files, its log and its
    /// replicas still hold is in its administrator's hands. Not limited in time: tables may be large.
    async fn scrub(&self) -> Result<(), StoreError> {
        let erasable = TABLES.iter().filter(|table| table.is_erasable());
        let names: Vec<String> = erasable.map(|table| format!("\"{SCHEMA}\".\"{}\"", table.name)).collect();
        let mut reader = retried(may_pass, || self.readers.take()).await?;
        let sql = AssertSqlSafe(format!("VACUUM {}", names.join(", ")));
        let done = sqlx::raw_sql(sql).execute(&mut reader.connection).await;
        reader.done(done.map(drop).map_err(failure))
    }

    /// The server keeps itself in order (autovacuum).
    async fn upkeep(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A batch that an earlier attempt of ours had sent, and that is found to be there now, is the one we wrote: the
/// connection broke after the commit. `before` was found under the writers' lock, so it was not there until then.
fn ours(outcomes: Vec<Outcome>, before: &[Outcome]) -> Vec<Outcome> {
    let before = before.iter().map(Some).chain(std::iter::repeat(None));
    let outcome = |(now, before): (Outcome, Option<&Outcome>)| match (&now, before) {
        (Ok(Written::Before), Some(Ok(Written::Now))) => Ok(Written::Now),
        _ => now,
    };
    outcomes.into_iter().zip(before).map(outcome).collect()
}

struct OneMoment<'a>(Reader<'a>);

#[async_trait]
impl Snapshot for OneMoment<'_> {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let (sql, parameters) = sql::select(query, DIALECT);
        let rows = cells::bind_all(&sql, parameters).fetch_all(&mut self.0.connection).await;
        cells::decode_all(query.table, &rows.map_err(failure)?)
    }

    async fn count(&mut self, table: &'static Table) -> Result<u64, StoreError> {
        count(&mut self.0.connection, table).await
    }
}

async fn count(connection: &mut PgConnection, table: &'static Table) -> Result<u64, StoreError> {
    let sql = AssertSqlSafe(sql::count(table, DIALECT));
    let rows: i64 = sqlx::query_scalar(sql).fetch_one(connection).await.map_err(failure)?;
    Ok(u64::try_from(rows).unwrap_or(0))
}

struct OpenTx<'a>(&'a mut PgConnection);

impl Tx for OpenTx<'_> {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let (sql, parameters) = sql::select(query, DIALECT);
        let rows = cells::bind_all(&sql, parameters).fetch_all(&mut *self.0).await;
        cells::decode_all(query.table, &rows.map_err(failure)?)
    }

    async fn write(&mut self, table: &'static Table, rows: &[&Row]) -> Result<(), StoreError> {
        for portion in sql::portions(table, rows) {
            let cells = portion.iter().flat_map(|row| {
                table.given().map(|(at, column)| (column.kind, row.get(at).unwrap_or(&Value::Null)))
            });
            let written = cells::bind_typed(&sql::insert(table, portion.len(), DIALECT), cells)
                .execute(&mut *self.0)
                .await;
            let written = written.map_err(|error| match errors::is_duplicate(&error) {
                true => StoreError::Duplicate(table.name),
                false => failure(error),
            })?;
            sql::check_insert(table, portion.len(), written.rows_affected())?;
        }
        Ok(())
    }

    async fn erase(
        &mut self,
        table: &'static Table,
        column: &'static str,
        values: &[Value],
    ) -> Result<(), StoreError> {
        for portion in sql::erased_by(values) {
            let (sql, parameters) = sql::erase(table, column, portion, DIALECT);
            cells::bind_all(&sql, parameters).execute(&mut *self.0).await.map_err(failure)?;
        }
        Ok(())
    }

    async fn mark(&mut self) -> Result<(), StoreError> {
        sqlx::raw_sql("SAVEPOINT mark").execute(&mut *self.0).await.map(drop).map_err(failure)
    }

    async fn take_back(&mut self) -> Result<(), StoreError> {
        sqlx::raw_sql("ROLLBACK TO mark").execute(&mut *self.0).await.map(drop).map_err(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::{Written, ours};
    use ledger::Refusal;

    #[test]
    fn a_commit_whose_answer_was_lost_is_ours_and_only_that() {
        let refused = || Err(Refusal::TailMoved);
        let table = [
            (Ok(Written::Before), vec![], Ok(Written::Before)),
            (Ok(Written::Before), vec![Ok(Written::Now)], Ok(Written::Now)),
            (Ok(Written::Before), vec![Ok(Written::Before)], Ok(Written::Before)),
            (Ok(Written::Before), vec![refused()], Ok(Written::Before)),
            (Ok(Written::Now), vec![Ok(Written::Now)], Ok(Written::Now)),
            (refused(), vec![Ok(Written::Now)], refused()),
        ];
        for (now, before, outcome) in table {
            assert_eq!(ours(vec![now.clone()], &before), [outcome], "{now:?} after {before:?}");
        }
    }
}
