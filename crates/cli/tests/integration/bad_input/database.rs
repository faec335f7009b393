//! A database that is not what it should be: newer, damaged, somebody else's, locked.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use crate::bad_input::house::files;
use crate::sql::Database;
use crate::world::{REQUEST, World};

/// Every way into the database.
const COMMANDS: [&[&str]; 7] = [
    &["run", REQUEST],
    &["status"],
    &["tasks", "list"],
    &["events", "list"],
    &["events", "ingest"],
    &["audit", "verify"],
    &["init", "--yes"],
];

fn all_refuse(world: &World, code: &str, words: &[&str]) {
    let before = files(&world.home);
    for command in COMMANDS {
        let regent = world.regent(command).stdin(crate::world::event("late", "x"));
        let outcome = regent.run().fails(4, code).says(words);
        assert_eq!(outcome.stdout, "", "{outcome}");
        assert_eq!(files(&world.home), before, "not a byte may change\n{outcome}");
    }
    let doctor = world.regent(&["doctor"]).run().fails(1, "R1004");
    assert!(doctor.stdout.contains(&format!("regent explain {code}")), "{doctor}");
    assert_eq!(files(&world.home), before, "not a byte may change\n{doctor}");
    world.regent(&["explain", code]).run().succeeds();
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().write(true).open(path).expect("database");
    file.seek(SeekFrom::Start(at)).expect("seek");
    file.write_all(bytes).expect("write");
}

#[test]
fn a_database_from_a_newer_version_is_not_touched() {
    let world = World::lived_in();
    world.sql(&["PRAGMA user_version = 99"]);
    all_refuse(&world, "R4004", &["99", "not touched"]);
}

#[test]
fn a_text_file_in_its_place_is_not_touched() {
    let world = World::lived_in();
    world.sql(&[]);
    std::fs::write(
        world.database(),
        "milk, bread, and a lot more than a header of a hundred bytes".repeat(9),
    )
    .expect("write");
    all_refuse(&world, "R4005", &["not touched"]);
}

#[test]
fn a_short_text_file_in_its_place_is_not_touched() {
    let world = World::lived_in();
    world.sql(&[]);
    std::fs::write(world.database(), "milk\n").expect("write");
    all_refuse(&world, "R4005", &["not touched"]);
}

#[test]
fn the_database_of_another_program_is_not_touched() {
    let world = World::lived_in();
    world.sql(&["PRAGMA application_id = 7"]);
    all_refuse(&world, "R4005", &["not touched"]);
}

#[test]
fn damaged_pages_are_noticed_and_nothing_is_guessed() {
    let world = World::lived_in();
    world.sql(&[]);
    let length = std::fs::metadata(world.database()).expect("database").len();
    let page = 4096;
    let noise: Vec<u8> = (0..length - page).map(|at| (at * 31 % 251) as u8).collect();
    overwrite(&world.database(), page, &noise);
    for command in [&["run", REQUEST][..], &["events", "list"], &["audit", "verify"], &["tasks", "list"]] {
        let outcome = world.regent(command).run().fails(4, "R4003");
        assert_eq!(outcome.stdout, "", "{outcome}");
    }
    world.regent(&["doctor"]).run().fails(1, "R1004");
}

#[test]
fn a_damaged_first_page_is_noticed() {
    let world = World::lived_in();
    world.sql(&[]);
    overwrite(&world.database(), 100, &[0xa5; 3000]);
    all_refuse(&world, "R4003", &["damaged"]);
}

#[test]
fn a_database_that_was_cut_short_is_noticed() {
    let world = World::lived_in();
    world.sql(&[]);
    let length = std::fs::metadata(world.database()).expect("database").len();
    let file = std::fs::OpenOptions::new().write(true).open(world.database()).expect("database");
    file.set_len(length / 2).expect("cut");
    drop(file);
    for command in [&["run", REQUEST][..], &["audit", "verify"]] {
        let outcome = world.regent(command).run().fails(4, "R4003");
        assert_eq!(outcome.stdout, "", "{outcome}");
    }
}

#[test]
fn a_folder_in_its_place_is_said_so() {
    let world = World::lived_in();
    std::fs::remove_file(world.database()).expect("remove");
    std::fs::create_dir(world.database()).expect("folder");
    let outcome = world.regent(&["status"]).run();
    assert_eq!(outcome.exit, Some(4), "{outcome}");
    assert!(outcome.stderr.contains("regent.db"), "{outcome}");
}

#[test]
fn a_database_that_stays_locked_is_given_up_on_with_nothing_written() {
    let world = World::lived_in();
    let before = world.record();
    let database = Database::open(&world.database());
    database.lock();
    let outcome = world.regent(&["run", REQUEST]).run().fails(4, "R4006").says(&["nothing was written"]);
    assert_eq!(outcome.stdout, "", "{outcome}");
    let reading = world.regent(&["events", "list", "--json", "--limit", "100000"]).run().succeeds();
    assert_eq!(before.as_ref().map(|[events, _]| events), Some(&reading.stdout), "reading goes on meanwhile");
    database.close();
    assert_eq!(world.record(), before);
    world.regent(&["run", REQUEST]).run().succeeds();
}

#[test]
fn nobody_else_can_read_the_house() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let mut running = world.regent(&["events", "ingest"]).start();
    let mut stdin = running.take_stdin();
    stdin.write_all(crate::world::event("1", "secret").as_bytes()).expect("write");
    running.line();
    let open: Vec<String> = files(&world.home)
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| std::fs::metadata(path).expect("file").permissions().mode() & 0o077 != 0)
        .collect();
    assert_eq!(open, Vec::<String>::new(), "can be read by others while it runs");
    drop(stdin);
    running.finish().succeeds();
}
