//! What is handed to the ledger: all of it is written, or none.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::Time;
use domain::id::{BatchId, NodeId};

use crate::authority::Unverified;
use crate::chain::Entry;
use crate::records::Lease;
use crate::sequence::CommitSequence;
use crate::spend::Spend;
use crate::table::{Erasable, Record, Table};
use crate::value::{Cell, Row, Value};

/// "I still drive this, under this epoch."
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    pub subject: String,
    pub epoch: u64,
}

/// What must be true at the moment of writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No row of this table has this value in this column.
    Absent { table: &'static Table, column: &'static str, value: Value },
    /// A row of this table has this value in this column: whoever writes a person's words expects their salt.
    Present { table: &'static Table, column: &'static str, value: Value },
    /// Nothing was written since this was the newest commit: what was looked at is still so.
    Quiet { after: i64 },
    /// The lease on this subject is as it was when it was looked at: nobody renewed it or took it over.
    LeaseIs { subject: String, lease: Option<Lease> },
}

/// Why a batch was not written. Nothing of it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("`{table}` already holds this {column}")]
    Present { table: &'static str, column: &'static str },
    #[error("`{table}` does not hold this {column} any more")]
    Gone { table: &'static str, column: &'static str },
    #[error("something was written meanwhile")]
    Disturbed,
    #[error("`{subject}` is driven by another process (epoch {found}; expected was {expected})")]
    Fenced { subject: String, expected: u64, found: u64 },
    #[error("`{table}` already holds a row with this key")]
    Duplicate { table: &'static str },
    #[error("the budget `{account}` ({unit}) is used up: {used} of {limit}")]
    Exhausted { account: String, unit: String, limit: u64, used: u64 },
    #[error("the audit's tail was changed outside the program")]
    TailMoved,
    #[error(
        "a copy of this instance on another machine has gone on with this database: its keys are ahead of the ones here"
    )]
    UsedElsewhere,
    #[error("this database was begun by another house ({stream})")]
    OtherHouse { stream: NodeId },
    #[error(transparent)]
    Unverified(Unverified),
    #[error("an earlier batch of the same sequence was refused")]
    OutOfOrder,
}

/// Tells one batch of this process from every other, whatever id it was given. Only a batch makes one, and it
/// cannot be copied out of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Token(u64);

impl Token {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The same token for the receipt of the batch; nobody else needs a second one.
    pub(crate) const fn again(&self) -> Self {
        Self(self.0)
    }
}

/// The rows of one table that are to go: those that have one of these values in this column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Erasure {
    pub(crate) table: &'static Table,
    pub(crate) column: &'static str,
    pub(crate) values: Vec<Value>,
}

/// Records, erasures, audit entries, what is spent, and conditions. Only ever added to: who was told that their record is in a
/// batch can rely on it (INVARIANT (batch-grows)).
#[derive(Debug)]
pub struct Batch {
    id: BatchId,
    pub(crate) token: Token,
    at: Time,
    /// Done before anything is put, so that a tombstone can take the key of what it stands for.
    pub(crate) erasures: Vec<Erasure>,
    pub(crate) rows: Vec<(&'static Table, Row)>,
    pub(crate) audit: Vec<Entry>,
    pub(crate) fences: Vec<Fence>,
    pub(crate) expects: Vec<Expect>,
    pub(crate) spends: Vec<Spend>,
    pub(crate) ends_epoch: bool,
    pub(crate) seals_existing: bool,
    pub(crate) sequence: Option<CommitSequence>,
}

impl Batch {
    #[must_use]
    pub fn new(id: BatchId, at: Time) -> Self {
        Self {
            id,
            token: Token::next(),
            at,
            erasures: Vec::new(),
            rows: Vec::new(),
            audit: Vec::new(),
            fences: Vec::new(),
            expects: Vec::new(),
            spends: Vec::new(),
            ends_epoch: false,
            seals_existing: false,
            sequence: None,
        }
    }

    #[must_use]
    pub const fn id(&self) -> BatchId {
        self.id
    }

    /// What the receipt of this batch will carry: whoever entered a record keeps it, and knows the receipt by it.
    #[must_use]
    pub const fn token(&self) -> Token {
        self.token.again()
    }

    #[must_use]
    pub const fn at(&self) -> Time {
        self.at
    }

    /// Whether it would change nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.erasures.is_empty() && self.audit.is_empty() && self.spends.is_empty()
    }

    pub fn put<T: Record>(&mut self, record: &T) -> &mut Self {
        self.rows.push((T::TABLE, record.row()));
        self
    }

    /// Takes away the rows that have one of these values in this column. All erasures of a batch are done before any of
    /// its rows is put. Only records that are declared erasable can be: an event and an audit entry are for ever (`tests/ui/`).
    pub fn erase<'a, T: Erasable, C: Cell + 'a>(
        &mut self,
        column: &'static str,
        values: impl IntoIterator<Item = &'a C>,
    ) -> &mut Self {
        let values: Vec<Value> = values.into_iter().map(Cell::to_value).collect();
        if !values.is_empty() {
            self.erasures.push(Erasure { table: T::TABLE, column, values });
        }
        self
    }

    pub fn audit(&mut self, entry: Entry) -> &mut Self {
        self.audit.push(entry);
        self
    }

    /// Signs a checkpoint after the batch's entries; with it the epoch ends. Needs an entry to go with.
    pub const fn end_epoch(&mut self) -> &mut Self {
        self.ends_epoch = true;
        self
    }

    /// Seals every row that carries authority as it is when this batch is written. For an upgrade, and for the owner's
    /// decision about what is to count: whatever another program wrote there counts from then on.
    pub const fn seal_existing(&mut self) -> &mut Self {
        self.seals_existing = true;
        self
    }

    pub fn fence(&mut self, subject: impl Into<String>, epoch: u64) -> &mut Self {
        self.fences.push(Fence { subject: subject.into(), epoch });
        self
    }

    pub fn expect_absent<T: Record>(&mut self, column: &'static str, value: &impl Cell) -> &mut Self {
        self.expects.push(Expect::Absent { table: T::TABLE, column, value: value.to_value() });
        self
    }

    pub fn expect_present<T: Record>(&mut self, column: &'static str, value: &impl Cell) -> &mut Self {
        self.expects.push(Expect::Present { table: T::TABLE, column, value: value.to_value() });
        self
    }

    pub fn expect_quiet(&mut self, after: i64) -> &mut Self {
        self.expects.push(Expect::Quiet { after });
        self
    }

    pub fn expect_lease(&mut self, subject: impl Into<String>, lease: Option<Lease>) -> &mut Self {
        self.expects.push(Expect::LeaseIs { subject: subject.into(), lease });
        self
    }

    /// Refuses this batch if an earlier one of the sequence is refused.
    pub fn follow(&mut self, sequence: &CommitSequence) -> &mut Self {
        self.sequence = Some(sequence.clone());
        self
    }

    /// Takes from a budget, or gives back where the amount is negative. What all batches before this one have spent
    /// counts, whoever handed them in; a batch that is refused or was written before spends nothing. The row that comes
    /// of it is written last: it stands, should the batch put one for the same budget, too.
    pub fn spend(&mut self, spend: Spend) -> &mut Self {
        self.spends.push(spend);
        self
    }

    /// What it takes from budgets and gives back to them, in order.
    #[must_use]
    pub fn spends(&self) -> &[Spend] {
        &self.spends
    }
}

/// For mutants and whoever watches them: nobody else looks into a batch or makes a second one of it.
#[cfg(feature = "mutants")]
impl Batch {
    #[must_use]
    pub fn fences(&self) -> &[Fence] {
        &self.fences
    }

    #[must_use]
    pub fn expects(&self) -> &[Expect] {
        &self.expects
    }

    pub(crate) fn again(&self) -> Self {
        Self {
            id: self.id,
            token: self.token(),
            at: self.at,
            erasures: self.erasures.clone(),
            rows: self.rows.clone(),
            audit: self.audit.clone(),
            fences: self.fences.clone(),
            expects: self.expects.clone(),
            spends: self.spends.clone(),
            ends_epoch: self.ends_epoch,
            seals_existing: self.seals_existing,
            sequence: self.sequence.clone(),
        }
    }

    pub(crate) const fn rename(&mut self, id: BatchId) {
        self.id = id;
    }
}
