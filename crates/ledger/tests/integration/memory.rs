//! The in-memory store passes the suite that every store must pass.

use std::sync::Arc;

use ledger::Store;
use ledger::memory::MemoryStore;

#[tokio::test]
async fn the_in_memory_store_conforms() {
    ledger::conformance::run(async || Arc::new(MemoryStore::default()) as Arc<dyn Store>).await;
}
