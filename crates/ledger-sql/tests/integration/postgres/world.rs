//! What the tests share: a ledger on a database, batches that can be counted, and SQL behind the ledger's back.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use domain::Time;
use domain::id::{BatchId, NodeId};
use domain::probe::{Probe, Silent};
use ledger::records::{AuditEntry, Blob, Commit};
use ledger::{Batch, Entry, Ledger, Seal, Select, Store};
use ledger_sql::PostgresStore;
use services::{Address, Flavour};
use tokio::time::Instant;
use tokio_postgres::{Client, Error, NoTls, Row};

pub(crate) fn shared() -> Address {
    services::shared(Flavour::Plain).expect("a server")
}

/// A fresh database of the shared server.
pub(crate) fn database() -> String {
    shared().create_database().expect("a database")
}

pub(crate) async fn open(url: &str) -> Arc<PostgresStore> {
    Arc::new(PostgresStore::open(url).await.expect("open"))
}

/// One process of the house, as far as the database can tell.
pub(crate) async fn ledger(url: &str) -> Ledger {
    ledger_on(open(url).await, Arc::new(Silent))
}

pub(crate) fn ledger_on(store: Arc<dyn Store>, probe: Arc<dyn Probe>) -> Ledger {
    Ledger::start(store, Seal::for_tests(NodeId::from_bits(1), [7; 32]), probe)
}

/// A batch with one body and one audit entry that only it has.
pub(crate) fn batch(n: u32) -> Batch {
    let at = Time::from_micros(1_800_000_000_000_000);
    let mut batch = Batch::new(BatchId::from_bits(u128::from(n) + 1), at);
    batch.put(&Blob::public(n.to_be_bytes().to_vec())).audit(Entry {
        at,
        kind: "event.received".into(),
        actor: "system".into(),
        subject: n.to_string(),
        trust: None,
        origin_id: None,
        reason_id: None,
        vpol_id: None,
        detail: serde_json::json!({}),
    });
    batch
}

/// Commits it and checks that the receipt is for this very batch.
pub(crate) async fn commit(ledger: &Ledger, n: u32) {
    let batch = batch(n);
    let token = batch.token();
    let receipt = ledger.commit(batch).await.unwrap_or_else(|error| panic!("batch {n}: {error}"));
    assert!(receipt.is_for(&token), "batch {n}: the receipt is not for what was handed in");
}

/// Exactly these batches are there, each once, with everything that was in them; and the chain holds.
pub(crate) async fn holds_exactly(ledger: &Ledger, batches: impl IntoIterator<Item = u32>) {
    let mut expected: Vec<u32> = batches.into_iter().collect();
    expected.sort_unstable();
    let commits: Vec<Commit> = ledger.select(Select::all()).await.expect("commits");
    let mut ids: Vec<BatchId> = commits.into_iter().map(|commit| commit.id).collect();
    ids.sort_unstable();
    let known: Vec<BatchId> = expected.iter().map(|n| BatchId::from_bits(u128::from(*n) + 1)).collect();
    assert_eq!(ids, known, "the batches that are there");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let entries: Vec<AuditEntry> = ledger.select(Select::all()).await.expect("audit");
    entries.into_iter().for_each(|entry| *counts.entry(entry.subject).or_default() += 1);
    let once: BTreeMap<String, usize> = expected.iter().map(|n| (n.to_string(), 1)).collect();
    assert_eq!(counts, once, "each audit entry once");
    let bodies: Vec<Blob> = ledger.select(Select::all()).await.expect("blobs");
    assert_eq!(bodies.len(), expected.len(), "each body once");
    let verification = ledger.verify_audit().await.expect("verify");
    assert!(verification.is_consistent(), "{verification:?}");
    let entries: u64 = verification.streams.iter().map(|stream| stream.entries).sum();
    assert_eq!(entries, u64::try_from(expected.len()).expect("a count"));
}

/// A connection of somebody else, with the server's own settings.
pub(crate) struct Raw(Client);

impl Raw {
    pub(crate) async fn connect(url: &str) -> Self {
        Self::try_connect(url).await.expect("connect")
    }

    pub(crate) async fn try_connect(url: &str) -> Result<Self, Error> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        drop(tokio::spawn(connection));
        Ok(Self(client))
    }

    pub(crate) async fn execute(&mut self, sql: &str) {
        self.attempt(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// What the server says if it refuses.
    pub(crate) async fn attempt(&mut self, sql: &str) -> Result<(), String> {
        let said = |error: Error| error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string);
        self.0.batch_execute(sql).await.map_err(said)
    }

    pub(crate) async fn rows(&mut self, sql: &str) -> Vec<Row> {
        let rows = self.0.query(sql, &[]).await;
        rows.unwrap_or_else(|error| panic!("{sql}: {error:?}"))
    }

    pub(crate) async fn number(&mut self, sql: &str) -> i64 {
        let row = self.0.query_one(sql, &[]).await;
        row.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
    }
}

/// How long something took.
pub(crate) async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let begun = Instant::now();
    (work.await, begun.elapsed())
}

/// What a program could have made in a database: relations with their columns, and functions.
pub(crate) async fn fingerprint(url: &str) -> Vec<String> {
    let mut raw = Raw::connect(url).await;
    let sql = "SELECT format('%s.%s %s', n.nspname, c.relname, string_agg(a.attname, ',' ORDER BY a.attnum))
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
         GROUP BY n.nspname, c.relname ORDER BY 1";
    let mut seen: Vec<String> = raw.rows(sql).await.iter().map(|row| row.get(0)).collect();
    let functions = raw
        .rows("SELECT p.proname::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1")
        .await;
    seen.extend(functions.iter().map(|row| row.get::<_, String>(0)));
    seen
}
