//! A restore beside others: a process that still writes, one that is stopped, a halt that comes in the middle, and a second restore.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::keeping::watched::{Instance, Place};
use crate::world::{REQUEST, event};

const SERVER: Place = Place::Server(0);
const OTHER: Place = Place::Server(1);
const PLACES: [Place; 2] = [Place::File, SERVER];

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// An instance, and a backup of it that is older than what it holds.
fn scene(place: Place) -> (Instance, PathBuf) {
    let instance = Instance::with_servers(if place == Place::File { 0 } else { 2 });
    instance.ingest(place, 1..=2);
    let folder = instance.back_up(place);
    instance.ingest(place, 3..=4);
    (instance, folder)
}

/// Every call is refused until the halt is lifted.
fn is_halted(instance: &Instance, place: Place) {
    instance.regent(place, &["run", REQUEST]).run().fails(3, "R3003");
    instance.succeeds(place, &["resume-all"]);
    instance.answers(place);
    instance.verifies(place);
}

/// Between its COMMIT and the files, a process that has the old keys writes nothing to the new rows.
#[test]
fn a_writer_beside_a_restore_that_was_killed_after_its_commit() {
    let (instance, folder) = scene(SERVER);
    let mut ingesting = instance.regent(SERVER, &["events", "ingest"]).start();
    let mut stdin = ingesting.take_stdin();
    stdin.write_all(event("before", "it is in the copy").as_bytes()).expect("write");
    assert!(ingesting.line().contains("\"new\":true"));
    instance.kill_at(SERVER, &["restore", "--yes", text(&folder)], "stage put in place");
    stdin.write_all(event("after", "it is refused").as_bytes()).expect("write");
    drop(stdin);
    let refused = ingesting.finish().fails(4, "R4028");
    assert!(!refused.stdout.contains("\"new\":true"), "{refused}");
    instance.verifies(SERVER);
    assert!(!instance.world.data().join("restoring").exists());
    assert!(!instance.events(SERVER).contains("demo:after"));
    instance.answers(SERVER);
    instance.verifies(SERVER);
}

/// What the others do while a restore is stopped: they end in time, and a halt is given in seconds.
fn others_go_on_while_a_restore_is_stopped(place: Place, stage: &str, wakes: bool) {
    let name = format!("{place:?}, stopped at `{stage}`, wakes: {wakes}");
    let (instance, folder) = scene(place);
    let mut restore = instance.watch(place, &["restore", "--yes", text(&folder)]);
    assert!(restore.reaches(stage), "{name}");
    restore.signal(Signal::SIGSTOP);
    let begun = Instant::now();
    let reading = instance.regent(place, &["tasks", "list"]).start();
    let running = instance.regent(place, &["run", REQUEST]).start();
    let halt = instance.succeeds(place, &["halt", "--json"]).json();
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(8), "{name}: halt took {took:?}: {halt:?}");
    let reading = reading.finish();
    if reading.exit != Some(0) {
        reading.fails(4, "R4006");
    }
    let running = running.finish();
    let code = if running.exit == Some(3) { (3, "R3003") } else { (4, "R4006") };
    running.fails(code.0, code.1);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{name}: the others took {took:?}");
    restore.signal(Signal::SIGCONT);
    if wakes {
        let output = restore.finish();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    } else {
        restore.kill();
    }
    is_halted(&instance, place);
}

/// Each of them waits ten seconds for a lock: every day the keys of the file, and the rows of a server.
#[test]
fn a_restore_that_is_stopped_while_it_holds_the_file() {
    others_go_on_while_a_restore_is_stopped(Place::File, "stage mark", false);
    if services::is_full() {
        others_go_on_while_a_restore_is_stopped(Place::File, "stage write it down", true);
        others_go_on_while_a_restore_is_stopped(Place::File, "stage fence the old house", false);
        others_go_on_while_a_restore_is_stopped(Place::File, "stage put in place", true);
    }
}

#[test]
fn a_restore_that_is_stopped_while_it_holds_a_server() {
    others_go_on_while_a_restore_is_stopped(SERVER, "stage commit", true);
    if services::is_full() {
        others_go_on_while_a_restore_is_stopped(SERVER, "stage write it down", true);
        others_go_on_while_a_restore_is_stopped(SERVER, "stage mark", false);
        others_go_on_while_a_restore_is_stopped(SERVER, "stage put in place", false);
    }
}

/// The restore has looked at the database already, and does not hold it yet.
#[test]
fn a_halt_that_comes_while_the_backup_is_examined_stays() {
    for place in PLACES {
        let (instance, folder) = scene(place);
        let mut restore = instance.watch(place, &["restore", "--yes", text(&folder), "--json"]);
        assert!(restore.reaches("stage examined"), "{place:?}");
        let halt = instance.succeeds(place, &["halt", "--json"]).json();
        assert_eq!(halt[0]["recorded"], true, "{place:?}: {halt:?}");
        let output = restore.finish();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{place:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("the halt stays"), "{place:?}: {said}");
        is_halted(&instance, place);
    }
}

/// The first one is cut off between its decision and its files: the second must not write over what it has left to do.
#[test]
fn a_second_restore_that_began_before_the_first_was_cut_off() {
    let cases =
        [(SERVER, "stage put in place"), (SERVER, "stage commit"), (Place::File, "stage put in place")];
    for (place, stage) in cases.into_iter().step_by(services::stride(2)) {
        let (instance, folder) = scene(place);
        let args = ["restore", "--yes", text(&folder)];
        let mut second = instance.watch(place, &args);
        assert!(second.reaches("stage examined"), "{place:?}");
        instance.kill_at(place, &args, stage);
        let output = second.finish();
        let says = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() || says.starts_with("error R4"), "{place:?} {stage}: {says}");
        instance.verifies(place);
        instance.answers(place);
        instance.succeeds(place, &args);
        instance.answers(place);
        instance.verifies(place);
    }
}

/// A halt is given for a database that is locked; the next command is about another one.
#[test]
fn a_halt_that_waits_is_not_taken_for_that_of_another_database() {
    let (instance, folder) = scene(SERVER);
    instance.answers(OTHER);
    let mut restore = instance.watch(SERVER, &["restore", "--yes", text(&folder)]);
    assert!(restore.reaches("stage commit"));
    restore.signal(Signal::SIGSTOP);
    let halt = instance.succeeds(SERVER, &["halt", "--json"]).json();
    assert_eq!(halt[0]["recorded"], false, "{halt:?}");
    instance.succeeds(OTHER, &["tick"]);
    restore.signal(Signal::SIGCONT);
    assert!(restore.finish().status.success());
    is_halted(&instance, SERVER);
    instance.succeeds(OTHER, &["resume-all"]);
    instance.answers(OTHER);
}
