//! Ctrl-C and its relatives: state saved, `regent resume` named, exit 130, within seconds.

use std::io::Write as _;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::process::{Outcome, Running};
use crate::sql::Database;
use crate::world::{ANSWER, REQUEST, World, event};

const SIGNALS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

fn is_interrupted(outcome: Outcome) {
    assert_eq!(outcome.exit, Some(130), "{outcome}");
    outcome.says(&["interrupted", "regent resume"]);
}

/// Waits until the program has its own idea of what a signal means.
fn listens(running: &mut Running, signal: Signal) {
    let bit = 1_u64 << (signal as i32 - 1);
    while !running.has_ended() {
        let caught = running.status("SigCgt:").unwrap_or_default();
        if u64::from_str_radix(&caught, 16).is_ok_and(|mask| mask & bit != 0) {
            return;
        }
        std::thread::yield_now();
    }
    panic!("it ended before it listened");
}

#[test]
fn a_run_that_waits_for_the_database_is_interrupted() {
    for signal in SIGNALS {
        let world = World::lived_in();
        let before = world.record();
        let database = Database::open(&world.database());
        database.lock();
        let mut running = world.regent(&["run", REQUEST]).start();
        listens(&mut running, signal);
        running.signal(signal);
        let outcome = running.finish();
        assert_eq!(outcome.stdout, "", "{outcome}");
        is_interrupted(outcome);
        database.close();
        assert_eq!(world.record(), before);
    }
}

#[test]
fn an_interrupted_task_is_finished_by_resume() {
    /// Enough that the walk outlasts the signal.
    const FILES: u32 = 20_000;
    let world = World::new();
    for n in 0..FILES {
        std::fs::write(world.workspace().join(format!("{n}.txt")), "").expect("file");
    }
    let mut running = world.regent(&["run", "--json", REQUEST]).start();
    let [routed, planned] =
        [(); 2].map(|()| serde_json::from_str::<Value>(&running.line()).expect("an event"));
    assert_eq!((&routed["type"], &planned["type"]), (&json!("core:route"), &json!("planner:task_ready")));
    // The plan is durable. With the database locked the task cannot reach its end.
    let database = Database::open(&world.database());
    database.lock();
    running.signal(Signal::SIGINT);
    let outcome = running.finish();
    database.close();
    is_interrupted(outcome);

    let status = world.regent(&["status"]).run();
    assert!(status.stdout.contains("unfinished"), "{status}");
    let resumed = world.regent(&["resume"]).run().succeeds();
    assert!(resumed.stdout.starts_with(ANSWER), "{resumed}");
    let tasks = world.regent(&["tasks", "list", "--json"]).run().succeeds().json();
    assert_eq!((tasks.len(), &tasks[0]["status"]), (1, &"done".into()));
    world.regent(&["audit", "verify"]).run().succeeds();
}

/// Standard input stays open, as a terminal's does.
#[test]
fn an_ingest_that_waits_for_lines_is_interrupted() {
    for signal in SIGNALS {
        let world = World::new();
        let mut running = world.regent(&["events", "ingest"]).start();
        let mut stdin = running.take_stdin();
        stdin.write_all(event("1", "one").as_bytes()).expect("write");
        let answer: Value = serde_json::from_str(&running.line()).expect("an answer");
        assert_eq!(answer["new"], true);
        listens(&mut running, signal);
        running.signal(signal);
        let outcome = running.finish();
        drop(stdin);
        assert_eq!(outcome.exit, Some(130), "{outcome}");
        let events = world.regent(&["events", "list", "--json"]).run().succeeds().json();
        assert_eq!(events.len(), 1, "what was acknowledged is there");
    }
}

/// Before the first line there is nothing but waiting, and Ctrl-C means the same.
#[test]
fn an_ingest_that_has_seen_no_line_is_interrupted() {
    let world = World::new();
    let mut running = world.regent(&["events", "ingest"]).start();
    let stdin = running.take_stdin();
    listens(&mut running, Signal::SIGINT);
    running.signal(Signal::SIGINT);
    let outcome = running.finish();
    drop(stdin);
    assert_eq!(outcome.exit, Some(130), "{outcome}");
}
