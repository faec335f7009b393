//! A disk that becomes full at every stage: R4002, and the old house works.

use crate::keeping::old::settle_in;
use crate::mount::Disk;
use crate::world::{REQUEST, World, is_root};

/// How much larger each disk is than the one before, which begins with no room beside the house.
const STEP: u64 = 60;
const MOST_DISKS: u64 = 40;
const LEAST_FAILURES: u64 = 6;

/// Tries a command on ever larger disks until there is room for it; after each failure the house is as it was.
fn fill(prepare: impl Fn(&World) -> Vec<String>) {
    if !is_root("mount a disk") {
        return;
    }
    for failures in 0..MOST_DISKS {
        let mut world = World::new();
        let disk = Disk::mount(world.folder(), "64m");
        world.home = disk.path().join("house");
        settle_in(&world);
        let args = prepare(&world);
        let before = std::fs::read(world.database()).expect("database");
        let size = used_kilobytes(disk.path()) + failures * STEP;
        disk.remount(&format!("size={size}k"));
        let outcome = world.regent(&args).run();
        if outcome.exit == Some(0) {
            assert!(failures >= LEAST_FAILURES, "{size} kB were enough after {failures} failures");
            return;
        }
        let outcome = outcome.fails(4, "R4002");
        disk.remount("size=64m");
        if args[0] != "backup" {
            let after = std::fs::read(world.database()).expect("database");
            assert!(after == before, "with {size} kB not a byte may change\n{outcome}");
        }
        world.regent(&["run", REQUEST]).run().succeeds();
        world.regent(&["audit", "verify"]).run().succeeds();
    }
    panic!("no disk was large enough");
}

/// How much is on a disk.
fn used_kilobytes(disk: &std::path::Path) -> u64 {
    let disk = nix::sys::statvfs::statvfs(disk).expect("a disk");
    ((disk.blocks() - disk.blocks_free()) * disk.fragment_size()).div_ceil(1024)
}

#[test]
fn for_an_upgrade() {
    fill(|_| vec!["upgrade".into()]);
}

#[test]
fn for_a_check_of_an_upgrade() {
    fill(|_| vec!["upgrade".into(), "--check".into()]);
}

#[test]
fn for_a_backup() {
    fill(|world| {
        world.regent(&["upgrade"]).run().succeeds();
        for folder in crate::keeping::old::kept(world) {
            std::fs::remove_dir_all(folder).expect("remove");
        }
        world.sql(&[]);
        vec!["backup".into()]
    });
}

#[test]
fn for_a_restore() {
    fill(|world| {
        let elsewhere = world.folder().join("elsewhere");
        let to = ["backup", "--to", elsewhere.to_str().expect("text"), "--json"];
        let made = world.regent(&to).run().succeeds().json();
        for folder in crate::keeping::old::kept(world) {
            std::fs::remove_dir_all(folder).expect("remove");
        }
        world.sql(&[]);
        vec!["restore".into(), "--yes".into(), made[0]["folder"].as_str().expect("a folder").into()]
    });
}
