//! Both databases pass the conformance suite. One binary for all of it.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests look at files, break their own network, and fail loudly"
)]

mod layout;
mod postgres;
mod scrub;
mod sqlite;

/// Puts rows into every table.
async fn fill(store: std::sync::Arc<dyn ledger::Store>) {
    let seal = ledger::Seal::for_tests(domain::id::NodeId::from_bits(1), [7; 32]);
    let ledger = ledger::Ledger::start(store, seal, std::sync::Arc::new(domain::probe::Silent));
    for (n, samples) in (1..).zip(ledger::records::samples()) {
        let mut batch = ledger::Batch::new(
            domain::id::BatchId::from_bits(n),
            domain::Time::from_micros(1_800_000_000_000_000),
        );
        samples.put_into(&mut batch);
        ledger.commit(batch).await.unwrap_or_else(|error| panic!("{}: {error}", samples.table.name));
    }
}
