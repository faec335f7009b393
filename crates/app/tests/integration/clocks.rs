//! A clock that is wrong for a command or two: nothing is put off by more than one interval, nothing lasts longer than its own
//! length, and the jump is on record.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use app::grants::{GrantState, NewGrant};
use app::people::Forget;
use app::record::Check;
use app::{App, Code, JobState};
use domain::ask::Action;
use domain::id::BatchId;
use domain::limits::{APPROVAL, CLOCK_TOLERANCE, LEASE};
use domain::probe::Silent;
use domain::{Clock as _, Time};
use ledger::records::{Approval, AuditEntry, Duty, Grant, Knock, Lease};
use ledger::table::Record;
use ledger::{Batch, Ledger, Select};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use testkit::scripted::call;
use testkit::{Kept, Scripted, World};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const DECADE: Duration = Duration::from_secs(3_653 * 24 * 60 * 60);
/// The longest time between two commands of a random history.
const BREAK: Duration = Duration::from_secs(40 * 60 * 60);
/// The messages of `demo` are kept for so long.
const KEPT: Duration = Duration::from_secs(2 * 24 * 60 * 60);

async fn rows<T: Record>(world: &World) -> Vec<T> {
    let rows = world.store().await.select(&Select::<T>::all().query).await.unwrap();
    rows.into_iter().map(|row| T::from_row(row).unwrap()).collect()
}

/// A world whose model wants to delete a file, which has to be asked about, and that keeps messages for two days.
async fn world(kept: Kept) -> World {
    let mut world = World::new(kept).await;
    world.file("old.txt", "keep me");
    world.think(Arc::new(Scripted::new(|seen| match seen.last() {
        None => call("delete_file", json!({ "path": "old.txt" })),
        Some(last) => Action::done(format!("{:?}", last.outcome)),
    })));
    world.set("[retention]\ndemo = \"2d\"");
    world
}

async fn duty(app: &App, name: &str) -> JobState {
    let lines = app.instance().tick().await.expect("a tick");
    lines.into_iter().find(|line| line.duty == name).expect("there is such a duty").state
}

fn is_done(state: &JobState) -> bool {
    matches!(state, JobState::Done { .. })
}

async fn message(app: &App, n: usize) {
    let line = json!({ "adapter": "demo", "source_id": n.to_string(), "sender": format!("s{n}"), "content": format!("words {n}") });
    assert!(app.events().ingest(&line.to_string()).await.expect("ledger").expect("an event").new);
    app.events().admit_waiting().await.expect("decided");
}

async fn grant(app: &App) {
    let new = NewGrant {
        tool: "write_file".into(),
        pins: BTreeMap::from([("path".into(), "reports/*".into())]),
        principal: "owner".into(),
        agent: "main".into(),
        session: None,
        lasting: Some(DAY),
        reason: "reports".into(),
    };
    app.grants().add(new).await.expect("a grant");
}

async fn jumps(world: &World) -> usize {
    rows::<AuditEntry>(world).await.iter().filter(|entry| entry.kind == "clock.back").count()
}

#[tokio::test]
async fn one_command_with_a_wrong_clock_puts_nothing_off_and_prolongs_nothing() {
    for kept in Kept::each() {
        let mut world = world(kept).await;
        duty(&world.app, "upkeep").await;
        world.clock.turn(DECADE);
        world.restart();
        assert!(
            world
                .run("delete old.txt")
                .await
                .expect("a report")
                .problem()
                .is_some_and(|it| it.code == Code::WAITING)
        );
        message(&world.app, 1).await;
        grant(&world.app).await;
        assert!(is_done(&duty(&world.app, "checkpoint").await), "{kept:?}");
        assert_eq!(world.app.approvals().list().await.expect("open").len(), 1, "{kept:?}");

        world.clock.turn_back(DECADE);
        world.restart();
        message(&world.app, 2).await;
        let lines = world.app.instance().tick().await.expect("a tick");
        let due = lines.iter().filter(|line| is_done(&line.state)).map(|line| line.duty);
        assert_eq!(due.collect::<Vec<_>>(), ["upkeep", "retention", "checkpoint"], "{kept:?}");
        assert_eq!(world.app.approvals().list().await.expect("open").len(), 0, "{kept:?}: expired");
        let open = world.app.access_requests().list().await.expect("open");
        let senders: Vec<_> = open.iter().filter_map(|knock| knock.sender.as_deref()).collect();
        assert_eq!(senders, ["demo:s2"], "{kept:?}: the one that was asked by the wrong clock has expired");
        assert_eq!(granted(&world).await, GrantState::Expired, "{kept:?}");

        // The message of the wrong clock goes two days after the jump back, and not in ten years.
        world.clock.turn(KEPT - HOUR);
        duty(&world.app, "retention").await;
        assert!(contents(&world.app).await.iter().all(Option::is_some), "{kept:?}: too early");
        world.clock.turn(DAY);
        assert!(is_done(&duty(&world.app, "retention").await), "{kept:?}");
        assert_eq!(contents(&world.app).await, [None, None], "{kept:?}");
        let check = Check { complete: true, ..Check::default() };
        assert_eq!(world.app.record().verify(&check).await.expect("verified").problem(), None, "{kept:?}");
    }
}

/// A machine that wakes up and is corrected by two minutes, and one that another system has set back by an hour.
#[tokio::test]
async fn a_clock_that_is_set_back_by_less_than_their_length_ends_nothing() {
    for kept in Kept::each() {
        let mut world = world(kept).await;
        let asked = world.run("delete old.txt").await.expect("a report");
        assert!(asked.problem().is_some_and(|it| it.code == Code::WAITING), "{kept:?}");
        message(&world.app, 1).await;
        grant(&world.app).await;
        let open = async |world: &World| {
            world.app.instance().tick().await.expect("a tick");
            let status = world.app.instance().status().await.expect("a status");
            let listed = world.app.approvals().list().await.expect("open").len();
            let knocks = world.app.access_requests().list().await.expect("open").len();
            assert_eq!((status.questions, status.wanting_in), (listed as u64, knocks as u64), "{kept:?}");
            (listed, knocks, granted(world).await)
        };
        world.clock.turn_back(Duration::from_secs(130));
        world.restart();
        assert_eq!(open(&world).await, (1, 1, GrantState::Live), "{kept:?}: two minutes");
        world.clock.turn_back(APPROVAL);
        assert_eq!(open(&world).await, (0, 1, GrantState::Live), "{kept:?}: longer than a question is open");
        world.clock.turn_back(DAY);
        assert_eq!(open(&world).await, (0, 1, GrantState::Expired), "{kept:?}: longer than the grant lasts");
        world.clock.turn_back(WEEK);
        assert_eq!(open(&world).await, (0, 0, GrantState::Expired), "{kept:?}: longer than a week");

        // What has expired stays so when the clock is right again.
        world.clock.turn(WEEK + DAY + APPROVAL + Duration::from_secs(130));
        assert_eq!(open(&world).await, (0, 0, GrantState::Expired), "{kept:?}");
    }
}

async fn granted(world: &World) -> GrantState {
    world.app.grants().list().await.expect("grants").remove(0).state
}

/// All words are older than their limit by a clock that is ten years ahead for one command, and none of them go.
#[tokio::test]
async fn one_command_with_a_clock_that_is_ahead_erases_no_words_before_their_time() {
    for (kept, is_new) in Kept::each().flat_map(|kept| [(kept, true), (kept, false)]) {
        let mut world = world(kept).await;
        let hours = async |world: &World, hours: u32| {
            for _ in 0..hours {
                world.clock.turn(HOUR);
                world.app.instance().tick().await.expect("a tick");
            }
        };
        message(&world.app, 1).await;
        hours(&world, 47).await;
        message(&world.app, 2).await;

        world.clock.turn(DECADE);
        if is_new {
            world.restart();
        }
        message(&world.app, 3).await;
        assert!(is_done(&duty(&world.app, "retention").await), "{kept:?}");
        world.app.instance().tick().await.expect("a tick");
        assert!(contents(&world.app).await.iter().all(Option::is_some), "{kept:?}, new process: {is_new}");

        world.clock.turn_back(DECADE);
        if is_new {
            world.restart();
        }
        world.app.instance().tick().await.expect("a tick");
        assert!(contents(&world.app).await.iter().all(Option::is_some), "{kept:?}, new process: {is_new}");
        hours(&world, 25).await;
        let left: Vec<_> = contents(&world.app).await.iter().map(Option::is_some).collect();
        assert_eq!(left, [false, true, true], "{kept:?}, new process: {is_new}: the first is old enough");
        hours(&world, 48).await;
        assert_eq!(contents(&world.app).await, [None, None, None], "{kept:?}, new process: {is_new}");
    }
}

/// The words of the messages that came in, or nothing where they were erased.
async fn contents(app: &App) -> Vec<Option<String>> {
    let events = app
        .events()
        .list(999)
        .await
        .expect("events")
        .into_iter()
        .filter(|line| line.key.starts_with("demo:"));
    events.map(|line| line.content).collect()
}

#[tokio::test]
async fn scrubbing_that_was_demanded_by_a_wrong_clock_is_done() {
    for kept in Kept::each() {
        let mut world = world(kept).await;
        for n in [1, 2] {
            message(&world.app, n).await;
            if n == 2 {
                world.clock.turn(DECADE);
            }
            world.app.people().forget(&format!("demo:s{n}"), Forget::ForGood).await.expect("forgotten");
        }
        let ledger = Ledger::start(world.store().await, world.seal(), Arc::new(Silent));
        let row = ledger.duty("scrub").await.expect("ledger").expect("a row");
        // As if the process had died before it could scrub.
        let mut batch = Batch::new(BatchId::from_bits(1), world.clock.now());
        batch.put(&Duty {
            next_due: world.clock.now(),
            last_run: Some(world.clock.now().minus(DECADE)),
            ..row
        });
        ledger.commit(batch).await.expect("commit");
        world.clock.turn_back(DECADE);
        world.restart();
        assert!(is_done(&duty(&world.app, "scrub").await), "{kept:?}");
        assert_eq!(duty(&world.app, "scrub").await, JobState::Idle, "{kept:?}");
    }
}

#[tokio::test]
async fn no_lease_is_held_for_longer_than_its_length() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        let ledger = Ledger::start(world.store().await, world.seal(), Arc::new(Silent));
        let until = |after: Duration| world.clock.now().plus(after);
        let lease = |until: Time| Lease {
            subject: "duty:upkeep".into(),
            epoch: 1,
            holder: "process-1".into(),
            until,
            beats: 1,
        };
        let (near, far) = (lease(until(LEASE + CLOCK_TOLERANCE)), lease(until(DECADE)));
        for (n, lease, expected) in [(1, near, false), (2, far, true)] {
            let mut batch = Batch::new(BatchId::from_bits(n), world.clock.now());
            batch.put(&lease);
            ledger.commit(batch).await.expect("commit");
            world.start_another(Arc::new(Silent));
            assert_eq!(is_done(&duty(&world.app, "upkeep").await), expected, "{kept:?}: {lease:?}");
        }
    }
}

#[tokio::test]
async fn a_clock_that_goes_back_is_recorded_once_and_doctor_names_it() {
    for kept in Kept::ALL {
        let mut world = world(kept).await;
        let clock = async |world: &World| {
            let found = world
                .app
                .instance()
                .doctor()
                .await
                .findings
                .into_iter()
                .find(|finding| finding.name == "clock");
            found.map(|finding| finding.what)
        };
        world.clock.turn(DECADE);
        message(&world.app, 1).await;
        assert_eq!(
            (jumps(&world).await, clock(&world).await),
            (0, None),
            "{kept:?}: a jump ahead is not known as one"
        );

        world.clock.turn_back(CLOCK_TOLERANCE);
        message(&world.app, 2).await;
        assert_eq!((jumps(&world).await, clock(&world).await), (0, None), "{kept:?}: corrected a little");

        world.clock.turn_back(DECADE);
        world.restart();
        let what = clock(&world).await.expect("doctor sees it before anything is written");
        assert!(what.contains("the newest record was written"), "{kept:?}: {what}");
        let mut apps = vec![world.another(Arc::new(Silent)), world.another(Arc::new(Silent))];
        apps.push(world.another(Arc::new(Silent)));
        let looks = apps.iter().map(|app| app.approvals().list());
        for look in futures(looks).await {
            look.expect("a look");
        }
        for n in 3..6 {
            world.restart();
            message(&world.app, n).await;
        }
        assert_eq!(jumps(&world).await, 1, "{kept:?}: once, by whichever process came first");
        let what = clock(&world).await.expect("recorded");
        assert!(what.starts_with("it went back from"), "{kept:?}: {what}");

        // Within one process, too.
        world.clock.turn(DECADE);
        message(&world.app, 6).await;
        world.clock.turn_back(DECADE);
        message(&world.app, 7).await;
        message(&world.app, 8).await;
        assert_eq!(jumps(&world).await, 2, "{kept:?}");
        world.clock.turn(31 * DAY);
        assert_eq!(clock(&world).await, None, "{kept:?}: long ago");
    }
}

async fn futures<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut done = Vec::new();
    for future in futures {
        done.push(future.await);
    }
    done
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Nothing,
    Message,
    Question,
    Grant,
    Restart,
}

/// Time goes by, the clock says something else or not, and a command is given.
#[derive(Clone, Copy, Debug)]
struct Command {
    wait: Duration,
    /// In decades, beside the true time.
    clock: Option<i64>,
    act: Act,
}

fn command() -> impl Strategy<Value = Command> {
    let wait = prop_oneof![
        3 => (1_u64..40).prop_map(|minutes| Duration::from_secs(60 * minutes)),
        2 => (1_u64..40).prop_map(|hours| HOUR * u32::try_from(hours).expect("few")),
    ];
    let clock = prop_oneof![2 => Just(None), 1 => (-1_i64..=1).prop_map(Some)];
    let act = prop_oneof![
        Just(Act::Nothing),
        Just(Act::Message),
        Just(Act::Question),
        Just(Act::Grant),
        Just(Act::Restart)
    ];
    (wait, clock, act).prop_map(|(wait, clock, act)| Command { wait, clock, act })
}

/// What is known of a history by a clock that is always right.
#[derive(Default)]
struct History {
    now: Duration,
    offset: i64,
    /// When something was first there, by its id.
    first: BTreeMap<String, Duration>,
    /// How often a duty had run, and when it last did.
    ran: BTreeMap<String, (u64, Duration)>,
    /// When each message came, and when the clock showed this offset for the first time since.
    messages: Vec<BTreeMap<i64, Duration>>,
    /// The offset of each command since a message came, that one first.
    offsets: Vec<Vec<i64>>,
    /// When the clock last leapt ahead.
    leapt: Option<Duration>,
}

impl History {
    fn age(&mut self, id: String) -> Duration {
        self.now - *self.first.entry(id).or_insert(self.now)
    }

    async fn give(&mut self, world: &mut World, command: Command) {
        self.now += command.wait;
        world.clock.turn(command.wait);
        let to = command.clock.unwrap_or(self.offset);
        let years = DECADE * u32::try_from((to - self.offset).abs()).expect("few");
        if to > self.offset {
            world.clock.turn(years)
        } else {
            world.clock.turn_back(years)
        }
        if to > self.offset {
            self.leapt = Some(self.now);
        }
        self.offset = to;
        self.offsets.iter_mut().for_each(|since| since.push(to));
        for seen in &mut self.messages {
            seen.entry(to).or_insert(self.now);
        }
        match command.act {
            Act::Nothing => {}
            Act::Message => {
                message(&world.app, self.messages.len()).await;
                self.messages.push(BTreeMap::from([(to, self.now)]));
                self.offsets.push(vec![to]);
            }
            Act::Question => drop(world.run("delete old.txt").await.expect("a report")),
            Act::Grant => grant(&world.app).await,
            Act::Restart => world.restart(),
        }
        world.app.instance().tick().await.expect("a tick");
        world.app.events().admit_waiting().await.expect("decided");
    }

    /// Nothing is later than its interval, nothing is open for longer than its length, and no words go early because one
    /// command was given by a clock that is ahead.
    async fn check(&mut self, world: &World) {
        for Duty { name, runs, .. } in rows::<Duty>(world).await {
            let known = self.ran.entry(name).or_insert((runs, self.now));
            if known.0 != runs {
                *known = (runs, self.now);
            }
        }
        let since = |name: &str| self.ran.get(name).map_or(Duration::ZERO, |(_, ran)| self.now - *ran);
        for name in ["upkeep", "retention"] {
            assert!(since(name) <= DAY + CLOCK_TOLERANCE, "{name}: {:?}", since(name));
        }
        let audit = world.app.record().verify(&Check::default()).await.expect("verified");
        assert!(audit.is_sound(), "{audit:?}");
        let is_signed = audit.entries - audit.signed <= 2 || since("checkpoint") <= HOUR + CLOCK_TOLERANCE;
        assert!(is_signed, "{} of {} signed, {:?}", audit.signed, audit.entries, since("checkpoint"));

        for asked in rows::<Approval>(world).await {
            let age = self.age(asked.id.to_string());
            assert!(!asked.status.is_open() || age <= APPROVAL + CLOCK_TOLERANCE, "{age:?}: {asked:?}");
        }
        for knock in rows::<Knock>(world).await {
            let age = self.age(knock.id.to_string());
            assert!(!knock.status.is_open() || age <= WEEK + CLOCK_TOLERANCE, "{age:?}: {knock:?}");
        }
        for grant in rows::<Grant>(world).await {
            let age = self.age(grant.id.to_string());
            assert!(grant.live.is_none() || age <= DAY + CLOCK_TOLERANCE, "{age:?}: {grant:?}");
        }
        let messages = self.messages.iter().zip(&self.offsets);
        for ((seen, offsets), content) in messages.zip(contents(&world.app).await) {
            let age = self.now - seen[&self.offset];
            // A run after a leap, or after a break of more than a day, counts up to before it; the next one does the rest.
            let is_late = age > KEPT + BREAK + DAY + CLOCK_TOLERANCE;
            let has_leapt = self.leapt.is_some_and(|leapt| self.now - leapt < DAY);
            assert!(content.is_none() || !is_late || has_leapt, "{age:?}: {content:?}");
            let age = self.now - *seen.values().min().expect("when it came");
            let lowest = offsets.iter().min().expect("one");
            let is_alone = offsets.iter().filter(|offset| *offset > lowest).count() <= 1;
            assert!(content.is_some() || age >= KEPT || !is_alone, "{age:?}: too early, {offsets:?}");
        }
    }
}

/// Each command may be given by a clock that is ten years ahead, ten years behind, or right.
#[test]
fn whatever_the_clock_says_nothing_is_later_than_one_interval() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let cases = if services::is_full() { 256 } else { 48 };
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let histories = proptest::collection::vec(command(), 1..24);
    let played = runner.run(&histories, |commands| {
        runtime.block_on(async {
            let (mut world, mut history) = (world(Kept::InMemory).await, History::default());
            for command in commands {
                history.give(&mut world, command).await;
                history.check(&world).await;
            }
        });
        Ok(())
    });
    played.expect("every history");
}
