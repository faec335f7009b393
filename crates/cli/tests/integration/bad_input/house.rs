//! A house that cannot be used: below a file, on a disk for reading only, somebody else's, without its key; and a
//! workspace that is gone.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::mount::Disk;
use crate::world::{REQUEST, World, is_root};

#[test]
fn a_house_below_a_file_cannot_be_made() {
    let mut world = World::new();
    let file = world.folder().join("file");
    std::fs::write(&file, "I am a file").expect("file");
    world.home = file.join("house");
    for args in [&["run", REQUEST][..], &["status"], &["init", "--yes"], &["events", "list"]] {
        world.regent(args).run().fails(4, "R4001").says(&["file/house", "regent "]);
    }
    assert_eq!(std::fs::read_to_string(&file).expect("file"), "I am a file");
    // What helps is not stopped by what it should help with.
    for args in [&["explain", "R4001"][..], &["paths"]] {
        world.regent(args).run().succeeds();
    }
}

#[test]
fn a_house_that_is_a_file_cannot_be_used() {
    let world = World::new();
    std::fs::write(&world.home, "I am a file").expect("file");
    world.regent(&["run", REQUEST]).run().fails(4, "R4001").says(&["house"]);
    assert_eq!(std::fs::read_to_string(&world.home).expect("file"), "I am a file");
}

#[test]
fn without_a_word_on_where_the_house_is_nothing_is_made() {
    let world = World::new();
    let status = world.regent(&["status"]).without("HOME").without("REGENT_HOME");
    status.run().fails(4, "R4001").says(&["REGENT_HOME", "HOME"]);
    world.regent(&["explain", "R4001"]).without("HOME").without("REGENT_HOME").run().succeeds();
}

/// A path is bytes. One that is no text is either used as it is or refused, but no other house is made up.
#[test]
fn a_house_whose_path_is_no_text_is_used_or_refused_and_no_other_is_made() {
    let world = World::new();
    let name = OsStr::from_bytes(b"house-\xff");
    let outcome = world.regent(&["status"]).env("REGENT_HOME", world.folder().join(name)).run();
    let made: Vec<_> = std::fs::read_dir(world.folder())
        .expect("folder")
        .map(|entry| entry.expect("entry").file_name())
        .filter(|found| found != "workspace" && found != name)
        .collect();
    assert_eq!(made, Vec::<std::ffi::OsString>::new(), "{outcome}");
    assert!(!outcome.stderr.contains("panicked"), "{outcome}");
}

#[test]
fn a_house_on_a_disk_for_reading_only_is_refused_and_stays_as_it_is() {
    if !is_root("mount a disk") {
        return;
    }
    let mut world = World::new();
    let disk = Disk::mount(world.folder(), "10m");
    world.home = disk.path().join("house");
    world.regent(&["run", REQUEST]).run().succeeds();
    let before = world.record();
    disk.remount("ro");
    world.regent(&["run", REQUEST]).run().fails(4, "R4001").says(&["ead-only"]);
    world.home = disk.path().join("another");
    world.regent(&["status"]).run().fails(4, "R4001").says(&["ead-only", "another"]);
    disk.remount("rw");
    world.home = disk.path().join("house");
    assert_eq!(world.record(), before);
}

#[test]
fn a_house_of_somebody_else_is_not_touched() {
    const SOMEBODY: u32 = 65_534;
    if !is_root("give a folder away") {
        return;
    }
    let world = World::lived_in();
    world.sql(&[]);
    let own = |uid| std::os::unix::fs::chown(world.data(), Some(uid), None).expect("chown");
    let before = files(&world.data());
    own(SOMEBODY);
    for args in
        [&["run", REQUEST][..], &["status"], &["events", "list"], &["audit", "verify"], &["init", "--yes"]]
    {
        let outcome = world.regent(args).run().fails(4, "R4009").says(&["65534", "nothing was touched"]);
        assert_eq!(outcome.stdout, "", "{outcome}");
    }
    world.regent(&["doctor"]).run().fails(1, "R1004");
    assert_eq!(files(&world.data()), before);
    own(0);
    world.regent(&["audit", "verify"]).run().succeeds();
}

/// What is there before the first command, or is made while it runs, may be another user's.
#[test]
fn no_key_is_written_into_a_folder_that_others_can_write() {
    let world = World::new();
    let keys = world.data().join("keys");
    std::fs::create_dir_all(&keys).expect("folders");
    let mode = |mode| std::fs::set_permissions(&keys, Permissions::from_mode(mode)).expect("mode");
    mode(0o777);
    world.regent(&["init", "--yes"]).run().fails(4, "R4009").says(&["keys"]);
    assert_eq!(std::fs::read_dir(&keys).expect("keys").count(), 0);
    mode(0o700);
    world.regent(&["init", "--yes"]).run().succeeds();
}

#[test]
fn a_lost_key_is_not_replaced_while_there_is_a_database() {
    let world = World::lived_in();
    world.sql(&[]);
    let kept = world.folder().join("kept.key");
    std::fs::rename(world.audit_key(), &kept).expect("lose it");
    let before = files(&world.home);
    for args in [&["run", REQUEST][..], &["init", "--yes"], &["status"], &["audit", "verify"]] {
        let outcome = world.regent(args).run().fails(4, "R4008").says(&["audit.key", "nothing was written"]);
        assert_eq!(outcome.stdout, "", "{outcome}");
    }
    assert_eq!(files(&world.home), before, "nothing was written");
    std::fs::rename(&kept, world.audit_key()).expect("find it");
    world.regent(&["audit", "verify"]).run().succeeds();
    world.regent(&["run", REQUEST]).run().succeeds();
}

#[test]
fn a_key_that_is_none_is_refused() {
    let world = World::lived_in();
    world.sql(&[]);
    for key in ["", "not a key", "00", &"g".repeat(64)] {
        std::fs::write(world.audit_key(), key).expect("key");
        let before = files(&world.home);
        world.regent(&["run", REQUEST]).run().fails(4, "R4008").says(&["audit-2.key"]);
        assert_eq!(files(&world.home), before);
    }
}

#[test]
fn the_key_of_another_house_seals_nothing_here() {
    let (world, other) = (World::lived_in(), World::lived_in());
    std::fs::copy(other.audit_key(), world.audit_key()).expect("key");
    let events = || world.regent(&["events", "list", "--json"]).run().succeeds().stdout;
    let before = events();
    world.regent(&["audit", "verify"]).run().fails(1, "R1001");
    world.regent(&["run", REQUEST]).run().fails(4, "R4035");
    world.regent(&["authority", "reset", "--yes"]).run().fails(4, "R4014").says(&["nothing was written"]);
    assert_eq!(events(), before);
}

#[test]
fn a_lost_name_of_the_node_is_not_replaced() {
    let world = World::lived_in();
    world.sql(&[]);
    std::fs::remove_file(world.data().join("node")).expect("lose it");
    let before = files(&world.home);
    world.regent(&["run", REQUEST]).run().fails(4, "R4008").says(&["node"]);
    assert_eq!(files(&world.home), before);
}

#[test]
fn a_workspace_that_is_gone_is_refused_before_anything_is_written() {
    let world = World::lived_in();
    let before = world.record();
    let gone = world.folder().join("gone");
    std::fs::create_dir(&gone).expect("folder");
    // The shell goes there, removes its own folder, and starts the program from nowhere.
    let script = "cd \"$1\" && rmdir \"$1\" && exec \"$2\" run 'how many files are here?'";
    let output = std::process::Command::new("sh")
        .args([OsStr::new("-c"), OsStr::new(script), OsStr::new("sh")])
        .args([gone.as_os_str(), OsStr::new(env!("CARGO_BIN_EXE_regent"))])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("REGENT_HOME", &world.home)
        .output()
        .expect("sh");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(4), &b""[..]), "{stderr}");
    assert!(stderr.starts_with("error R4015: ") && stderr.contains("nothing was written"), "{stderr}");
    assert_eq!(world.record(), before);
}

/// Either it works, or it is refused before a request is written down that can never be worked on.
#[test]
fn a_workspace_whose_path_is_no_text_leaves_nothing_unfinished() {
    let world = World::new();
    let folder = world.folder().join(OsStr::from_bytes(b"work-\xff"));
    std::fs::create_dir(&folder).expect("folder");
    std::fs::write(folder.join("a.rs"), "").expect("file");
    let outcome = world.regent(&["run", "how many files are here?"]).within(&folder).run();
    match outcome.exit {
        Some(0) => assert!(outcome.stdout.starts_with("1 file"), "{outcome}"),
        _ => drop(outcome.fails(4, "R4015")),
    }
    let status = world.regent(&["status", "--json"]).run().succeeds().json();
    assert_eq!(status[0]["unfinished"], serde_json::json!([]), "a request that nobody can ever go on with");
}

/// Every file below a folder with its bytes. What SQLite keeps beside a database and holds no data is left out: its
/// shared memory, and a log without entries.
pub(crate) fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            found.extend(files(&path));
            continue;
        }
        let bytes = std::fs::read(&path).expect("file");
        let holds_data = match path.extension().and_then(OsStr::to_str) {
            Some("db-shm") => false,
            Some("db-wal") => !bytes.is_empty(),
            _ => true,
        };
        if holds_data {
            found.push((path.display().to_string(), bytes));
        }
    }
    found.sort();
    found
}
