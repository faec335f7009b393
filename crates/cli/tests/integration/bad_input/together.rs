//! Several processes in one house at once.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::process::Running;
use crate::sql::Database;
use crate::world::{ANSWER, REQUEST, World, event};

const TOGETHER: usize = 8;

/// Each is told to answer; a house that is not there yet is made once.
fn all_answer(world: &World) {
    let running: Vec<Running> = (0..TOGETHER).map(|_| world.regent(&["run", REQUEST]).start()).collect();
    let outcomes: Vec<_> = running.into_iter().map(Running::finish).collect();
    for outcome in outcomes {
        let outcome = outcome.succeeds();
        assert!(outcome.stdout.starts_with(ANSWER), "{outcome}");
    }
    let status = world.regent(&["status", "--json"]).run().succeeds().json();
    assert_eq!(status[0]["unfinished"], serde_json::json!([]));
    assert_eq!(status[0]["today"], TOGETHER);
    world.regent(&["audit", "verify"]).run().succeeds();
}

#[test]
fn the_first_commands_of_a_house_may_come_all_at_once() {
    for _ in 0..4 {
        all_answer(&World::new());
    }
}

#[test]
fn several_requests_at_once_are_all_answered() {
    let world = World::new();
    world.regent(&["init", "--yes"]).run().succeeds();
    all_answer(&world);
}

#[test]
fn the_same_events_from_several_processes_come_in_once() {
    const EVENTS: usize = 20;
    let world = World::new();
    world.regent(&["init", "--yes"]).run().succeeds();
    let lines: String = (0..EVENTS).map(|n| event(&n.to_string(), &format!("message {n}"))).collect();
    let running: Vec<Running> =
        (0..TOGETHER).map(|_| world.regent(&["events", "ingest"]).stdin(lines.as_str()).start()).collect();
    let threads: Vec<_> =
        running.into_iter().map(|running| std::thread::spawn(move || running.finish())).collect();
    let mut new = 0;
    for thread in threads {
        let outcome = thread.join().expect("finish").succeeds();
        let answers = outcome.json();
        assert_eq!(answers.len(), EVENTS, "{outcome}");
        new += answers.iter().filter(|answer| answer["new"] == true).count();
    }
    assert_eq!(new, EVENTS, "each was new for one of them");
    let listed = world.regent(&["events", "list", "--json"]).run().succeeds().json();
    assert_eq!(listed.len(), EVENTS);
    world.regent(&["audit", "verify"]).run().succeeds();
}

#[test]
fn a_task_that_another_process_is_at_is_left_to_it() {
    let world = World::new();
    for n in 0..5_000 {
        std::fs::write(world.workspace().join(format!("{n}.txt")), "").expect("file");
    }
    let mut running = world.regent(&["run", "--json", REQUEST]).start();
    let [routed, planned] =
        [(); 2].map(|()| serde_json::from_str::<Value>(&running.line()).expect("an event"));
    assert_eq!((&routed["type"], &planned["type"]), (&json!("core:route"), &json!("planner:task_ready")));
    let database = Database::open(&world.database());
    database.lock(); // it cannot reach its end
    let outcome = world.regent(&["resume"]).run().fails(4, "R4011").says(&["another process"]);
    assert_eq!(outcome.stdout, "", "{outcome}");
    running.signal(Signal::SIGTERM);
    assert_eq!(running.finish().exit, Some(130));
    database.close();
    world.regent(&["resume"]).run().succeeds();
}
