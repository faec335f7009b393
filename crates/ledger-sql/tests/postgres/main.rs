//! PostgreSQL passes the suite, with and without pgvector; its schema is what the records say; what does not let us in is
//! named; and whatever happens to its connections, a batch that was acknowledged is there, once.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails loudly, and breaks its own network"
)]

mod outage;
mod proxy;
mod refusals;
mod schema;
mod world;
mod writers;

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
