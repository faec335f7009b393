//! SQLite passes the suite, and its schema is what the records say.

use std::sync::Arc;

use domain::Time;
use domain::id::{BatchId, NodeId};
use ledger::chain::Fault;
use ledger::records::{Blob, Salt, SaltBytes, TABLES};
use ledger::table::Write;
use ledger::{Batch, CommitError, Entry, Ledger, Refusal, Seal, Store, StoreError};
use ledger_sql::SqliteStore;
use ledger_sql::schema::{SqlDialect, create_table, declared_schema, missing_from, read_sqlite};
use rusqlite::Connection;

use crate::fill;

const SCHEMA: i64 = SqliteStore::known_schema();

async fn open(folder: &tempfile::TempDir) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(&folder.path().join("regent.db")).await
}

fn raw(folder: &tempfile::TempDir) -> Connection {
    Connection::open(folder.path().join("regent.db")).expect("connect")
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_conforms() {
    let folders = std::cell::RefCell::new(Vec::new());
    ledger::conformance::run(async || {
        let folder = tempfile::tempdir().expect("folder");
        let store: Arc<dyn Store> = Arc::new(open(&folder).await.expect("open"));
        folders.borrow_mut().push(folder);
        store
    })
    .await;
}

#[tokio::test]
async fn the_schema_is_what_the_records_say() {
    let folder = tempfile::tempdir().expect("folder");
    open(&folder).await.expect("open");
    let migrated = read_sqlite(&folder.path().join("regent.db")).expect("schema");
    assert_eq!(migrated, declared_schema(SqlDialect::Sqlite));
    let missing: Vec<String> = missing_from(&migrated, &TABLES).iter().map(ToString::to_string).collect();
    assert_eq!(missing, [""; 0], "`cargo run -p ledger-sql --example migration` writes what is missing");
}

/// What is written into the next migration is what the records say, too.
#[tokio::test]
async fn a_schema_that_is_made_from_the_records_is_the_same() {
    let folder = tempfile::tempdir().expect("folder");
    let db = raw(&folder);
    let ours = format!("PRAGMA application_id = 1380404820; PRAGMA user_version = {SCHEMA};");
    let tables = TABLES.map(|table| create_table(SqlDialect::Sqlite, table)).concat();
    for sql in [ours, tables] {
        db.execute_batch(&sql).expect("made");
    }
    db.close().expect("close");
    let made = read_sqlite(&folder.path().join("regent.db")).expect("schema");
    assert_eq!(made, declared_schema(SqlDialect::Sqlite));
}

/// Tables of which nothing is ever changed are guarded by the database itself, and all others are not.
#[tokio::test]
async fn what_is_for_ever_cannot_be_changed_or_deleted() {
    let folder = tempfile::tempdir().expect("folder");
    fill(Arc::new(open(&folder).await.expect("open"))).await;
    let db = raw(&folder);
    for table in TABLES {
        let (name, column) = (table.name, table.key[0]);
        for statement in
            [format!("UPDATE {name} SET \"{column}\" = \"{column}\""), format!("DELETE FROM {name}")]
        {
            let refused = db.execute(&statement, []).err().map(|error| error.to_string());
            let expected = refused.as_ref().is_some_and(|error| error.contains("append-only"));
            assert_eq!(expected, table.is_append_only(), "{statement}: {refused:?}");
        }
    }
}

/// Only [`SqliteStore::open`] makes a database: a wrong path leaves no empty file behind.
#[tokio::test]
async fn a_file_that_is_missing_is_not_created() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("regent.db");
    SqliteStore::tally(&path).await.expect_err("nothing to count");
    SqliteStore::schema_of(&path).await.expect_err("nothing to read");
    SqliteStore::copy(&path, &folder.path().join("copy.db")).await.expect_err("nothing to copy");
    ledger_sql::Hold::take(&path).await.expect_err("nothing to hold");
    assert!(!path.exists());
}

#[tokio::test]
async fn a_database_is_closed_once_and_its_log_is_folded_in() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Arc::new(open(&folder).await.expect("open"));
    let log = folder.path().join("regent.db-wal");
    fill(Arc::<SqliteStore>::clone(&store)).await;
    let mut snapshot = store.snapshot().await.expect("snapshot");
    assert!(snapshot.count(TABLES[0]).await.is_ok() && log.exists());
    store.close().await;
    store.close().await;
    assert!(log.exists(), "a snapshot still has it open");
    drop(snapshot);
    assert!(!log.exists());
    assert!(matches!(store.snapshot().await.map(drop), Err(StoreError::Other(_))), "it is closed");
    assert!(matches!(store.scrub().await, Err(StoreError::Other(_))), "it is closed");
}

/// Reading does not wait for anything, and yet a signal or a timer is heard meanwhile.
#[tokio::test]
async fn who_reads_again_and_again_lets_others_have_their_turn() {
    let folder = tempfile::tempdir().expect("folder");
    let store = open(&folder).await.expect("open");
    let query = ledger::Select::<Blob>::all().query;
    let read = async {
        loop {
            store.select(&query).await.expect("select");
        }
    };
    let walk = async {
        let mut snapshot = store.snapshot().await.expect("snapshot");
        loop {
            snapshot.scan(&query, &mut |_| {}).await.expect("scan");
        }
    };
    tokio::time::timeout(std::time::Duration::from_millis(20), read).await.expect_err("it never ends");
    tokio::time::timeout(std::time::Duration::from_millis(20), walk).await.expect_err("it never ends");
}

/// Each "process" has connections and a committer of its own, and eight writers.
#[tokio::test(flavor = "multi_thread")]
async fn two_processes_that_write_at_once_lose_nothing() {
    const PROCESSES: u128 = 2;
    const WRITERS: u128 = 8;
    const EACH: u128 = 40;
    let folder = tempfile::tempdir().expect("folder");
    open(&folder).await.expect("open");
    let mut writers = tokio::task::JoinSet::new();
    for process in 0..PROCESSES {
        let store = Arc::new(open(&folder).await.expect("open"));
        let seal = Seal::for_tests(NodeId::from_bits(1), [7; 32]);
        let ledger = Arc::new(Ledger::start(store, seal, Arc::new(domain::probe::Silent)));
        for writer in 0..WRITERS {
            let ledger = Arc::clone(&ledger);
            writers.spawn(async move {
                for n in 0..EACH {
                    let id = (process * WRITERS + writer) * EACH + n;
                    let mut batch = Batch::new(BatchId::from_bits(id), Time::from_micros(1));
                    batch.put(&Blob::public(id.to_be_bytes().to_vec())).audit(entry("a"));
                    ledger.commit(batch).await.expect("commit");
                }
            });
        }
    }
    writers.join_all().await;
    let ledger = Ledger::start(
        Arc::new(open(&folder).await.expect("open")),
        Seal::for_tests(NodeId::from_bits(1), [7; 32]),
        Arc::new(domain::probe::Silent),
    );
    let blobs = ledger.select(ledger::Select::<Blob>::all()).await.expect("blobs").len();
    assert_eq!(blobs as u128, PROCESSES * WRITERS * EACH);
    let verification = ledger.verify_audit().await.expect("verify");
    assert!(verification.is_consistent(), "{verification:?}");
    assert_eq!(
        u128::from(verification.streams.iter().map(|stream| stream.entries).sum::<u64>()),
        PROCESSES * WRITERS * EACH
    );
}

#[tokio::test]
async fn a_newer_database_is_refused_untouched() {
    let folder = tempfile::tempdir().expect("folder");
    open(&folder).await.expect("open");
    let db = raw(&folder);
    db.execute_batch("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)").expect("pragma");
    db.close().expect("close");
    let before = std::fs::read(folder.path().join("regent.db")).expect("read");
    let error = open(&folder).await.expect_err("must be refused");
    assert!(matches!(error, StoreError::Newer { found: 99, known: SCHEMA }), "{error}");
    assert_eq!(std::fs::read(folder.path().join("regent.db")).expect("read"), before);
}

/// A house of the first walk: its events keep their ids, and their keys stay unique.
#[tokio::test]
async fn a_database_of_schema_1_is_brought_forward() {
    let folder = tempfile::tempdir().expect("folder");
    let db = raw(&folder);
    let (event, origin) = (domain::id::EventId::from_bits(1), domain::id::OriginId::from_bits(1));
    let (place, sender) = (domain::id::PlaceId::from_bits(1), domain::id::IdentityId::from_bits(1));
    let rows = format!(
        "INSERT INTO events VALUES (1, '{event}', 'mail:1', 'mail', 'mail', 'dm', '{place}', '{sender}', 'in', \
         zeroblob(32), 'text/plain', NULL, 1, 1, '{origin}', NULL); \
         INSERT INTO leases VALUES ('t', 3, 'somebody', 7); \
         PRAGMA application_id = 1380404820; PRAGMA user_version = 1;"
    );
    for sql in [include_str!("schema_1.sql"), &rows] {
        db.execute_batch(sql).expect("the old schema");
    }
    db.close().expect("close");

    let refused = open(&folder).await.expect_err("opening brings nothing forward");
    assert!(matches!(refused, StoreError::Older { found: 1, .. }), "{refused}");
    let path = folder.path().join("regent.db");
    let seal = Arc::new(Seal::for_tests(NodeId::from_bits(1), [7; 32]));
    let before = SqliteStore::tally(&path).await.expect("tally");
    let hold = ledger_sql::Hold::take(&path).await.expect("hold");
    assert_eq!(hold.schema(), 1);
    hold.migrate(None, Arc::clone(&seal), Arc::new(domain::probe::Silent)).await.expect("migrate");
    let after = SqliteStore::tally(&path).await.expect("tally");
    assert_eq!((before.lost_in(&after), before.rows["events"]), (None, 1));

    let store = open(&folder).await.expect("open");
    let ledger = Ledger::start(Arc::new(store), seal, Arc::new(domain::probe::Silent));
    let event = ledger.event_by_key("mail:1").await.expect("event").expect("it is there");
    assert_eq!(event.id, domain::id::EventId::from_bits(1));
    let mut again = Batch::new(BatchId::from_bits(1), Time::from_micros(1));
    again.put(&ledger::records::Event { id: ledger::records::Event::id_of("mail:1"), ..event });
    let refused = ledger.commit(again).await.expect_err("the same key");
    assert!(matches!(refused, CommitError::Refused(Refusal::Duplicate { table: "events" })), "{refused}");
    assert_eq!(ledger.lease("t").await.expect("lease").expect("it is there").beats, 0);
}

#[tokio::test]
async fn what_is_no_database_of_ours_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(
        folder.path().join("regent.db"),
        "this is a text file, not a database at all\n".repeat(50),
    )
    .expect("write");
    assert!(matches!(open(&folder).await, Err(StoreError::Foreign(_))));

    let folder = tempfile::tempdir().expect("folder");
    let db = raw(&folder);
    db.execute_batch("CREATE TABLE recipes (name TEXT)").expect("create");
    db.close().expect("close");
    assert!(matches!(open(&folder).await, Err(StoreError::Foreign(_))));
}

#[tokio::test]
async fn a_damaged_database_is_named_as_such() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("regent.db");
    let store = open(&folder).await.expect("open");
    drop(store);
    let db = raw(&folder);
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("pragma");
    db.close().expect("close");
    let mut bytes = std::fs::read(&path).expect("read");
    let end = bytes.len();
    bytes[4096..end].fill(0xA5);
    std::fs::write(&path, bytes).expect("write");
    let store = open(&folder).await;
    let error = match store {
        Ok(store) => store.describe().await.expect_err("must be noticed"),
        Err(error) => error,
    };
    assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
}

/// What the database guards, no record replaces or erases.
#[tokio::test]
async fn tables_that_are_for_ever_are_written_once() {
    let folder = tempfile::tempdir().expect("folder");
    open(&folder).await.expect("open");
    let schema = read_sqlite(&folder.path().join("regent.db")).expect("schema");
    let guarded = TABLES.iter().filter(|table| !schema[table.name].refused.is_empty());
    for table in guarded.clone() {
        assert!(table.write != Write::Replace && !table.is_erasable(), "{}", table.name);
    }
    assert!(guarded.count() > 0);
}

/// A house with two audit entries and one body, whose database is then in the hands of somebody else.
async fn written(folder: &tempfile::TempDir) -> (Ledger, Connection) {
    let store = Arc::new(open(folder).await.expect("open"));
    let seal = Seal::for_tests(NodeId::from_bits(1), [7; 32]);
    let ledger = Ledger::start(store, seal, Arc::new(domain::probe::Silent));
    let mut batch = Batch::new(BatchId::from_bits(1), Time::from_micros(1));
    batch.put(&salt()).put(&Blob::personal(b"mine".to_vec(), &salt())).put(&Blob::public(b"ours".to_vec()));
    batch.audit(entry("a")).audit(entry("b"));
    ledger.commit(batch).await.expect("commit");
    let db = raw(folder);
    let drops = "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema WHERE type = 'trigger'";
    let drops: String = db.query_row(drops, [], |row| row.get(0)).expect("triggers");
    db.execute_batch(&drops).expect("whoever owns the file can do this");
    (ledger, db)
}

fn salt() -> Salt {
    Salt { person: "p-1".into(), salt: SaltBytes::new(domain::Digest::of(b"salt")) }
}

fn entry(subject: &str) -> Entry {
    Entry {
        at: Time::from_micros(1),
        kind: "event.received".into(),
        actor: "system".into(),
        subject: subject.into(),
        trust: None,
        origin_id: None,
        reason_id: None,
        vpol_id: None,
        detail: Default::default(),
    }
}

/// What somebody who can write the database, and nothing else, may try with the record: it is named, the work goes on
/// where it is still ours, and it is named for ever.
#[tokio::test]
async fn a_record_that_was_tampered_with_is_found_out_and_heals() {
    let stranger = NodeId::from_bits(2);
    let rename = |table: &str| format!("UPDATE {table} SET stream = '{stranger}'");
    let put_in = |seq: &str, stream: &str| {
        format!(
            "INSERT INTO audit SELECT {stream}, {seq}, bytes, prev_hash, hash, at, kind, actor, subject, trust, \
             origin_id, reason_id, vpol_id FROM audit WHERE seq = 2"
        )
    };
    let cut = |entries| Fault::Cut { noted: 2, entries };
    let table = [
        (
            "everything deleted",
            vec!["DELETE FROM audit".into(), "DELETE FROM audit_heads".into()],
            vec![cut(0), Fault::Gone],
        ),
        ("head deleted", vec!["DELETE FROM audit_heads".into()], vec![Fault::NoHead]),
        (
            "tail cut",
            vec!["DELETE FROM audit WHERE seq = 2".into()],
            vec![cut(1), Fault::Tail { head: 2, entries: 1 }],
        ),
        (
            "actor changed",
            vec!["UPDATE audit SET actor = 'owner' WHERE seq = 1".to_owned()],
            vec![Fault::Projection { seq: 1 }],
        ),
        (
            "cell emptied",
            vec!["UPDATE audit SET trust = '' WHERE seq = 2".to_owned()],
            vec![Fault::Projection { seq: 2 }],
        ),
        (
            "separators put in",
            vec![
                "UPDATE audit SET kind = kind || char(31) || actor, actor = subject WHERE seq = 1".to_owned(),
            ],
            vec![Fault::Projection { seq: 1 }],
        ),
        (
            "a text that is none",
            vec!["UPDATE audit SET kind = CAST(x'ff' AS TEXT) WHERE seq = 2".to_owned()],
            vec![Fault::Unreadable { seq: 2 }],
        ),
        ("a row before the first", vec![put_in("0", "stream")], vec![Fault::Astray { rows: 1 }]),
        ("a row of nobody", vec![put_in("777", &format!("'{stranger}'"))], vec![Fault::Astray { rows: 1 }]),
        (
            "a row where the next one goes",
            vec![put_in("3", "stream")],
            vec![Fault::Tail { head: 2, entries: 3 }],
        ),
        ("stream renamed", vec![rename("audit"), rename("audit_heads")], vec![cut(0), Fault::Gone]),
    ];
    for (name, statements, expected) in table {
        let folder = tempfile::tempdir().expect("folder");
        let (ledger, db) = written(&folder).await;
        for statement in statements {
            db.execute_batch(&statement).expect(name);
        }
        let faults = || async {
            let verification = ledger.verify_audit().await?;
            Ok::<_, StoreError>(verification.all_faults().map(|(_, fault)| fault.clone()).collect::<Vec<_>>())
        };
        match faults().await {
            Ok(found) => assert!(
                !found.is_empty() && expected.iter().all(|fault| found.contains(fault)),
                "{name}: {found:?}"
            ),
            Err(error) => {
                assert!(expected.is_empty() && matches!(error, StoreError::Corrupt(_)), "{name}: {error}")
            }
        }
        let mut next = Batch::new(BatchId::from_bits(2), Time::from_micros(2));
        next.audit(entry("c"));
        match ledger.commit(next).await {
            Ok(_) => assert!(
                expected.is_empty() || !faults().await.expect("verify").is_empty(),
                "{name}: for ever"
            ),
            Err(refused) => {
                let other = matches!(refused, CommitError::Refused(Refusal::OtherHouse { .. }));
                assert!(other && name == "stream renamed", "{name}: {refused}");
            }
        }
    }
}

#[tokio::test]
async fn a_body_that_was_changed_is_not_believed() {
    let folder = tempfile::tempdir().expect("folder");
    let (ledger, db) = written(&folder).await;
    let (mine, ours) = (Blob::personal(b"mine".to_vec(), &salt()).hash, Blob::public(b"ours".to_vec()).hash);
    assert_eq!(ledger.body(&mine).await.expect("body").as_deref(), Some(&b"mine"[..]));
    db.execute_batch("UPDATE blobs SET content = x'00'").expect("update");
    for hash in [mine, ours] {
        let error = ledger.body(&hash).await.expect_err("must be noticed");
        assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
    }
    db.execute_batch("DELETE FROM salts").expect("delete");
    assert_eq!(ledger.body(&mine).await.expect("body"), None, "without its salt it is erased");
}

/// A trigger that keeps rows out without an error: what is not written is noticed, and then nothing is.
#[tokio::test]
async fn a_row_that_a_trigger_keeps_out_fails_the_transaction() {
    let folder = tempfile::tempdir().expect("folder");
    let (ledger, db) = written(&folder).await;
    let batch = |n: u128| {
        let mut batch = Batch::new(BatchId::from_bits(n), Time::from_micros(1));
        // Bodies that are there already stand before and after what is lost.
        batch.put(&Blob::public(b"ours".to_vec())).put(&Blob::public(n.to_be_bytes().to_vec()));
        batch.audit(entry("c")).audit(entry("d"));
        batch
    };
    let counted = async |ledger: &Ledger| {
        let entries: u64 = ledger.verify_audit().await.expect("verify").entries();
        (ledger.select(ledger::Select::<Blob>::all()).await.expect("blobs").len(), entries)
    };
    let table = [
        ("audit", "BEFORE INSERT ON audit WHEN NEW.subject = 'd'", 2, 1),
        ("audit", "BEFORE INSERT ON audit", 2, 0),
        ("audit_heads", "BEFORE INSERT ON audit_heads", 1, 0),
        ("audit_heads", "BEFORE UPDATE ON audit_heads", 1, 0),
        ("commits", "BEFORE INSERT ON commits", 1, 0),
    ];
    for (n, (name, when, asked, written)) in (2..).zip(table) {
        let before = counted(&ledger).await;
        let sql = format!("CREATE TRIGGER swallow {when} BEGIN SELECT RAISE(IGNORE); END");
        db.execute_batch(&sql).expect(when);
        match ledger.commit(batch(n)).await {
            Err(CommitError::Store(error)) => assert!(
                matches!(&*error, StoreError::RowsLost { table, asked: a, written: w }
                    if (*table, *a, *w) == (name, asked, written)),
                "{when}: {error:?}"
            ),
            other => panic!("{when}: must fail, is {other:?}"),
        }
        db.execute_batch("DROP TRIGGER swallow").expect("drop");
        assert_eq!(counted(&ledger).await, before, "{when}: nothing was written");
        ledger.commit(batch(n)).await.expect("commit");
        assert_eq!(counted(&ledger).await, (before.0 + 1, before.1 + 2), "{when}");
    }
}
