//! Integrity is not completeness: what was done and what was recorded are compared, on every store.

use std::sync::Arc;

use app::Code;
use app::record::{AuditReport, Check};
use domain::id::{BatchId, EventId};
use domain::probe::Silent;
use domain::{Clock as _, Digest};
use ledger::audit_event::SYSTEM;
use ledger::records::{AgentTask, CallStatus, Event, TaskStep, ToolCall};
use ledger::value::Seq;
use ledger::{AuditEvent, Batch, Ledger, Select};
use testkit::{Kept, World};

async fn lived_in(kept: Kept) -> World {
    let world = World::new(kept).await;
    world.file("a.rs", "");
    world.run("how many Rust files are here?").await.expect("a report");
    world.app.instance().tick().await.expect("duties");
    world.run("write a poem").await.expect("a report");
    world
}

async fn complete(world: &World) -> AuditReport {
    world.app.record().verify(&Check { complete: true, ..Check::default() }).await.expect("verify")
}

/// What somebody puts into the database who owns it: rows beside the chain, which stays as it is.
type Damage = fn(&Found, &mut Batch);

struct Found {
    event: Event,
    call: ToolCall,
    task: AgentTask,
}

impl Found {
    async fn look(ledger: &Ledger) -> Self {
        let finished = Select::by("status", &CallStatus::Finished);
        let call: ToolCall = ledger.first(finished).await.expect("calls").expect("a call");
        let task = ledger.task(call.task_id).await.expect("tasks").expect("a task");
        let event = ledger.event(task.payload).await.expect("events").expect("an event");
        Self { event, call, task }
    }
}

fn invented() -> EventId {
    Event::id_of("mail:1")
}

#[tokio::test]
async fn what_has_no_counterpart_is_named() {
    let table: [(&str, Damage, &str); 8] = [
        (
            "an event without its entry",
            |found, batch| {
                let (id, key) = (invented(), "mail:1".into());
                batch.put(&Event { seq: Seq(None), id, key, ..found.event.clone() });
            },
            "has no entry `event.received`",
        ),
        (
            "an entry without its event",
            |found, batch| {
                let event = Event { id: invented(), ..found.event.clone() };
                batch.audit(AuditEvent::EventReceived(&event).entry(SYSTEM, event.received_at));
            },
            "and there is no such effect",
        ),
        (
            "a call that ended otherwise",
            |found, batch| {
                batch.put(&ToolCall { output: Some(Digest::ZERO), ..found.call.clone() });
            },
            "(`call.finished`) says of it",
        ),
        (
            "a call that was asked otherwise",
            |found, batch| {
                batch.put(&ToolCall { input: Digest::ZERO, ..found.call.clone() });
            },
            "(`call.started`) says of it",
        ),
        (
            "a call that never ended",
            |found, batch| {
                batch.put(&ToolCall { status: CallStatus::Started, output: None, ..found.call.clone() });
            },
            "(`call.finished`) speaks of",
        ),
        (
            "a call that nobody asked for",
            |found, batch| {
                let (id, status) = (domain::id::CallId::from_bits(7), CallStatus::Started);
                batch.put(&ToolCall { id, status, ..found.call.clone() });
            },
            "has no entry `call.started`",
        ),
        (
            "a task that ended otherwise",
            |found, batch| {
                batch.put(&AgentTask { steps: found.task.steps + 1, ..found.task.clone() });
            },
            "(`task.ended`) says of it",
        ),
        (
            "a step that was added",
            |found, batch| {
                let (task, n) = (found.task.task_id, found.task.steps);
                batch.put(&TaskStep {
                    seq: Seq(None),
                    task,
                    n,
                    epoch: 1,
                    body: Digest::ZERO,
                    at: found.event.received_at,
                });
            },
            "the journal of",
        ),
    ];
    for kept in Kept::each() {
        let world = lived_in(kept).await;
        let report = complete(&world).await;
        assert_eq!((report.problem(), report.gaps), (None, Some(Vec::new())), "{kept:?}");
        for (name, damage, named) in table {
            let world = lived_in(kept).await;
            let ledger = Ledger::start(world.store().await, world.seal(), Arc::new(Silent));
            let found = Found::look(&ledger).await;
            let mut batch = Batch::new(BatchId::from_bits(99), world.clock.now());
            damage(&found, &mut batch);
            ledger.commit(batch).await.expect("whoever owns the database can do this");
            let report = complete(&world).await;
            assert!(report.is_sound(), "{kept:?}, {name}: the chain itself is fine");
            let gaps = report.gaps.clone().expect("it was asked for");
            assert!(
                gaps.len() == 1 && gaps.iter().all(|gap| gap.contains(named)),
                "{kept:?}, {name}: {gaps:?}"
            );
            assert_eq!(
                report.problem().map(|problem| problem.code),
                Some(Code::INCOMPLETE),
                "{kept:?}, {name}"
            );
        }
    }
}
