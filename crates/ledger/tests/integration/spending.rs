//! However batches that spend are grouped, they end as if each had come alone: compared with a few lines that know
//! nothing of groups.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::Time;
use domain::id::{BatchId, NodeId};
use domain::probe::{Probe, Silent};
use ledger::memory::MemoryStore;
use ledger::records::{Budget, Halt};
use ledger::{Batch, Ledger, Refusal, Seal, Select, Spend, Store as _, Written};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};

type Key = (u8, u8);

/// What else is in a batch.
#[derive(Clone, Debug)]
enum Besides {
    Nothing,
    /// A fence that does not hold.
    Overtaken,
    /// A row that is there already, which is found out only while writing.
    Known,
    /// The budget is set.
    Set(Key, u64),
}

#[derive(Clone, Debug)]
struct Work {
    /// Few, so that some are handed in again.
    id: u8,
    spends: Vec<(Key, i64, Option<u64>)>,
    besides: Besides,
    /// Whether it is the last of its group.
    ends_group: bool,
}

fn key() -> impl Strategy<Value = Key> {
    (0..3_u8, 0..2_u8)
}

fn works() -> impl Strategy<Value = Vec<Work>> {
    let limit = prop_oneof![4 => (0..12_u64).prop_map(Some), 1 => Just(None)];
    let spends = vec((key(), -6..9_i64, limit), 0..4);
    let besides = prop_oneof![
        8 => Just(Besides::Nothing),
        1 => Just(Besides::Overtaken),
        1 => Just(Besides::Known),
        1 => (key(), 0..8_u64).prop_map(|(key, used)| Besides::Set(key, used)),
    ];
    let work = (0..60_u8, spends, besides, proptest::bool::weighted(0.2))
        .prop_map(|(id, spends, besides, ends_group)| Work { id, spends, besides, ends_group });
    vec(work, 1..40)
}

fn names((account, unit): Key) -> (String, String) {
    (format!("account {account}"), format!("unit {unit}"))
}

fn halt() -> Halt {
    Halt { name: Halt::ALL.into(), at: Time::from_micros(0), by: "owner".into() }
}

fn batch(work: &Work) -> Batch {
    let mut batch = Batch::new(BatchId::from_bits(work.id.into()), Time::from_micros(0));
    for (key, amount, limit) in &work.spends {
        let (account, unit) = names(*key);
        batch.spend(Spend { account, unit, amount: *amount, limit: *limit });
    }
    match work.besides {
        Besides::Nothing => {}
        Besides::Overtaken => {
            batch.fence("task", 7);
        }
        Besides::Known => {
            batch.put(&halt());
        }
        Besides::Set(key, used) => {
            let (account, unit) = names(key);
            batch.put(&Budget { account, unit, used, changed_at: Time::from_micros(0) });
        }
    }
    batch
}

/// One batch after the other.
#[derive(Default)]
struct Oracle {
    written: BTreeSet<u8>,
    balances: BTreeMap<Key, u64>,
}

impl Oracle {
    fn outcome(&mut self, work: &Work) -> Result<Written, Refusal> {
        if self.written.contains(&work.id) {
            return Ok(Written::Before);
        }
        if matches!(work.besides, Besides::Overtaken) {
            return Err(Refusal::Fenced { subject: "task".into(), expected: 7, found: 0 });
        }
        let mut after = self.balances.clone();
        if let Besides::Set(key, used) = work.besides {
            after.insert(key, used);
        }
        // What is spent is counted on what was there before the batch.
        let mut spent: BTreeMap<Key, u64> = BTreeMap::new();
        for &(key, amount, limit) in &work.spends {
            let used = spent.get(&key).or_else(|| self.balances.get(&key)).copied().unwrap_or(0);
            let sum = used.saturating_add_signed(amount);
            if let Some(limit) = limit.filter(|limit| amount > 0 && sum > *limit) {
                let (account, unit) = names(key);
                return Err(Refusal::Exhausted { account, unit, limit, used });
            }
            spent.insert(key, sum);
        }
        if matches!(work.besides, Besides::Known) {
            return Err(Refusal::Duplicate { table: "halts" });
        }
        after.extend(spent);
        self.balances = after;
        self.written.insert(work.id);
        Ok(Written::Now)
    }
}

async fn play(works: &[Work]) -> (Vec<Result<Written, Refusal>>, BTreeMap<(String, String), u64>) {
    let store = Arc::new(MemoryStore::default());
    let seal = Arc::new(Seal::for_tests(NodeId::from_bits(1), [7; 32]));
    let probe: Arc<dyn Probe> = Arc::new(Silent);
    let ledger = Ledger::start(store.clone(), Arc::clone(&seal), Arc::clone(&probe));
    let mut first = Batch::new(BatchId::from_bits(u128::MAX), Time::from_micros(0));
    first.put(&halt());
    ledger.commit(first).await.expect("commit");
    let mut outcomes = Vec::new();
    for group in works.split_inclusive(|work| work.ends_group) {
        let batches = group.iter().map(batch).collect();
        outcomes.extend(store.transact(batches, &seal, &probe).await.expect("transact").outcomes);
    }
    let budgets = ledger.select(Select::<Budget>::all()).await.expect("budgets");
    let balances = budgets.into_iter().map(|budget| ((budget.account, budget.unit), budget.used));
    (outcomes, balances.collect())
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(future)
}

proptest! {
    #[test]
    fn a_group_spends_as_one_after_the_other(works in works()) {
        let mut oracle = Oracle::default();
        let expected: Vec<_> = works.iter().map(|work| oracle.outcome(work)).collect();
        let (outcomes, balances) = run(play(&works));
        prop_assert_eq!(outcomes, expected);
        prop_assert_eq!(balances, oracle.balances.into_iter().map(|(key, used)| (names(key), used)).collect());
    }

    /// Where all name the same limit and nobody gives back, what was let through adds up to the balance and no further.
    #[test]
    fn a_limit_that_every_spender_names_is_never_exceeded(works in works(), limits in vec(1..30_u64, 6)) {
        let limit_of = |(account, unit): Key| limits[usize::from(account * 2 + unit)];
        let mut works = works;
        for work in &mut works {
            for (key, amount, limit) in &mut work.spends {
                (*amount, *limit) = (amount.abs(), Some(limit_of(*key)));
            }
            if matches!(work.besides, Besides::Set(..)) {
                work.besides = Besides::Nothing;
            }
        }
        let (outcomes, balances) = run(play(&works));
        let mut spent: BTreeMap<Key, u64> = BTreeMap::new();
        for (work, _) in works.iter().zip(outcomes).filter(|(_, outcome)| *outcome == Ok(Written::Now)) {
            for (key, amount, _) in &work.spends {
                let sum = spent.entry(*key).or_default();
                *sum += amount.unsigned_abs();
                prop_assert!(*sum <= limit_of(*key), "{} of {}", sum, limit_of(*key));
            }
        }
        prop_assert_eq!(balances, spent.into_iter().map(|(key, used)| (names(key), used)).collect());
    }
}
