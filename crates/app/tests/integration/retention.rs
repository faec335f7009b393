//! Retention, on every store: the words of a channel go when they are old enough, and nothing else does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::{App, JobState};
use domain::probe::{Point, Probe, Silent};
use ledger::records::Blob;
use ledger::{Ledger, Select};
use testkit::{Kept, World};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn ledger_of(world: &World) -> Ledger {
    Ledger::start(world.store().await, world.seal(), Arc::new(Silent))
}

async fn say(app: &App, adapter: &str, n: u32, content: &str) {
    let line = format!(
        r#"{{"adapter":"{adapter}","platform":"chat","source_id":"{n}","sender":"lea","content":"{content}","metadata":{{"n":"{adapter}{n}"}}}}"#
    );
    assert!(app.events().ingest(&line).await.expect("ledger").expect("an event").new);
}

/// What is still there of what came in, in order.
async fn contents(app: &App) -> Vec<Option<String>> {
    app.events().list(99).await.expect("events").into_iter().map(|line| line.content).collect()
}

async fn tick(app: &App, duty: &str) -> JobState {
    let lines = app.instance().tick().await.expect("a tick");
    lines.into_iter().find(|line| line.duty == duty).expect("a line").state
}

/// So many days go by, and on the last but one a command is given: a clock that leaps is not believed at once.
async fn pass(world: &World, days: u32) {
    world.clock.turn((days - 1) * DAY);
    world.app.instance().tick().await.expect("a tick");
    world.clock.turn(DAY);
}

async fn personal(world: &World) -> usize {
    let blobs = ledger_of(world).await.select(Select::<Blob>::all()).await.expect("blobs");
    blobs.into_iter().filter(|blob| blob.person.is_some()).count()
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).to_owned()).filter(|text| text != "-")).collect()
}

#[tokio::test]
async fn words_of_a_channel_go_when_they_are_old_and_younger_ones_keep_what_they_share() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        say(&world.app, "telegram", 1, "old").await;
        say(&world.app, "telegram", 2, "ok").await;
        say(&world.app, "mail", 1, "old mail").await;
        say(&world.app, "telegram", 3, "as in a mail").await;
        world.clock.turn(60 * DAY);
        say(&world.app, "telegram", 4, "ok").await;
        say(&world.app, "mail", 2, "as in a mail").await;
        world.clock.turn(31 * DAY);
        assert_eq!(
            tick(&world.app, "retention").await,
            JobState::Idle,
            "{kept:?}: for ever, unless it is set"
        );
        assert_eq!(contents(&world.app).await.iter().flatten().count(), 6, "{kept:?}");

        world.set("[retention]\ntelegram = \"90d\"");
        assert!(matches!(tick(&world.app, "retention").await, JobState::Done { .. }), "{kept:?}");
        // `ok` was said again by the same person a month ago, the other one stands in a mail too, which is kept.
        let left = ["-", "ok", "old mail", "as in a mail", "ok", "as in a mail"];
        assert_eq!(contents(&world.app).await, some(&left), "{kept:?}");
        assert_eq!(personal(&world).await, 3 + 3, "{kept:?}: and the metadata of three");
        let said = world.app.record().list_audit(99).await.expect("audit");
        let said: Vec<_> = said.into_iter().filter(|line| line.kind == "retention.erased").collect();
        assert_eq!(said.len(), 1, "{kept:?}");
        assert_eq!(said[0].subject, "adapter:telegram", "{kept:?}");
        assert_eq!(
            said[0].detail,
            serde_json::json!({ "adapter": "telegram", "events": 1, "blobs": 4 }),
            "{kept:?}"
        );
        assert!(matches!(tick(&world.app, "retention").await, JobState::Waits { .. }), "{kept:?}");
        assert_eq!(tick(&world.app, "scrub").await, JobState::Idle, "{kept:?}: done with the same tick");

        pass(&world, 60).await;
        assert!(matches!(tick(&world.app, "retention").await, JobState::Done { .. }), "{kept:?}");
        let left = ["-", "-", "old mail", "as in a mail", "-", "as in a mail"];
        assert_eq!(contents(&world.app).await, some(&left), "{kept:?}: the younger one is old now");
        assert!(
            world.app.record().verify(&app::record::Check::default()).await.expect("verify").is_sound(),
            "{kept:?}"
        );
        for event in world.app.events().list(99).await.expect("events") {
            world.app.record().why(&event.id.to_string()).await.expect("why");
        }
    }
}

/// The terminal's own requests, with all that followed from them.
#[tokio::test]
async fn a_task_goes_with_its_request_and_one_that_is_not_over_is_kept() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("canary.rs", "fn a() {}");
        let report = world.run("list Rust files").await.expect("a report");
        let stops = Arc::new(Stops::default());
        world.restart_probed(Arc::<Stops>::clone(&stops));
        tokio::select! {
            biased;
            () = stops.0.notified() => {}
            report = world.run("how many Rust files are here?") => panic!("{kept:?}: it must not end: {report:?}"),
        }
        world.set("[retention]\ncli = \"10d\"");
        pass(&world, 11).await;
        let before = personal(&world).await;
        assert!(matches!(tick(&world.app, "retention").await, JobState::Done { .. }), "{kept:?}");
        let left = personal(&world).await;
        assert!(left > 0 && left < before, "{kept:?}: {before} {left}");
        let view = world.app.tasks().show(&report.task.to_string()).await.expect("a task");
        assert!(view.erased && view.line.request.is_none(), "{kept:?}: {view:?}");
        let why = world.app.record().why(&report.task.to_string()).await.expect("why");
        assert!(!format!("{why:?}").contains("list Rust"), "{kept:?}: {why:?}");
        assert_eq!(world.app.instance().status().await.expect("status").unfinished.len(), 1, "{kept:?}");

        let resumed = world.resume(None).await.expect("what is not over is still there");
        assert_eq!(resumed.problem(), None, "{kept:?}");
        world.clock.turn(DAY);
        assert!(matches!(tick(&world.app, "retention").await, JobState::Done { .. }), "{kept:?}");
        // The request is past, its answer is not; thoughts in the same words went with the last one that had them.
        assert_eq!(contents(&world.app).await.into_iter().flatten().count(), 1, "{kept:?}");
        pass(&world, 11).await;
        assert!(matches!(tick(&world.app, "retention").await, JobState::Done { .. }), "{kept:?}");
        assert_eq!(personal(&world).await, 0, "{kept:?}");
        assert!(
            world.app.record().verify(&app::record::Check::default()).await.expect("verify").is_sound(),
            "{kept:?}"
        );
        world.run("list Rust files").await.expect("the owner goes on as before");
    }
}

/// Says when the first call is about to run, so that it can be left there.
#[derive(Default)]
struct Stops(tokio::sync::Notify);

impl Probe for Stops {
    fn reached(&self, point: Point<'_>) {
        if let Point::Running { .. } = point {
            self.0.notify_one();
        }
    }
}

/// Holds the process right before its n-th commit, until somebody else has written.
struct Held {
    at: u32,
    commits: Mutex<u32>,
    go: std::sync::mpsc::SyncSender<()>,
    done: Mutex<std::sync::mpsc::Receiver<()>>,
}

impl Probe for Held {
    fn reached(&self, point: Point<'_>) {
        if point == Point::Committing {
            let mut commits = self.commits.lock().expect("not poisoned");
            *commits += 1;
            if *commits == self.at {
                tokio::task::block_in_place(|| {
                    self.go.send(()).expect("somebody listens");
                    self.done.lock().expect("not poisoned").recv().expect("they have written");
                });
            }
        }
    }
}

/// Who says the same words again while the old ones are about to go keeps them.
#[tokio::test(flavor = "multi_thread")]
async fn words_that_are_said_again_in_between_stay() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        say(&world.app, "telegram", 1, "ok").await;
        say(&world.app, "telegram", 2, "once").await;
        world.clock.turn(91 * DAY);
        assert!(
            matches!(tick(&world.app, "upkeep").await, JobState::Done { .. }),
            "{kept:?}: out of the way"
        );
        world.set("[retention]\ntelegram = \"90d\"");
        let (go, gone) = std::sync::mpsc::sync_channel(1);
        let (did, done) = std::sync::mpsc::sync_channel(1);
        // The first commit claims the duty, the second erases.
        let held = Held { at: 2, commits: Mutex::default(), go, done: Mutex::new(done) };
        let app = world.another(Arc::new(held));
        let work = tokio::spawn(async move { tick(&app, "retention").await });
        tokio::task::block_in_place(|| gone.recv()).expect("it is about to erase");
        say(&world.app, "telegram", 3, "ok").await;
        did.send(()).expect("it goes on");
        assert!(matches!(work.await.expect("a task"), JobState::Done { .. }), "{kept:?}");
        assert_eq!(contents(&world.app).await, some(&["ok", "-", "ok"]), "{kept:?}");
    }
}

/// What a task changed can be taken back when its words are gone, also if somebody once said what stood in the file.
#[tokio::test]
async fn what_was_changed_can_be_undone_when_the_words_are_gone() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("f", "list Rust files").file("g", "list Rust files").file("h", "other");
        world.run("list Rust files").await.expect("a report");
        let args = serde_json::json!({ "paths": ["f", "g", "h"] });
        let task = world.call("delete_files", args, true).await.expect("a report").task.to_string();
        world.set("[retention]\ncli = \"10d\"");
        pass(&world, 11).await;
        assert!(matches!(tick(&world.app, "retention").await, JobState::Done { .. }), "{kept:?}");
        assert!(world.app.tasks().show(&task).await.expect("a task").erased, "{kept:?}");
        let undone = world.app.tasks().undo(&task, app::tasks::Undo::ForGood).await;
        let undone = undone.expect("an undo");
        assert_eq!((undone.put_back.len(), undone.left), (3, vec![]), "{kept:?}");
        assert_eq!(std::fs::read(world.path().join("f")).expect("f"), b"list Rust files", "{kept:?}");
        assert_eq!(std::fs::read(world.path().join("h")).expect("h"), b"other", "{kept:?}");
    }
}
