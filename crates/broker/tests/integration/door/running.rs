//! Whatever a handler does, there is an outcome on record, and nobody else is harmed.

use broker::budget::{Scope, Unit};
use domain::Stop;
use domain::call::{Failure, Outcome};
use ledger::records::CallStatus;
use serde_json::json;

use crate::door::world::{World, call};

fn failed(failure: Failure) -> Outcome {
    Err(failure)
}

#[tokio::test]
async fn whatever_a_handler_does_there_is_an_outcome_on_record() {
    let environmental = |message: &str| failed(Failure::environmental(message));
    let interrupted = |message: &str| failed(Failure::interrupted(message));
    let logical = |message: &str| failed(Failure::logical(message));
    let table = [
        ("works", CallStatus::Finished, Ok(json!({ "echo": {} }))),
        // They write, and may still be at it, or may have done some of it.
        ("hangs", CallStatus::Unknown, interrupted("`hangs` took longer than 200ms")),
        ("panics", CallStatus::Unknown, interrupted("`panics` broke down; this is a bug in it")),
        // It only reads.
        ("deaf", CallStatus::Failed, interrupted("`deaf` took longer than 200ms")),
        // It ends by itself when it is told to.
        ("listens", CallStatus::Failed, environmental("stopped after 3 of 7")),
        (
            "floods",
            CallStatus::Failed,
            logical("`floods` returned more than 1000 bytes; it has run, and its result is not kept"),
        ),
        (
            "counts",
            CallStatus::Failed,
            logical(
                "`counts` returned what cannot be kept; it has run, and its result is not kept: 18446744073709551615 cannot be written exactly: a number here is a double",
            ),
        ),
        (
            "nests",
            CallStatus::Failed,
            logical(
                "`nests` returned what cannot be kept; it has run, and its result is not kept: it is nested too deeply",
            ),
        ),
        (
            "lies",
            CallStatus::Failed,
            logical(
                "`lies` returned what its schema forbids; it has run: \"many\" is not of type \"integer\" (at `/count`)",
            ),
        ),
        ("fails", CallStatus::Failed, environmental("it says no to {}")),
        ("rambles", CallStatus::Failed, logical(&format!("{}…", "é".repeat(2_048)))),
    ];
    for (tool, status, outcome) in table {
        let mut world = World::new();
        // Beside each of them another call runs in the same broker.
        let beside = world.authorized(call(8, "works", json!({ "n": 1 }))).await;
        let authorized = world.authorized(call(7, tool, json!({}))).await;
        let halt = Stop::default();
        let never = Stop::default();
        let (ended, other) = tokio::join!(
            world.broker.execute(authorized, &halt, &never),
            world.broker.execute(beside, &halt, &never)
        );
        let (ended, other) = (ended.unwrap(), other.unwrap());
        assert_eq!((world.record(&ended).await, ended.outcome), (status, outcome), "{tool}");
        let unharmed = (CallStatus::Finished, Ok(json!({ "echo": { "n": 1 } })));
        assert_eq!((world.record(&other).await, other.outcome), unharmed, "beside {tool}");
    }
}

#[tokio::test]
async fn a_halt_stops_what_runs() {
    let table = [
        ("listens", CallStatus::Failed, "stopped after 3 of 7"),
        ("hangs", CallStatus::Unknown, "`hangs` was stopped by a halt while it ran"),
        ("deaf", CallStatus::Failed, "`deaf` was stopped by a halt while it ran"),
    ];
    for (tool, status, message) in table {
        let mut world = World::new();
        let authorized = world.authorized(call(7, tool, json!({}))).await;
        let halt = Stop::default();
        // Its turn comes when the call has been started.
        let stopping = async { halt.now() };
        let never = Stop::default();
        let (ended, ()) = tokio::join!(world.broker.execute(authorized, &halt, &never), stopping);
        let ended = ended.unwrap();
        let found = (world.record(&ended).await, ended.outcome);
        let how = if tool == "listens" { Failure::environmental } else { Failure::interrupted };
        assert_eq!(found, (status, failed(how(message))), "{tool}");
    }
}

#[tokio::test]
async fn a_call_takes_no_more_time_than_its_budget_has() {
    let table =
        [(Some(30), "`hangs` took longer than 30ms"), (Some(5_000), "`hangs` took longer than 200ms")];
    for (limit, message) in table {
        let mut world = World::new();
        world.limits.set(Scope::Task, Unit::Time, limit);
        let (status, outcome) = world.ended(call(7, "hangs", json!({}))).await;
        assert_eq!((status, outcome), (CallStatus::Unknown, failed(Failure::interrupted(message))));
    }
}
