//! An audit that somebody changed behind the program's back.

use crate::process::Outcome;
use crate::world::{REQUEST, World};

const OPEN_THE_AUDIT: [&str; 2] = ["DROP TRIGGER audit_is_not_changed", "DROP TRIGGER audit_is_not_deleted"];

fn tampered(statement: &str) -> World {
    let world = World::lived_in();
    world.sql(&[OPEN_THE_AUDIT[0], OPEN_THE_AUDIT[1], statement]);
    world
}

fn verify(world: &World) -> Outcome {
    let outcome = world.regent(&["audit", "verify"]).run().fails(1, "R1001");
    assert_eq!(outcome.stdout, "", "{outcome}");
    let json = world.regent(&["audit", "verify", "--json"]).run();
    assert_eq!((json.exit, &json.json()[0]["consistent"]), (Some(1), &false.into()), "{json}");
    outcome
}

#[test]
fn the_triggers_keep_the_audit_as_it_is() {
    let world = World::lived_in();
    let changed = std::panic::catch_unwind(|| world.sql(&["UPDATE audit SET kind = 'x' WHERE seq = 3"]));
    assert!(changed.is_err(), "the database itself refuses");
    world.regent(&["audit", "verify"]).run().succeeds();
}

#[test]
fn one_changed_byte_in_an_entry_is_found_and_the_entry_named() {
    let replace = |by: &str| {
        format!(
            "UPDATE audit SET bytes = CAST(replace(CAST(bytes AS TEXT), 'adapter:cli', '{by}') AS BLOB) WHERE seq = 1"
        )
    };
    let untouched = tampered(&replace("adapter:cli"));
    untouched.regent(&["audit", "verify"]).run().succeeds();
    verify(&tampered(&replace("adapter:clj"))).says(&["entry 1"]);
}

#[test]
fn an_entry_that_is_no_longer_an_entry_is_found_and_named() {
    // Its last byte, which closes the object, becomes a blank.
    let changed =
        "UPDATE audit SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) || x'20' AS BLOB) WHERE seq = 3";
    verify(&tampered(changed)).says(&["entry 3"]);
}

#[test]
fn a_column_that_no_longer_says_what_its_entry_says_is_found() {
    verify(&tampered("UPDATE audit SET subject = 'e-somethingelse' WHERE seq = 2")).says(&["2"]);
}

#[test]
fn an_entry_that_was_taken_out_is_found() {
    verify(&tampered("DELETE FROM audit WHERE seq = 4")).says(&["4"]);
}

#[test]
fn an_entry_that_was_put_in_is_found() {
    let put_in = "INSERT INTO audit SELECT stream, 1000, bytes, prev_hash, hash, at, kind, actor, subject, trust, \
                  origin_id, reason_id, vpol_id FROM audit WHERE seq = 1";
    verify(&tampered(put_in));
}

#[test]
fn the_last_entries_cannot_be_cut_off_unseen() {
    verify(&tampered("DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)"));
}

#[test]
fn a_tail_that_was_moved_stops_all_work_and_nothing_is_written() {
    let world = tampered("UPDATE audit_heads SET seq = seq - 1");
    let listed = || world.regent(&["events", "list", "--json"]).run().succeeds().stdout;
    let before = listed();
    let outcome = world.regent(&["run", REQUEST]).run().fails(4, "R4014");
    assert_eq!(outcome.stdout, "", "{outcome}");
    outcome.says(&["nothing was written", "regent audit verify"]);
    let ingest = world.regent(&["events", "ingest"]).stdin(crate::world::event("9", "x"));
    let outcome = ingest.run().fails(4, "R4014");
    assert_eq!(outcome.stdout, "", "what is not durable is not acknowledged\n{outcome}");
    assert_eq!(listed(), before);
    verify(&world);
}

#[test]
fn a_head_that_was_taken_away_stops_all_work() {
    let world = tampered("DELETE FROM audit_heads");
    let outcome = world.regent(&["run", REQUEST]).run().fails(4, "R4014");
    assert_eq!(outcome.stdout, "", "{outcome}");
    verify(&world);
}

#[test]
fn status_and_doctor_say_that_the_audit_is_broken() {
    let world = tampered("DELETE FROM audit WHERE seq = 4");
    let status = world.regent(&["status"]).run();
    assert!(status.stdout.contains("BROKEN") && status.stdout.contains("regent audit verify"), "{status}");
    let doctor = world.regent(&["doctor"]).run().fails(1, "R1004");
    assert!(doctor.stdout.contains("BAD   audit") && doctor.stdout.contains("R1001"), "{doctor}");
}
