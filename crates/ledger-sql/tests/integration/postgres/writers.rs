//! Several who write, and what happens around a commit.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::id::{BatchId, TaskId};
use domain::probe::{Point, Probe, Silent};
use domain::{Digest, Time};
use ledger::records::TaskStep;
use ledger::value::Seq;
use ledger::{Batch, CommitError, Ledger, Select, StoreError};
use services::{Flavour, Postgres};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::postgres::world::{Raw, batch, commit, database, holds_exactly, ledger, ledger_on, open, timed};

/// Ends every connection of a ledger to this database.
const END: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                   WHERE application_name = 'regent' AND datname = current_database()";
/// Only while it commits.
const END_IN_COMMIT: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                             WHERE application_name = 'regent' AND state = 'active' AND query = 'COMMIT'";

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_that_write_at_once_lose_nothing() {
    const EACH: u32 = 300;
    let url = database();
    let mut writers = JoinSet::new();
    for process in 0..2 {
        let ledger = Arc::new(ledger(&url).await);
        for writer in 0..4 {
            let ledger = Arc::clone(&ledger);
            writers.spawn(async move {
                for n in 0..EACH {
                    commit(&ledger, (process * 4 + writer) * EACH + n).await;
                }
            });
        }
    }
    writers.join_all().await;
    holds_exactly(&ledger(&url).await, 0..8 * EACH).await;
}

/// Eight writers hand in 2,000 batches, numbered from `first` on, which must all be acknowledged, while something else goes on.
async fn eight_write(ledger: &Arc<Ledger>, first: u32) {
    let mut writers = JoinSet::new();
    for writer in 0..8 {
        let ledger = Arc::clone(ledger);
        writers.spawn(async move {
            for n in 0..250 {
                commit(&ledger, first + writer * 250 + n).await;
            }
        });
    }
    writers.join_all().await;
}

/// The line breaks around commits: before the server hears of one, before its answer arrives, in between. Each batch is there
/// once, and whoever wrote it has the receipt for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_breaks_around_commits_loses_nothing_and_writes_nothing_twice() {
    let url = database();
    let (through, count) = crate::postgres::proxy::through(&url);
    eight_write(&Arc::new(ledger(&through).await), 0).await;
    let (unheard, unanswered) = (&count.unheard, &count.unanswered);
    let counts = [unheard, unanswered].map(|count| count.load(Ordering::Relaxed));
    assert!(counts.iter().all(|count| *count >= 20), "unheard, unanswered: {counts:?}");
    holds_exactly(&ledger(&url).await, 0..2_000).await;
}

/// Somebody ends their connections all the time, in the middle of whatever they are at.
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_ended_all_the_time_lose_nothing_and_write_nothing_twice() {
    const ROUNDS: u64 = 50;
    const ENOUGH: i64 = 20;
    let server = Postgres::start(Flavour::Plain).expect("a server");
    let url = server.create_database().expect("a database");
    let ledger = Arc::new(ledger(&url).await);
    let mut raw = Raw::connect(&url).await;
    let ended = AtomicI64::new(0);
    let ends_them = async {
        for round in 0..ROUNDS {
            let ends = if round % 3 == 0 { END } else { END_IN_COMMIT };
            let mut now = 0;
            while now == 0 {
                now = raw.number(ends).await;
            }
            ended.fetch_add(now, Ordering::Relaxed);
            // Not in step with the writers, and longer than it takes to connect.
            tokio::time::sleep(Duration::from_micros(25_000 + round * 7_919 % 40_000)).await;
        }
        std::future::pending::<()>().await;
    };
    let mut written = 0;
    let write = async {
        // A fast disk gives little time to end somebody in a commit.
        while written == 0 || (ended.load(Ordering::Relaxed) < ENOUGH && written < 40_000) {
            eight_write(&ledger, written).await;
            written += 2_000;
        }
    };
    tokio::select! { () = ends_them => {}, () = write => {} }
    assert!(ended.load(Ordering::Relaxed) >= ENOUGH, "{ended:?} after {written} batches");
    holds_exactly(&ledger, 0..written).await;
}

/// A server that waits for a replica which never comes has committed, and the connection is cut before it says so. The next
/// try finds the batch, and it is ours.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_never_comes_is_found_to_be_ours() {
    const WAITS: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                         WHERE application_name = 'regent' AND wait_event = 'SyncRep'";
    let server = Postgres::start(Flavour::Plain).expect("a server");
    let url = server.create_database().expect("a database");
    let ledger = ledger(&url).await;
    let mut raw = Raw::connect(&url).await;
    raw.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'").await;
    raw.execute("SELECT pg_reload_conf()").await;
    for n in 0..20 {
        let cut = async {
            while raw.number(WAITS).await == 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::join!(commit(&ledger, n), cut);
    }
    holds_exactly(&ledger, 0..20).await;
    // Several in one group, one of them handed in twice: the second time it is not this batch that was written.
    let (first, again) = (batch(20), batch(20));
    let (token, other) = (first.token(), again.token());
    let cut = async {
        while raw.number(WAITS).await == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        raw.execute("ALTER SYSTEM RESET synchronous_standby_names").await;
        raw.execute("SELECT pg_reload_conf()").await;
    };
    let (first, again, (), ()) =
        tokio::join!(ledger.commit(first), ledger.commit(again), commit_soon(&ledger, 21), cut);
    assert!(first.expect("commit").is_for(&token));
    assert!(!again.expect("commit").is_for(&other), "nothing of it was written");
    holds_exactly(&ledger, 0..=21).await;
}

async fn commit_soon(ledger: &Ledger, n: u32) {
    tokio::task::yield_now().await;
    commit(ledger, n).await;
}

/// Rows of one statement are numbered in the order in which they were put into their batches.
#[tokio::test]
async fn sequence_numbers_follow_the_order_of_the_rows() {
    const ROWS: u32 = 500;
    let ledger = ledger(&database()).await;
    let mut batch = Batch::new(BatchId::from_bits(1), Time::from_micros(0));
    for n in 0..ROWS {
        // In no order of any of their cells.
        let (task, at) =
            (TaskId::from_bits(u128::from(n * 7_919 % ROWS)), Time::from_micros(i64::from(n % 7)));
        let body = Digest::of(&n.to_be_bytes());
        batch.put(&TaskStep { seq: Seq(None), task, n: n.into(), epoch: n.into(), body, at });
    }
    ledger.commit(batch).await.expect("commit");
    let steps: Vec<TaskStep> = ledger.select(Select::all().ascending("seq")).await.expect("steps");
    let order: Vec<u64> = steps.iter().map(|step| step.epoch).collect();
    assert_eq!(order, (0..u64::from(ROWS)).collect::<Vec<_>>());
}

/// Somebody holds the writers' lock, does nothing, and is not of our making: others are told, they do not hang.
#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_nobody_lets_go_makes_others_busy() {
    let url = database();
    let ledger = ledger(&url).await;
    let mut raw = Raw::connect(&url).await;
    raw.execute(&format!("BEGIN; SELECT pg_advisory_xact_lock({})", 0x7265_6765_6E74_i64)).await;
    let (result, took) = timed(ledger.commit(batch(1))).await;
    match result {
        Err(CommitError::Store(error)) => assert!(matches!(&*error, StoreError::Busy), "{error:?}"),
        other => panic!("must be busy, is {other:?}"),
    }
    assert!((Duration::from_secs(9)..Duration::from_secs(15)).contains(&took), "{took:?}");
    assert!(ledger.verify_audit().await.expect("reading goes on").is_consistent());
    raw.execute("ROLLBACK").await;
    commit(&ledger, 2).await;
    holds_exactly(&ledger, [2]).await;
}

/// Stops its process in the middle of its first transaction: says so, and waits until it may wake.
struct Frozen(Mutex<Option<(Sender<()>, Receiver<()>)>>);

impl Probe for Frozen {
    fn reached(&self, point: Point<'_>) {
        let first = match point {
            Point::Writing { table: "commits" } => self.0.lock().expect("lock").take(),
            _ => None,
        };
        if let Some((frozen, wakes)) = first {
            frozen.send(()).expect("somebody waits for it");
            wakes.recv().expect("somebody wakes it");
        }
    }
}

/// Whoever freezes inside a transaction is put out by the server; others go on, and so does it when it wakes.
#[test]
fn a_writer_that_freezes_is_put_out_and_goes_on_when_it_wakes() {
    let url = database();
    let other = Runtime::new().expect("runtime");
    let awake = other.block_on(async { ledger_on(open(&url).await, Arc::new(Silent)) });
    let (frozen, has_frozen) = std::sync::mpsc::channel();
    let (wake, wakes) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            Runtime::new().expect("runtime").block_on(async {
                let probe = Arc::new(Frozen(Mutex::new(Some((frozen, wakes)))));
                commit(&ledger_on(open(&url).await, probe), 1).await;
            });
        });
        has_frozen.recv().expect("it is in its transaction");
        let ((), took) = other.block_on(timed(commit(&awake, 2)));
        wake.send(()).expect("it is frozen");
        assert!((Duration::from_secs(3)..Duration::from_secs(7)).contains(&took), "{took:?}");
    });
    other.block_on(holds_exactly(&awake, [1, 2]));
}

/// A server has few connections: one process takes one to write, one to read, and up to four to read at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_takes_few_connections() {
    const OURS: &str = "SELECT count(*) FROM pg_stat_activity \
                        WHERE application_name = 'regent' AND datname = current_database()";
    let url = database();
    let ledger = ledger(&url).await;
    let mut raw = Raw::connect(&url).await;
    for n in 0..10 {
        commit(&ledger, n).await;
        ledger.verify_audit().await.expect("verify");
        ledger.describe().await.expect("describe");
        ledger.upkeep().await.expect("upkeep");
    }
    // The server may still be ending a connection that was closed.
    let mut taken = raw.number(OURS).await;
    for _ in 0..100 {
        if taken == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        taken = raw.number(OURS).await;
    }
    assert_eq!(taken, 2);
    let ledger = Arc::new(ledger);
    let mut readers = JoinSet::new();
    for _ in 0..16 {
        let ledger = Arc::clone(&ledger);
        readers.spawn(async move { ledger.verify_audit().await.expect("verify").is_consistent() });
    }
    assert!(readers.join_all().await.into_iter().all(|consistent| consistent));
    let taken = raw.number(OURS).await;
    assert!((1..=5).contains(&taken), "{taken}");
}
