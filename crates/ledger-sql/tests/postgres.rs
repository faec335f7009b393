//! PostgreSQL passes the suite, with and without pgvector.

#![expect(clippy::expect_used, reason = "a test fails loudly")]

use std::sync::Arc;

use ledger::Store;
use ledger_sql::PostgresStore;
use services::Flavour;

async fn conforms(flavour: Flavour) {
    let server = services::shared(flavour).expect("a server");
    ledger::conformance::run(async || {
        let url = server.create_database().expect("a database");
        let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&url).await.expect("open"));
        store
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_conforms() {
    conforms(Flavour::Plain).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_with_pgvector_conforms() {
    conforms(Flavour::Vector).await;
}
