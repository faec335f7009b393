//! A full disk: what was acknowledged stays, nothing is half-written, and with room again the work goes on.

use crate::mount::Disk;
use crate::world::{REQUEST, World, event, is_root};

/// About 20 kB each, no two alike.
fn large_events(count: usize) -> String {
    let text =
        |n: usize| (0..2000).map(|at| format!("{:09x} ", (n * 2000 + at) * 40_503)).collect::<String>();
    (1..=count).map(|n| event(&n.to_string(), &text(n))).collect()
}

/// Fills a house until it says that the disk is full. The keys that it acknowledged.
fn fill(world: &World) -> Vec<String> {
    let outcome = world.regent(&["events", "ingest"]).stdin(large_events(400)).run().fails(4, "R4002");
    let answers = outcome.json();
    assert!(!answers.is_empty(), "some fit\n{outcome}");
    answers
        .iter()
        .map(|answer| {
            assert_eq!(answer["new"], true, "{answer}");
            answer["key"].as_str().expect("a key").to_owned()
        })
        .collect()
}

fn keys(world: &World) -> Vec<String> {
    let listed = world.regent(&["events", "list", "--json", "--limit", "100000"]).run().succeeds();
    listed.json().iter().map(|event| event["key"].as_str().expect("a key").to_owned()).collect()
}

#[test]
fn what_was_acknowledged_before_the_disk_was_full_is_there_afterwards() {
    if !is_root("mount a disk") {
        return;
    }
    let mut world = World::new();
    let disk = Disk::mount(world.folder(), "2m");
    world.home = disk.path().join("house");
    world.regent(&["init", "--yes"]).run().succeeds();
    let acknowledged = fill(&world);
    world.regent(&["run", REQUEST]).run().fails(4, "R4002");

    disk.remount("size=32m");
    assert_eq!(keys(&world), acknowledged, "all of them, and not one more");
    world.regent(&["audit", "verify"]).run().succeeds();
    // The whole input again: what is there is not new, what was missing comes in.
    let again = world.regent(&["events", "ingest"]).stdin(large_events(400)).run().succeeds().json();
    let new = again.iter().filter(|answer| answer["new"] == true).count();
    assert_eq!(new, 400 - acknowledged.len());
    world.regent(&["run", REQUEST]).run().succeeds();
    world.regent(&["audit", "verify"]).run().succeeds();
}

#[test]
fn a_full_disk_can_still_be_read() {
    if !is_root("mount a disk") {
        return;
    }
    let mut world = World::new();
    let disk = Disk::mount(world.folder(), "2m");
    world.home = disk.path().join("house");
    let acknowledged = fill(&world);
    assert_eq!(keys(&world), acknowledged);
    world.regent(&["audit", "verify"]).run().succeeds();
}

#[test]
fn a_disk_that_is_too_small_for_a_house_says_so_and_the_house_is_made_once_there_is_room() {
    if !is_root("mount a disk") {
        return;
    }
    for size in ["16k", "64k", "128k", "256k"] {
        let mut world = World::new();
        let disk = Disk::mount(world.folder(), size);
        world.home = disk.path().join("house");
        let outcome = world.regent(&["run", REQUEST]).run().fails(4, "R4002");
        assert_eq!(outcome.stdout, "", "{outcome}");
        disk.remount("size=32m");
        world.regent(&["run", REQUEST]).run().succeeds();
        world.regent(&["audit", "verify"]).run().succeeds();
        world.regent(&["doctor"]).run().succeeds();
    }
}
