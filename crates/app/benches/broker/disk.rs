//! The disk's own time: as many durable transactions with next to nothing in them, and as many syncs of the same bytes.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::TransactionBehavior::Immediate;
use tokio_postgres::{Client, NoTls};

pub(crate) enum Disk {
    Sqlite(rusqlite::Connection),
    Postgres(Client),
}

const TABLE: &str = "CREATE TABLE minimal (n INTEGER)";

impl Disk {
    pub(crate) fn sqlite(path: &Path) -> Self {
        const AS_OURS: &str =
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000";
        let db = rusqlite::Connection::open(path).expect("a database");
        db.execute_batch(AS_OURS).expect("settings");
        db.execute_batch(TABLE).expect("a table");
        Self::Sqlite(db)
    }

    pub(crate) async fn postgres(url: &str) -> Self {
        let (db, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
        drop(tokio::spawn(connection));
        db.batch_execute(TABLE).await.expect("a table");
        Self::Postgres(db)
    }

    /// Durable transactions with so many rows of one number each.
    pub(crate) async fn transactions(&mut self, count: u64, rows: u64) -> Duration {
        let values = vec!["(1)"; usize::try_from(rows).expect("small")].join(", ");
        let sql = format!("INSERT INTO minimal VALUES {values}");
        let prepared = match self {
            Self::Sqlite(_) => None,
            Self::Postgres(db) => Some(db.prepare(&sql).await.expect("a statement")),
        };
        let started = Instant::now();
        for _ in 0..count {
            match self {
                Self::Sqlite(db) => {
                    let tx = db.transaction_with_behavior(Immediate).expect("a transaction");
                    tx.prepare_cached(&sql).expect("a statement").execute([]).expect("rows");
                    tx.commit().expect("durable");
                }
                Self::Postgres(db) => {
                    db.batch_execute("BEGIN").await.expect("a transaction");
                    db.execute(prepared.as_ref().expect("a statement"), &[]).await.expect("rows");
                    db.batch_execute("COMMIT").await.expect("durable");
                }
            }
        }
        started.elapsed()
    }
}

/// A file that so many bytes are appended to, so many times, each synced.
pub(crate) fn syncs(path: &Path, count: u64, bytes: u64) -> Duration {
    let mut file = std::fs::File::options().create(true).append(true).open(path).expect("a file");
    let content = vec![b'x'; usize::try_from(bytes).expect("small")];
    let started = Instant::now();
    for _ in 0..count {
        file.write_all(&content).expect("written");
        file.sync_data().expect("durable");
    }
    started.elapsed()
}

/// What this process has written to files so far.
pub(crate) fn written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find_map(|line| line.strip_prefix("wchar:")).unwrap_or_default();
    line.trim().parse().unwrap_or_default()
}

/// What this process has computed so far, in microseconds.
pub(crate) fn computed() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum();
    ticks * 10_000.0
}
