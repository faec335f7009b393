//! The suite notices when what it claims to check is taken out.

use std::future::Future;
use std::sync::Arc;

use domain::id::NodeId;
use domain::probe::Silent;
use ledger::conformance::spending;
use ledger::memory::MemoryStore;
use ledger::mutant::{Guard, Mutant};
use ledger::{Ledger, Seal, Store};
use tokio::task::JoinSet;

/// Whether the case fails on a store without this guard.
async fn is_caught<C>(guard: Guard, case: fn(Ledger, Arc<dyn Store>) -> C) -> bool
where
    C: Future<Output = ()> + Send + 'static,
{
    let store: Arc<dyn Store> = Arc::new(Mutant::new(Arc::new(MemoryStore::default()), guard));
    let seal = Seal::for_tests(NodeId::from_bits(1), [7; 32]);
    let ledger = Ledger::start(Arc::clone(&store), seal, Arc::new(Silent));
    let mut played = JoinSet::new();
    played.spawn(case(ledger, store));
    played.join_next().await.is_some_and(|played| played.is_err_and(|error| error.is_panic()))
}

#[tokio::test]
async fn limits_and_halts_that_are_ignored_are_noticed() {
    for (guard, limits, halts) in [
        // A guard that these cases do not rest on; so it is not the mutant itself that fails them.
        (Guard::Journal, false, false),
        (Guard::Reservation, true, false),
        (Guard::Halt, false, true),
    ] {
        let caught = (
            is_caught(guard, spending::the_last_of_a_budget_is_spent_once).await,
            is_caught(guard, spending::nothing_starts_between_a_halt_and_its_end).await,
        );
        assert_eq!(caught, (limits, halts), "without {guard}");
    }
}
