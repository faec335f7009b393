//! A backup is as good as the house, or it is not one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::keeping::old::{audit, below, entries_of, kept, leftovers};
use crate::keeping::restores::newest_key;
use crate::mount::Disk;
use crate::world::{REQUEST, World, events, is_root};

pub(crate) fn back_up(world: &World) -> PathBuf {
    let made = world.regent(&["backup", "--json"]).run().succeeds().json();
    made[0]["folder"].as_str().expect("a folder").into()
}

/// Where `forget` says that a person still is.
pub(crate) fn shown_by_forget(world: &World) -> Vec<serde_json::Value> {
    let dry = world.regent(&["forget", "--person", "demo:lea", "--dry-run", "--json"]).run().succeeds();
    dry.json()[0]["backups"].as_array().expect("a list").clone()
}

/// The folders of them that are there.
pub(crate) fn folders_there(shown: &[serde_json::Value]) -> Vec<PathBuf> {
    let there = shown.iter().filter(|kept| kept["there"] == true);
    let folders = there.map(|kept| Path::new(kept["folder"].as_str().expect("a folder")));
    let mut folders: Vec<PathBuf> = folders.map(|folder| folder.canonicalize().expect("a path")).collect();
    folders.sort();
    folders
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("folder").map(|entry| entry.expect("entry").path());
    entries.flat_map(|path| if path.is_dir() { files_of(&path) } else { vec![path] }).collect()
}

#[test]
fn a_backup_holds_everything_and_only_its_owner_reads_it() {
    let world = World::lived_in();
    let folder = world.folder().join("usb");
    let said = world.regent(&["backup", "--to", "../usb"]).run().succeeds();
    assert!(said.stdout.contains("tried by restoring it") && said.stderr.contains("keep it safe"), "{said}");
    let [backup] = std::fs::read_dir(&folder)
        .expect("usb")
        .map(|entry| entry.expect("entry").path())
        .collect::<Vec<_>>()
        .try_into()
        .expect("nothing beside it");
    let mut names: Vec<String> = files_of(&backup)
        .iter()
        .map(|path| path.strip_prefix(&backup).expect("below").display().to_string())
        .collect();
    names.sort();
    for name in ["keys/audit-2.key", "manifest.json", "node", "regent.db", "regent.toml"] {
        assert!(names.iter().any(|found| found == name), "{name} is missing: {names:?}");
    }
    for path in files_of(&backup).iter().chain([&backup, &backup.join("keys")]) {
        let mode = std::fs::metadata(path).expect("metadata").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} can be read by others", path.display());
    }
    let entries = audit(&world);
    let [entry] = entries_of(&entries, "house.backed_up").try_into().expect("one");
    let manifest = domain::Digest::of(&std::fs::read(backup.join("manifest.json")).expect("manifest"));
    assert_eq!(entry["detail"]["manifest"], manifest.to_string());
    assert!(!entry.to_string().contains("usb"), "no path: {entry}");
    let list = std::fs::read_to_string(world.data().join("backups.jsonl")).expect("the list");
    assert!(list.contains("/usb/regent-") && list.contains(&manifest.to_string()), "{list}");
}

/// They are left out, and that is said; switches that nobody can read are not left out silently.
#[test]
fn secrets_are_not_copied_and_unreadable_switches_stop_it() {
    let world = World::lived_in();
    let said = world.regent(&["backup"]).run().succeeds();
    assert!(!said.stderr.contains("never copied"), "{said}");
    let secrets = world.home.join("secrets");
    std::fs::create_dir(&secrets).expect("folder");
    std::fs::write(secrets.join("github"), "ghp_long_enough").expect("secret");
    let said = world.regent(&["backup"]).run().succeeds();
    assert!(said.stderr.contains("1 secret in `secrets`"), "{said}");
    for path in kept(&world).iter().flat_map(|folder| files_of(folder)) {
        assert!(!path.ends_with("github"), "{}", path.display());
    }
    std::os::unix::fs::symlink("nowhere", world.home.join("tool-access.json")).expect("link");
    world.regent(&["backup"]).run().fails(4, "R4029").says(&["a link that leads nowhere"]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = World::lived_in();
    let before = audit(&world);
    let said = world.regent(&["backup", "--dry-run"]).run().succeeds();
    assert!(said.stdout.starts_with("would copy ") && said.stdout.contains("nothing was written"), "{said}");
    assert_eq!(audit(&world), before);
    assert!(!world.data().join("backups").exists() && !world.data().join("backups.jsonl").exists());
}

#[test]
fn a_backup_is_made_while_others_write() {
    use std::io::Write as _;
    let world = World::lived_in();
    let mut ingesting = world.regent(&["events", "ingest"]).start();
    let mut stdin = ingesting.take_stdin();
    stdin.write_all(events(10..=20).as_bytes()).expect("write");
    ingesting.line();
    let folder = back_up(&world);
    stdin.write_all(events(21..=30).as_bytes()).expect("write");
    drop(stdin);
    ingesting.finish().succeeds();
    let folder = folder.to_str().expect("text");
    world.regent(&["restore", "--dry-run", folder]).run().succeeds();
    world.regent(&["audit", "verify"]).run().succeeds();
}

#[test]
fn two_at_once_get_a_folder_each() {
    let world = World::lived_in();
    let running: Vec<_> = (0..3).map(|_| world.regent(&["backup"]).start()).collect();
    running.into_iter().for_each(|process| drop(process.finish().succeeds()));
    assert_eq!((kept(&world).len(), leftovers(&world).len()), (3, 0));
    for folder in kept(&world) {
        world.regent(&["restore", "--dry-run", folder.to_str().expect("text")]).run().succeeds();
    }
}

#[test]
fn a_house_whose_audit_is_broken_can_be_copied_but_the_copy_is_not_put_anywhere() {
    let world = World::lived_in();
    world.sql(&["DROP TRIGGER audit_is_not_changed", "UPDATE audit SET actor = 'nobody' WHERE seq = 3"]);
    let folder = back_up(&world);
    let folder = folder.to_str().expect("text");
    world.regent(&["restore", "--dry-run", folder]).run().fails(1, "R1006").says(&["entry 3"]);
}

#[test]
fn a_place_that_cannot_be_written_to_is_said_so() {
    let world = World::lived_in();
    std::fs::write(world.folder().join("file"), "x").expect("write");
    world.regent(&["backup", "--to", "../file"]).run().fails(4, "R4001");
    world.regent(&["run", REQUEST]).run().succeeds();
}

/// Every backup ends an epoch, and erases its key while others copy theirs.
#[test]
fn a_key_that_goes_away_while_it_is_copied_does_not_fail_the_backup() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let world = World::lived_in();
    let (keys, over) = (world.data().join("keys"), AtomicBool::new(false));
    // So many that some are there whenever the folder is listed, and gone when they are copied.
    let keys: Vec<PathBuf> = (0..200).map(|n| keys.join(format!("other-{n}"))).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                keys.iter().for_each(|key| std::fs::write(key, "x").expect("write"));
                keys.iter().for_each(|key| std::fs::remove_file(key).expect("remove"));
            }
        });
        let made: Vec<_> = (0..2).map(|_| world.regent(&["backup", "--json"]).run()).collect();
        over.store(true, Ordering::Relaxed);
        made.into_iter().for_each(|made| drop(made.succeeds()));
    });
    for folder in kept(&world) {
        world.regent(&["restore", "--dry-run", folder.to_str().expect("text")]).run().succeeds();
    }
}

/// A folder that the owner named is full of the owner's files.
#[test]
fn a_backup_removes_half_a_copy_and_nothing_of_its_owner() {
    let world = World::lived_in();
    let at = |name: &str| world.workspace().join(name);
    for folder in [".draft-book", ".draft-dead"] {
        std::fs::create_dir_all(at(folder)).expect("folder");
        std::fs::write(at(folder).join("node"), "x").expect("write");
    }
    std::fs::write(at(".draft-dead/.regent-backup"), "").expect("write");
    world.regent(&["backup", "--to", "."]).run().succeeds();
    assert_eq!(std::fs::read_to_string(at(".draft-book/node")).expect("still there"), "x");
    assert!(!at(".draft-dead").exists());
}

/// A copy holds the keys of the audit and everything that was ever said: no tool looks into one, whatever it is called.
#[test]
fn file_tools_do_not_look_into_a_backup_wherever_it_lies() {
    let world = World::lived_in();
    world.regent(&["backup", "--to", "copies"]).run().succeeds();
    let copies = world.workspace().join("copies");
    let made = std::fs::read_dir(&copies).expect("copies").next().expect("one").expect("entry").path();
    std::fs::rename(&made, copies.join("holiday")).expect("rename");
    let call = |tool: &str, args: &[&str]| world.regent(&[&["tools", "call", tool], args].concat()).run();
    for path in ["path=copies/holiday/node", "path=copies/holiday/keys/audit-2.key"] {
        let outcome = call("read_file", &[path]);
        assert!(outcome.exit != Some(0) && outcome.stderr.contains("is closed to tools"), "{outcome}");
    }
    let node = std::fs::read_to_string(copies.join("holiday/node")).expect("node");
    for (tool, args) in
        [("find_files", &["hidden=true"][..]), ("search_content", &["pattern=.", "hidden=true"])]
    {
        let outcome = call(tool, args);
        assert!(!outcome.stdout.contains("holiday") && !outcome.stdout.contains(node.trim()), "{outcome}");
    }
    // Those of earlier versions have no mark.
    std::fs::remove_file(copies.join("holiday/.regent-backup")).expect("the mark");
    let outcome = call("read_file", &["path=copies/holiday/node"]);
    assert!(outcome.stderr.contains("is closed to tools"), "{outcome}");
    let inside = world
        .regent(&["tools", "call", "read_file", "path=audit-2.key"])
        .within(&copies.join("holiday/keys"));
    let outcome = inside.run();
    assert!(outcome.exit != Some(0) && outcome.stderr.contains("is closed to tools"), "{outcome}");
}

/// Half a copy, as a killed process leaves it, and its line on the list.
fn leave_half_a_copy(world: &World, place: &Path) -> PathBuf {
    use std::os::unix::fs::MetadataExt as _;
    let draft = place.join(".draft-1");
    std::fs::create_dir_all(&draft).expect("folder");
    for name in [".regent-backup", "regent.db"] {
        std::fs::write(draft.join(name), "half").expect("write");
    }
    let inode = std::fs::metadata(place).expect("metadata").ino();
    let line = serde_json::json!({ "draft": draft, "begun": "2026-11-16T05:18:05Z", "parent_inode": inode });
    let list = world.data().join("backups.jsonl");
    let before = std::fs::read_to_string(&list).unwrap_or_default();
    std::fs::write(&list, format!("{before}{line}\n")).expect("the list");
    draft
}

#[test]
fn half_a_copy_is_removed_by_a_backup_to_another_folder_and_by_forget() {
    let world = World::lived_in();
    let draft = leave_half_a_copy(&world, &world.folder().join("usb"));
    back_up(&world);
    assert!(!draft.exists(), "by a backup");
    let draft = leave_half_a_copy(&world, &world.folder().join("usb"));
    assert_eq!(folders_there(&shown_by_forget(&world)), kept(&world));
    assert!(!draft.exists(), "by forget");
    let shown = shown_by_forget(&world);
    std::fs::remove_dir(world.folder().join("usb")).expect("empty");
    assert_eq!(shown_by_forget(&world), shown, "what is known to be gone is not shown");
}

/// A version before this one has left it, beside a backup that is on the list.
#[test]
fn half_a_copy_that_is_not_on_the_list_is_removed_where_a_copy_was_made() {
    let world = World::lived_in();
    world.regent(&["backup", "--to", "../usb"]).run().succeeds();
    let draft = world.folder().join("usb/.draft-dead");
    std::fs::create_dir(&draft).expect("folder");
    std::fs::write(draft.join(".regent-backup"), "").expect("write");
    assert_eq!(folders_there(&shown_by_forget(&world)), below(&world.folder().join("usb")));
    assert!(!draft.exists());
}

#[test]
fn half_a_copy_that_cannot_be_removed_is_shown() {
    if !is_root("mount a disk") {
        return;
    }
    let world = World::lived_in();
    let disk = Disk::mount(world.folder(), "8m");
    let draft = leave_half_a_copy(&world, disk.path());
    disk.remount("ro");
    let shown = shown_by_forget(&world);
    assert_eq!(folders_there(&shown), std::slice::from_ref(&draft));
    assert_eq!(shown[0]["unfinished"], true, "{shown:?}");
    let said = world.regent(&["forget", "--person", "demo:lea", "--yes"]).run().succeeds();
    assert!(said.stdout.contains(".draft-1  (unfinished)\n"), "{said}");
    back_up(&world);
    assert!(draft.exists(), "it is not in the way");
    disk.remount("rw");
    back_up(&world);
    assert!(!draft.exists());
}

#[test]
fn half_a_copy_on_a_disk_that_is_away_is_shown_until_it_is_back_and_removed() {
    let world = World::lived_in();
    let (disk, drawer) = (world.folder().join("usb"), world.folder().join("drawer"));
    let draft = leave_half_a_copy(&world, &disk);
    std::fs::rename(&disk, &drawer).expect("taken out");
    for _ in 0..2 {
        let [shown] = shown_by_forget(&world).try_into().expect("one");
        assert_eq!(
            (shown["folder"].as_str(), shown["there"].as_bool(), shown["unfinished"].as_bool()),
            (draft.to_str(), Some(false), Some(true)),
            "{shown}"
        );
        // The folder that it is mounted on is there, too.
        std::fs::create_dir_all(&disk).expect("folder");
    }
    let said = world.regent(&["forget", "--person", "demo:lea", "--dry-run"]).run().succeeds();
    assert!(said.stdout.contains(".draft-1  (unfinished)  (not there now)\n"), "{said}");
    std::fs::remove_dir(&disk).expect("empty");
    std::fs::rename(&drawer, &disk).expect("put in again");
    assert_eq!(shown_by_forget(&world), [0; 0]);
    assert!(!draft.exists());
    std::fs::rename(&disk, &drawer).expect("taken out");
    assert_eq!(shown_by_forget(&world), [0; 0], "it was removed");
}

/// As processes leave them that are killed between writing a file and giving it its name.
#[test]
fn drafts_of_keys_settings_and_policies_are_removed_and_the_files_stay() {
    const NUMBER: &str = "336309831285090527989698778482032745788";
    let world = World::lived_in();
    let draft_of = |path: &str| world.home.join(format!("{path}.{NUMBER}"));
    let linked = draft_of("data/keys/.audit-2.key");
    let drafts = [
        "data/.node",
        "data/.restoring",
        "data/keys/.audit-3.key",
        "data/remote/keys/.audit.key",
        ".regent.toml",
        "policies/acl/.people.yaml",
    ];
    for command in [&["backup"][..], &["forget", "--person", "demo:lea", "--dry-run"]] {
        for path in drafts.map(draft_of) {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
            std::fs::write(&path, "secret").expect("write");
        }
        std::fs::hard_link(newest_key(&world.data().join("keys")), &linked).expect("link");
        world.regent(command).run().succeeds();
        let left: Vec<PathBuf> = drafts.map(draft_of).into_iter().filter(|path| path.exists()).collect();
        assert_eq!((left, linked.exists()), (Vec::new(), false), "{command:?}");
        world.regent(&["audit", "verify"]).run().succeeds();
    }
}

/// Without the list it is not known where somebody still is, so nothing is erased.
#[test]
fn nobody_is_forgotten_while_the_list_of_backups_cannot_be_read() {
    let world = World::lived_in();
    world.regent(&["backup", "--to", "../usb"]).run().succeeds();
    let list = world.data().join("backups.jsonl");
    std::fs::set_permissions(&list, std::fs::Permissions::from_mode(0o666)).expect("mode");
    let forget = || world.regent(&["forget", "--person", "demo:lea", "--yes"]);
    world.refuses(forget(), 4, "R4009").says(&["others can write", "backups.jsonl"]);
    world.regent(&["backup"]).run().fails(4, "R4009");
    std::fs::set_permissions(&list, std::fs::Permissions::from_mode(0o600)).expect("mode");
    let said = forget().run().succeeds();
    assert!(said.stdout.contains("/usb/regent-"), "{said}");
}
