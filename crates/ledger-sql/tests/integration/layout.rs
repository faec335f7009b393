//! An instance whose tables have the layout of the version before is brought forward: every row is there afterwards, every
//! byte of the audit, and a fault of a migration changes nothing. With `TESTKIT_FULL=1` it has a million rows.

use std::path::Path;
use std::sync::Arc;

use domain::Time;
use domain::id::{BatchId, NodeId};
use domain::probe::Silent;
use ledger::records::{Blob, Event, Lease, Origin, Reason, TaskStep};
use ledger::sample::SampleRecord as _;
use ledger::{Batch, Entry, Ledger, Op, Seal, Select, StoreError};
use ledger_sql::{Hold, SqliteStore};
use rusqlite::Connection;

/// The schema before, as its migrations made it.
const BEFORE: [&str; 8] = [
    include_str!("../../migrations/sqlite/0001_first_walk.sql"),
    include_str!("../../migrations/sqlite/0002_the_ground.sql"),
    include_str!("../../migrations/sqlite/0003_the_stranger.sql"),
    include_str!("../../migrations/sqlite/0004_the_broker.sql"),
    include_str!("../../migrations/sqlite/0005_approvals.sql"),
    include_str!("../../migrations/sqlite/0006_access.sql"),
    include_str!("../../migrations/sqlite/0007_authority.sql"),
    include_str!("../../migrations/sqlite/0008_instructions.sql"),
];

/// A batch has eight rows, with its own and that of its audit entry.
const ROWS: u64 = 8;

fn seal() -> Arc<Seal> {
    Arc::new(Seal::for_tests(NodeId::from_bits(1), [7; 32]))
}

fn batch(n: u64) -> Batch {
    let at = Time::from_micros(1_800_000_000_000_000 + i64::try_from(n).expect("small"));
    let mut batch = Batch::new(BatchId::from_bits(n.into()), at);
    batch.put(&Event::sample(n)).put(&Origin::sample(n)).put(&TaskStep::sample(n)).put(&Reason::sample(n));
    batch.put(&Lease::sample(n)).put(&Blob::public(n.to_be_bytes().to_vec()));
    batch.audit(Entry {
        at,
        kind: "call.finished".into(),
        actor: "agent:main".into(),
        subject: format!("c-{n}"),
        trust: None,
        origin_id: None,
        reason_id: None,
        vpol_id: None,
        detail: serde_json::json!({ "n": n }),
    });
    batch
}

/// The database as the version before would have it: the same rows in the old tables.
async fn make_old(path: &Path, batches: u64) {
    let new = path.with_extension("new");
    let store = Arc::new(SqliteStore::open(&new).await.expect("open"));
    let ledger = Ledger::start(Arc::<SqliteStore>::clone(&store) as _, seal(), Arc::new(Silent));
    for first in (0..batches).step_by(256) {
        let mut pending = Vec::new();
        for n in first..(first + 256).min(batches) {
            pending.push(ledger.submit(batch(n)).await.expect("submit"));
        }
        for commit in pending {
            commit.receipt().await.expect("commit");
        }
    }
    store.close().await;
    let old = Connection::open(path).expect("a file");
    for migration in BEFORE {
        old.execute_batch(migration).expect("the old schema");
    }
    old.execute("DELETE FROM database_stamp", []).expect("its stamp");
    old.execute("ATTACH ? AS new", [new.to_str().expect("text")]).expect("attach");
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut tables = old.prepare(names).expect("tables");
    let names: Vec<String> =
        tables.query_map([], |row| row.get(0)).expect("tables").collect::<Result<_, _>>().expect("names");
    drop(tables);
    for name in names {
        old.execute(&format!("INSERT INTO main.{name} SELECT * FROM new.{name}"), []).expect("rows");
    }
    old.execute_batch("DETACH new; PRAGMA application_id = 1380404820; PRAGMA user_version = 8")
        .expect("marks");
    old.close().expect("close");
}

#[tokio::test]
async fn every_row_and_every_byte_of_the_audit_comes_along() {
    let batches = if services::is_full() { 1_000_000 / ROWS } else { 2_000 };
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("regent.db");
    make_old(&path, batches).await;
    let before = SqliteStore::tally(&path).await.expect("tally");
    assert_eq!((before.schema, before.total()), (8, batches * ROWS + 2), "with the head and the stamp");

    let hold = Hold::take(&path).await.expect("hold");
    hold.migrate(None, seal(), Arc::new(Silent)).await.expect("migrate");
    let after = SqliteStore::tally(&path).await.expect("tally");
    assert_eq!((after.schema, before.lost_in(&after)), (SqliteStore::known_schema(), None));
    assert_eq!((after.rows, after.chain), (before.rows, before.chain));

    let store = Arc::new(SqliteStore::open(&path).await.expect("open"));
    let ledger = Ledger::start(store, seal(), Arc::new(Silent));
    assert!(ledger.verify_audit().await.expect("verify").is_consistent());
    // Numbers go on, and what was written is found under its key.
    ledger.commit(batch(batches)).await.expect("the next one");
    let last = Select::<TaskStep>::all().descending("seq").limit(1);
    let last = ledger.select(last).await.expect("steps").pop().expect("a step");
    assert_eq!(last.seq.0, Some(i64::try_from(batches).expect("small") + 1));
    let lease = Lease::sample(batches / 2);
    let found: Vec<Lease> =
        ledger.select(Select::all().filter("subject", Op::Eq, &lease.subject)).await.expect("leases");
    assert_eq!(found, [lease]);
    let guarded = Connection::open(&path).expect("open").execute("DELETE FROM task_steps", []);
    assert!(guarded.expect_err("guarded").to_string().contains("append-only"));
}

/// A trigger of another program swallows rows while they are copied: nothing is changed.
#[tokio::test]
async fn a_migration_that_loses_a_row_changes_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("regent.db");
    make_old(&path, 50).await;
    let old = Connection::open(&path).expect("open");
    old.execute_batch("CREATE VIEW wrong AS SELECT * FROM nowhere").expect("a view of another program");
    old.close().expect("close");
    let before = SqliteStore::tally(&path).await.expect("tally");
    let hold = Hold::take(&path).await.expect("hold");
    let refused = hold.migrate(None, seal(), Arc::new(Silent)).await.expect_err("refused");
    assert!(matches!(refused, StoreError::Other(_)), "{refused}");
    assert_eq!(SqliteStore::tally(&path).await.expect("tally"), before);
}
