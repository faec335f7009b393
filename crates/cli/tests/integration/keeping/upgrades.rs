//! Upgrades cannot hurt.

use crate::keeping::old::{ENTRIES, SCHEMA, audit, entries_of, kept, leftovers, old_house, settle_in};
use crate::mount::Disk;
use crate::process::Running;
use crate::world::{ANSWER, REQUEST, World, is_root};

fn database(world: &World) -> Vec<u8> {
    std::fs::read(world.database()).expect("database")
}

#[test]
fn a_check_says_what_would_happen_and_changes_nothing() {
    let world = old_house();
    let before = database(&world);
    for args in [["upgrade", "--check"], ["upgrade", "--dry-run"]] {
        let said = world.regent(&args).run().succeeds();
        let expected =
            format!("schema 1 → {SCHEMA}, 125 rows in 17 tables, chain verified; nothing was changed\n");
        assert_eq!(said.stdout, expected, "{said}");
        assert!(database(&world) == before, "not a byte may change");
        assert!(kept(&world).is_empty() && leftovers(&world).is_empty());
    }
    let json = world.regent(&["upgrade", "--check", "--json"]).run().succeeds().json();
    assert_eq!((&json[0]["from"], &json[0]["done"]), (&1.into(), &false.into()), "{json:?}");
    assert_eq!(json[0]["counted"]["audit"]["seq"], ENTRIES, "{json:?}");
}

#[test]
fn the_first_command_upgrades_and_keeps_the_house_as_it_was() {
    let world = old_house();
    let run = world.regent(&["run", REQUEST]).run().succeeds();
    assert!(run.stdout.starts_with(ANSWER), "{run}");
    assert!(run.stderr.contains(&format!("upgraded: schema 1 → {SCHEMA}")), "{run}");
    let entries = audit(&world);
    let upgraded = entries_of(&entries, "house.upgraded");
    assert_eq!(upgraded.len(), 1);
    assert_eq!(upgraded[0]["seq"], ENTRIES + 1, "it is the first thing that was written");
    assert!(!upgraded[0].to_string().contains("backups"), "no path: {}", upgraded[0]);
    world.regent(&["audit", "verify"]).run().succeeds();

    let [folder] = kept(&world).try_into().expect("one copy");
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).expect("manifest");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!((&manifest["schema"], &manifest["occasion"]), (&1.into(), &"upgrade".into()), "{manifest}");
    assert_eq!(leftovers(&world), [""; 0].map(std::path::PathBuf::from));
    // The way back: the copy is a backup like any other.
    let folder = folder.to_str().expect("text");
    world.regent(&["restore", "--dry-run", folder]).run().succeeds();

    let nothing = world.regent(&["upgrade"]).run().succeeds();
    assert_eq!(nothing.stdout, format!("schema {SCHEMA}: nothing to do\n"), "{nothing}");
}

/// Two owners cannot be brought forward: the new schema has one at the most.
fn unfit() -> World {
    let world = old_house();
    world.sql(&[
        "INSERT INTO entities VALUES ('p-0000000000000000000000000g', 'person', NULL, 1, NULL, NULL, 1)",
    ]);
    world
}

#[test]
fn what_does_not_pass_the_rehearsal_is_refused_and_not_touched() {
    let world = unfit();
    let before = database(&world);
    for args in [&["run", REQUEST][..], &["upgrade"], &["upgrade", "--check"], &["audit", "verify"]] {
        let refused =
            world.regent(args).run().fails(4, "R4023").says(&["rehearsal", "the house is as it was"]);
        assert_eq!(refused.stdout, "", "{refused}");
        assert!(database(&world) == before, "not a byte may change\n{refused}");
        assert!(kept(&world).is_empty() && leftovers(&world).is_empty(), "{refused}");
    }
    world.regent(&["doctor"]).run().fails(1, "R1004");
    // Put right, it is brought forward.
    world.sql(&["DELETE FROM entities WHERE id = 'p-0000000000000000000000000g'"]);
    world.regent(&["run", REQUEST]).run().succeeds();
}

#[test]
fn those_who_start_at_once_on_an_old_house_all_end_well() {
    let world = old_house();
    let running: Vec<Running> = (0..4).map(|_| world.regent(&["run", REQUEST]).start()).collect();
    for process in running {
        let outcome = process.finish().succeeds();
        assert!(outcome.stdout.starts_with(ANSWER), "{outcome}");
    }
    assert_eq!(entries_of(&audit(&world), "house.upgraded").len(), 1);
    assert_eq!((kept(&world).len(), leftovers(&world).len()), (1, 0));
    world.regent(&["audit", "verify"]).run().succeeds();
}

/// An upgrade that refused it would lock the owner out of what the old program let them read.
#[test]
fn an_audit_that_was_broken_before_is_no_reason_to_refuse_and_stays_broken() {
    let world = old_house();
    world.sql(&["DROP TRIGGER audit_is_not_changed", "UPDATE audit SET actor = 'nobody' WHERE seq = 3"]);
    let check = world.regent(&["upgrade", "--check"]).run().succeeds();
    assert!(check.stdout.contains("the audit was broken before and still is: entry 3"), "{check}");
    world.regent(&["tasks", "list"]).run().succeeds();
    world.regent(&["audit", "verify"]).run().fails(1, "R1001").says(&["entry 3"]);
    assert_eq!(kept(&world).len(), 1);
}

#[test]
fn doctor_names_an_upgrade_only_where_something_is_broken() {
    let world = old_house();
    world.regent(&["upgrade"]).run().succeeds();
    let well = world.regent(&["doctor"]).run().succeeds();
    assert!(!well.stdout.contains("upgrade"), "{well}");
    world.sql(&["DROP TRIGGER audit_is_not_changed", "UPDATE audit SET actor = 'nobody' WHERE seq = 3"]);
    let ill = world.regent(&["doctor"]).run().fails(1, "R1004");
    assert!(ill.stdout.contains("upgraded on") && ill.stdout.contains("regent restore --dry-run"), "{ill}");
}

#[test]
fn without_a_house_there_is_nothing_to_upgrade() {
    let world = World::new();
    world.regent(&["upgrade", "--check"]).run().fails(4, "R4027");
    world.regent(&["backup"]).run().fails(4, "R4027");
    assert!(!world.home.exists(), "nothing was made");
}

#[test]
fn a_disk_that_cannot_be_written_to_leaves_the_old_house_as_it_is() {
    if !is_root("mount a disk") {
        return;
    }
    let mut world = World::new();
    let disk = Disk::mount(world.folder(), "8m");
    world.home = disk.path().join("house");
    settle_in(&world);
    let before = database(&world);
    disk.remount("ro");
    world.regent(&["upgrade"]).run().fails(4, "R4001");
    world.regent(&["upgrade", "--check"]).run().fails(4, "R4001");
    disk.remount("rw");
    assert!(database(&world) == before, "not a byte may change");
    world.regent(&["run", REQUEST]).run().succeeds();
}
