//! A database that nobody else writes to, for as long as something is done about the whole of it.

use std::path::Path;
use std::sync::Arc;

use domain::probe::Probe;
use ledger::Seal;
use ledger::batch::Batch;
use ledger::store::{After, StoreError, Tx as _, apply};
use rusqlite::Connection;

use super::connection::{connect, execute, failure, find_schema};
use super::copy::tally;
use super::{ConnectionThread, SqliteStore, WriteTransaction, finish, migrate, turn_log_on};

/// How often a lock is waited for, ten seconds each time: whoever has it may be rehearsing an upgrade of a large house.
const TURNS: u32 = 30;

/// What it says.
pub(super) const REPLACED: &str = "this house was replaced by a restore";
/// The name of the trigger that refuses every batch.
const FENCE: &str = "house_was_replaced";

/// Others read, and wait with writing. Dropped, it changes nothing.
#[derive(Debug)]
pub struct Hold {
    thread: ConnectionThread,
    schema: i64,
}

impl Hold {
    /// # Errors
    /// If there is no database of ours, or others keep writing for minutes.
    pub async fn take(path: &Path) -> Result<Self, StoreError> {
        let thread = ConnectionThread::connect(path).await?;
        let take = |connection: &mut Connection| {
            let mut turns = 1..TURNS;
            while let Err(error) = execute(connection, "BEGIN IMMEDIATE") {
                match (error, turns.next()) {
                    (StoreError::Busy, Some(_)) => {}
                    (error, _) => return Err(error),
                }
            }
            // Now it stands still; before, another process may have brought it forward.
            let schema = find_schema(connection)?;
            let schema = schema.ok_or_else(|| StoreError::Foreign("the file is empty".into()))?;
            if has_fence(connection)? { Err(StoreError::Replaced) } else { Ok(schema) }
        };
        let schema = thread.run(take).await?;
        Ok(Self { thread, schema })
    }

    #[must_use]
    pub const fn schema(&self) -> i64 {
        self.schema
    }

    /// Brings the schema up to date and writes `record`, in one transaction. A record that is refused, because the
    /// audit's tail was moved, does not keep it back: every later batch is refused as well, and says why.
    ///
    /// # Errors
    /// If anything fails: then nothing was changed.
    pub async fn migrate(
        self,
        record: Option<Batch>,
        seal: Arc<Seal>,
        probe: Arc<dyn Probe>,
    ) -> Result<(), StoreError> {
        let schema = self.schema;
        let bring_forward = move |connection: &mut Connection| {
            let migrated = bring_forward(connection, schema, record, &seal, &*probe);
            execute(connection, if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
            if let Ok(Some(after)) = &migrated {
                seal.settle(after);
            }
            // A file that came from elsewhere may keep a log of the old kind.
            if migrated.is_ok() {
                turn_log_on(connection)?;
            }
            migrated.map(drop)
        };
        let migrated = self.thread.run(bring_forward).await;
        self.thread.close().await;
        migrated
    }

    /// From now on nobody can write to this database, whoever has it open: it is about to be replaced.
    ///
    /// # Errors
    /// If it cannot be written; then others still can.
    pub async fn fence(self) -> Result<(), StoreError> {
        let fence = |connection: &mut Connection| {
            let fence = format!(
                "CREATE TRIGGER IF NOT EXISTS {FENCE} BEFORE INSERT ON commits \
                 BEGIN SELECT RAISE(ABORT, '{REPLACED}'); END; COMMIT"
            );
            execute(connection, &fence)
        };
        let fenced = self.thread.run(fence).await;
        self.thread.close().await;
        fenced
    }

    /// Lets the others go on.
    ///
    /// # Errors
    /// If the transaction does not end.
    pub async fn release(self) -> Result<(), StoreError> {
        let released = self.thread.run(|connection| execute(connection, "ROLLBACK")).await;
        self.thread.close().await;
        released
    }

    /// Whether [`Hold::fence`] was committed on this database.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn is_fenced(path: &Path) -> Result<bool, StoreError> {
        has_fence(&connect(path)?)
    }
}

fn bring_forward(
    connection: &Connection,
    schema: i64,
    record: Option<Batch>,
    seal: &Seal,
    probe: &dyn Probe,
) -> Result<Option<After>, StoreError> {
    if schema < SqliteStore::known_schema() {
        let before = tally(connection)?;
        migrate(connection, SqliteStore::known_schema())?;
        if let Some(lost) = before.lost_in(&tally(connection)?) {
            return Err(StoreError::Other(format!("the migration did not keep everything: {lost}")));
        }
    }
    let Some(batch) = record else { return Ok(None) };
    let mut transaction = WriteTransaction::within(connection);
    finish(async {
        transaction.mark().await?;
        let applied = apply(&mut transaction, std::slice::from_ref(&batch), seal, probe).await?;
        match applied.outcomes.as_slice() {
            [Ok(_)] => Ok(applied.after),
            _ => transaction.take_back().await.map(|()| None),
        }
    })
}

fn has_fence(connection: &Connection) -> Result<bool, StoreError> {
    const FENCES: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND name = ?";
    let found: Result<i64, _> = connection.query_row(FENCES, [FENCE], |row| row.get(0));
    found.map(|found| found > 0).map_err(failure)
}
