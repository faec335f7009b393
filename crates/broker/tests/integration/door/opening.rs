//! What opens the door.

use broker::{Context, Finished, NotCovered, Prepared, ToolSpec};
use domain::id::CallId;
use domain::{Stop, Tier, Time, Trust};
use ledger::records::{CallStatus, Halt};
use serde_json::json;

use crate::door::world::{FAR, World, batch, call, registry, salt, spec};

#[tokio::test]
async fn only_the_receipt_of_the_very_batch_opens_the_door() {
    let mut world = World::new();
    let works = || call(7, "works", json!({}));
    let mut right = batch(1);
    let pending = world.enter(works(), &mut right);
    let receipt = world.ledger.commit(right).await.unwrap();
    assert!(pending.authorize(&receipt, FAR).is_ok());

    let mut dropped = batch(2);
    let pending = world.enter(works(), &mut dropped);
    let receipt = world.ledger.commit(batch(3)).await.unwrap();
    assert_eq!(pending.authorize(&receipt, FAR).unwrap_err(), NotCovered, "another batch");

    let mut dropped = batch(4);
    let pending = world.enter(works(), &mut dropped);
    let receipt = world.ledger.commit(batch(4)).await.unwrap();
    assert_eq!(pending.authorize(&receipt, FAR).unwrap_err(), NotCovered, "another batch with the same id");

    let mut repeated = batch(1);
    let pending = world.enter(works(), &mut repeated);
    let receipt = world.ledger.commit(repeated).await.unwrap();
    assert_eq!(pending.authorize(&receipt, FAR).unwrap_err(), NotCovered, "an id that was written before");
}

/// It has not run, and nothing is recorded of it: whoever drives the task asks again.
#[tokio::test]
async fn an_authorisation_runs_out() {
    let authorisation = i64::try_from(domain::limits::AUTHORISATION.as_micros()).unwrap();
    let table = [
        ("in time", authorisation - 1, FAR, true),
        ("at its end", authorisation, FAR, false),
        ("the lease ran out before it", 5, Time::from_micros(5), false),
        ("the clock was set back", -1, FAR, false),
    ];
    for (name, now, leased_until, runs) in table {
        let mut world = World::with(registry(), now);
        let mut started = batch(1);
        let pending = world.enter(call(7, "works", json!({})), &mut started);
        let receipt = world.ledger.commit(started).await.unwrap();
        let authorized = pending.authorize(&receipt, leased_until).unwrap();
        let done = world.broker.execute(authorized, &Stop::default(), &Stop::default()).await;
        assert_eq!(done.is_ok(), runs, "{name}");
    }
}

#[tokio::test]
async fn nothing_starts_while_the_house_is_halted() {
    let mut world = World::new();
    let halted = Stop::default();
    halted.now();
    let authorized = world.authorized(call(7, "works", json!({}))).await;
    let late = world.broker.execute(authorized, &halted, &Stop::default()).await.unwrap_err();
    assert_eq!(late.call, call(7, "works", json!({})), "the word came between its records and its start");

    let mut halt = batch(1);
    halt.put(&Halt { name: Halt::ALL.into(), at: Time::from_micros(0), by: "owner".into() });
    world.ledger.commit(halt).await.unwrap();
    let mut started = batch(2);
    drop(world.enter(call(8, "works", json!({})), &mut started));
    world.ledger.commit(started).await.unwrap_err();
    assert_eq!(world.ledger.call(CallId::from_bits(8)).await.unwrap(), None, "its records are refused");
}

/// After a crash: what only reads or does the same twice may run again, anything else is unknown.
#[test]
fn only_what_cannot_do_harm_may_run_again() {
    let may = |tier, idempotent| ToolSpec { idempotent, ..spec("works", tier) }.may_run_again();
    assert_eq!(Tier::ALL.map(|tier| may(tier, false)), [true, false, false, false]);
    assert_eq!(Tier::ALL.map(|tier| may(tier, true)), [true; 4]);
}

#[tokio::test]
async fn a_call_whose_fate_nobody_knows_is_recorded_as_such() {
    let mut world = World::new();
    let call = world.authorized(call(7, "hangs", json!({}))).await.call().clone();
    let row = world.ledger.call(call.id).await.unwrap().unwrap();
    assert_eq!(row.status, CallStatus::Started, "its process ends here");
    let unknown = Finished::unknown(call, row, Time::from_micros(9));
    assert_eq!(world.record(&unknown).await, CallStatus::Unknown);
}

#[tokio::test]
async fn what_is_refused_is_on_record_and_holds_nothing() {
    let world = World::new();
    let ruled = world.rule(call(7, "writes", json!({ "odd": 1 })));
    let salt = salt();
    let context = Context { agent: "main", trust: Trust::Operator, salt: &salt };
    let refused = Prepared::new(ruled, context, Time::from_micros(0)).unwrap_err();
    assert_eq!(refused.decision().to_string(), "the arguments do not fit the tool: `odd` is odd");
    let mut records = batch(1);
    refused.enter(None, &mut records);
    world.ledger.commit(records).await.unwrap();
    let row = world.ledger.call(CallId::from_bits(7)).await.unwrap().unwrap();
    assert_eq!((row.status, row.reserved, row.output), (CallStatus::Refused, None, None));
}
