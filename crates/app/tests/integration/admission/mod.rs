//! Admission, from the message to the record: who is let in, who waits, whom the owner is asked about. On every store.

mod asking;
mod kept;
mod knocks;
mod meanwhile;
mod of_now;
mod precedence;
mod words;

use std::sync::Arc;
use std::time::Duration;

use app::AdmissionCounts;
use app::people::{AccessRequestAnswer, Forget, NewPerson, PersonDetails};
use app::record::Check;
use app::{App, Code, Problem};
use domain::Clock as _;
use domain::event::Direction;
use domain::id::{BatchId, EventId};
use domain::probe::Silent;
use ledger::query::Query;
use ledger::records::{Access, AuditEntry, EntityKind, Event, Knock, TABLES};
use ledger::table::Record;
use ledger::value::{Seq, Value as Cell};
use ledger::{Batch, Ledger, Select};
use policy::admit::{Admission, Admitted as Recorded};
use serde_json::{Value, json};
use testkit::{Kept, World};

const CANARY: &str = "canary";
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A policy that wants the owner asked.
const ASK: &str =
    "- name: ask-first\n  match: { principal: { relationship: friend } }\n  effect: ask\n  priority: 75\n";

async fn ledger_of(world: &World) -> Ledger {
    Ledger::start(world.store().await, world.seal(), Arc::new(Silent))
}

async fn rows<T: Record>(world: &World) -> Vec<T> {
    let rows = world.store().await.select(&Select::<T>::all().query).await.expect("rows");
    rows.into_iter().map(|row| T::from_row(row).expect("a row")).collect()
}

/// A message of the `demo` platform, with more fields than the usual ones.
async fn sends(app: &App, sender: &str, source: &str, more: Value) -> EventId {
    let mut line = json!({
        "adapter": "demo", "source_id": source, "sender": sender, "content": format!("{CANARY}, says {sender}"),
    });
    line.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    app.events().ingest(&line.to_string()).await.expect("ledger").expect("an event").id
}

/// A plain message, and a second goes by.
async fn writes(world: &World, sender: &str, n: u32) -> EventId {
    let source = EventId::named(&format!("{sender} {n}")).to_string();
    let id = sends(&world.app, sender, &source, json!({})).await;
    world.clock.turn(SECOND);
    id
}

/// How many were let in, denied and held.
async fn admit(world: &World) -> (u64, u64, u64) {
    let AdmissionCounts { allowed, denied, held, .. } =
        world.app.events().admit_waiting().await.expect("decided");
    world.clock.turn(SECOND);
    (allowed, denied, held)
}

/// The rows of the decisions about an event, the first one first.
async fn records(world: &World, event: EventId) -> Vec<Access> {
    ledger_of(world).await.admissions_of(&[event]).await.expect("access")
}

/// The decisions about an event, the first one first.
async fn decisions(world: &World, event: EventId) -> Vec<Admission> {
    let ledger = ledger_of(world).await;
    let mut decisions = Vec::new();
    for row in records(world, event).await {
        let body = ledger.body(&row.decision).await.expect("blobs").expect("a decision");
        let kept: Recorded = serde_json::from_slice(&body).expect("an admission");
        assert_eq!(kept.decision.effect.name(), row.effect);
        decisions.push(kept.decision);
    }
    decisions
}

/// The decision that counts.
async fn decision(world: &World, event: EventId) -> Admission {
    decisions(world, event).await.pop().expect("decided")
}

fn words(admission: &Admission) -> String {
    admission.reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

async fn knows(world: &World, name: &str, relationship: &str, address: &str) {
    let new = NewPerson {
        name: name.into(),
        kind: EntityKind::Person,
        relationship: Some(relationship.into()),
        tags: Vec::new(),
        trust: None,
        addresses: vec![address.into()],
    };
    world.app.people().add(new).await.expect("added");
}

fn yes() -> AccessRequestAnswer {
    AccessRequestAnswer::Yes(PersonDetails::default())
}

/// The one question that stands.
async fn question(world: &World) -> String {
    let open = world.app.access_requests().list().await.expect("knocks");
    assert_eq!(open.len(), 1, "{open:?}");
    open[0].short.clone()
}

fn code<T: std::fmt::Debug>(result: Result<T, Problem>) -> Code {
    result.expect_err("must not work").code
}

async fn sound(world: &World) {
    let check = Check { complete: true, ..Check::default() };
    let audit = world.app.record().verify(&check).await.expect("verify");
    assert_eq!((audit.problem(), audit.gaps), (None, Some(Vec::new())));
}

/// The tables that hold this anywhere.
async fn tables_with(world: &World, what: &str) -> Vec<&'static str> {
    let store = world.store().await;
    let mut found = Vec::new();
    for table in TABLES {
        let query = Query { table, filters: Vec::new(), order: None, limit: None };
        let rows = store.select(&query).await.expect("select");
        let holds = |cell: &Cell| match cell {
            Cell::Text(text) => text.contains(what),
            Cell::Bytes(bytes) => bytes.windows(what.len()).any(|window| window == what.as_bytes()),
            Cell::Null | Cell::Int(_) | Cell::Real(_) | Cell::Time(_) => false,
        };
        if rows.iter().flatten().any(holds) {
            found.push(table.name);
        }
    }
    found
}

/// What the audit says was decided about, in its order.
async fn decided(world: &World) -> Vec<String> {
    let audit = ledger_of(world).await.select(Select::<AuditEntry>::all().ascending("seq")).await;
    let audit = audit.expect("audit").into_iter();
    audit.filter(|entry| entry.kind == "admission.decided").map(|entry| entry.subject).collect()
}

#[tokio::test]
async fn every_event_is_decided_about_once_and_in_the_order_in_which_they_came() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        knows(&world, "Tom", "friend", "demo:tom").await;
        let mut events = Vec::new();
        for (sender, n) in [("lea", 1), ("tom", 1), ("sue", 1), ("lea", 2), ("tom", 2)] {
            events.push(writes(&world, sender, n).await);
        }
        assert_eq!(admit(&world).await, (2, 3, 0), "{kept:?}");
        let ids: Vec<String> = events.iter().map(ToString::to_string).collect();
        assert_eq!(decided(&world).await, ids, "{kept:?}");
        assert_eq!(admit(&world).await, (0, 0, 0), "{kept:?}: done twice");
        let late = writes(&world, "tom", 3).await;
        assert_eq!(admit(&world).await, (1, 0, 0), "{kept:?}");
        for event in events.into_iter().chain([late]) {
            let rows = records(&world, event).await;
            assert_eq!(rows.iter().map(|row| row.n).collect::<Vec<_>>(), [0], "{kept:?}");
        }
        sound(&world).await;
    }
}

#[tokio::test]
async fn more_than_a_page_of_events_is_decided_about_at_once() {
    let world = World::new(Kept::InMemory).await;
    for n in 0..300 {
        writes(&world, &format!("s-{}", n % 15), n).await;
    }
    assert_eq!(admit(&world).await, (0, 300, 0));
    assert_eq!((decided(&world).await.len(), rows::<Knock>(&world).await.len()), (300, 15));
}

#[tokio::test]
async fn of_two_who_decide_at_once_one_decides_about_each_event() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        let mut events = Vec::new();
        for n in 0..12 {
            events.push(writes(&world, ["lea", "tom", "sue"][n as usize % 3], n).await);
        }
        let mut rivals = tokio::task::JoinSet::new();
        for _ in 0..2 {
            let app = world.another(Arc::new(Silent));
            rivals.spawn(async move { app.events().admit_waiting().await.expect("decided").all() });
        }
        assert_eq!(rivals.join_all().await.iter().sum::<u64>(), 12, "{kept:?}");
        for event in events {
            assert_eq!(records(&world, event).await.len(), 1, "{kept:?}");
        }
        let mut waiting: Vec<u64> = rows::<Knock>(&world).await.iter().map(|knock| knock.events).collect();
        waiting.sort_unstable();
        assert_eq!(waiting, [4, 4, 4], "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test]
async fn what_the_owner_typed_is_left_to_whoever_drives_it() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("a.rs", "");
        let report = world.run("how many Rust files are here?").await.expect("a report");
        let ledger = ledger_of(&world).await;
        let event = ledger.event(report.event).await.expect("events").expect("an event");
        // As a process leaves it that dies right after it was taken in.
        let key = "cli:left".to_owned();
        let id = Event::id_of(&key);
        let mut batch = Batch::new(BatchId::from_bits(77), world.clock.now());
        batch.put(&Event { seq: Seq(None), id, key, ..event });
        ledger.commit(batch).await.expect("commit");
        assert_eq!(admit(&world).await, (0, 0, 0), "{kept:?}");
        assert_eq!(records(&world, id).await, [], "{kept:?}");
        let answer = rows::<Event>(&world).await.into_iter().find(|event| event.direction == Direction::Out);
        assert_eq!(records(&world, answer.expect("an answer").id).await, [], "{kept:?}: nor what we said");
    }
}

#[tokio::test]
async fn about_somebody_who_was_forgotten_before_the_record_says_nothing() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let event = writes(&world, "canary-lea", 1).await;
        let who = ledger_of(&world).await.identity_of("demo", "canary-lea").await.expect("ledger");
        let who = who.expect("somebody").id.to_string();
        world.app.people().forget("demo:canary-lea", Forget::ForGood).await.expect("forgotten");
        assert_eq!(admit(&world).await, (0, 1, 0), "{kept:?}");
        let admission = decision(&world, event).await;
        assert_eq!(words(&admission), "nobody can say how far this sender is trusted, so they are not");
        assert_eq!((admission.facts.entity, admission.facts.lost), (None, true), "{kept:?}");
        assert_eq!(rows::<Knock>(&world).await, [], "{kept:?}: nobody is asked about nobody");
        assert_eq!(tables_with(&world, CANARY).await, [""; 0], "{kept:?}");
        let again = world.app.people().forget(&who, Forget::ForGood).await.expect("forgotten");
        assert!(again.gone.is_nothing(), "{kept:?}: {again:?}");
        let why = world.app.record().recheck(&event.to_string()).await.expect("why");
        assert!(why.recheck.expect("asked for").holds, "{kept:?}");
        sound(&world).await;
    }
}
