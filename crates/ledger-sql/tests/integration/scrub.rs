//! What is erased is not left in SQLite's files either.

use std::path::Path;
use std::sync::Arc;

use domain::id::{BatchId, NodeId};
use domain::probe::Silent;
use domain::{Digest, Time};
use ledger::records::{Blob, Salt, SaltBytes};
use ledger::{Batch, Ledger, Seal, Store as _, StoreError};
use ledger_sql::SqliteStore;
use rusqlite::Connection;

const PEOPLE: u128 = 8;
const MESSAGES: u128 = 400;

fn batch(n: u128) -> Batch {
    Batch::new(BatchId::from_bits(n), Time::from_micros(0))
}

fn person(n: u128) -> String {
    format!("p-canary-{n}-")
}

fn ledger(store: &Arc<SqliteStore>) -> Ledger {
    Ledger::start(
        Arc::<SqliteStore>::clone(store),
        Seal::for_tests(NodeId::from_bits(1), [7; 32]),
        Arc::new(Silent),
    )
}

/// Messages of several people in turn, short ones and such that do not fit on a page.
async fn fill(ledger: &Ledger) {
    for n in 0..MESSAGES {
        let name = person(n % PEOPLE);
        let salt = Salt { person: name.clone(), salt: SaltBytes::new(Digest::of(name.as_bytes())) };
        let mut work = batch(n);
        if n < PEOPLE {
            work.put(&salt);
        }
        let long = if n % 5 == 0 { 9_000 } else { 20 * (n % 13) };
        let content = format!("{name}{}{name}", "x".repeat(usize::try_from(long).expect("short")));
        work.put(&Blob::personal(format!("{n} {content}").into(), &salt));
        ledger.commit(work).await.expect("commit");
    }
}

/// How often these bytes stand in the files of the database.
fn found(folder: &Path, what: &str) -> usize {
    let files = std::fs::read_dir(folder).expect("folder").map(|file| file.expect("file").path());
    files
        .map(|path| std::fs::read(path).expect("bytes"))
        .map(|bytes| bytes.windows(what.len()).filter(|window| *window == what.as_bytes()).count())
        .sum()
}

fn erase_each_but_the_last() -> Batch {
    let mut work = batch(10_000);
    for n in 0..PEOPLE - 1 {
        work.erase::<Blob, _>("person", &[person(n)]).erase::<Salt, _>("person", &[person(n)]);
    }
    work
}

#[tokio::test]
async fn what_was_erased_stands_in_no_file_of_the_database() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Arc::new(SqliteStore::open(&folder.path().join("regent.db")).await.expect("open"));
    let ledger = ledger(&store);
    fill(&ledger).await;
    store.upkeep().await.expect("part of it is in the database, part in the log");
    ledger.commit(erase_each_but_the_last()).await.expect("erase");
    let before: usize = (0..PEOPLE - 1).map(|n| found(folder.path(), &person(n))).sum();
    assert!(before > 0, "the log still has it, so this test can fail");
    // Another process has it open, and reads and writes; an idle one holds nothing up.
    let other = SqliteStore::open(&folder.path().join("regent.db")).await.expect("open");
    other.describe().await.expect("describe");
    store.scrub().await.expect("scrub");
    for n in 0..PEOPLE - 1 {
        assert_eq!(found(folder.path(), &person(n)), 0, "person {n}");
    }
    assert!(found(folder.path(), &person(PEOPLE - 1)) > 0, "the others are untouched");
    let left = ledger.select(ledger::Select::<Blob>::all()).await.expect("blobs");
    assert_eq!(left.len() as u128, MESSAGES / PEOPLE);
}

/// Whoever reads an old state keeps the log; that is said, and the next time it is done.
#[tokio::test]
async fn a_reader_of_an_old_state_keeps_the_log_and_that_is_said() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("regent.db");
    let store = Arc::new(SqliteStore::open(&path).await.expect("open"));
    let ledger = ledger(&store);
    fill(&ledger).await;
    let reader = Connection::open(&path).expect("connect");
    reader.execute_batch("BEGIN; SELECT count(*) FROM blobs").expect("an old state");
    ledger.commit(erase_each_but_the_last()).await.expect("erase");
    assert!(matches!(store.scrub().await, Err(StoreError::Busy)));
    assert!(found(folder.path(), &person(0)) > 0, "it is still there");
    reader.execute_batch("ROLLBACK").expect("done reading");
    store.scrub().await.expect("scrub");
    assert_eq!(found(folder.path(), &person(0)), 0);
}
