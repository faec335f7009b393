//! A database that nobody else writes to, for as long as something is done about the whole of it. Everything happens in
//! one open transaction: it can be looked at as it will be, and is committed or was never there.

use std::sync::Arc;

use async_trait::async_trait;
use domain::probe::Probe;
use ledger::Seal;
use ledger::batch::Batch;
use ledger::query::Query;
use ledger::records::DatabaseStamp;
use ledger::store::{After, Applied, Described, Snapshot, Store, StoreError, Tx as _, apply};
use ledger::table::Table;
use ledger::value::Row;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::address::ServerAddress;
use super::cells::Parameter;
use super::connection::Connection;
use super::errors::failure;
use super::rows::tally;
use super::{FIRST, OpenTx, PostgresStore, TAKE_LOCK, migrate, no_answer, rows};
use crate::tally::Tally;

/// Whoever has the lock may be rehearsing the upgrade of a large house, and is silent while it does.
const PATIENCE: &str =
    "SET LOCAL lock_timeout = '5min'; SET LOCAL idle_in_transaction_session_timeout = '10min'";

/// Others read what was there before, and wait with writing. Dropped, it changes nothing.
pub struct PostgresHold {
    connection: Mutex<Connection>,
    schema: i64,
}

impl std::fmt::Debug for PostgresHold {
    /// Without the password, which the connection might show.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresHold").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// The newest schema this program knows.
    #[must_use]
    pub const fn known_schema() -> i64 {
        crate::migrations::KNOWN
    }

    /// The schema that is there, without changing it; nothing if there is none.
    ///
    /// # Errors
    /// If it cannot be reached, is not ours or newer.
    pub async fn schema_of(url: &str) -> Result<Option<i64>, StoreError> {
        let found = super::retried(super::is_opening, || async {
            Ok(migrate::look(&mut first(url).await?).await?.schema)
        });
        Ok(Some(found.await?).filter(|found| *found > 0))
    }

    /// The random id of the database, whatever its schema is, as long as it has the table with the id.
    ///
    /// # Errors
    /// If it cannot be reached or read.
    pub async fn id_of(url: &str) -> Result<Option<String>, StoreError> {
        let found = super::retried(super::is_opening, || async {
            let name = Parameter::text(DatabaseStamp::THIS);
            let rows =
                first(url).await?.query("SELECT id FROM database_stamp WHERE name = $1", &[name]).await?;
            rows.first().map(|row| row.try_get(0).map_err(failure)).transpose()
        });
        found.await
    }
}

async fn first(url: &str) -> Result<Connection, StoreError> {
    let address = ServerAddress::parse(url)?;
    let silent = |_elapsed| StoreError::Unreachable(no_answer(FIRST));
    timeout(FIRST, Connection::open(&address)).await.map_err(silent)?
}

impl PostgresHold {
    /// # Errors
    /// If it cannot be reached or changed, or others keep writing for minutes.
    pub async fn take(url: &str) -> Result<Self, StoreError> {
        let mut connection = first(url).await?;
        migrate::may_change(&mut connection).await?;
        connection.run("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
        connection.run(PATIENCE).await?;
        connection.run(TAKE_LOCK).await?;
        let schema = migrate::look(&mut connection).await?.schema;
        Ok(Self { connection: Mutex::new(connection), schema })
    }

    /// As it was found.
    #[must_use]
    pub const fn schema(&self) -> i64 {
        self.schema
    }

    /// What it holds, as changed so far.
    ///
    /// # Errors
    /// If it cannot be read.
    pub async fn tally(&self) -> Result<Tally, StoreError> {
        tally(&mut *self.connection.lock().await).await
    }

    /// Writes everything that is there, as it was found, into a new SQLite file of the same schema.
    ///
    /// # Errors
    /// If it cannot be read, or the file cannot be written.
    pub async fn save_to(&self, file: &std::path::Path) -> Result<Tally, StoreError> {
        rows::save_stored(&mut *self.connection.lock().await, self.schema, file).await
    }

    /// Brings the schema up to date; others see it once it is committed.
    ///
    /// # Errors
    /// If a migration fails.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        migrate::bring_forward(&mut *self.connection.lock().await, self.schema > 0).await
    }

    /// Writes a batch into the open transaction. One that is refused, because the audit's tail was moved, keeps nothing
    /// back: every later batch is refused as well, and says why.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn record(
        &self,
        batch: &Batch,
        seal: &Seal,
        probe: &dyn Probe,
    ) -> Result<Option<After>, StoreError> {
        let mut connection = self.connection.lock().await;
        let mut tx = OpenTx(connection.pipeline());
        tx.mark().await?;
        let applied = apply(&mut tx, std::slice::from_ref(batch), seal, probe).await?;
        match applied.outcomes.as_slice() {
            [Ok(_)] => Ok(applied.after),
            _ => tx.take_back().await.map(|()| None),
        }
    }

    /// Puts the rows of a file of the same schema in the place of all that are here.
    ///
    /// # Errors
    /// If the file cannot be read, or the database fails.
    pub async fn replace_by(&self, file: &std::path::Path) -> Result<(), StoreError> {
        rows::replace(&mut *self.connection.lock().await, file).await
    }

    /// # Errors
    /// If it fails; if only the answer was lost, whoever looks again knows.
    pub async fn commit(&self) -> Result<(), StoreError> {
        self.connection.lock().await.run("COMMIT").await
    }

    /// # Errors
    /// If the connection is gone; then it is as well.
    pub async fn release(&self) -> Result<(), StoreError> {
        self.connection.lock().await.run("ROLLBACK").await
    }
}

#[async_trait]
impl Snapshot for &PostgresHold {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        Store::select(*self, query).await
    }

    async fn count(&mut self, table: &'static Table) -> Result<u64, StoreError> {
        super::count(&mut *self.connection.lock().await, table).await
    }
}

/// For whoever wants to look at it as it will be. Nothing is written through this.
#[async_trait]
impl Store for PostgresHold {
    async fn transact(
        &self,
        _group: Vec<Batch>,
        _seal: &Arc<Seal>,
        _probe: &Arc<dyn Probe>,
    ) -> Result<Applied, StoreError> {
        Err(StoreError::ReadOnly("it is only looked at".into()))
    }

    /// It is one moment already.
    async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError> {
        Ok(Box::new(self))
    }

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        super::select(&mut *self.connection.lock().await, query).await
    }

    async fn describe(&self) -> Result<Described, StoreError> {
        migrate::describe(&mut *self.connection.lock().await).await
    }

    async fn upkeep(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn scrub(&self) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly("it is only looked at".into()))
    }
}
