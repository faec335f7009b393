//! scratch bench
#![allow(
    clippy::all,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::allow_attributes_without_reason,
    clippy::unwrap_used
)]
use domain::{Digest, Time, event::*, id::*};
use ledger::records::*;
use ledger::value::Seq;
use ledger::*;
use ledger_sql::*;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection, sqlite::*};
use std::sync::Arc;
use std::time::Instant;

fn bits(n: u128, salt: u8) -> u128 {
    let d = Digest::of_parts(&[&n.to_be_bytes(), &[salt]]);
    u128::from_be_bytes(d.as_bytes()[..16].try_into().unwrap())
}
fn content(n: u128) -> String {
    format!("message number {n}: {}", "lorem ipsum dolor sit amet ".repeat(8))
}
fn batch(n: u128) -> Batch {
    let at = Time::from_micros(1_800_000_000_000_000 + n as i64);
    let mut b = Batch::new(BatchId::from_bits((n << 80) | (bits(n, 0) >> 48)), at);
    let salt = Salt { person: "p-1".into(), salt: SaltBytes::new(Digest::of(b"salt")) };
    let body = Blob::personal(content(n).into_bytes(), &salt);
    let e = Event {
        seq: Seq(None),
        id: EventId::from_bits(bits(n, 1)),
        key: format!("mail:home:{:032x}", bits(n, 2)),
        adapter: "mail".into(),
        platform: "mail".into(),
        container_kind: ContainerKind::Dm,
        place: PlaceId::from_bits(1),
        sender: IdentityId::from_bits(1),
        direction: Direction::In,
        body: body.hash,
        content_type: "text/plain".into(),
        metadata: None,
        occurred_at: at,
        received_at: at,
        origin_id: OriginId::from_bits((n << 80) | (bits(n, 3) >> 48)),
        answers: None,
    };
    let o = Origin { id: e.origin_id, origin_type: "message".into(), source_ref: e.id, timestamp: at };
    b.put(&body).put(&o).put(&e).expect_absent::<Event>("id", &e.id);
    b.audit(Entry {
        at,
        kind: "event.received".into(),
        actor: "adapter:mail".into(),
        subject: e.id.to_string(),
        trust: None,
        origin_id: Some(o.id),
        reason_id: None,
        vpol_id: None,
        detail: serde_json::json!({"body": e.body, "sender": e.sender, "place": e.place}),
    });
    b
}
async fn ours(ledger: &Arc<Ledger>, from: u128, count: u128) -> f64 {
    let start = Instant::now();
    let next = Arc::new(std::sync::atomic::AtomicU64::new(from as u64));
    let mut set = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let (l, next) = (ledger.clone(), next.clone());
        let end = (from + count) as u64;
        set.spawn(async move {
            loop {
                let n = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if n >= end {
                    break;
                }
                l.commit(batch(n.into())).await.unwrap();
            }
        });
    }
    set.join_all().await;
    count as f64 / start.elapsed().as_secs_f64()
}
async fn bare(db: &mut SqliteConnection, from: u128, count: u128, multi: bool) -> f64 {
    let start = Instant::now();
    let mut n = from;
    while n < from + count {
        let mut tx = db.begin_with("BEGIN IMMEDIATE").await.unwrap();
        if multi {
            let sql = format!(
                "INSERT INTO bare VALUES {}",
                (0..64).map(|i| format!("(${}, ${})", 2 * i + 1, 2 * i + 2)).collect::<Vec<_>>().join(",")
            );
            let mut q = sqlx::query(AssertSqlSafe(sql));
            for i in 0..64 {
                q = q.bind(format!("mail:home:{:032x}", bits(n + i, 9))).bind(content(n + i).into_bytes());
            }
            q.execute(&mut *tx).await.unwrap();
        } else {
            for i in 0..64 {
                sqlx::query("INSERT INTO bare VALUES ($1, $2)")
                    .bind(format!("mail:home:{:032x}", bits(n + i, 9)))
                    .bind(content(n + i).into_bytes())
                    .execute(&mut *tx)
                    .await
                    .unwrap();
            }
        }
        tx.commit().await.unwrap();
        n += 64;
    }
    count as f64 / start.elapsed().as_secs_f64()
}
#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir_in("/work/main/target").unwrap();
    let mut db = SqliteConnection::connect_with(
        &SqliteConnectOptions::new()
            .filename(folder.path().join("bare.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full),
    )
    .await
    .unwrap();
    sqlx::query("CREATE TABLE bare (key TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL)")
        .execute(&mut db)
        .await
        .unwrap();
    let store: Arc<dyn Store> = match std::env::var("PGURL") {
        Ok(url) => Arc::new(PostgresStore::open(&url).await.unwrap()),
        _ => Arc::new(SqliteStore::open(&folder.path().join("ours.db")).await.unwrap()),
    };
    let ledger = Arc::new(Ledger::start(
        store,
        Seal::new(NodeId::from_bits(1), [7; 32]),
        Arc::new(domain::probe::Silent),
    ));
    let mut first = Batch::new(BatchId::from_bits(1), Time::from_micros(1));
    first.put(&Salt { person: "p-1".into(), salt: SaltBytes::new(Digest::of(b"salt")) });
    first.audit(Entry {
        at: Time::from_micros(1),
        kind: "x".into(),
        actor: "x".into(),
        subject: "x".into(),
        trust: None,
        origin_id: None,
        reason_id: None,
        vpol_id: None,
        detail: serde_json::json!({}),
    });
    ledger.commit(first).await.unwrap();
    let n = 6_400;
    let what = std::env::args().nth(1).unwrap_or_default();
    if let Ok(sql) = std::env::var("SQL") {
        let mut x = SqliteConnection::connect_with(
            &SqliteConnectOptions::new().filename(folder.path().join("ours.db")),
        )
        .await
        .unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut x).await.unwrap();
    }
    let io = || {
        std::fs::read_to_string("/proc/self/io")
            .unwrap()
            .lines()
            .find_map(|l| l.strip_prefix("wchar: ").map(|v| v.parse::<u64>().unwrap()))
            .unwrap()
    };
    for round in 0..8u128 {
        let w = io();
        let b = if what != "ours" { bare(&mut db, round * 2 * n, n, false).await } else { 0. };
        let wb = io() - w;
        let m = if what == "" { bare(&mut db, (round * 2 + 1) * n, n, true).await } else { 0. };
        let before = ledger.barriers();
        let w = io();
        let o = if what != "bare" { ours(&ledger, round * n, n).await } else { 0. };
        let wo = io() - w;
        println!(
            "round {round}: bare {b:.0}/s {} B/ev  bare multi {m:.0}/s  ours {o:.0}/s {} B/ev ratio {:.2} {:.2}  group {:.1}",
            wb / n as u64,
            wo / n as u64,
            o / b,
            o / m,
            n as f64 / (ledger.barriers() - before).max(1) as f64
        );
    }
}
