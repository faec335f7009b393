//! What a call costs beyond its tool and the disk: 64 callers at once, each through the whole door again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use broker::budget::{Scope, Standing};
use broker::{Pending, Prepared};
use domain::id::{BatchId, NodeId, TaskId};
use domain::limits::LEASE;
use domain::probe::Silent;
use domain::{Clock as _, Digest, IdSource, Stop};
use ledger::audit_event::OWNER;
use ledger::records::Salt;
use ledger::{AuditEvent, Batch, Ledger, Seal, Store};
use tokio::task::JoinSet;

use crate::disk::{computed, syncs, written};
use crate::nowhere::Nowhere;
use crate::world::{Note, Now, World, accounts};
use crate::{Place, median};

const CALLERS: u64 = 64;
const ROUNDS: usize = 7;

/// Ids as good as random, and the same in every run.
struct Numbered(AtomicU64);

impl IdSource for Numbered {
    fn bits(&self) -> u128 {
        let digest = Digest::of(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        digest.as_bytes().iter().take(16).fold(0, |bits, byte| (bits << 8) | u128::from(*byte))
    }
}

/// One house with its broker and its ledger.
pub(crate) struct House {
    world: World,
    ledger: Ledger,
    ids: Numbered,
    calls: AtomicU64,
}

/// What a round took, per call.
struct Round {
    wall: Duration,
    cpu: f64,
    transactions: u64,
    bytes: u64,
}

impl House {
    pub(crate) async fn begin(world: World, store: Arc<dyn Store>) -> Arc<Self> {
        let ledger = Ledger::start(store, Seal::for_tests(NodeId::from_bits(1), [7; 32]), Arc::new(Silent));
        let ids = Numbered(AtomicU64::new(1));
        let mut first = Batch::new(BatchId::random(&ids), Now.now());
        first.put(&world.salt).audit(AuditEvent::InstanceResumed.entry(OWNER, Now.now()));
        ledger.commit(first).await.expect("durable");
        Arc::new(Self { world, ledger, ids, calls: AtomicU64::new(0) })
    }

    /// As a driver begins one.
    fn batch(&self) -> Batch {
        let mut batch = Batch::new(BatchId::dated(Now.now(), &self.ids), Now.now());
        batch.expect_present::<Salt>("person", &self.world.salt.person);
        batch
    }

    /// Asked, and what has to be durable first is in the batch.
    async fn ask(&self, task: TaskId, n: u64, batch: &mut Batch) -> Pending {
        let World { broker, limits, .. } = &self.world;
        let accounts = accounts(task);
        let mut standing = Standing::default();
        if !limits.is_empty() {
            let names: Vec<String> = Scope::ALL.iter().map(|scope| accounts.name(*scope)).collect();
            standing = Standing::of(&self.ledger.budgets(&names).await.expect("budgets"));
        }
        let context = self.world.call_context(&accounts, &standing);
        let ruled = broker.authorize(self.world.call(task, n), &context).expect("a form");
        let prepared = Prepared::new(ruled, self.world.context(), Now.now()).expect("let through");
        prepared.enter(None, &mut standing, batch)
    }

    /// One call, from the question to its durable result.
    async fn call(&self, task: TaskId, n: u64) {
        let mut batch = self.batch();
        let pending = self.ask(task, n, &mut batch).await;
        let receipt = self.ledger.commit(batch).await.expect("durable");
        let authorized = pending.authorize(&receipt, Now.now().plus(LEASE)).expect("its receipt");
        let finished =
            self.world.broker.execute(authorized, &Stop::default(), &Stop::default()).await.expect("in time");
        let mut batch = self.batch();
        finished.enter(self.world.context(), &mut batch).expect("a form");
        self.ledger.commit(batch).await.expect("durable");
        finished.outcome.expect("it only does nothing");
    }

    /// So many calls, 64 in flight, each caller with a task of its own.
    async fn round(self: &Arc<Self>, calls: u64) -> Round {
        let (barriers, cpu, bytes, started) = (self.ledger.barriers(), computed(), written(), Instant::now());
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let house = Arc::clone(self);
            let task = TaskId::random(&self.ids);
            callers.spawn(async move {
                for n in 0..calls / CALLERS {
                    house.call(task, n).await;
                }
            });
        }
        callers.join_all().await;
        self.calls.fetch_add(calls, Ordering::Relaxed);
        Round {
            wall: started.elapsed(),
            cpu: (computed() - cpu) / calls as f64,
            transactions: self.ledger.barriers() - barriers,
            bytes: written() - bytes,
        }
    }

    /// The handler alone, 64 in flight, with calls that were authorised before.
    async fn tool(self: &Arc<Self>, calls: u64) -> Duration {
        let mut leaves = Vec::new();
        for _ in 0..CALLERS {
            let (mut batch, task) = (self.batch(), TaskId::random(&self.ids));
            let mut pending = Vec::new();
            for n in 0..calls / CALLERS {
                pending.push(self.ask(task, n, &mut batch).await);
            }
            let receipt = self.ledger.commit(batch).await.expect("durable");
            let until = Now.now().plus(LEASE);
            let leave = |pending: Pending| pending.authorize(&receipt, until).expect("its receipt");
            leaves.push(pending.into_iter().map(leave).collect::<Vec<_>>());
        }
        let (mut callers, started) = (JoinSet::new(), Instant::now());
        for leaves in leaves {
            callers.spawn(async move {
                for leave in leaves {
                    let returned = broker::Handler::call(&Note, leave).await;
                    returned.outcome.expect("it only does nothing");
                }
            });
        }
        callers.join_all().await;
        started.elapsed()
    }

    /// Two entries per call, in a chain that holds.
    async fn check(&self) -> String {
        let (calls, verification) =
            (self.calls.load(Ordering::Relaxed), self.ledger.verify_audit().await.expect("readable"));
        let entries = verification.entries();
        assert!(verification.is_consistent() && entries == 2 * calls + 1, "{calls} calls: {verification:?}");
        format!("{calls} calls, {entries} audit entries in a chain that holds")
    }
}

/// Rounds of everything, one after the other, so that the machine's moods hit all of it.
pub(crate) async fn measure(place: &Place<'_>, calls: u64, globs: usize) {
    let calls = calls.next_multiple_of(CALLERS);
    let world = |budgets| World::new(place.folder, globs, budgets);
    let house = House::begin(world(true), place.store("on").await).await;
    let free = House::begin(world(false), place.store("off").await).await;
    let nowhere = House::begin(world(true), Arc::new(Nowhere::default())).await;
    let mut disk = place.disk().await;
    println!("{CALLERS} callers, {calls} calls a round, {globs} globs; µs per call\n");
    println!(
        "| round | whole | disk | tool | the rest | without budgets: the rest | nowhere: the rest | CPU, whole | CPU, nowhere | \
         disk, as many rows | disk, the same bytes | batches per transaction | kB per call |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let (mut rests, mut frees, mut nowheres) = (Vec::new(), Vec::new(), Vec::new());
    let (mut disks, mut tools) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let per = |time: Duration| time.as_secs_f64() * 1e6 / calls as f64;
        let on = house.round(calls).await;
        let off = free.round(calls).await;
        let none = nowhere.round(calls).await;
        let tool = per(nowhere.tool(calls).await);
        let least = per(disk.transactions(on.transactions, 1).await);
        let least_off = per(disk.transactions(off.transactions, 1).await);
        let together = 2 * calls / on.transactions.max(1);
        let rows = per(disk.transactions(on.transactions, together).await);
        let bytes = if place.server.is_some() { 0 } else { on.bytes / on.transactions.max(1) };
        let plain = per(syncs(&place.folder.join("plain"), on.transactions, bytes));
        std::fs::remove_file(place.folder.join("plain")).expect("removed");
        let rest = per(on.wall) - least - tool;
        let rest_off = per(off.wall) - least_off - tool;
        let rest_nowhere = per(none.wall) - tool;
        if round == 0 {
            continue; // to warm up: schemas are compiled, files have their first pages
        }
        println!(
            "| {round} | {:.0} | {least:.0} | {tool:.1} | {rest:.0} | {rest_off:.0} | {rest_nowhere:.0} | {:.0} | {:.0} | {rows:.0} | \
             {plain:.0} | {:.1} | {:.1} |",
            per(on.wall),
            on.cpu,
            none.cpu,
            2.0 * calls as f64 / on.transactions.max(1) as f64,
            on.bytes as f64 / calls as f64 / 1024.0,
        );
        rests.push(rest);
        frees.push(rest_off);
        nowheres.push(rest_nowhere);
        disks.push(least);
        tools.push(tool);
    }
    let rest = median(rests);
    println!(
        "\nmedian of the rest: {rest:.0} µs with a budget of calls, {:.0} without, {:.0} without a database",
        median(frees),
        median(nowheres)
    );
    println!("{}; {}", house.check().await, free.check().await);
    // For `cargo xtask bench`: microseconds per call, medians.
    println!(
        r#"{{"in_flight":{CALLERS},"beyond_us":{rest:.1},"disk_us":{:.1},"tool_us":{:.1}}}"#,
        median(disks),
        median(tools)
    );
}
