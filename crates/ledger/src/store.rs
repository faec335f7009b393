//! What a database has to bring along: select, write, and a transaction that can be taken back to a mark. What a
//! batch means is written once, here, for all of them.
//!
//! INVARIANT (one-writer): while a transaction is open, no other process and no other task writes. SQLite has one
//! writer anyway, PostgreSQL takes one lock, the store in memory a mutex. So what was found to hold holds until the
//! commit, and sequence numbers are given in the order of commits: whoever reads by them misses nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use domain::probe::{Point, Probe};

use crate::authority::{self, AuthorityTable, Resealing, Unverified};
use crate::batch::{Batch, Erasure, Expect, Refusal};
use crate::chain::Seal;
use crate::group::{Facts, independent, rows_by_table};
use crate::query::{Query, Select};
use crate::records::{AuditHead, Checkpoint, Commit, DatabaseStamp, Halt};
use crate::sequence::CommitSequence;
use crate::spend::Balances;
use crate::table::{Record, Table};
use crate::tail::Tail;
use crate::value::{BadCell, Ref, Row, Seq, Value};

/// Why the database did not do what it was asked. Each kind has its own remedy.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the disk is full")]
    Full,
    #[error("the database is read-only, or the disk it is on: {0}")]
    ReadOnly(String),
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    #[error("what is there is no database of Regent: {0}")]
    Foreign(String),
    #[error("the database has schema {found}, this program knows up to {known}")]
    Newer { found: i64, known: i64 },
    /// Opening brings nothing forward: that is rehearsed first.
    #[error("the database has schema {found}, this program has {known}")]
    Older { found: i64, known: i64 },
    #[error("another process kept the database locked")]
    Busy,
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    #[error("the database has no connection left: {0}")]
    Crowded(String),
    #[error("the database does not let us in: {0}")]
    Denied(String),
    #[error("the database is {found}; {needed} or newer is needed")]
    TooOld { found: String, needed: &'static str },
    /// The connection broke. What was under way is void, or, if it broke in a commit, nobody knows.
    #[error("the connection to the database was lost: {0}")]
    Lost(String),
    #[error(transparent)]
    BadCell(#[from] BadCell),
    /// What the house keeps outside its database.
    #[error("the keys of the audit cannot be used: {0}")]
    Vault(String),
    /// Rows that carry authority are not those that this instance wrote.
    #[error(transparent)]
    Unverified(#[from] Unverified),
    /// The files of the house are not those that this process has opened.
    #[error("this house was replaced by a restore")]
    Replaced,
    /// Something inside the database keeps rows out without an error: a trigger, a rule.
    #[error(
        "the database wrote {written} of {asked} rows into `{table}`: a trigger or a rule that is not Regent's changes what is written"
    )]
    RowsLost { table: &'static str, asked: u64, written: u64 },
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

/// What came of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    pub outcomes: Vec<Outcome>,
    /// What has to be done outside the database once it is durable; nothing if the audit did not move.
    pub after: Option<After>,
}

/// Where the audit stands once a group is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    pub head: AuditHead,
    /// Checkpoints that were written with it.
    pub checkpoints: Vec<Checkpoint>,
    /// Whether somebody had changed the tail.
    pub healed: bool,
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StaleNetworkFileHandle => Self::Replaced,
            std::io::ErrorKind::ResourceBusy => Self::Busy,
            _ => Self::Vault(error.to_string()),
        }
    }
}

/// What a store is, and what is worth knowing about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    pub what: String,
    pub warnings: Vec<String>,
}

#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Writes the batches in one durable transaction. A refused batch leaves no trace and harms no other. The store owns what
    /// it is given, so that a thread of its own can write it.
    async fn transact(
        &self,
        group: Vec<Batch>,
        seal: &Arc<Seal>,
        probe: &Arc<dyn Probe>,
    ) -> Result<Applied, StoreError>;

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError>;

    /// The answers to several questions, all of the same moment.
    async fn select_together(&self, queries: &[Query]) -> Result<Vec<Vec<Row>>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let mut answers = Vec::with_capacity(queries.len());
        for query in queries {
            answers.push(snapshot.select(query).await?);
        }
        Ok(answers)
    }

    /// How many rows answer a question, whatever its limit. A database counts them itself.
    async fn count(&self, query: &Query) -> Result<u64, StoreError> {
        let all = Query { limit: None, ..query.clone() };
        Ok(self.select(&all).await?.len() as u64)
    }

    /// The database as it is now, whatever others write from here on.
    async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError>;

    /// What it is, for `doctor`.
    async fn describe(&self) -> Result<Described, StoreError>;

    /// Sees to it that what was erased is not left in the database's own files either, as far as that is in our hands.
    async fn scrub(&self) -> Result<(), StoreError>;

    /// What a database wants to have done now and then: statistics for its planner, its log folded in.
    async fn upkeep(&self) -> Result<(), StoreError>;
}

/// The database as it was at one moment.
#[async_trait]
pub trait Snapshot: Send {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError>;

    /// How many rows a table has, whatever is in them.
    async fn count(&mut self, table: &'static Table) -> Result<u64, StoreError>;

    /// Shows every row of the answer, in order, without handing it over: the way to look at many.
    async fn scan(
        &mut self,
        query: &Query,
        visit: &mut (dyn for<'c, 'r> FnMut(&'c [Ref<'r>]) + Send),
    ) -> Result<(), StoreError> {
        for row in self.select(query).await? {
            visit(&row.iter().map(Value::look).collect::<Vec<_>>());
        }
        Ok(())
    }
}

/// An open transaction.
#[expect(
    async_fn_in_trait,
    reason = "only the stores implement it, and the futures are checked to be Send there"
)]
pub trait Tx {
    async fn select(&mut self, query: &Query) -> Result<Vec<Row>, StoreError>;
    /// The answers to several questions, in their order. A store may ask them all before it waits for the first answer.
    async fn select_each(&mut self, queries: &[Query]) -> Result<Vec<Vec<Row>>, StoreError> {
        let mut answers = Vec::with_capacity(queries.len());
        for query in queries {
            answers.push(self.select(query).await?);
        }
        Ok(answers)
    }
    /// A store may hold back what it is told to write, until it is asked for something else or to [`Self::flush`].
    async fn write(&mut self, table: &'static Table, rows: &[&Row]) -> Result<(), StoreError>;
    /// Writes what was held back; what is wrong with it is said here at the latest.
    async fn flush(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Takes away the rows that have one of these values in this column.
    async fn erase(
        &mut self,
        table: &'static Table,
        column: &'static str,
        values: &[Value],
    ) -> Result<(), StoreError>;
    /// Sets the mark here.
    async fn mark(&mut self) -> Result<(), StoreError>;
    /// Takes back what was written since the mark.
    async fn take_back(&mut self) -> Result<(), StoreError>;
}

/// Whether anything of a group is to be committed.
#[must_use]
pub fn any_written(outcomes: &[Outcome]) -> bool {
    outcomes.contains(&Ok(Written::Now))
}

/// What a group of batches means, for every store. Batches that do not depend on each other are looked at together
/// and written by one statement per table. Where nothing was written, the caller takes the transaction back.
///
/// # Errors
/// If the database fails; then the whole group is void.
pub async fn apply(
    tx: &mut impl Tx,
    group: &[Batch],
    seal: &Seal,
    probe: &dyn Probe,
) -> Result<Applied, StoreError> {
    check_stamp(tx, seal).await?;
    if let [alone] = group {
        // No mark: taking it back is taking everything back.
        return match write(tx, std::slice::from_ref(alone), seal, probe).await {
            Err(StoreError::Duplicate(table)) => Ok(Applied::duplicate(alone, table)),
            result => result,
        };
    }
    let mut applied = Applied { outcomes: Vec::with_capacity(group.len()), after: None };
    for set in independent(group) {
        tx.mark().await?;
        match write(tx, set, seal, probe).await {
            // Nobody knows whose row it was: each is tried alone.
            Err(StoreError::Duplicate(_)) => {
                tx.take_back().await?;
                for batch in set {
                    applied.add(write_marked(tx, batch, seal, probe).await?);
                }
            }
            result => applied.add(result?),
        }
    }
    Ok(applied)
}

/// A process writes to the database that it opened, as it was then: a restore may have put other rows in their place, and
/// what it knows is not about those.
async fn check_stamp(tx: &mut impl Tx, seal: &Seal) -> Result<(), StoreError> {
    let Some(expected) = seal.vault().stamp() else { return Ok(()) };
    let found: Vec<DatabaseStamp> = select(tx, Select::by("name", &DatabaseStamp::THIS.to_owned())).await?;
    if found.first() == Some(expected) { Ok(()) } else { Err(StoreError::Replaced) }
}

impl Applied {
    /// The batch alone is refused.
    fn duplicate(batch: &Batch, table: &'static str) -> Self {
        let refusal = Refusal::Duplicate { table };
        batch.sequence.iter().for_each(|sequence| sequence.note(&refusal));
        Self { outcomes: vec![Err(refusal)], after: None }
    }

    fn add(&mut self, next: Self) {
        self.outcomes.extend(next.outcomes);
        self.after = match (self.after.take(), next.after) {
            (Some(mut before), Some(after)) => {
                before.checkpoints.extend(after.checkpoints);
                Some(After {
                    healed: before.healed || after.healed,
                    checkpoints: before.checkpoints,
                    ..after
                })
            }
            (before, after) => after.or(before),
        };
    }
}

async fn write_marked(
    tx: &mut impl Tx,
    batch: &Batch,
    seal: &Seal,
    probe: &dyn Probe,
) -> Result<Applied, StoreError> {
    tx.mark().await?;
    match write(tx, std::slice::from_ref(batch), seal, probe).await {
        Err(StoreError::Duplicate(table)) => {
            tx.take_back().await?;
            Ok(Applied::duplicate(batch, table))
        }
        result => result,
    }
}

/// Writes those of the batches whose conditions hold.
async fn write(
    tx: &mut impl Tx,
    set: &[Batch],
    seal: &Seal,
    probe: &dyn Probe,
) -> Result<Applied, StoreError> {
    let facts = Facts::gather(tx, set).await?;
    let wants_tail =
        |batch: &Batch| !batch.audit.is_empty() || authority::touches(batch) || starts_a_call(batch);
    let tail = if set.iter().any(wants_tail) { Some(Tail::find(tx, seal).await?) } else { None };
    let state = match &tail {
        Some(Ok(tail)) if set.iter().any(|batch| authority::touches(batch) || starts_a_call(batch)) => {
            Some(tail.authority(tx, seal).await?)
        }
        _ => None,
    };
    let mut unverified = BTreeMap::new();
    for table in set.iter().filter(|batch| starts_a_call(batch)).flat_map(relied_on) {
        if let Some(state) = &state {
            let rows = tx.select(&table.effective()).await?;
            unverified.insert(table.kind, state.check_all(table, &rows));
        }
    }
    let halted = set.iter().any(starts_a_call) && seal.vault().halt_request()?.is_some();
    let verified = |batch: &Batch| -> Result<(), Refusal> {
        if halted && starts_a_call(batch) {
            return Err(Refusal::Present { table: Halt::TABLE.name, column: "name" });
        }
        let kinds = starts_a_call(batch).then(|| relied_on(batch)).into_iter().flatten();
        let mut found = kinds.filter_map(|table| unverified.get(table.kind));
        found.find_map(|found| found.clone().err()).map_or(Ok(()), |why| Err(Refusal::Unverified(why)))
    };
    let mut balances = Balances::find(tx, set).await?;
    let outcomes: Vec<Outcome> = set
        .iter()
        .map(|batch| {
            if batch.sequence.as_ref().is_some_and(CommitSequence::is_broken) {
                return Err(Refusal::OutOfOrder);
            }
            let judged = match &tail {
                Some(Err(refusal)) if wants_tail(batch) => facts.judge(batch).and(Err(refusal.clone())),
                _ => facts.judge(batch).and_then(|written| verified(batch).map(|()| written)),
            };
            // Last, so that nobody is charged who is refused for something else.
            let outcome = match judged {
                Ok(Written::Now) => balances.charge(batch).map(|()| Written::Now),
                other => other,
            };
            if let (Some(sequence), Err(refusal)) = (&batch.sequence, &outcome) {
                sequence.note(refusal);
            }
            outcome
        })
        .collect();
    let accepted: Vec<&Batch> = set
        .iter()
        .zip(&outcomes)
        .filter(|(_, outcome)| **outcome == Ok(Written::Now))
        .map(|(batch, _)| batch)
        .collect();
    if accepted.is_empty() {
        return Ok(Applied { outcomes, after: None });
    }
    let resealing = match &state {
        Some(state) => Some((Resealing::before(tx, &accepted, state).await?, state)),
        None => None,
    };
    for Erasure { table, column, values } in accepted.iter().flat_map(|batch| &batch.erasures) {
        probe.reached(Point::Writing { table: table.name });
        tx.erase(table, column, values).await?;
    }
    for (table, rows) in rows_by_table(&accepted) {
        put(tx, table, &rows, probe).await?;
    }
    let budgets = balances.into_budgets();
    if !budgets.is_empty() {
        put_records(tx, &budgets, probe).await?;
    }
    let sealed = match resealing {
        Some((resealing, state)) => resealing.write(tx, &accepted, state, seal, probe).await?,
        None => None,
    };
    let after = match tail {
        Some(Ok(tail)) if sealed.is_some() || accepted.iter().any(|batch| !batch.audit.is_empty()) => {
            Some(tail.append(tx, &accepted, sealed, seal, probe).await?)
        }
        _ => None,
    };
    let commits: Vec<Commit> =
        accepted.iter().map(|batch| Commit { seq: Seq(None), id: batch.id(), at: batch.at() }).collect();
    put_records(tx, &commits, probe).await?;
    tx.flush().await?;
    Ok(Applied { outcomes, after })
}

/// Whether a batch starts a call: it expects that nothing is halted.
fn starts_a_call(batch: &Batch) -> bool {
    let halts =
        |expect: &Expect| matches!(expect, Expect::Absent { table, .. } if table.name == Halt::TABLE.name);
    batch.expects.iter().any(halts) && !batch.rows.iter().any(|(table, _)| table.name == Halt::TABLE.name)
}

/// The tables with authority that a batch expects something of.
fn relied_on(batch: &Batch) -> impl Iterator<Item = &'static AuthorityTable> {
    batch.expects.iter().filter_map(|expect| match expect {
        Expect::Absent { table, .. } | Expect::Present { table, .. } => AuthorityTable::of(table),
        Expect::LeaseIs { .. } | Expect::Quiet { .. } => None,
    })
}

pub(crate) async fn select<T: Record>(tx: &mut impl Tx, select: Select<T>) -> Result<Vec<T>, StoreError> {
    let rows = tx.select(&select.query).await?;
    read_records(rows)
}

pub(crate) fn read_records<T: Record>(rows: Vec<Row>) -> Result<Vec<T>, StoreError> {
    rows.into_iter().map(|row| T::from_row(row).map_err(StoreError::from)).collect()
}

pub(crate) async fn put_records<T: Record>(
    tx: &mut impl Tx,
    records: &[T],
    probe: &dyn Probe,
) -> Result<(), StoreError> {
    let rows: Vec<Row> = records.iter().map(Record::row).collect();
    put(tx, T::TABLE, &rows.iter().collect::<Vec<_>>(), probe).await
}

async fn put(
    tx: &mut impl Tx,
    table: &'static Table,
    rows: &[&Row],
    probe: &dyn Probe,
) -> Result<(), StoreError> {
    probe.reached(Point::Writing { table: table.name });
    tx.write(table, rows).await
}

/// The cells of a row that make up its key.
#[must_use]
pub fn key_of(table: &Table, row: &Row) -> Vec<Value> {
    let cells = table.key.iter().filter_map(|column| table.position(column).and_then(|at| row.get(at)));
    cells.cloned().collect()
}
