//! A full disk, and a limit on the size of files (`ulimit -f`): what was acknowledged stays, nothing is half-written, and with room again the work goes on.

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
    disk.fill();
    // The group that did not fit has left its room in the log: something small may fit there, or says why not.
    let run = world.regent(&["run", REQUEST]).run();
    if run.exit != Some(0) {
        run.fails(4, "R4002");
    }

    disk.remount("size=32m");
    // What `run` has written down before the disk was full for it, too, is another adapter's.
    let stored: Vec<String> = keys(&world).into_iter().filter(|key| key.starts_with("demo:")).collect();
    assert_eq!(stored, acknowledged, "all of them, and not one more");
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

/// Wherever the limit is met, the program says so and ends by itself; afterwards everything goes on.
#[test]
fn a_limit_on_the_size_of_files_is_an_error_with_its_code() {
    // In blocks of 512 bytes: a house needs several hundred of them.
    for blocks in [0, 1, 8, 64, 200, 400, 700] {
        let world = World::new();
        let outcome = world.regent(&["run", REQUEST]).file_limit(blocks).run().fails(4, "R4002");
        let outcome = outcome.says(&["the limit on the size of files (`ulimit -f`) is reached: "]);
        assert_eq!((outcome.stdout.as_str(), outcome.remedies()[0].as_str()), ("", "ulimit -f unlimited"));
        world.regent(&["run", REQUEST]).run().succeeds();
        world.regent(&["audit", "verify", "--complete", "--bodies"]).run().succeeds();
        world.regent(&["doctor"]).run().succeeds();
    }
}

#[test]
fn what_was_acknowledged_below_the_limit_on_the_size_of_files_is_there_afterwards() {
    let world = World::new();
    world.regent(&["init", "--yes"]).run().succeeds();
    let ingest = || world.regent(&["events", "ingest"]).stdin(large_events(400));
    let outcome = ingest().file_limit(4_000).run().fails(4, "R4002");
    let acknowledged: Vec<String> =
        outcome.json().iter().map(|answer| answer["key"].as_str().expect("a key").to_owned()).collect();
    assert!(!acknowledged.is_empty() && acknowledged.len() < 400, "some fit\n{outcome}");
    assert_eq!(keys(&world), acknowledged, "all of them, and not one more");
    world.regent(&["audit", "verify", "--complete", "--bodies"]).run().succeeds();
    let new = ingest().run().succeeds().json().iter().filter(|answer| answer["new"] == true).count();
    assert_eq!(new, 400 - acknowledged.len());
}

/// A tool's file is the tool's affair: the task ends, and is on record.
#[test]
fn a_tool_that_meets_the_limit_on_the_size_of_files_fails_its_call() {
    let world = World::lived_in();
    std::fs::write(world.workspace().join("big.txt"), "a".repeat(8 << 20)).expect("file");
    let copy = world.regent(&["run", "copy big.txt to copy.txt"]).file_limit(14_000);
    copy.run().fails(1, "R1002").says(&["file too large"]);
    assert!(!world.workspace().join("copy.txt").exists());
    world.regent(&["audit", "verify", "--complete"]).run().succeeds();
}

/// Nothing of the house is needed for that: the signal is heard before the arguments are read.
#[test]
fn output_into_a_file_at_its_limit_is_an_error_with_its_code() {
    let world = World::new();
    let file = world.folder().join("out");
    std::fs::write(&file, "").expect("file");
    for args in [&["--help"][..], &["explain", "R4002"]] {
        world.regent(args).file_limit(0).run_into(&file).fails(4, "R4016").says(&["ile too large"]);
    }
    assert!(!world.home.exists());
}
