//! The door, with a real ledger behind it: what opens it, what does not, and what comes out.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails loudly")]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use broker::{
    Asker, Authorized, Broker, Context, Finished, Handler, Level, NotCovered, Pending, Prepared, Registry,
    ToolSpec,
};
use domain::call::{Call, Chooser, Outcome};
use domain::id::{BatchId, CallId, EntityId, NodeId, OriginId, ReasonId, TaskId};
use domain::principal::Principal;
use domain::probe::Silent;
use domain::source::{Source, Text};
use domain::{Clock, Digest, Tags, Tier, Time, Trust};
use ledger::memory::MemoryStore;
use ledger::records::{CallStatus, Salt, SaltBytes};
use ledger::{Batch, Ledger, Seal};
use policy::vpol::Vpol;
use serde_json::{Value, json};

struct At(i64);

impl Clock for At {
    fn now(&self) -> Time {
        Time::from_micros(self.0)
    }
}

/// A tool that does what its name says.
struct Tool(ToolSpec);

#[async_trait]
impl Handler for Tool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn accepts(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }

    async fn call(&self, call: Authorized<Call>) -> Outcome {
        match self.0.id.as_str() {
            "panics" => panic!("on purpose"),
            "hangs" => std::future::pending().await,
            _ => Ok(json!({ "echo": call.call().args })),
        }
    }
}

fn tool(id: &str, tier: Tier) -> Arc<dyn Handler> {
    Arc::new(Tool(ToolSpec {
        id: id.parse().unwrap(),
        description: "for a test".into(),
        tier,
        level: Level::Autonomous,
        sinks: Vec::new(),
        idempotent: false,
        to_origin: true,
        timeout: Duration::from_millis(20),
    }))
}

fn broker(now: i64) -> Broker {
    let tools = [("works", Tier::ReadOnly), ("panics", Tier::WriteSafe), ("hangs", Tier::WriteSafe)];
    let registry = tools.into_iter().fold(Registry::default(), |all, (id, tier)| all.with(tool(id, tier)));
    Broker::new(registry, Arc::new(At(now)), Arc::new(Silent))
}

fn ledger() -> Ledger {
    Ledger::start(
        Arc::new(MemoryStore::default()),
        Seal::for_tests(NodeId::from_bits(1), [7; 32]),
        Arc::new(Silent),
    )
}

fn salt() -> Salt {
    Salt { person: "p-1".into(), salt: SaltBytes::new(Digest::ZERO) }
}

/// Later than anything here.
const FAR: Time = Time::from_micros(i64::MAX);

fn batch(id: u128) -> Batch {
    Batch::new(BatchId::from_bits(id), Time::from_micros(0))
}

/// A call that every layer lets pass, with its records in the batch.
fn entered(broker: &Broker, id: &str, batch: &mut Batch) -> Pending {
    let call = Call {
        id: CallId::from_bits(7),
        tool: id.parse().unwrap(),
        args: json!({}),
        task: TaskId::from_bits(1),
        subtask: None,
        chosen_by: Chooser::Rule,
        tags: Tags {
            origin: OriginId::from_bits(1),
            reason: ReasonId::from_bits(1),
            vpol: Vpol::DEFAULT_OWNER.id(),
        },
    };
    let (principal, request) =
        (Principal::Owner { entity: EntityId::from_bits(1) }, Text::new("x", Source::Owner));
    let salt = salt();
    let asker = Asker {
        principal: &principal,
        trust: Trust::Operator,
        allowed: &["*".into()],
        request: &request,
        salt: &salt,
    };
    let ruled = broker.authorize(call, &asker).unwrap();
    let context = Context { agent: "main", trust: Trust::Operator, salt: &salt };
    Prepared::new(ruled, context, Time::from_micros(0)).unwrap().enter(batch)
}

#[tokio::test]
async fn only_the_receipt_of_the_very_batch_opens_the_door() {
    let (broker, ledger) = (broker(0), ledger());
    let mut right = batch(1);
    let pending = entered(&broker, "works", &mut right);
    let receipt = ledger.commit(right).await.unwrap();
    assert!(pending.authorize(&receipt, FAR).is_ok());

    let mut dropped = batch(2);
    let pending = entered(&broker, "works", &mut dropped);
    let receipt = ledger.commit(batch(3)).await.unwrap();
    assert_eq!(pending.authorize(&receipt, FAR).unwrap_err(), NotCovered, "another batch");

    let mut dropped = batch(4);
    let pending = entered(&broker, "works", &mut dropped);
    let receipt = ledger.commit(batch(4)).await.unwrap();
    assert_eq!(pending.authorize(&receipt, FAR).unwrap_err(), NotCovered, "another batch with the same id");

    let mut repeated = batch(1);
    let pending = entered(&broker, "works", &mut repeated);
    let receipt = ledger.commit(repeated).await.unwrap();
    assert_eq!(pending.authorize(&receipt, FAR).unwrap_err(), NotCovered, "an id that was written before");
}

/// What the journal says about a call in the end.
async fn ended(id: &str, now: i64) -> (CallStatus, Outcome) {
    let (broker, ledger) = (broker(now), ledger());
    let mut started = batch(1);
    let pending = entered(&broker, id, &mut started);
    let receipt = ledger.commit(started).await.unwrap();
    let finished = broker.execute(pending.authorize(&receipt, FAR).unwrap()).await.unwrap();
    let mut records = batch(2);
    let salt = salt();
    finished.enter(Context { agent: "main", trust: Trust::Operator, salt: &salt }, &mut records).unwrap();
    ledger.commit(records).await.unwrap();
    let row = ledger.call(CallId::from_bits(7)).await.unwrap().unwrap();
    (row.status, finished.outcome)
}

#[tokio::test]
async fn whatever_a_handler_does_there_is_an_outcome_on_record() {
    let (status, outcome) = ended("works", 0).await;
    assert_eq!((status, outcome), (CallStatus::Finished, Ok(json!({ "echo": {} }))));

    let (status, outcome) = ended("hangs", 0).await;
    assert_eq!(status, CallStatus::Unknown, "it writes, and may still be at it");
    assert_eq!(outcome.unwrap_err().message, "`hangs` took longer than 0 s");

    let (status, outcome) = ended("panics", 0).await;
    assert_eq!(status, CallStatus::Unknown, "it writes, and may have done some of it");
    assert_eq!(outcome.unwrap_err().message, "`panics` broke down; this is a bug in it");
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
        let (broker, ledger) = (broker(now), ledger());
        let mut started = batch(1);
        let pending = entered(&broker, "works", &mut started);
        let receipt = ledger.commit(started).await.unwrap();
        let done = broker.execute(pending.authorize(&receipt, leased_until).unwrap()).await;
        assert_eq!(done.is_ok(), runs, "{name}");
    }
}

/// After a crash: what only reads or does the same twice may run again, anything else is unknown.
#[test]
fn only_what_cannot_do_harm_may_run_again() {
    let may = |tier, idempotent| {
        let spec = ToolSpec { tier, idempotent, ..tool("works", Tier::ReadOnly).spec().clone() };
        spec.may_run_again()
    };
    assert_eq!(Tier::ALL.map(|tier| may(tier, false)), [true, false, false, false]);
    assert_eq!(Tier::ALL.map(|tier| may(tier, true)), [true; 4]);
}

#[tokio::test]
async fn a_call_whose_fate_nobody_knows_is_recorded_as_such() {
    let (broker, ledger) = (broker(0), ledger());
    let mut started = batch(1);
    let pending = entered(&broker, "hangs", &mut started);
    let receipt = ledger.commit(started).await.unwrap();
    let call = pending.authorize(&receipt, FAR).unwrap().call().clone();
    let row = ledger.call(call.id).await.unwrap().unwrap();
    assert_eq!(row.status, CallStatus::Started, "its process ends here");

    let unknown = Finished::unknown(call, row, Time::from_micros(9));
    let mut records = batch(2);
    let salt = salt();
    unknown.enter(Context { agent: "main", trust: Trust::Operator, salt: &salt }, &mut records).unwrap();
    ledger.commit(records).await.unwrap();
    assert_eq!(ledger.call(CallId::from_bits(7)).await.unwrap().unwrap().status, CallStatus::Unknown);
    let kinds: Vec<_> = ledger.audit_tail(9).await.unwrap().into_iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, ["call.started", "call.unknown"]);
}
