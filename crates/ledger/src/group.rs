//! Batches that wait together: which of them can be looked at together, what is known about their conditions, and
//! which rows they write. Pure, but for gathering the facts.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::BatchId;

use crate::batch::{Batch, Expect, Refusal};
use crate::query::{Filter, Query, Select, Test};
use crate::records::{Budget, Commit, Lease};
use crate::store::{Outcome, StoreError, Tx, Written, key_of, read_records};
use crate::table::{Record, Table, Write};
use crate::value::{Cell as _, Row, Value};

/// The group cut into runs in which no batch depends on an earlier one of the same run.
pub(crate) fn independent(group: &[Batch]) -> impl Iterator<Item = &[Batch]> {
    let asked = AskedColumns::of(group);
    let mut rest = group;
    std::iter::from_fn(move || {
        let mut run = Run::default();
        let length = rest.iter().take_while(|batch| run.take(batch, &asked)).count();
        let (set, after) = rest.split_at_checked(length).filter(|(set, _)| !set.is_empty())?;
        rest = after;
        Some(set)
    })
}

/// The columns that some condition of a group is about, each at its place.
struct AskedColumns(Vec<(&'static str, &'static str)>);

const LEASED: (&str, &str) = (Lease::TABLE.name, "subject");

impl AskedColumns {
    fn of(group: &[Batch]) -> Self {
        let expected = group.iter().flat_map(|batch| &batch.expects).filter_map(|expect| match expect {
            Expect::Absent { table, column, .. } | Expect::Present { table, column, .. } => {
                Some((table.name, *column))
            }
            Expect::LeaseIs { .. } | Expect::Quiet { .. } => None,
        });
        let mut columns = vec![LEASED];
        for column in expected {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        Self(columns)
    }

    fn place(&self, table: &str, column: &str) -> Option<usize> {
        self.0.iter().position(|known| *known == (table, column))
    }
}

/// What the batches of a run write, as far as a condition may be about it.
#[derive(Default)]
struct Run {
    ids: BTreeSet<BatchId>,
    /// By the place of their column.
    written: BTreeSet<(usize, Value)>,
    erases: bool,
    spends: bool,
    names_budgets: bool,
}

impl Run {
    /// Takes the batch, unless it depends on one that was taken.
    fn take(&mut self, batch: &Batch, asked: &AskedColumns) -> bool {
        if !self.ids.is_empty() && self.has_a_say_in(batch, asked) {
            return false;
        }
        self.ids.insert(batch.id());
        self.erases |= !batch.erasures.is_empty();
        self.spends |= !batch.spends.is_empty();
        self.names_budgets |= names_budgets(batch);
        for (table, row) in &batch.rows {
            let columns = asked.0.iter().enumerate().filter(|(_, (name, _))| *name == table.name);
            let cells = columns.filter_map(|(place, (_, column))| {
                table.position(column).and_then(|at| row.get(at)).map(|cell| (place, cell.clone()))
            });
            self.written.extend(cells);
        }
        true
    }

    /// Whether what the run writes has a say in a condition of the batch.
    fn has_a_say_in(&self, batch: &Batch, asked: &AskedColumns) -> bool {
        let writes = |table: &str, column: &str, value: Value| {
            asked.place(table, column).is_some_and(|place| self.written.contains(&(place, value)))
        };
        let leases = |subject: &str| writes(LEASED.0, LEASED.1, Value::Text(subject.to_owned()));
        // Within a run all erasures come before all rows: whoever erases is alone in one.
        self.ids.contains(&batch.id())
            || self.erases
            || !batch.erasures.is_empty()
            // Those who only spend stay together: they are charged one after the other. But what is charged is written after
            // all rows of a run.
            || (!batch.spends.is_empty() && self.names_budgets)
            || (names_budgets(batch) && self.spends)
            || batch.fences.iter().any(|fence| leases(&fence.subject))
            || batch.expects.iter().any(|expect| match expect {
                Expect::LeaseIs { subject, .. } => leases(subject),
                Expect::Quiet { .. } => true,
                Expect::Absent { table, column, value } | Expect::Present { table, column, value } => {
                    writes(table.name, column, value.clone())
                }
            })
    }
}

/// Whether it writes the rows of budgets itself, or expects something of them.
fn names_budgets(batch: &Batch) -> bool {
    let mut expected = batch.expects.iter().filter_map(|expect| match expect {
        Expect::Absent { table, .. } | Expect::Present { table, .. } => Some(*table),
        Expect::LeaseIs { .. } | Expect::Quiet { .. } => None,
    });
    let is_budgets = |table: &Table| table.name == Budget::TABLE.name;
    batch.rows.iter().any(|(table, _)| is_budgets(table)) || expected.any(is_budgets)
}

/// What the conditions of a set of batches are measured against: one question per kind, all asked together.
pub(crate) struct Facts {
    written: BTreeSet<Value>,
    leases: BTreeMap<String, Lease>,
    present: BTreeSet<(&'static str, &'static str, Value)>,
    /// Of the newest commit, where anybody asks; 0 if there is none.
    newest: i64,
}

impl Facts {
    pub(crate) async fn gather(tx: &mut impl Tx, set: &[Batch]) -> Result<Self, StoreError> {
        let ids: Vec<_> = set.iter().map(Batch::id).collect();
        let subjects: BTreeSet<String> = set.iter().flat_map(subjects).map(str::to_owned).collect();
        let asked: Vec<_> = asked_for(set).into_iter().collect();
        let mut expects = set.iter().flat_map(|batch| &batch.expects);
        let wants_newest = expects.any(|expect| matches!(expect, Expect::Quiet { .. }));

        // All at once, and in this order.
        let mut questions = vec![Select::<Commit>::any_of("id", &ids).query];
        if !subjects.is_empty() {
            questions.push(Select::<Lease>::any_of("subject", &subjects).query);
        }
        questions.extend(asked.iter().map(|((_, column), (table, values))| {
            let filters = vec![Filter { column, test: Test::AnyOf(values.iter().cloned().collect()) }];
            Query { table, filters, order: None, limit: None }
        }));
        if wants_newest {
            questions.push(Select::<Commit>::all().descending("seq").limit(1).query);
        }
        let mut answers = tx.select_each(&questions).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default();

        let written: Vec<Commit> = read_records(next())?;
        let written = written.into_iter().map(|commit| commit.id.to_value()).collect();
        let mut leases = BTreeMap::new();
        if !subjects.is_empty() {
            for lease in read_records::<Lease>(next())? {
                leases.insert(lease.subject.clone(), lease);
            }
        }
        let mut present = BTreeSet::new();
        for ((_, column), (table, _)) in asked {
            for row in next() {
                let cell = table.position(column).and_then(|at| row.into_iter().nth(at));
                present.extend(cell.map(|cell| (table.name, column, cell)));
            }
        }
        let newest = if wants_newest { read_records::<Commit>(next())?.pop() } else { None };
        let newest = newest.and_then(|commit| commit.seq.0).unwrap_or(0);
        Ok(Self { written, leases, present, newest })
    }

    /// Who may write is asked first: whoever was overtaken is told that, whatever else has changed.
    pub(crate) fn judge(&self, batch: &Batch) -> Outcome {
        if self.written.contains(&batch.id().to_value()) {
            return Ok(Written::Before);
        }
        for fence in &batch.fences {
            if self.epoch(&fence.subject) != fence.epoch {
                return Err(self.fenced(&fence.subject, fence.epoch));
            }
        }
        for expect in &batch.expects {
            if let Expect::LeaseIs { subject, lease } = expect
                && self.leases.get(subject) != lease.as_ref()
            {
                return Err(self.fenced(subject, lease.as_ref().map_or(0, |lease| lease.epoch)));
            }
        }
        for expect in &batch.expects {
            let there = |table: &Table, column, value: &Value| {
                self.present.contains(&(table.name, column, value.clone()))
            };
            match expect {
                Expect::Absent { table, column, value } if there(table, *column, value) => {
                    return Err(Refusal::Present { table: table.name, column });
                }
                Expect::Present { table, column, value } if !there(table, *column, value) => {
                    return Err(Refusal::Gone { table: table.name, column });
                }
                Expect::Quiet { after } if self.newest > *after => return Err(Refusal::Disturbed),
                Expect::Absent { .. }
                | Expect::Present { .. }
                | Expect::Quiet { .. }
                | Expect::LeaseIs { .. } => {}
            }
        }
        Ok(Written::Now)
    }

    /// The epoch of a lease; 0 if there is none.
    fn epoch(&self, subject: &str) -> u64 {
        self.leases.get(subject).map_or(0, |lease| lease.epoch)
    }

    fn fenced(&self, subject: &str, expected: u64) -> Refusal {
        Refusal::Fenced { subject: subject.into(), expected, found: self.epoch(subject) }
    }
}

fn subjects(batch: &Batch) -> impl Iterator<Item = &str> {
    let expected = batch.expects.iter().filter_map(|expect| match expect {
        Expect::LeaseIs { subject, .. } => Some(subject.as_str()),
        Expect::Absent { .. } | Expect::Present { .. } | Expect::Quiet { .. } => None,
    });
    batch.fences.iter().map(|fence| fence.subject.as_str()).chain(expected)
}

type Asked = BTreeMap<(&'static str, &'static str), (&'static Table, BTreeSet<Value>)>;

/// The values that must be there, or must not, by table and column.
fn asked_for(set: &[Batch]) -> Asked {
    let mut asked = Asked::new();
    for expect in set.iter().flat_map(|batch| &batch.expects) {
        if let Expect::Absent { table, column, value } | Expect::Present { table, column, value } = expect {
            let (_, values) = asked.entry((table.name, column)).or_insert_with(|| (table, BTreeSet::new()));
            values.insert(value.clone());
        }
    }
    asked
}

/// Rows of one table are written by one statement, in the order they were put in. Where a key comes twice (a
/// projection that moved twice), the last one stands.
pub(crate) fn rows_by_table<'a>(batches: &[&'a Batch]) -> Vec<(&'static Table, Vec<&'a Row>)> {
    let mut tables: Vec<(&'static Table, Vec<&Row>)> = Vec::new();
    for (table, row) in batches.iter().flat_map(|batch| &batch.rows) {
        match tables.iter_mut().find(|(known, _)| known.name == table.name) {
            Some((_, rows)) => rows.push(row),
            None => tables.push((table, vec![row])),
        }
    }
    for (table, rows) in tables.iter_mut().filter(|(table, _)| table.write == Write::Replace) {
        let mut seen = BTreeSet::new();
        rows.reverse();
        rows.retain(|row| seen.insert(key_of(table, row)));
        rows.reverse();
    }
    tables
}
