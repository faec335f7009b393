//! Duties, on every store: done when they are due, by whoever lives, once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::record::Check;
use app::{App, JobState};
use domain::id::BatchId;
use domain::probe::{Point, Probe, Silent};
use domain::{Clock as _, Time};
use ledger::audit_event::SYSTEM;
use ledger::records::Lease;
use ledger::{AuditEvent, Batch, Entry, Ledger};
use testkit::{Kept, World};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn tick(app: &App) -> JobState {
    duty(app, "upkeep").await
}

async fn duty(app: &App, name: &str) -> JobState {
    let lines = app.instance().tick().await.expect("a tick");
    lines.into_iter().find(|line| line.duty == name).expect("there is such a duty").state
}

#[tokio::test]
async fn a_duty_is_done_when_it_is_due_and_what_was_missed_is_not_made_up_for() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        let JobState::Done { next_due } = tick(&world.app).await else { panic!("{kept:?}: due at first") };
        assert_eq!(tick(&world.app).await, JobState::Waits { next_due }, "{kept:?}");
        world.clock.turn(DAY - Duration::from_secs(1));
        assert_eq!(tick(&world.app).await, JobState::Waits { next_due }, "{kept:?}: a second too early");
        world.restart();
        world.clock.turn(3 * DAY);
        assert!(matches!(tick(&world.app).await, JobState::Done { .. }), "{kept:?}: due again");
        assert!(matches!(tick(&world.app).await, JobState::Waits { .. }), "{kept:?}: once, not three times");
        let kinds: Vec<String> = world
            .app
            .record()
            .list_audit(99)
            .await
            .expect("audit")
            .into_iter()
            .filter(|line| line.subject == "duty:upkeep")
            .map(|line| line.kind)
            .collect();
        assert_eq!(kinds, ["duty.started", "duty.done", "duty.started", "duty.done"], "{kept:?}");
        assert!(world.app.record().verify(&Check::default()).await.expect("verify").is_sound(), "{kept:?}");
    }
}

/// Counts what runs, and for which time.
#[derive(Default)]
struct Counting(Mutex<Vec<String>>);

impl Probe for Counting {
    fn reached(&self, point: Point<'_>) {
        if let Point::Running { tool, call } = point {
            self.0.lock().expect("not poisoned").push(format!("{tool} {call}"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_at_once_do_it_once() {
    for kept in Kept::ALL {
        let counting = Arc::new(Counting::default());
        let mut world = World::new(kept).await;
        let mut ticking = tokio::task::JoinSet::new();
        for _ in 0..6 {
            let app = world.another(Arc::<Counting>::clone(&counting));
            ticking.spawn(async move { tick(&app).await });
        }
        let states = ticking.join_all().await;
        let done = states.iter().filter(|state| matches!(state, JobState::Done { .. })).count();
        assert_eq!(done, 1, "{kept:?}: {states:?}");
        assert_eq!(*counting.0.lock().expect("not poisoned"), ["duty:upkeep first"], "{kept:?}");
    }
}

/// Whoever has begun keeps it for as long as its lease says, unless it is known to be dead.
#[tokio::test]
async fn a_duty_that_was_cut_off_is_done_by_the_next_one() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        let held = Lease {
            subject: "duty:upkeep".into(),
            epoch: 4,
            holder: "process-1".into(),
            until: world.clock.now().plus(Duration::from_secs(30)),
            beats: 1,
        };
        let ledger = Ledger::start(world.store().await, world.seal(), Arc::new(Silent));
        let mut claim = Batch::new(BatchId::from_bits(1), world.clock.now());
        claim.put(&held).audit(begun(world.clock.now()));
        ledger.commit(claim).await.expect("commit");

        world.start_another(Arc::new(Silent));
        assert_eq!(tick(&world.app).await, JobState::Elsewhere, "{kept:?}: process-1 lives");
        world.clock.turn(Duration::from_secs(31));
        assert!(
            matches!(tick(&world.app).await, JobState::Done { .. }),
            "{kept:?}: it says nothing any more"
        );
        let lease = ledger.lease("duty:upkeep").await.expect("lease").expect("it is there");
        assert_eq!((lease.epoch, lease.holder.as_str()), (5, "process-2"), "{kept:?}");
    }
}

fn begun(at: Time) -> Entry {
    AuditEvent::JobStarted { job: "upkeep" }.entry(SYSTEM, at)
}

/// An hour after the last one, or before its time where much was written; an idle house does not sign that it signed.
#[tokio::test]
async fn what_is_recorded_is_signed_within_the_hour_and_an_idle_house_signs_nothing() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        world.file("a.rs", "");
        world.run("how many Rust files are here?").await.expect("a report");
        assert!(matches!(duty(&world.app, "checkpoint").await, JobState::Done { .. }), "{kept:?}");
        let report = || async { world.app.record().verify(&Check::default()).await.expect("verify") };
        let first = report().await;
        assert_eq!((first.checkpoints, first.signed), (1, first.entries), "{kept:?}");
        for hours in 1..3 {
            world.clock.turn(Duration::from_secs(hours * 3600));
            assert_eq!(duty(&world.app, "checkpoint").await, JobState::Idle, "{kept:?}");
        }
        assert_eq!(report().await.entries, first.entries, "{kept:?}: nothing was written about nothing");

        world.run("how many Rust files are here?").await.expect("a report");
        world.restart();
        assert!(matches!(duty(&world.app, "checkpoint").await, JobState::Done { .. }), "{kept:?}");
        world.run("how many Rust files are here?").await.expect("a report");
        assert!(
            matches!(duty(&world.app, "checkpoint").await, JobState::Waits { .. }),
            "{kept:?}: too early"
        );
        let last =
            world.app.record().verify(&Check { complete: true, ..Check::default() }).await.expect("verify");
        assert_eq!((last.checkpoints, last.problem()), (2, None), "{kept:?}");
        assert!(last.signed < last.entries, "{kept:?}");
    }
}
