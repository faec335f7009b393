//! Budgets, halts and tools: what the broker relies on. Public, so that a store with a guard taken out can be shown to
//! fail them.

use std::sync::Arc;

use domain::Digest;
use domain::id::BatchId;
use domain::probe::Silent;

use super::{at, batch, count, entry, event, refusal, seal, transact};
use crate::records::{AuditEntry, Blob, Budget, Event, Halt, Tool};
use crate::value::{Ratio, Ref, Row};
use crate::{Batch, Ledger, Refusal, Select, Spend, Store, Written};

fn spend(account: &str, amount: i64, limit: Option<u64>) -> Spend {
    Spend { account: account.into(), unit: "cents".into(), amount, limit }
}

/// A batch that spends from the account `day`.
fn spending(n: u128, amount: i64, limit: Option<u64>) -> Batch {
    let mut work = batch(n);
    work.spend(spend("day", amount, limit));
    work
}

fn exhausted(limit: u64, used: u64) -> Refusal {
    Refusal::Exhausted { account: "day".into(), unit: "cents".into(), limit, used }
}

/// How much of it is used; nothing if it has no row.
async fn used(ledger: &Ledger, account: &str) -> Option<u64> {
    let budgets = ledger.budgets(&[account.to_owned()]).await.expect("budgets");
    assert!(budgets.len() < 2, "{budgets:?}");
    budgets.first().map(|budget| budget.used)
}

pub async fn the_last_of_a_budget_is_spent_once(ledger: Ledger, store: Arc<dyn Store>) {
    let eventful = |n, amount| {
        let mut work = spending(n, amount, Some(10));
        work.put(&event(n, &format!("k{n}"))).audit(entry("a"));
        work
    };
    let group = [eventful(1, 6), eventful(2, 6), eventful(3, 4), eventful(4, 1)];
    let outcomes = transact(&*store, group).await;
    let expected = [Ok(Written::Now), Err(exhausted(10, 6)), Ok(Written::Now), Err(exhausted(10, 10))];
    assert_eq!(outcomes, expected, "in a group each meets what those before it have spent");
    assert_eq!(refusal(ledger.commit(eventful(5, 1)).await), exhausted(10, 10));
    let day = Budget { account: "day".into(), unit: "cents".into(), used: 10, changed_at: at(0) };
    assert_eq!(ledger.budgets(&["day".to_owned(), "never".to_owned()]).await.expect("budgets"), [day]);
    let keys: Vec<_> = ledger.events(9).await.expect("events").into_iter().map(|event| event.key).collect();
    assert_eq!(keys, ["k1", "k3"], "of those that were refused nothing is left");
    assert!(ledger.verify_audit().await.expect("verify").is_consistent());
}

/// Tasks of two processes that have the same database.
pub(super) async fn whoever_comes_at_once_shares_a_budget(ledger: Ledger, store: Arc<dyn Store>) {
    const TASKS: u128 = 8;
    const EACH: u128 = 5;
    const LIMIT: u64 = 33;
    let other = Arc::new(Ledger::start(store, seal(), Arc::new(Silent)));
    let ledger = Arc::new(ledger);
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..TASKS {
        for (half, ledger) in [&ledger, &other].into_iter().enumerate() {
            let ledger = Arc::clone(ledger);
            tasks.spawn(async move {
                let mut spent: u64 = 0;
                for n in 0..EACH {
                    let id = 1 + (task * EACH + n) * 2 + half as u128;
                    match ledger.commit(spending(id, 1, Some(LIMIT))).await {
                        Ok(_) => spent += 1,
                        refused => assert_eq!(refusal(refused), exhausted(LIMIT, LIMIT)),
                    }
                }
                spent
            });
        }
    }
    let spent: u64 = tasks.join_all().await.into_iter().sum();
    assert_eq!((spent, used(&ledger, "day").await), (LIMIT, Some(LIMIT)));
}

pub(super) async fn a_budget_counts_to_its_limit_and_takes_back_to_nothing(
    ledger: Ledger,
    _: Arc<dyn Store>,
) {
    let table = [
        ("up to the limit", 7, Some(7), Ok(7)),
        ("not beyond it", 1, Some(7), Err(exhausted(7, 7))),
        ("nothing more is no more", 0, Some(3), Ok(7)),
        ("given back, whatever the limit", -2, Some(3), Ok(5)),
        ("what was given back is there again", 2, Some(7), Ok(7)),
        ("without a limit it counts, too", 100, None, Ok(107)),
        ("and others meet it", 1, Some(107), Err(exhausted(107, 107))),
        ("never less than nothing", -1_000, None, Ok(0)),
        ("and from there on", 1, Some(1), Ok(1)),
        ("never more than a column holds", i64::MAX, None, Ok(i64::MAX.cast_unsigned())),
        ("and given back from there", -1, None, Ok(i64::MAX.cast_unsigned() - 1)),
    ];
    for (n, (what, amount, limit, expected)) in (1..).zip(table) {
        let committed = ledger.commit(spending(n, amount, limit)).await;
        match expected {
            Ok(balance) => {
                committed.expect(what);
                assert_eq!(used(&ledger, "day").await, Some(balance), "{what}");
            }
            Err(expected) => assert_eq!(refusal(committed), expected, "{what}"),
        }
    }
}

pub(super) async fn whoever_may_not_spend_all_spends_nothing(ledger: Ledger, store: Arc<dyn Store>) {
    let both = |n| {
        let mut work = batch(n);
        work.put(&Blob::public(b"x".to_vec())).audit(entry("a"));
        work.spend(spend("task", 1, None)).spend(spend("day", 2, Some(5))).spend(spend("day", 2, Some(5)));
        work.spend(Spend { unit: "calls".into(), ..spend("day", 5, Some(5)) });
        work
    };
    let group = [spending(1, 2, Some(5)), both(2)];
    let outcomes = transact(&*store, group).await;
    assert_eq!(outcomes, [Ok(Written::Now), Err(exhausted(5, 4))], "its own counts, too");
    assert_eq!((used(&ledger, "task").await, used(&ledger, "day").await), (None, Some(2)));
    assert_eq!((count::<Blob>(&ledger).await, count::<AuditEntry>(&ledger).await), (0, 0));

    let group = [spending(3, -1, None), both(2), spending(4, 1, Some(5))];
    let outcomes = transact(&*store, group).await;
    assert_eq!(outcomes, [Ok(Written::Now), Ok(Written::Now), Err(exhausted(5, 5))], "the units are apart");
    let mut budgets = ledger.select(Select::<Budget>::all()).await.expect("budgets");
    budgets.sort_by(|a, b| (&a.account, &a.unit).cmp(&(&b.account, &b.unit)));
    let row = |account: &str, unit: &str, used| Budget {
        account: account.into(),
        unit: unit.into(),
        used,
        changed_at: at(0),
    };
    assert_eq!(budgets, [row("day", "calls", 5), row("day", "cents", 5), row("task", "cents", 1)]);
}

pub(super) async fn the_same_batch_twice_spends_once(ledger: Ledger, store: Arc<dyn Store>) {
    let group = [spending(1, 3, Some(4)), spending(1, 3, Some(4)), spending(2, 1, Some(4))];
    let outcomes = transact(&*store, group).await;
    assert_eq!(outcomes, [Ok(Written::Now), Ok(Written::Before), Ok(Written::Now)]);
    let again = ledger.commit(spending(1, 3, Some(4))).await.expect("handed in again");
    assert_eq!((again.batch(), used(&ledger, "day").await), (BatchId::from_bits(1), Some(4)));
}

/// Whatever else a batch is refused for, it spends nothing; and what is left goes to the others of its group.
pub(super) async fn a_batch_that_is_refused_spends_nothing(ledger: Ledger, store: Arc<dyn Store>) {
    let mut first = batch(1);
    first.put(&event(1, "k"));
    ledger.commit(first).await.expect("commit");
    let mut fenced = spending(2, 5, Some(10));
    fenced.fence("task", 3);
    let mut unexpected = spending(3, 5, Some(10));
    unexpected.expect_absent::<Event>("key", &"k".to_owned());
    let mut duplicate = spending(4, 5, Some(10));
    duplicate.put(&event(1, "k"));
    let group = [spending(5, 2, Some(10)), fenced, unexpected, duplicate, spending(6, 8, Some(10))];
    let outcomes = transact(&*store, group).await;
    let expected = [
        Ok(Written::Now),
        Err(Refusal::Fenced { subject: "task".into(), expected: 3, found: 0 }),
        Err(Refusal::Present { table: "events", column: "key" }),
        Err(Refusal::Duplicate { table: "events" }),
        Ok(Written::Now),
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(used(&ledger, "day").await, Some(10));
    let mut alone = spending(7, -5, None);
    alone.put(&event(1, "k"));
    assert_eq!(refusal(ledger.commit(alone).await), Refusal::Duplicate { table: "events" });
    assert_eq!(used(&ledger, "day").await, Some(10));
}

/// A budget that is set anew is spent from as it is then, in a group, too.
pub(super) async fn a_budget_that_is_put_stands_in_its_turn(ledger: Ledger, store: Arc<dyn Store>) {
    let set = |n, used| {
        let mut work = batch(n);
        work.put(&Budget { account: "day".into(), unit: "cents".into(), used, changed_at: at(1) });
        work
    };
    let mut first = spending(7, 1, None);
    first.expect_absent::<Budget>("account", &"day".to_owned());
    let group = [
        spending(1, 9, Some(9)),
        set(2, 4),
        spending(3, 5, Some(9)),
        spending(4, 1, Some(9)),
        first,
        set(5, 0),
        spending(6, 2, Some(2)),
    ];
    let outcomes = transact(&*store, group).await;
    let written = || Ok(Written::Now);
    let present = Refusal::Present { table: "budgets", column: "account" };
    let expected =
        [written(), written(), written(), Err(exhausted(9, 9)), Err(present), written(), written()];
    assert_eq!(outcomes, expected);
    assert_eq!(used(&ledger, "day").await, Some(2));
}

pub async fn nothing_starts_between_a_halt_and_its_end(ledger: Ledger, store: Arc<dyn Store>) {
    let all = || Halt::ALL.to_owned();
    let start = |n| {
        let mut work = spending(n, 1, Some(9));
        work.put(&event(n, &format!("k{n}"))).expect_absent::<Halt>("name", &all());
        work
    };
    let halt = Halt { name: all(), at: at(5), by: "owner".into() };
    let mut stop = batch(2);
    stop.put(&halt);
    let mut go_on = batch(4);
    go_on.erase::<Halt, _>("name", &[all()]);
    assert_eq!(ledger.halted().await.expect("halted"), None);
    let group = [start(1), stop, start(3)];
    let outcomes = transact(&*store, group).await;
    let present = Refusal::Present { table: "halts", column: "name" };
    assert_eq!(outcomes, [Ok(Written::Now), Ok(Written::Now), Err(present.clone())]);
    assert_eq!(ledger.halted().await.expect("halted"), Some(halt.clone()));
    assert_eq!(refusal(ledger.commit(start(5)).await), present);
    let mut again = batch(6);
    again.put(&halt);
    assert_eq!(refusal(ledger.commit(again).await), Refusal::Duplicate { table: "halts" });

    let outcomes = transact(&*store, [start(7), go_on, start(8)]).await;
    assert_eq!(outcomes, [Err(present), Ok(Written::Now), Ok(Written::Now)]);
    assert_eq!((ledger.halted().await.expect("halted"), used(&ledger, "day").await), (None, Some(2)));
    assert_eq!(count::<Event>(&ledger).await, 2);
}

fn tool(name: &str, score: Option<f64>) -> Tool {
    Tool {
        tool_id: name.parse().expect("a tool's name"),
        agent_access: r#"["main"]"#.into(),
        risk_level: "low".into(),
        execution_mode: "auto".into(),
        monitoring_level: 1,
        alignment_score_90d: score.map(|score| Ratio::new(score).expect("a ratio")),
        spec: Digest::of(name.as_bytes()),
        changed_at: at(1),
    }
}

pub(super) async fn tools_are_replaced_and_taken_out(ledger: Ledger, _: Arc<dyn Store>) {
    let mut work = batch(1);
    work.put(&tool("find_files", None)).put(&tool("delete_file", Some(0.5)));
    ledger.commit(work).await.expect("commit");
    let better = Tool { risk_level: "none".into(), ..tool("find_files", Some(1.0)) };
    let mut work = batch(2);
    work.put(&better);
    ledger.commit(work).await.expect("commit");
    assert_eq!(ledger.tools().await.expect("tools"), [tool("delete_file", Some(0.5)), better.clone()]);
    let mut work = batch(3);
    work.erase::<Tool, _>("tool_id", &[tool("delete_file", None).tool_id]);
    ledger.commit(work).await.expect("commit");
    assert_eq!(ledger.tools().await.expect("tools"), [better]);
}

/// To the last bit, whichever way they are looked at.
pub(super) async fn ratios_come_back_as_they_went_in(ledger: Ledger, _: Arc<dyn Store>) {
    let third = 1.0 / 3.0;
    let scores = [0.0, 1.0, 0.1, 0.1 + 0.2, third, 1.0 - f64::EPSILON, f64::EPSILON, 1e-300, 5e-324];
    let scores = scores.into_iter().map(Some).chain([None]);
    // Numbers that need every digit they have.
    let many = (1..200_u32).map(|n| Some(f64::from(n).sqrt().fract()));
    let mut tools: Vec<Tool> = (0..)
        .zip(scores.chain(many))
        .map(|(n, score): (u32, _)| tool(&format!("tool-{n:03}"), score))
        .collect();
    let mut work = batch(1);
    for tool in &tools {
        work.put(tool);
    }
    ledger.commit(work).await.expect("commit");
    assert_eq!(ledger.tools().await.expect("tools"), tools);

    let all = Select::<Tool>::all().ascending("tool_id").query;
    let mut snapshot = ledger.snapshot().await.expect("snapshot");
    let selected = snapshot.select(&all).await.expect("rows");
    let mut scanned: Vec<Row> = Vec::new();
    let mut visit = |cells: &[Ref<'_>]| scanned.push(cells.iter().map(|cell| cell.keep()).collect());
    snapshot.scan(&all, &mut visit).await.expect("scan");
    assert_eq!(scanned, selected);
    drop(snapshot);

    let half = Ratio::new(0.5).expect("a ratio");
    tools.retain(|tool| tool.alignment_score_90d > Some(half));
    let high = Select::<Tool>::all().filter("alignment_score_90d", crate::Op::Gt, &half).ascending("tool_id");
    assert_eq!(ledger.select(high).await.expect("tools"), tools, "compared as numbers");
}
