//! PostgreSQL, 15 or newer: the same behaviour as SQLite, for more than one machine.
//!
//! Everything stands in the schema `brainframe`. A writing transaction begins by taking one lock, so that there is
//! one writer at a time, as in SQLite: INVARIANT (one-writer) of `ledger::store`. Whoever holds it and falls silent
//! is put out by the server after a few seconds.
//!
//! A connection that breaks is made again, and what was under way is tried again for a while: always safe, because a
//! batch is written once whatever happens. If it broke in the middle of a commit, the next try finds the batch there.

mod address;
mod cells;
mod connection;
mod errors;
mod hold;
mod migrate;
mod open_tx;
mod pipeline;
mod prepared;
mod readers;
mod rows;
mod tls;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::probe::Probe;
use ledger::Seal;
use ledger::batch::Batch;
use ledger::query::Query;
use ledger::records::TABLES;
use ledger::store::{Applied, Described, Outcome, Snapshot, Store, StoreError, Written, any_written, apply};
use ledger::table::Table;
use ledger::value::Row;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};
use tokio_postgres::Row as AnswerRow;

use crate::sql::{self, Given};
pub use address::{ConnectionDefaults, complete_url};
use address::{ServerAddress, ServerHost};
use cells::Parameter;
use connection::Connection;
use errors::failure;
pub use hold::PostgresHold;
use open_tx::OpenTx;
use readers::{Reader, Readers};

const DIALECT: sql::SqlDialect = sql::SqlDialect::Postgres;
/// The schema that holds everything.
pub(crate) const SCHEMA: &str = "brainframe";
/// Takes the writers' lock, whose name is "regent", for the transaction.
const TAKE_LOCK: &str = "SELECT pg_advisory_xact_lock(x'726567656E74'::bigint)";
/// Begins a transaction that writes. What is asked after this sees what others have committed before it.
const BEGIN: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(x'726567656E74'::bigint)";
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

pub struct PostgresStore {
    address: ServerAddress,
    writer: Mutex<Option<Connection>>,
    readers: Readers,
}

impl std::fmt::Debug for PostgresStore {
    /// Without the address: that is for whoever may know where the database is.
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
        let address = ServerAddress::parse(url)?;
        let connection = retried(is_opening, || async {
            let silent = |_elapsed| StoreError::Unreachable(no_answer(FIRST));
            let mut connection = timeout(FIRST, Connection::open(&address)).await.map_err(silent)??;
            migrate::make(&mut connection).await?;
            Ok(connection)
        })
        .await?;
        let readers = Readers::new(address.clone());
        Ok(Self { address, writer: Mutex::new(Some(connection)), readers })
    }

    /// Where a database is: host or socket, port and name; without user and password.
    ///
    /// # Errors
    /// If the URL cannot be understood.
    pub fn place_of(url: &str) -> Result<String, StoreError> {
        let ServerAddress { host, port, database, .. } = ServerAddress::parse(url)?;
        Ok(match host {
            ServerHost::Name(address) if address.contains(':') => format!("[{address}]:{port}/{database}"),
            ServerHost::Name(host) | ServerHost::Socket(host) => format!("{host}:{port}/{database}"),
        })
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
            None => Connection::open(&self.address).await?,
        };
        let mut tx = OpenTx(connection.pipeline());
        tx.0.run(BEGIN).await;
        let applied = apply(&mut tx, group, seal, probe).await?;
        drop(tx);
        if any_written(&applied.outcomes) {
            sent.clone_from(&applied.outcomes);
            connection.run("COMMIT").await?;
        } else {
            connection.run("ROLLBACK").await?;
        }
        *writer = Some(connection);
        Ok(applied)
    }
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
        let (sql, parameters) = select_of(query);
        let rows = retried(may_pass, || async {
            let mut reader = self.readers.take().await?;
            let rows = reader.connection.query(&sql, &parameters).await;
            reader.done(rows)
        })
        .await?;
        cells::decode_all(query.table, &rows)
    }

    /// In one round trip, after which the connection is free again: a snapshot ends with its connection.
    async fn select_together(&self, queries: &[Query]) -> Result<Vec<Vec<Row>>, StoreError> {
        let answers = retried(may_pass, || async {
            let mut reader = self.readers.take().await?;
            let answers = query_together(&mut reader.connection, queries).await;
            reader.done(answers)
        })
        .await?;
        queries.iter().zip(&answers).map(|(query, rows)| cells::decode_all(query.table, rows)).collect()
    }

    async fn count(&self, query: &Query) -> Result<u64, StoreError> {
        let query = sql::count_of(query);
        let (sql, given) = sql::select_given("count(*)", &query, DIALECT);
        let parameters = parameters_of(&given);
        let row = retried(may_pass, || async {
            let mut reader = self.readers.take().await?;
            let row = reader.connection.query_row(&sql, &parameters).await;
            reader.done(row)
        })
        .await?;
        count_in(&row)
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError> {
        // It may be silent for a while, whoever looks; and it ends with its connection.
        const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
                             SET LOCAL idle_in_transaction_session_timeout = 0";
        let reader = retried(may_pass, || async {
            let mut reader = self.readers.take().await?;
            reader.connection.run(BEGIN).await?;
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
        let done = reader.connection.run(&format!("VACUUM {}", names.join(", "))).await;
        reader.done(done)
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
        select(&mut self.0.connection, query).await
    }

    async fn count(&mut self, table: &'static Table) -> Result<u64, StoreError> {
        count(&mut self.0.connection, table).await
    }
}

async fn query_together(
    connection: &mut Connection,
    queries: &[Query],
) -> Result<Vec<Vec<AnswerRow>>, StoreError> {
    let mut pipeline = connection.pipeline();
    pipeline.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await;
    for query in queries {
        let (sql, parameters) = select_of(query);
        pipeline.query(&sql, parameters).await;
    }
    pipeline.run("COMMIT").await;
    pipeline.settle().await
}

async fn select(connection: &mut Connection, query: &Query) -> Result<Vec<Row>, StoreError> {
    let (sql, parameters) = select_of(query);
    cells::decode_all(query.table, &connection.query(&sql, &parameters).await?)
}

async fn count(connection: &mut Connection, table: &'static Table) -> Result<u64, StoreError> {
    count_in(&connection.query_row(&sql::count(table, DIALECT), &[]).await?)
}

/// The one number of an answer.
fn count_in(row: &AnswerRow) -> Result<u64, StoreError> {
    let rows: i64 = row.try_get(0).map_err(failure)?;
    Ok(u64::try_from(rows).unwrap_or(0))
}

/// A question as the server is asked it.
fn select_of(query: &Query) -> (String, Vec<Parameter>) {
    let (sql, given) = sql::select_given(&sql::columns_of(query.table), query, DIALECT);
    (sql, parameters_of(&given))
}

fn parameters_of(given: &[Given<'_>]) -> Vec<Parameter> {
    let parameter = |given: &Given<'_>| match *given {
        Given::One(value) => Parameter::of(value),
        Given::List(kind, values) => Parameter::list(kind, values.iter()),
    };
    given.iter().map(parameter).collect()
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
