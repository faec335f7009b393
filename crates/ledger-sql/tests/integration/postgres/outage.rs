//! A server that goes away, comes back, or says nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use ledger::{CommitError, Ledger, StoreError};
use ledger_sql::PostgresStore;
use services::{Flavour, Postgres, Stop};
use tokio::task::JoinSet;

use crate::postgres::world::{batch, commit, holds_exactly, ledger, timed};

fn own() -> (Postgres, String) {
    let server = Postgres::start(Flavour::Plain).expect("a server");
    let url = server.create_database().expect("a database");
    (server, url)
}

/// Writers commit all the time while the server fails as if the power had, three times.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_the_server_and_the_ledger_goes_on_by_itself() {
    const WRITERS: u32 = 4;
    let (mut server, url) = own();
    let ledger = Arc::new(ledger(&url).await);
    let (next, done) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (ledger, next, done) = (Arc::clone(&ledger), Arc::clone(&next), Arc::clone(&done));
        writers.spawn(async move {
            while !done.load(Ordering::Relaxed) {
                commit(&ledger, next.fetch_add(1, Ordering::Relaxed)).await;
            }
        });
    }
    for how in [Stop::Immediate, Stop::Fast, Stop::Immediate] {
        let before = next.load(Ordering::Relaxed);
        while next.load(Ordering::Relaxed) < before + 50 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        server.stop(how);
        tokio::time::sleep(Duration::from_millis(700)).await;
        server.resume().expect("it starts again");
    }
    let before = next.load(Ordering::Relaxed);
    while next.load(Ordering::Relaxed) < before + 50 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    done.store(true, Ordering::Relaxed);
    writers.join_all().await;
    holds_exactly(&ledger, 0..next.load(Ordering::Relaxed)).await;
}

/// Away for longer than anybody waits: writing and reading say so in the same time, and the next try finds it again.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stays_away_is_said_to_be_in_time_and_found_again() {
    const PATIENCE: Duration = Duration::from_secs(20);
    let (mut server, url) = own();
    let ledger = ledger(&url).await;
    commit(&ledger, 0).await;
    holds_exactly(&ledger, [0]).await;
    server.stop(Stop::Fast);
    let ((written, writing), (read, reading)) =
        tokio::join!(timed(ledger.commit(batch(1))), timed(ledger.verify_audit()));
    match written {
        Err(CommitError::Store(error)) => assert!(is_away(&error), "{error:?}"),
        other => panic!("nobody is there, and it is {other:?}"),
    }
    let read = read.expect_err("nobody is there");
    assert!(is_away(&read), "{read:?}");
    assert!(writing > Duration::from_secs(8) && writing < PATIENCE, "writing waited {writing:?}");
    assert!(reading > Duration::from_secs(8) && reading < PATIENCE, "reading waited {reading:?}");
    let (opened, opening) = timed(PostgresStore::open(&url)).await;
    assert!(opened.is_err_and(|error| is_away(&error)) && opening < Duration::from_secs(2), "{opening:?}");
    server.resume().expect("it starts again");
    commit(&ledger, 2).await;
    holds_exactly(&ledger, [0, 2]).await;
}

fn is_away(error: &StoreError) -> bool {
    matches!(error, StoreError::Lost(_) | StoreError::Unreachable(_))
}

/// It accepts connections and says nothing, as a machine does that has no memory left.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_says_nothing_is_not_waited_for_for_ever() {
    let (server, url) = own();
    server.pause();
    let (opened, took) = timed(PostgresStore::open(&url)).await;
    assert!(opened.is_err_and(|error| is_away(&error)));
    assert!(took < Duration::from_secs(35), "{took:?}");
    server.unpause();
    commit(&ledger(&url).await, 1).await;
}

/// One that is starting is waited for.
#[tokio::test(flavor = "multi_thread")]
async fn readers_that_were_cut_off_read_on() {
    let (mut server, url) = own();
    let ledger: Ledger = ledger(&url).await;
    for n in 0..20 {
        commit(&ledger, n).await;
    }
    // All readers are connected, then all are cut off.
    let verify = || async { ledger.verify_audit().await.expect("verify") };
    tokio::join!(verify(), verify(), verify(), verify());
    server.stop(Stop::Immediate);
    server.resume().expect("it starts again");
    let read = tokio::join!(verify(), verify(), verify(), verify());
    assert!(read.0.is_consistent() && read.3.is_consistent());
    holds_exactly(&ledger, 0..20).await;
}
