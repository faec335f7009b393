//! PostgreSQL passes the suite, with and without pgvector; its schema is what the records say; what does not let us in is
//! named; and whatever happens to its connections, a batch that was acknowledged is there, once.

mod lost_rows;
mod outage;
mod proxy;
mod refusals;
mod schema;
mod tls;
mod world;
mod writers;

use std::sync::Arc;

use ledger::Store;
use ledger_sql::PostgresStore;
use services::Flavour;

async fn conforms(flavour: Flavour) {
    let server = services::shared(flavour).expect("a server");
    let template = format!("schema_{}", PostgresStore::known_schema());
    let migrate =
        async |url: &str| PostgresStore::open(url).await.map(drop).map_err(|error| error.to_string());
    ledger::conformance::run(async || {
        let url = server.create_database_from(&template, migrate).await.expect("a database");
        let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&url).await.expect("open"));
        store
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_conforms() {
    conforms(Flavour::Plain).await;
}

/// With `cargo xtask test --full`: nothing uses the extension yet.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_with_pgvector_conforms() {
    if services::is_full() {
        conforms(Flavour::Vector).await;
    }
}
