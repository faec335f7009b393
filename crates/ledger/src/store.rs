//! What a database has to bring along: select, write, and a transaction. What a batch means is written
//! once, here, for all of them.

use async_trait::async_trait;

use crate::batch::{Batch, Expect, Refusal};
use crate::chain::Seal;
use crate::query::{Filter, Op, Query, Select};
use crate::records::{AuditHead, Commit, Lease};
use crate::table::{Record, Table};
use crate::value::{BadCell, Row, Seq, Value};

/// Why the database did not do what it was asked. Each kind has its own remedy.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the disk is full")]
    Full,
    #[error("the database is read-only, or the disk it is on: {0}")]
    ReadOnly(String),
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    #[error("the file is no database of Regent")]
    Foreign,
    #[error("the database has schema {found}, this program knows up to {known}")]
    Newer { found: i64, known: i64 },
    #[error("another process kept the database locked")]
    Busy,
    #[error("the database cannot be opened: {0}")]
    Unreachable(String),
    #[error(transparent)]
    BadCell(#[from] BadCell),
    #[error("the database answered: {0}")]
    Other(String),
    /// A row with this key is there already. Inside a transaction it refuses one batch only.
    #[error("`{0}` already holds a row with this key")]
    Duplicate(&'static str),
}

/// What became of one batch.
pub type Outcome = Result<Written, Refusal>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    Now,
    /// A batch with this id was written before; of this one nothing was.
    Before,
}

#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Writes the batches in one durable transaction. A refused batch leaves no trace and harms no other.
    async fn transact(&self, group: &[Batch], seal: &Seal) -> Result<Vec<Outcome>, StoreError>;

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError>;

    /// What it is, for `doctor`.
    async fn describe(&self) -> Result<String, StoreError>;
}

/// An open transaction.
#[expect(
    async_fn_in_trait,
    reason = "only the stores implement it, and the futures are checked to be Send there"
)]
pub trait Tx {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError>;
    async fn write(&mut self, table: &'static Table, rows: Vec<Row>) -> Result<(), StoreError>;
}

/// What a batch means, for every store. On a refusal the caller takes back what this has written.
///
/// # Errors
/// If the database fails; then the whole group is void.
pub async fn apply(tx: &mut impl Tx, batch: &Batch, seal: &Seal) -> Result<Outcome, StoreError> {
    if !tx.select(&Select::<Commit>::by("id", &batch.id()).query).await?.is_empty() {
        return Ok(Ok(Written::Before));
    }
    for fence in &batch.fences {
        if let Err(refusal) = epoch_is(tx, &fence.subject, fence.epoch).await? {
            return Ok(Err(refusal));
        }
    }
    for expect in &batch.expects {
        if let Err(refusal) = holds(tx, expect).await? {
            return Ok(Err(refusal));
        }
    }
    match write(tx, batch, seal).await {
        Err(StoreError::Duplicate(table)) => Ok(Err(Refusal::Duplicate { table })),
        result => result,
    }
}

async fn write(tx: &mut impl Tx, batch: &Batch, seal: &Seal) -> Result<Outcome, StoreError> {
    for (table, rows) in by_table(batch) {
        tx.write(table, rows).await?;
    }
    if !batch.audit.is_empty() {
        let head = tx.select(&Select::<AuditHead>::by("stream", &seal.stream()).query).await?;
        let head = head.into_iter().next().map(AuditHead::from_row).transpose()?;
        // Going on from a head that somebody else moved or took away would put our seal on their work.
        let ours = match &head {
            Some(head) => seal.made(head),
            None => tx.select(&Select::<Commit>::all().limit(1).query).await?.is_empty(),
        };
        if !ours {
            return Ok(Err(Refusal::TailMoved));
        }
        let (entries, head) =
            seal.link(head.as_ref(), &batch.audit).map_err(|error| StoreError::Other(error.to_string()))?;
        tx.write(crate::records::AuditEntry::TABLE, entries.iter().map(Record::row).collect()).await?;
        tx.write(AuditHead::TABLE, vec![head.row()]).await?;
    }
    let commit = Commit { seq: Seq(None), id: batch.id(), at: batch.at() };
    tx.write(Commit::TABLE, vec![commit.row()]).await?;
    Ok(Ok(Written::Now))
}

/// Rows of one table are written by one statement, in the order they were put in. Where a key comes
/// twice in a batch (a projection that moved twice), the last one stands.
fn by_table(batch: &Batch) -> Vec<(&'static Table, Vec<Row>)> {
    let mut tables: Vec<(&'static Table, Vec<Row>)> = Vec::new();
    for (table, row) in &batch.rows {
        let at = tables.iter().position(|(known, _)| known.name == table.name).unwrap_or_else(|| {
            tables.push((table, Vec::new()));
            tables.len() - 1
        });
        let Some((_, rows)) = tables.get_mut(at) else { continue };
        if table.write == crate::table::Write::Replace {
            rows.retain(|earlier| key_of(table, earlier) != key_of(table, row));
        }
        rows.push(row.clone());
    }
    tables
}

/// The cells of a row that make up its key.
#[must_use]
pub fn key_of(table: &Table, row: &Row) -> Vec<Value> {
    let cells = table.key.iter().filter_map(|column| table.position(column).and_then(|at| row.get(at)));
    cells.cloned().collect()
}

async fn holds(tx: &mut impl Tx, expect: &Expect) -> Result<Result<(), Refusal>, StoreError> {
    match expect {
        Expect::EpochIs { subject, epoch } => epoch_is(tx, subject, *epoch).await,
        Expect::Absent { table, column, value } => {
            let filters = vec![Filter { column, op: Op::Eq, value: value.clone() }];
            let query = Query { table, filters, order: None, limit: Some(1) };
            let absent = tx.select(&query).await?.is_empty();
            Ok(if absent { Ok(()) } else { Err(Refusal::Present { table: table.name, column }) })
        }
    }
}

async fn epoch_is(tx: &mut impl Tx, subject: &str, expected: u64) -> Result<Result<(), Refusal>, StoreError> {
    let rows = tx.select(&Select::<Lease>::by("subject", &subject.to_owned()).query).await?;
    let lease = rows.into_iter().next().map(Lease::from_row).transpose()?;
    let found = lease.map_or(0, |lease| lease.epoch);
    let refusal = || Refusal::Fenced { subject: subject.into(), expected, found };
    Ok(if found == expected { Ok(()) } else { Err(refusal()) })
}
