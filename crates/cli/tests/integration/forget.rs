//! The real binary forgets somebody, on SQLite and on PostgreSQL: canaries are planted and searched for.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use crate::process::{Outcome, Regent};
use crate::search::{ADDRESS, CANARY, Kept, files_with, messages};
use crate::world::{World, migrated_database};

/// A house on one of the databases.
struct House {
    world: World,
    url: String,
    kept: Kept,
}

impl House {
    fn each() -> [Self; 2] {
        let world = World::new();
        let file = Kept::File(world.database());
        let url = migrated_database();
        [
            Self { world, url: String::new(), kept: file },
            Self { world: World::new(), url: url.clone(), kept: Kept::Url(url) },
        ]
    }

    fn regent(&self, args: &[&str]) -> Regent {
        self.world.regent(args).env("REGENT_DATABASE_URL", &self.url)
    }

    fn run(&self, args: &[&str]) -> Outcome {
        self.regent(args).run()
    }

    /// Lea and Tom have written; Lea has a task. Her task and her identity.
    fn inhabited(&self) -> (String, String) {
        self.regent(&["events", "ingest"]).stdin(messages()).run().succeeds();
        self.kept.give_a_task()
    }

    fn events(&self) -> Vec<String> {
        let listed = self.run(&["events", "list", "--json"]).succeeds().json();
        listed.iter().map(|event| event["id"].as_str().expect("an id").to_owned()).collect()
    }
}

#[test]
fn nothing_of_them_is_left_in_any_table_file_or_answer() {
    for house in House::each() {
        let (task, lea) = house.inhabited();
        let planted = ["blobs", "entity_identities", "places", "watermarks", "agent_tasks"];
        assert_eq!(house.kept.tables_with(CANARY), planted, "{:?}", house.kept);
        if house.url.is_empty() {
            assert_ne!(files_with(&house.world.home, CANARY), [""; 0], "planted");
        }
        let tom = house.kept.tables_with("tom");

        let copies = house.world.folder().join("copies");
        house.run(&["backup", "--to", copies.to_str().expect("text")]).succeeds();

        let dry = house.run(&["forget", "--person", ADDRESS, "--dry-run"]).succeeds();
        assert!(
            dry.stdout.contains(&format!("would be erased: {lea}")) && dry.stdout.contains("blobs"),
            "{dry}"
        );
        assert_eq!(house.kept.tables_with(CANARY), planted, "a dry run changes nothing");
        let forgotten = house.run(&["forget", "--person", ADDRESS, "--yes", "--json"]).succeeds();
        let report = &forgotten.json()[0];
        assert_eq!(
            (report["gone"]["blobs"].as_u64(), report["cleaned"].as_bool()),
            (Some(7), Some(true)),
            "{report}"
        );

        // A copy elsewhere is named, and is the owner's to remove.
        let copy = report["backups"][0]["folder"].as_str().expect("a folder");
        assert!(copy.starts_with(copies.to_str().expect("text")), "{report}");
        assert_eq!(files_with(&copies, CANARY), ["regent.db"], "{report}");

        assert_eq!(files_with(&house.world.home, CANARY), [""; 0], "{:?}", house.kept);
        assert_eq!(house.kept.tables_with(CANARY), [""; 0], "{:?}", house.kept);
        assert_eq!(house.kept.tables_with("tom"), tom, "the neighbour is untouched");
        let mut told = vec![forgotten];
        for event in house.events() {
            told.push(house.run(&["why", &event]).succeeds());
        }
        let commands: [&[&str]; 14] = [
            &["events", "list"],
            &["events", "list", "--json"],
            &["events", "watermarks"],
            &["tasks", "list"],
            &["tasks", "show", &task],
            &["tasks", "show", &task, "--json"],
            &["why", &task],
            &["audit", "list", "--json"],
            &["audit", "export"],
            &["audit", "verify"],
            &["status", "--json"],
            &["doctor"],
            &["tick"],
            &["forget", "--person", &lea, "--yes"],
        ];
        told.extend(commands.map(|command| house.run(command).succeeds()));
        for outcome in &told {
            assert!(!outcome.stdout.contains(CANARY) && !outcome.stderr.contains(CANARY), "{outcome}");
        }
        let text: String = told.iter().map(|outcome| outcome.stdout.as_str()).collect();
        assert!(text.contains("(erased)") && text.contains("tom writes"), "{text}");
        assert!(text.contains(&format!("nothing is left of {lea}")), "{text}");
        house.run(&["forget", "--person", ADDRESS, "--yes"]).fails(2, "R2010");

        // The adapter begins again from the start: what it brings is known.
        let again = house.regent(&["events", "ingest"]).stdin(messages()).run().succeeds();
        assert!(again.json().iter().all(|receipt| receipt["new"] == false), "{again}");
        assert_eq!(house.kept.tables_with(CANARY), [""; 0], "{:?}", house.kept);
    }
}

#[test]
fn without_a_terminal_it_wants_to_be_told_and_the_house_is_not_forgotten() {
    let [house, _] = House::each();
    house.inhabited();
    house.run(&["run", "how many files are here?"]).succeeds();
    let user = nix::unistd::Uid::effective();
    let asked = house.world.refuses(house.regent(&["forget", "--person", ADDRESS]), 2, "R2012");
    assert!(asked.stderr.contains("--yes"), "{asked}");
    for (who, code) in [
        (format!("terminal:uid:{user}"), "R2011"),
        ("system:agent:main".into(), "R2011"),
        ("demo:nobody".into(), "R2010"),
        ("p-zz".into(), "R2010"),
    ] {
        house.world.refuses(house.regent(&["forget", "--person", &who, "--yes"]), 2, code);
    }
    house.world.refuses(house.regent(&["forget", "--person", ADDRESS, "--yes", "--dry-run"]), 2, "R2001");
    assert!(house.kept.tables_with(CANARY).contains(&"blobs"));
}

/// What a person types at a terminal.
fn answered(house: &House, answer: &str) -> (Option<i32>, String) {
    let pty = nix::pty::openpty(None, None).expect("a terminal");
    let (mut master, slave) = (std::fs::File::from(pty.master), pty.slave);
    let mut command = Command::new(env!("CARGO_BIN_EXE_regent"));
    command.args(["forget", "--person", ADDRESS]).env_clear().env("REGENT_HOME", &house.world.home);
    command.stdin(Stdio::from(slave.try_clone().expect("a stream"))).stderr(Stdio::from(slave));
    let child = command.stdout(Stdio::null()).spawn().expect("start");
    drop(command); // it holds the terminal open
    let (mut shown, mut answered) = (Vec::new(), false);
    let mut chunk = [0; 1024];
    // A terminal that everybody has left reads as an error.
    while let Ok(some @ 1..) = master.read(&mut chunk) {
        shown.extend_from_slice(&chunk[..some]);
        if !answered && String::from_utf8_lossy(&shown).contains("type the address: ") {
            answered = true;
            master.write_all(format!("{answer}\n").as_bytes()).expect("typed");
        }
    }
    let exit = child.wait_with_output().expect("it ends").status.code();
    (exit, String::from_utf8_lossy(&shown).into_owned())
}

#[test]
fn at_a_terminal_the_address_has_to_be_typed() {
    let [house, _] = House::each();
    house.inhabited();
    for answer in ["", "y", "demo:tom", "canary-lea@x.example"] {
        let (exit, shown) = answered(&house, answer);
        assert_eq!(exit, Some(2), "{answer}: {shown}");
        assert!(shown.contains("R2012") && shown.contains("blobs"), "{answer}: {shown}");
    }
    assert!(house.kept.tables_with(CANARY).contains(&"blobs"), "nothing was erased");
    let (exit, shown) = answered(&house, ADDRESS);
    assert_eq!(exit, Some(0), "{shown}");
    assert_eq!(house.kept.tables_with(CANARY), [""; 0]);
}

/// Somebody reads an old state of the file for longer than is waited for: the words are erased all the same, that the
/// file is not clean yet is said, and the next tick that can cleans it.
#[test]
fn a_file_that_cannot_be_cleaned_now_is_cleaned_by_a_later_tick() {
    let [house, _] = House::each();
    let (_, lea) = house.inhabited();
    let reader = crate::sql::Database::open(&house.world.database());
    reader.execute("BEGIN; SELECT count(*) FROM events");
    let forgotten = house.run(&["forget", "--person", ADDRESS, "--yes"]).fails(1, "R1007");
    assert!(forgotten.stdout.contains(&format!("erased: {lea}")), "{forgotten}");
    assert_eq!(house.kept.tables_with(CANARY), [""; 0]);
    assert_ne!(files_with(&house.world.home, CANARY), [""; 0], "the log still has it");
    reader.execute("ROLLBACK");
    reader.close();
    let tick = house.run(&["tick"]).succeeds();
    assert!(tick.stdout.contains("scrub      done"), "{tick}");
    assert_eq!(files_with(&house.world.home, CANARY), [""; 0]);
}
