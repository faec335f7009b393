//! A database that nobody else writes to, for as long as something is done about the whole of it.

use std::path::Path;

use domain::probe::Probe;
use ledger::Seal;
use ledger::batch::Batch;
use ledger::store::{After, StoreError, Tx as _, apply};
use sqlx::sqlite::SqliteConnection;

use super::copy::{close, connect};
use super::{OpenTx, SqliteStore, execute, log_ahead, look, migrate_from, pragma};

/// How often a lock is waited for, ten seconds each time: whoever has it may be rehearsing an upgrade of a large house.
const TURNS: u32 = 30;

/// What it says.
pub(super) const REPLACED: &str = "this house was replaced by a restore";
/// The name of the trigger that refuses every batch.
const FENCE: &str = "house_was_replaced";

/// Others read, and wait with writing. Dropped, it changes nothing.
pub struct Hold {
    connection: SqliteConnection,
    schema: i64,
}

impl std::fmt::Debug for Hold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hold").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Hold {
    /// # Errors
    /// If there is no database of ours, or others keep writing for minutes.
    pub async fn take(path: &Path) -> Result<Self, StoreError> {
        let mut connection = connect(path).await?;
        let mut turns = 1..TURNS;
        while let Err(error) = execute(&mut connection, "BEGIN IMMEDIATE").await {
            match (error, turns.next()) {
                (StoreError::Busy, Some(_)) => {}
                (error, _) => return Err(error),
            }
        }
        // Now it stands still; before, somebody else may have brought it forward.
        let schema = look(&mut connection).await?;
        let schema = schema.ok_or_else(|| StoreError::Foreign("the file is empty".into()))?;
        if has_fence(&mut connection).await? {
            return Err(StoreError::Replaced);
        }
        Ok(Self { connection, schema })
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
        mut self,
        record: Option<&Batch>,
        seal: &Seal,
        probe: &dyn Probe,
    ) -> Result<(), StoreError> {
        let migrated = self.bring_forward(record, seal, probe).await;
        execute(&mut self.connection, if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
        if let Ok(Some(after)) = &migrated {
            seal.settle(after);
        }
        // A file that came from elsewhere may keep a log of the old kind.
        if migrated.is_ok() {
            log_ahead(&mut self.connection).await?;
        }
        close(self.connection).await?;
        migrated.map(drop)
    }

    async fn bring_forward(
        &mut self,
        record: Option<&Batch>,
        seal: &Seal,
        probe: &dyn Probe,
    ) -> Result<Option<After>, StoreError> {
        if self.schema < SqliteStore::known_schema() {
            migrate_from(&mut self.connection).await?;
        }
        let Some(batch) = record else { return Ok(None) };
        let mut tx = OpenTx::new(&mut self.connection);
        tx.mark().await?;
        let applied = apply(&mut tx, std::slice::from_ref(batch), seal, probe).await?;
        match applied.outcomes.as_slice() {
            [Ok(_)] => Ok(applied.after),
            _ => tx.take_back().await.map(|()| None),
        }
    }

    /// From now on nobody can write to this database, whoever has it open: it is about to be replaced.
    ///
    /// # Errors
    /// If it cannot be written; then others still can.
    pub async fn fence(mut self) -> Result<(), StoreError> {
        let fence = format!(
            "CREATE TRIGGER IF NOT EXISTS {FENCE} BEFORE INSERT ON commits \
             BEGIN SELECT RAISE(ABORT, '{REPLACED}'); END; COMMIT"
        );
        execute(&mut self.connection, &fence).await?;
        close(self.connection).await
    }

    /// Lets the others go on.
    ///
    /// # Errors
    /// If the connection does not close.
    pub async fn release(mut self) -> Result<(), StoreError> {
        execute(&mut self.connection, "ROLLBACK").await?;
        close(self.connection).await
    }

    /// Whether [`Hold::fence`] was committed on this database.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn is_fenced(path: &Path) -> Result<bool, StoreError> {
        let mut connection = connect(path).await?;
        let found = has_fence(&mut connection).await;
        close(connection).await?;
        found
    }
}

async fn has_fence(connection: &mut SqliteConnection) -> Result<bool, StoreError> {
    let found = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND name = ?");
    let found: Result<i64, _> = found.bind(FENCE).fetch_one(connection).await;
    found.map(|found| found > 0).map_err(|error| super::failure(&error))
}

impl SqliteStore {
    /// The schema of the file, without changing it; nothing if it is empty.
    ///
    /// # Errors
    /// If it is not ours, newer, or cannot be read.
    pub async fn schema_of(path: &Path) -> Result<Option<i64>, StoreError> {
        let mut connection = connect(path).await?;
        let found = pragma(&mut connection, "user_version").await?;
        close(connection).await?;
        Ok((found > 0).then_some(found))
    }
}
