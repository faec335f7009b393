//! `forget`, on every store: canaries in every field that an event can carry, and a search through every table.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::people::{Counts, Forget};
use app::{App, Code, Problem};
use domain::call::ToolId;
use domain::id::{BatchId, CallId, EntityId, EventId, Id, IdentityId, ReasonId, TaskId};
use domain::probe::{Point, Probe, Silent};
use domain::task::Status;
use domain::{Clock as _, Digest};
use ledger::query::Query;
use ledger::records::{
    AgentTask, Blob, CallStatus, Entity, EntityKind, EntityTag, Event, Identity, Lease, Reason, TABLES,
    TaskStep, ToolCall,
};
use ledger::value::{Seq, Value};
use ledger::{Batch, Ledger, Select};
use testkit::{Kept, World};

const CANARY: &str = "canary-lea";
const SECOND: Duration = Duration::from_secs(1);

/// A second pair of eyes, and hands.
async fn ledger_of(world: &World) -> Ledger {
    Ledger::start(world.store().await, world.seal(), Arc::new(Silent))
}

/// A message with the canary wherever a sender, or the source in its own words, can put something.
fn from_lea(n: u32) -> String {
    format!(
        r#"{{"adapter":"demo","source_id":"{n}","account":"home","sender":"{CANARY}@x.example","content":"{CANARY} writes {n}",
        "content_type":"text/x-{CANARY}; name=\"{CANARY}\"","metadata":{{"{CANARY}":["{CANARY}",{n}]}},"container_id":"{CANARY}-chat",
        "watermark":"{CANARY} at {n}"}}"#
    )
    .replace('\n', " ")
}

fn from_tom(n: u32) -> String {
    format!(
        r#"{{"adapter":"mail","source_id":"{n}","sender":"tom@x.example","content":"tom writes {n}","metadata":{{"tom":{n}}},
        "container_id":"tom-chat","watermark":"tom at {n}"}}"#
    )
    .replace('\n', " ")
}

async fn ingest(app: &App, line: &str) -> EventId {
    app.events().ingest(line).await.expect("ledger").expect("an event").id
}

/// A house with two people in it who wrote twice each, and once into the same group.
async fn inhabited(kept: Kept) -> World {
    let world = World::new(kept).await;
    world.file("a.rs", "fn a() {}");
    for n in 1..=2 {
        ingest(&world.app, &from_lea(n)).await;
        world.clock.turn(SECOND);
        ingest(&world.app, &from_tom(n)).await;
        world.clock.turn(SECOND);
    }
    for sender in ["canary-lea@x.example", "sue"] {
        let line = format!(
            r#"{{"adapter":"demo","source_id":"g-{sender}","container_kind":"group","container_id":"allotment","sender":"{sender}","content":"{sender} in the group"}}"#
        );
        ingest(&world.app, &line.replace("g-canary-lea@x.example", "g-1")).await;
        world.clock.turn(SECOND);
    }
    world
}

async fn identity(world: &World, platform: &str, identifier: &str) -> Identity {
    let found = ledger_of(world).await.identity_of(platform, identifier).await.expect("ledger");
    found.expect("somebody")
}

async fn lea(world: &World) -> Identity {
    identity(world, "demo", "canary-lea@x.example").await
}

fn contains(bytes: &[u8], what: &str) -> bool {
    bytes.windows(what.len()).any(|window| window == what.as_bytes())
}

/// The tables that hold this anywhere.
async fn tables_with(world: &World, what: &str) -> Vec<&'static str> {
    let store = world.store().await;
    let mut found = Vec::new();
    for table in TABLES {
        let query = Query { table, filters: Vec::new(), order: None, limit: None };
        let rows = store.select(&query).await.expect("select");
        let holds = |cell: &Value| match cell {
            Value::Text(text) => text.contains(what),
            Value::Bytes(bytes) => contains(bytes, what),
            Value::Null | Value::Int(_) | Value::Real(_) | Value::Time(_) => false,
        };
        if rows.iter().flatten().any(holds) {
            found.push(table.name);
        }
    }
    found
}

/// The files of the house that hold this.
fn files_with(folder: &Path, what: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let with = files.filter(|path| path.is_file() && contains(&std::fs::read(path).expect("bytes"), what));
    with.map(|path| path.display().to_string()).collect()
}

/// Everything that the use cases tell.
async fn told(app: &App) -> String {
    let mut text = format!("{:?}{:?}", app.events().list(999).await, app.tasks().list(999).await);
    text += &format!(
        "{:?}{:?}{:?}",
        app.record().list_audit(999).await,
        app.events().watermarks().await,
        app.instance().status().await
    );
    for event in app.events().list(999).await.expect("events") {
        text += &format!("{:?}", app.record().why(&event.id.to_string()).await.expect("why"));
    }
    for task in app.tasks().list(999).await.expect("tasks") {
        text += &format!("{:?}", app.record().why(&task.task.to_string()).await.expect("why"));
        text += &format!("{:?}", app.tasks().show(&task.task.to_string()).await.expect("a task"));
    }
    text
}

fn code<T: std::fmt::Debug>(result: Result<T, Problem>) -> Code {
    result.expect_err("must not work").code
}

/// A task of theirs, as it will be when somebody outside is let in: journal, reason, call, and the board.
async fn give_a_task(world: &World, event: EventId, status: Status) -> TaskId {
    let ledger = ledger_of(world).await;
    let event: Event = ledger.event(event).await.expect("ledger").expect("an event");
    let salt = ledger.salt_of(&event.sender.to_string()).await.expect("ledger").expect("a salt");
    let (task, now): (TaskId, _) = (Id::derived(event.id, 0, 0), world.clock.now());
    let vpol = policy_id();
    let words = |what: &str| Blob::personal(format!("{CANARY} {what} {task}").into(), &salt);
    let (step, thought, decision) = (words("step"), words("thought"), words("decision"));
    let mut batch = Batch::new(BatchId::named(&task.to_string()), now);
    batch.put(&step).put(&thought).put(&decision);
    batch.put(&TaskStep { seq: Seq(None), task, n: 0, epoch: 1, body: step.hash, at: now });
    let reason: ReasonId = Id::derived(task, 0, 0);
    batch.put(&Reason {
        id: reason,
        r_tag: "plan".into(),
        o_tag: event.origin_id,
        vpol_id: vpol,
        chain_id: task.to_string(),
        parent_id: None,
        agent_id: "main".into(),
        thought: thought.hash,
        at: now,
    });
    let call: CallId = Id::derived(task, 0, 0);
    batch.put(&ToolCall {
        id: call,
        tool_id: "find_files".parse::<ToolId>().expect("a tool"),
        agent_id: "main".into(),
        task_id: task,
        r_tag: reason,
        o_tag: event.origin_id,
        vpol_id: vpol,
        status: CallStatus::Finished,
        input: Digest::ZERO,
        output: None,
        decision: decision.hash,
        duration_ms: None,
        timestamp: now,
        artifacts: None,
        alignment_rating: None,
        reserved: None,
        change: None,
    });
    batch.put(&AgentTask {
        task_id: task,
        agent_id: "main".into(),
        status,
        priority: 50,
        payload: event.id,
        o_tag: event.origin_id,
        vpol_id: Some(vpol),
        task_class: Some(format!("{CANARY}_files")),
        directive: None,
        steps: 1,
        created_at: now,
        started_at: Some(now),
        completed_at: None,
        journal: None,
    });
    ledger.commit(batch).await.expect("commit");
    task
}

fn policy_id() -> domain::id::VpolId {
    domain::id::VpolId::from_bits(7)
}

#[tokio::test]
async fn nothing_of_them_is_left_in_any_table_file_or_answer() {
    for kept in Kept::ALL {
        let world = inhabited(kept).await;
        let first = ingest(&world.app, &from_lea(1)).await;
        let task = give_a_task(&world, first, Status::Done).await;
        let id = lea(&world).await.id;
        assert_eq!(
            tables_with(&world, CANARY).await,
            ["blobs", "entity_identities", "places", "watermarks", "agent_tasks"],
            "{kept:?}: planted"
        );
        if kept == Kept::InSqlite {
            assert_ne!(files_with(world.path(), CANARY), [""; 0], "planted");
        }
        let salt = ledger_of(&world).await.salt_of(&id.to_string()).await.expect("ledger");
        assert!(salt.is_some(), "{kept:?}");
        let listed = format!("{:?}", world.app.events().list(99).await);
        assert!(listed.contains(CANARY), "{kept:?}: planted");
        let neighbours = tables_with(&world, "tom").await;
        let (tom, group) =
            (identity(&world, "mail", "tom@x.example").await, tables_with(&world, "allotment").await);

        let forgotten =
            world.app.people().forget("demo:canary-lea@x.example", Forget::ForGood).await.expect("forgotten");
        let counts = Counts {
            blobs: 2 * 2 + 1 + 3, // two messages with metadata, one in the group, three of the task
            salts: 1,
            entities: 0,
            entity_tags: 0,
            entity_identities: 1,
            places: 1,
            watermarks: 1,
            agent_tasks: 1,
        };
        assert_eq!(
            (forgotten.gone, forgotten.events, forgotten.cleaned),
            (counts, 3, Some(true)),
            "{kept:?}"
        );
        assert_eq!(forgotten.person, id.to_string());

        assert_eq!(tables_with(&world, CANARY).await, [""; 0], "{kept:?}");
        assert_eq!(files_with(world.path(), CANARY), [""; 0], "{kept:?}");
        let text = told(&world.app).await + &format!("{forgotten:?}");
        assert!(!text.contains(CANARY), "{kept:?}: {text}");
        assert!(
            world.app.record().verify(&app::record::Check::default()).await.expect("verify").is_sound(),
            "{kept:?}"
        );
        let ledger = ledger_of(&world).await;
        assert_eq!(ledger.salt_of(&id.to_string()).await.expect("ledger"), None, "{kept:?}");

        assert_eq!(tables_with(&world, "tom").await, neighbours, "{kept:?}: the neighbour is untouched");
        assert_eq!(
            tables_with(&world, "allotment").await,
            group,
            "{kept:?}: a place that others are in stays"
        );
        assert_eq!(identity(&world, "mail", "tom@x.example").await, tom, "{kept:?}");
        let mut left: Vec<String> = world
            .app
            .events()
            .list(99)
            .await
            .expect("events")
            .into_iter()
            .filter_map(|line| line.content)
            .collect();
        left.sort_unstable();
        assert_eq!(left, ["sue in the group", "tom writes 1", "tom writes 2"], "{kept:?}");
        let view = world.app.tasks().show(&task.to_string()).await.expect("a task");
        assert!(
            view.erased && view.result.is_none() && view.journal[0].input == "(erased)",
            "{kept:?}: {view:?}"
        );
        let why = world.app.record().why(&first.to_string()).await.expect("why");
        assert!(format!("{why:?}").contains("words of somebody erased"), "{kept:?}: {why:?}");
    }
}

#[tokio::test]
async fn what_was_forgotten_does_not_come_back_and_who_writes_again_is_somebody_new() {
    for kept in Kept::each() {
        let world = inhabited(kept).await;
        let (first, before) = (ingest(&world.app, &from_lea(1)).await, lea(&world).await);
        let beginning: String = before.id.to_string().chars().take(8).collect();
        world.app.people().forget(&beginning, Forget::ForGood).await.expect("a beginning of the id");
        for n in 1..=2 {
            let again = world.app.events().ingest(&from_lea(n)).await.expect("ledger").expect("an event");
            assert!(!again.new, "{kept:?}: the key is known");
        }
        assert_eq!(ingest(&world.app, &from_lea(1)).await, first, "{kept:?}: under the same id");
        assert_eq!(tables_with(&world, CANARY).await, [""; 0], "{kept:?}: replaying brings nothing back");

        ingest(&world.app, &from_lea(3)).await;
        let after = lea(&world).await;
        assert_ne!(after.id, before.id, "{kept:?}");
        assert_eq!(after.entity_id, None, "{kept:?}");
        let ledger = ledger_of(&world).await;
        let old = ledger.identity(before.id).await.expect("ledger").expect("a tombstone");
        assert_eq!(old, before.erased(), "{kept:?}");
        assert_eq!(code(world.resume(Some(&first.to_string())).await), Code::ERASED, "{kept:?}");
        let posing = from_lea(4).replace("canary-lea@x.example", &old.identifier);
        assert!(
            world.app.events().ingest(&posing).await.expect("ledger").is_err(),
            "{kept:?}: nobody is the tombstone"
        );
    }
}

#[tokio::test]
async fn done_twice_there_is_nothing_left_and_a_dry_run_writes_nothing() {
    for kept in Kept::each() {
        let mut world = inhabited(kept).await;
        world.backed_up("/backups/1");
        let entries =
            world.app.record().verify(&app::record::Check::default()).await.expect("verify").entries;
        let dry =
            world.app.people().forget("demo:canary-lea@x.example", Forget::DryRun).await.expect("counted");
        assert_eq!(dry.addresses, ["demo:canary-lea@x.example"], "{kept:?}");
        assert_eq!((dry.gone.blobs, dry.gone.entity_identities, dry.cleaned), (5, 1, None), "{kept:?}");
        assert_eq!(world.app.instance().barriers(), 0, "{kept:?}: nothing was written");
        assert_eq!(
            world.app.record().verify(&app::record::Check::default()).await.expect("verify").entries,
            entries,
            "{kept:?}"
        );

        let once = world.app.people().forget(&dry.person, Forget::ForGood).await.expect("forgotten");
        assert_eq!(once.gone, dry.gone, "{kept:?}: it says what it does");
        assert_eq!(once.addresses, [""; 0], "{kept:?}");
        let backups: Vec<_> = once.backups.iter().filter_map(|kept| kept.folder.to_str()).collect();
        assert_eq!(backups, ["/backups/1"], "{kept:?}: made when they were known");
        let twice = world.app.people().forget(&dry.person, Forget::ForGood).await.expect("forgotten");
        assert!(twice.gone.is_nothing() && twice.cleaned == Some(true), "{kept:?}: {twice:?}");
        assert_eq!(
            code(world.app.people().forget("demo:canary-lea@x.example", Forget::ForGood).await),
            Code::NOBODY
        );
        let said = world.app.record().list_audit(99).await.expect("audit");
        let said: Vec<_> = said.into_iter().filter(|line| line.kind == "person.forgotten").collect();
        assert_eq!(said.len(), 1, "{kept:?}");
        assert_eq!((&said[0].subject, &said[0].detail["blobs"]), (&once.person, &5.into()), "{kept:?}");
    }
}

#[tokio::test]
async fn a_backup_from_before_they_were_known_does_not_hold_them() {
    let mut world = World::new(Kept::InMemory).await;
    world.backed_up("/backups/old");
    world.clock.turn(SECOND);
    ingest(&world.app, &from_lea(1)).await;
    let forgotten =
        world.app.people().forget("demo:canary-lea@x.example", Forget::ForGood).await.expect("forgotten");
    assert_eq!(forgotten.backups, []);
}

#[tokio::test]
async fn all_addresses_of_the_same_person_go_together() {
    for kept in Kept::each() {
        let world = inhabited(kept).await;
        let lea = lea(&world).await;
        let ledger = ledger_of(&world).await;
        let entity = Entity {
            id: EntityId::from_bits(0xCAFE << 100),
            kind: EntityKind::Person,
            name: Some("canary-lea herself".into()),
            is_owner: false,
            relationship: Some("canary-lea is a friend".into()),
            trust: Some(domain::Trust::Standard),
            created_at: world.clock.now(),
        };
        let mail = Identity {
            id: IdentityId::from_bits(0xBEEF << 100),
            platform: "mail".into(),
            identifier: "canary-lea@mail.example".into(),
            entity_id: Some(entity.id),
            account: Some("canary-lea-account".into()),
            first_seen: world.clock.now(),
            is_owned: false,
            is_verified: false,
        };
        let mut link = Batch::new(BatchId::from_bits(1), world.clock.now());
        link.erase::<Identity, _>("id", &[lea.id]);
        link.put(&Identity { entity_id: Some(entity.id), ..lea.clone() }).put(&mail).put(&entity);
        link.put(&EntityTag { entity_id: entity.id, tag: "role:canary-lea".into() });
        ledger.commit(link).await.expect("commit");
        world.clock.turn(SECOND);
        // Their words are kept under the address that said them, linked or not.
        ingest(&world.app, &from_lea(9)).await;
        let said = Select::<Blob>::by("person", &Some(lea.id.to_string()));
        assert_eq!(ledger.select(said).await.expect("blobs").len(), 2 * 3 + 1, "{kept:?}");

        let forgotten = world
            .app
            .people()
            .forget("mail:canary-lea@mail.example", Forget::ForGood)
            .await
            .expect("forgotten");
        assert_eq!(forgotten.person, entity.id.to_string(), "{kept:?}");
        let gone = forgotten.gone;
        assert_eq!(
            (gone.entities, gone.entity_tags, gone.entity_identities, gone.salts),
            (1, 1, 2, 1),
            "{kept:?}"
        );
        assert_eq!(tables_with(&world, CANARY).await, [""; 0], "{kept:?}");
        let left = ledger.entity(entity.id).await.expect("ledger").expect("a tombstone");
        assert_eq!(left, entity.erased(), "{kept:?}");
        assert_eq!((left.name, left.relationship, left.trust), (None, None, None), "{kept:?}");
        assert!(
            ledger.identity(mail.id).await.expect("ledger").expect("a tombstone").is_erased(),
            "{kept:?}"
        );
    }
}

#[tokio::test]
async fn the_owner_the_agents_and_nobody_are_not_forgotten() {
    for kept in Kept::each() {
        let world = inhabited(kept).await;
        world.run("how many files are here?").await.expect("a report");
        let owner = ledger_of(&world).await.owner().await.expect("ledger").expect("an owner");
        for (who, expected) in [
            ("terminal:uid:1000", Code::PART_OF_THE_HOUSE),
            (&*owner.id.to_string(), Code::PART_OF_THE_HOUSE),
            ("system:agent:main", Code::PART_OF_THE_HOUSE),
            ("demo:nobody", Code::NOBODY),
            ("i-zzzzzzzz", Code::NOBODY),
            ("lea", Code::NOBODY),
            ("", Code::NOBODY),
            ("i-", Code::NOBODY),
        ] {
            for how in [Forget::DryRun, Forget::ForGood] {
                let found = code(world.app.people().forget(who, how).await);
                let fits = found == expected || (who == "i-" && found == Code::AMBIGUOUS_ID);
                assert!(fits, "{kept:?}: {who}: {found}");
            }
        }
        assert_eq!(
            world.app.events().list(99).await.expect("events").iter().filter(|e| e.content.is_none()).count(),
            0
        );
    }
}

/// What is worked on by a living process is refused; what was left behind is stopped, and its driver with it.
#[tokio::test]
async fn a_task_that_is_not_over_is_stopped_unless_somebody_is_at_it() {
    for kept in Kept::each() {
        let mut world = inhabited(kept).await;
        let event = ingest(&world.app, &from_lea(1)).await;
        let task = give_a_task(&world, event, Status::Running).await;
        let ledger = ledger_of(&world).await;
        let lease = Lease {
            subject: task.to_string(),
            epoch: 1,
            holder: "process-1".into(),
            until: world.clock.now().plus(30 * SECOND),
            beats: 3,
        };
        let mut drive = Batch::new(BatchId::from_bits(1), world.clock.now());
        drive.put(&lease);
        ledger.commit(drive).await.expect("commit");
        world.start_another(Arc::new(Silent));
        let who = "demo:canary-lea@x.example";
        assert_eq!(code(world.app.people().forget(who, Forget::ForGood).await), Code::AT_WORK, "{kept:?}");
        assert!(tables_with(&world, CANARY).await.contains(&"blobs"), "{kept:?}: nothing was erased");

        world.restart();
        world.app.people().forget(who, Forget::ForGood).await.expect("forgotten");
        assert_eq!(tables_with(&world, CANARY).await, [""; 0], "{kept:?}");
        let stopped = ledger.task(task).await.expect("ledger").expect("a task");
        assert_eq!((stopped.status, stopped.task_class), (Status::Stopped, None), "{kept:?}");
        assert_eq!(world.app.instance().status().await.expect("status").unfinished.len(), 0, "{kept:?}");
        let mut stale = Batch::new(BatchId::from_bits(2), world.clock.now());
        stale.fence(task.to_string(), 1).put(&Blob::public(CANARY.into()));
        assert!(ledger.commit(stale).await.is_err(), "{kept:?}: its driver writes nothing more");
    }
}

/// Somebody else writes at the very moment in which they are forgotten.
struct Meanwhile {
    commits: Mutex<u32>,
    go: std::sync::mpsc::SyncSender<()>,
    done: Mutex<std::sync::mpsc::Receiver<()>>,
}

impl Probe for Meanwhile {
    fn reached(&self, point: Point<'_>) {
        if point == Point::Committing {
            let mut commits = self.commits.lock().expect("not poisoned");
            *commits += 1;
            if *commits == 1 {
                tokio::task::block_in_place(|| {
                    self.go.send(()).expect("somebody listens");
                    self.done.lock().expect("not poisoned").recv().expect("they have written");
                });
            }
        }
    }
}

/// The forgetting process is held right before it commits; another one is forgetting them meanwhile, or they write.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_comes_in_between_goes_too() {
    for kept in Kept::ALL {
        let mut world = inhabited(kept).await;
        let (go, gone) = std::sync::mpsc::sync_channel(1);
        let (did, done) = std::sync::mpsc::sync_channel(1);
        let forgetting =
            world.another(Arc::new(Meanwhile { commits: Mutex::default(), go, done: Mutex::new(done) }));
        let work = tokio::spawn(async move {
            forgetting.people().forget("demo:canary-lea@x.example", Forget::ForGood).await
        });
        tokio::task::block_in_place(|| gone.recv()).expect("it is about to commit");
        let line = from_lea(7).replace("canary-lea-chat", "canary-lea-other-chat");
        ingest(&world.app, &line).await;
        did.send(()).expect("it goes on");
        let forgotten = work.await.expect("a task").expect("forgotten");
        assert_eq!(tables_with(&world, CANARY).await, [""; 0], "{kept:?}: {forgotten:?}");
        assert_eq!(forgotten.events, 4, "{kept:?}");
    }
}

/// A message that is about to be written when its sender is forgotten is a message of somebody new: nothing is written
/// under the old name.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_held_while_they_are_forgotten_is_of_somebody_new() {
    for kept in Kept::ALL {
        let mut world = inhabited(kept).await;
        let before = lea(&world).await;
        let (go, gone) = std::sync::mpsc::sync_channel(1);
        let (did, done) = std::sync::mpsc::sync_channel(1);
        let taking =
            world.another(Arc::new(Meanwhile { commits: Mutex::default(), go, done: Mutex::new(done) }));
        let work = tokio::spawn(async move { taking.events().ingest(&from_lea(7)).await });
        tokio::task::block_in_place(|| gone.recv()).expect("it is about to commit");
        world.app.people().forget(&before.id.to_string(), Forget::ForGood).await.expect("forgotten");
        did.send(()).expect("it goes on");
        let receipt = work.await.expect("a task").expect("ledger").expect("an event");
        assert!(receipt.new, "{kept:?}: it is not lost");
        let ledger = ledger_of(&world).await;
        let event = ledger.event(receipt.id).await.expect("ledger").expect("an event");
        let after = lea(&world).await;
        assert!(event.sender == after.id && after.id != before.id, "{kept:?}");
        let old = Select::<Blob>::by("person", &Some(before.id.to_string()));
        assert_eq!(ledger.select(old).await.expect("blobs"), [], "{kept:?}");
        assert_eq!(
            ledger.text(&event.body).await.expect("text").as_deref(),
            Some("canary-lea writes 7"),
            "{kept:?}"
        );
    }
}
