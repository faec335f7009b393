//! What a batch takes from budgets or gives back to them, decided in the transaction that writes it: by
//! INVARIANT (one-writer) nobody else spends between looking and writing.

use std::collections::{BTreeMap, BTreeSet};

use domain::Time;

use crate::batch::{Batch, Refusal};
use crate::query::Select;
use crate::records::Budget;
use crate::store::{StoreError, Tx, select};

/// The most that a balance can be: what a column holds.
const MOST: u64 = i64::MAX.cast_unsigned();

/// So much more (or less, where it is negative) is used of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spend {
    pub account: String,
    pub unit: String,
    pub amount: i64,
    /// The batch is refused where this would be exceeded; reaching it is allowed. It says nothing about giving back.
    pub limit: Option<u64>,
}

impl Spend {
    /// What is used afterwards; never less than nothing.
    fn after(&self, used: u64) -> Result<u64, Refusal> {
        let after = used.saturating_add_signed(self.amount);
        match self.limit {
            Some(limit) if self.amount > 0 && after > limit => Err(Refusal::Exhausted {
                account: self.account.clone(),
                unit: self.unit.clone(),
                limit,
                used,
            }),
            Some(_) | None => Ok(after.min(MOST)),
        }
    }
}

type Key = (String, String);

/// What is used of the budgets that a set of batches spends from: as it was found, and as it becomes batch by batch.
#[derive(Debug, Default)]
pub(crate) struct Balances {
    found: BTreeMap<Key, u64>,
    changed: BTreeMap<Key, (u64, Time)>,
}

impl Balances {
    /// One question, and none where nobody spends.
    pub(crate) async fn find(tx: &mut impl Tx, set: &[Batch]) -> Result<Self, StoreError> {
        let accounts: BTreeSet<&String> =
            set.iter().flat_map(|batch| &batch.spends).map(|spend| &spend.account).collect();
        if accounts.is_empty() {
            return Ok(Self::default());
        }
        let budgets = select(tx, Select::<Budget>::any_of("account", accounts)).await?;
        let found = budgets.into_iter().map(|budget| ((budget.account, budget.unit), budget.used)).collect();
        Ok(Self { found, changed: BTreeMap::new() })
    }

    /// Takes everything that this batch spends, or nothing of it. Whoever comes after it in the set meets what it left.
    pub(crate) fn charge(&mut self, batch: &Batch) -> Result<(), Refusal> {
        let mut after: BTreeMap<Key, (u64, Time)> = BTreeMap::new();
        for spend in &batch.spends {
            let key = (spend.account.clone(), spend.unit.clone());
            let used = after.get(&key).map_or_else(|| self.used(&key), |(used, _)| *used);
            after.insert(key, (spend.after(used)?, batch.at()));
        }
        self.changed.extend(after);
        Ok(())
    }

    /// The rows of all budgets that anybody was charged for.
    pub(crate) fn into_budgets(self) -> Vec<Budget> {
        let budget = |((account, unit), (used, changed_at))| Budget { account, unit, used, changed_at };
        self.changed.into_iter().map(budget).collect()
    }

    fn used(&self, key: &Key) -> u64 {
        let changed = self.changed.get(key).map(|(used, _)| *used);
        changed.or_else(|| self.found.get(key).copied()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Spend};

    #[test]
    fn a_spend_adds_up_to_its_limit_and_gives_back_to_nothing() {
        let table = [
            // used, amount, limit, after
            (0, 5, None, Some(5)),
            (0, 5, Some(5), Some(5)),
            (1, 5, Some(5), None),
            (9, 0, Some(5), Some(9)),
            (9, -1, Some(5), Some(8)),
            (3, -9, None, Some(0)),
            (3, i64::MIN, None, Some(0)),
            (MOST, 1, None, Some(MOST)),
            (MOST, i64::MAX, Some(MOST), None),
            (0, 1, Some(0), None),
        ];
        for (used, amount, limit, after) in table {
            let spend = Spend { account: "a".into(), unit: "u".into(), amount, limit };
            assert_eq!(spend.after(used).ok(), after, "{used} + {amount} of {limit:?}");
        }
    }
}
