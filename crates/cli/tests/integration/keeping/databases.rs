//! One instance, several databases: each has its own keys, and a restore of one never touches those of another.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::keeping::restores::newest_key;
use crate::keeping::watched::{Instance, Place};

const A: Place = Place::Server(0);
const B: Place = Place::Server(1);
const C: Place = Place::Server(2);

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// Every file below a folder, with its content.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.insert(path.clone(), std::fs::read(&path).expect("file"));
        }
    }
    files
}

/// Where the keys of a database are.
fn keys_of(instance: &Instance, place: Place) -> PathBuf {
    let paths = instance.succeeds(place, &["paths", "--json"]).json();
    PathBuf::from(paths[0]["keys"].as_str().expect("a folder"))
}

/// The secrets that a database is used with: that of the newest epoch, because those before are erased, and that of authority.
pub(crate) fn secrets_of(instance: &Instance, place: Place) -> [Vec<u8>; 2] {
    let keys = keys_of(instance, place);
    [newest_key(&keys), keys.join("authority.key")].map(|path| std::fs::read(path).expect("a key"))
}

/// Whether a key is somewhere in the instance: in use, in a backup, or set aside.
pub(crate) fn has_key(instance: &Instance, key: &[u8]) -> bool {
    files_below(&instance.world.data()).into_values().any(|bytes| bytes == key)
}

#[test]
fn two_databases_are_used_in_turn() {
    let instance = Instance::with_servers(2);
    for place in [A, B, Place::File, A, B, Place::File] {
        instance.answers(place);
    }
    let keys: Vec<PathBuf> = [A, B, Place::File].map(|place| keys_of(&instance, place)).to_vec();
    assert!(keys[0] != keys[1] && keys[0] != keys[2] && keys[1] != keys[2], "{keys:?}");
    for place in [A, B, Place::File] {
        instance.verifies(place);
        assert_eq!(instance.succeeds(place, &["tasks", "list", "--json"]).json().len(), 2, "{place:?}");
    }
}

#[test]
fn a_restore_into_another_database_leaves_the_first_one_alone() {
    let instance = Instance::with_servers(3);
    instance.answers(A);
    instance.ingest(A, 1..=3);
    let (folder, then) = (instance.back_up(A), instance.events(A));
    instance.succeeds(A, &["tick"]);
    let (place, then_keys) = (keys_of(&instance, A), files_below(&keys_of(&instance, A)));
    instance.succeeds(C, &["restore", "--yes", text(&folder)]);
    assert_eq!(files_below(&place), then_keys, "the keys of the first are not touched");
    assert_ne!(keys_of(&instance, C), place);
    assert!(instance.events(C) == then);
    for place in [A, C, A] {
        instance.answers(place);
        instance.verifies(place);
    }
    // One that something was written to is not replaced by the backup of another, unless it is the same instance.
    instance.answers(B);
    instance.succeeds(B, &["restore", "--yes", text(&folder)]);
    for place in [A, B, C] {
        instance.answers(place);
        instance.verifies(place);
    }
}

/// A database, a backup of it, what it held then and now; and another database.
struct Scene {
    instance: Instance,
    folder: PathBuf,
    then: String,
    now: String,
}

fn scene(here: Place, other: Place) -> Scene {
    let instance = Instance::with_servers(2);
    instance.ingest(here, 1..=2);
    let (folder, then) = (instance.back_up(here), instance.events(here));
    instance.ingest(here, 3..=4);
    instance.ingest(other, 5..=6);
    let now = instance.events(here);
    Scene { instance, folder, then, now }
}

/// Killed, then a command with another database, then back.
fn a_restore_is_settled_only_by_its_own_database(here: Place, other: Place, stages: &[&str]) {
    for stage in stages {
        let name = format!("{here:?}, {other:?}, killed at `{stage}`");
        let Scene { instance, folder, then, now } = scene(here, other);
        let there = instance.events(other);
        let secrets = secrets_of(&instance, here);
        instance.kill_at(here, &["restore", "--yes", text(&folder)], stage);
        let is_marked = instance.world.data().join("restoring").exists();
        let before = files_below(&keys_of(&instance, other));
        assert!(instance.events(other) == there, "{name}");
        assert_eq!(files_below(&keys_of(&instance, other)), before, "{name}");
        instance.answers(other);
        instance.verifies(other);
        assert_eq!(
            instance.world.data().join("restoring").exists(),
            is_marked,
            "{name}: it is not settled by another database"
        );
        if is_marked {
            instance.regent(other, &["restore", "--yes", text(&folder)]).run().fails(4, "R4036");
        }
        instance.verifies(here);
        let events = instance.events(here);
        assert!(events == then || events == now, "{name}: it is neither the old nor the new state");
        assert!(!instance.world.data().join("restoring").exists(), "{name}");
        assert!(secrets.iter().all(|key| has_key(&instance, key)), "{name}: a key is gone");
        for place in [here, other] {
            instance.answers(place);
            instance.verifies(place);
        }
    }
}

const ON_SERVER: [&str; 5] =
    ["stage mark", "stage replace rows", "stage commit", "stage put in place", "stage move a file"];
const IN_FILE: [&str; 5] =
    ["stage mark", "stage fence the old house", "stage put in place", "stage move a file", "stage tidy up"];

/// All of the stages, or every day only one.
fn thinned(stages: &'static [&'static str], daily: &'static str) -> Vec<&'static str> {
    stages.iter().copied().filter(|stage| services::is_full() || *stage == daily).collect()
}

#[test]
fn a_restore_on_a_server_and_another_server() {
    a_restore_is_settled_only_by_its_own_database(A, B, &thinned(&ON_SERVER, "stage put in place"));
}

#[test]
fn a_restore_on_a_server_and_the_file() {
    a_restore_is_settled_only_by_its_own_database(A, Place::File, &thinned(&ON_SERVER, "stage commit"));
}

#[test]
fn a_restore_of_the_file_and_a_server() {
    a_restore_is_settled_only_by_its_own_database(Place::File, A, &thinned(&IN_FILE, "stage move a file"));
}
