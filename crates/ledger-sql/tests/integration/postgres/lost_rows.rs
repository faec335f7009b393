//! A database that keeps rows out without an error: what is not written is noticed, and then nothing is.

use domain::id::BatchId;
use domain::{Digest, Time};
use ledger::records::{Blob, Salt, SaltBytes};
use ledger::{Batch, CommitError, Ledger, StoreError};
use ledger_sql::{PostgresHold, PostgresStore};

use crate::postgres::world::{Raw, batch, commit, database, holds_exactly, ledger, open};

const NULL_FUNCTION: &str = "CREATE FUNCTION brainframe.swallow() RETURNS trigger LANGUAGE plpgsql AS \
                             $$ BEGIN RETURN NULL; END $$";

/// The table, how many rows were handed in and how many were written.
fn lost(result: Result<ledger::Receipt, CommitError>) -> (&'static str, u64, u64) {
    match result {
        Err(CommitError::Store(error)) => match *error {
            StoreError::RowsLost { table, asked, written } => (table, asked, written),
            ref other => panic!("another failure: {other:?}"),
        },
        other => panic!("must fail, is {other:?}"),
    }
}

#[tokio::test]
async fn a_row_that_a_trigger_or_a_rule_keeps_out_fails_the_transaction() {
    let trigger = |when: &str, table: &str| {
        let of = format!("BEFORE {when} ON brainframe.{table}");
        format!("CREATE TRIGGER swallow {of} FOR EACH ROW EXECUTE FUNCTION brainframe.swallow()")
    };
    let rule =
        |table: &str| format!("CREATE RULE swallow AS ON INSERT TO brainframe.{table} DO INSTEAD NOTHING");
    let table = [
        ("TRIGGER", "audit", trigger("INSERT", "audit")),
        ("TRIGGER", "commits", trigger("INSERT", "commits")),
        ("TRIGGER", "audit_heads", trigger("INSERT", "audit_heads")),
        // The head is there: it is replaced.
        ("TRIGGER", "audit_heads", trigger("UPDATE", "audit_heads")),
        ("RULE", "audit", rule("audit")),
        ("RULE", "commits", rule("commits")),
    ];
    let url = database();
    let ledger = ledger(&url).await;
    commit(&ledger, 0).await;
    let mut raw = Raw::connect(&url).await;
    raw.execute(NULL_FUNCTION).await;
    for (n, (kind, name, sql)) in (1..).zip(&table) {
        raw.execute(sql).await;
        assert_eq!(lost(ledger.commit(batch(n)).await), (*name, 1, 0), "{sql}");
        raw.execute(&format!("DROP {kind} swallow ON brainframe.{name}")).await;
        holds_exactly(&ledger, 0..n).await;
        commit(&ledger, n).await;
        holds_exactly(&ledger, 0..=n).await;
    }
}

/// One of several, and of those that came together with it, none.
#[tokio::test]
async fn one_row_of_several_that_is_kept_out_is_noticed() {
    let url = database();
    let ledger = ledger(&url).await;
    let mut raw = Raw::connect(&url).await;
    raw.execute(NULL_FUNCTION).await;
    raw.execute(
        "CREATE TRIGGER swallow BEFORE INSERT ON brainframe.salts FOR EACH ROW \
         WHEN (NEW.person = 'p-2') EXECUTE FUNCTION brainframe.swallow()",
    )
    .await;
    let result = ledger.commit(three(1)).await;
    assert_eq!(lost(result), ("salts", 3, 2));
    holds_exactly(&ledger, []).await;
    assert_eq!(people(&ledger).await, 0);
    raw.execute("DROP TRIGGER swallow ON brainframe.salts").await;
    ledger.commit(three(1)).await.expect("commit");
    assert_eq!(people(&ledger).await, 3);
}

fn three(n: u128) -> Batch {
    let mut batch = Batch::new(BatchId::from_bits(n), Time::from_micros(1_800_000_000_000_000));
    for person in ["p-1", "p-2", "p-3"] {
        batch.put(&Salt { person: person.into(), salt: SaltBytes::new(Digest::of(person.as_bytes())) });
    }
    batch
}

async fn people(ledger: &Ledger) -> usize {
    ledger.select(ledger::Select::<Salt>::all()).await.expect("salts").len()
}

/// The same body twice is one row: that fewer are written is no loss.
#[tokio::test]
async fn what_is_there_already_is_not_lost() {
    let ledger = ledger(&database()).await;
    for n in 0..2 {
        let mut twice = batch(n);
        twice.put(&Blob::public(b"the same".to_vec()));
        ledger.commit(twice).await.expect("commit");
    }
}

/// A restore writes every row, or is not done.
#[tokio::test]
async fn a_restore_into_a_database_that_keeps_rows_out_is_not_done() {
    let (from, to) = (database(), database());
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("copy.db");
    for n in 0..3 {
        commit(&ledger(&from).await, n).await;
    }
    PostgresStore::save_to(&*open(&from).await, &file).await.expect("saved");
    let there = ledger(&to).await;
    commit(&there, 7).await;
    let mut raw = Raw::connect(&to).await;
    for name in ["audit", "blobs"] {
        let rule = format!("CREATE RULE swallow AS ON INSERT TO brainframe.{name} DO INSTEAD NOTHING");
        raw.execute(&rule).await;
        let hold = PostgresHold::take(&to).await.expect("a lock");
        match hold.replace_by(&file).await {
            Err(StoreError::RowsLost { table, asked: 3, written: 0 }) => assert_eq!(table, name),
            other => panic!("{name}: must fail, is {other:?}"),
        }
        drop(hold);
        raw.execute(&format!("DROP RULE swallow ON brainframe.{name}")).await;
        holds_exactly(&there, [7]).await;
    }
    let hold = PostgresHold::take(&to).await.expect("a lock");
    hold.replace_by(&file).await.expect("replaced");
    hold.commit().await.expect("commit");
}
