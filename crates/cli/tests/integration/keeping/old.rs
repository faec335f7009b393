//! A house of the first walk: its database, its name and its key, as the program of that time made them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sql::Database;
use crate::world::World;

/// What an old house is brought forward to.
pub(crate) const SCHEMA: i64 = ledger_sql::SqliteStore::known_schema();

/// What that house says it holds.
pub(crate) const ENTRIES: u64 = 21;

pub(crate) fn old_house() -> World {
    let world = World::new();
    settle_in(&world);
    world
}

/// Puts the old house where the world's house is.
pub(crate) fn settle_in(world: &World) {
    std::fs::create_dir_all(world.data().join("keys")).expect("folders");
    write(&world.data().join("node"), include_bytes!("../../old_house/node"));
    write(&world.data().join("keys/audit.key"), include_bytes!("../../old_house/audit.key"));
    write(&world.database(), b"");
    let database = Database::open(&world.database());
    database.execute(include_str!("../../old_house/schema_1.sql"));
    database.execute("PRAGMA journal_mode = WAL");
    database.close();
    for folder in [world.home.clone(), world.data(), world.data().join("keys")] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).expect("mode");
    }
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("write");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("mode");
}

/// Backups that lie where the house keeps them, in the order of their names.
pub(crate) fn kept(world: &World) -> Vec<PathBuf> {
    below(&world.data().join("backups")).into_iter().filter(|path| !is_hidden(path)).collect()
}

/// What unfinished work has left.
pub(crate) fn leftovers(world: &World) -> Vec<PathBuf> {
    let places = [world.data(), world.data().join("backups")];
    places.iter().flat_map(|place| below(place)).filter(|path| is_hidden(path)).collect()
}

pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    paths
}

pub(crate) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// The entries of the audit, oldest first.
pub(crate) fn audit(world: &World) -> Vec<Value> {
    world.regent(&["audit", "list", "--json", "--limit", "100000"]).run().succeeds().json()
}

pub(crate) fn entries_of<'a>(audit: &'a [Value], kind: &str) -> Vec<&'a Value> {
    audit.iter().filter(|entry| entry["kind"] == kind).collect()
}

/// Everything on record, as one value.
pub(crate) fn record(world: &World) -> [String; 2] {
    world.record().expect("there is a house")
}
