//! A restore puts the very house back that was copied, and keeps what it replaces.

use std::io::Write as _;
use std::path::Path;

use crate::keeping::backups::back_up;
use crate::keeping::old::{audit, entries_of, kept, leftovers, old_house, record};
use crate::world::{ANSWER, REQUEST, World, event, events};

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// The secret of the newest epoch: every backup ends one. By its number, because `audit.key`, the first, sorts after `audit-2.key` and is
/// perhaps not erased yet.
pub(crate) fn newest_key(folder: &Path) -> std::path::PathBuf {
    let names = std::fs::read_dir(folder).expect("keys").map(|file| file.expect("a key").file_name());
    let epoch = |name: &std::ffi::OsString| app::instance::paths::VaultPaths::epoch_of(name.to_str()?);
    let newest = names.filter(|name| epoch(name).is_some()).max_by_key(epoch);
    folder.join(newest.expect("at least one"))
}

#[test]
fn what_was_copied_comes_back_and_what_was_there_is_kept() {
    let world = World::lived_in();
    let folder = back_up(&world);
    let [then, _] = record(&world);
    world.regent(&["events", "ingest"]).stdin(events(50..=60)).run().succeeds();
    let now = record(&world);
    let head = audit(&world).pop().expect("an entry");

    let dry = world.regent(&["restore", "--dry-run", text(&folder)]).run().succeeds();
    assert!(dry.stdout.contains("would replace") && dry.stdout.contains("12 entries ahead"), "{dry}");
    assert_eq!(record(&world), now, "nothing was changed");
    world.regent(&["restore", text(&folder)]).run().fails(4, "R4026");
    assert_eq!(record(&world), now, "nothing was changed");

    let done = world.regent(&["restore", "--yes", text(&folder)]).run().succeeds();
    assert!(done.stdout.contains("replaced the house"), "{done}");
    let [events, _] = record(&world);
    assert_eq!(events, then);
    let entries = audit(&world);
    let restored = entries_of(&entries, "house.restored");
    assert_eq!(restored[0]["detail"]["left"]["hash"], head["hash"], "what was left behind is named");
    assert_eq!(restored[0]["detail"]["left"]["seq"], head["seq"]);
    let run = world.regent(&["run", REQUEST]).run().succeeds();
    assert!(run.stdout.starts_with(ANSWER), "{run}");
    assert_eq!(leftovers(&world).len(), 0);

    // And back again.
    let replaced =
        kept(&world).into_iter().find(|path| text(path).ends_with("-replaced")).expect("it was kept");
    world.regent(&["restore", "--yes", text(&replaced)]).run().succeeds();
    let [events, _] = record(&world);
    assert_eq!(events, now[0]);
}

#[test]
fn a_backup_of_an_older_schema_is_brought_forward_on_the_way() {
    let world = old_house();
    world.regent(&["upgrade"]).run().succeeds();
    world.regent(&["run", REQUEST]).run().succeeds();
    let [copy] = kept(&world).try_into().expect("one");
    world.regent(&["restore", "--yes", text(&copy)]).run().succeeds();
    assert_eq!(audit(&world).len(), 22, "21 of the first walk, and that it was restored");
    world.regent(&["run", REQUEST]).run().succeeds();
    world.regent(&["audit", "verify"]).run().succeeds();
}

#[test]
fn on_a_new_machine_it_brings_everything_along() {
    let world = World::lived_in();
    world.write_settings("[ui]\ncolor = \"never\"\n");
    let folder = back_up(&world);
    let [then, _] = record(&world);
    let mut fresh = World::new();
    fresh.home = fresh.folder().join("elsewhere");
    let dry = fresh.regent(&["restore", "--dry-run", text(&folder)]).run().succeeds();
    assert!(dry.stdout.contains("there was no house") && !fresh.home.exists(), "{dry}");
    let done = fresh.regent(&["restore", "--yes", text(&folder)]).run().succeeds();
    assert!(done.stdout.contains("settings: put back"), "{done}");
    assert_eq!(record(&fresh)[0], then);
    let show = fresh.regent(&["config", "show"]).run().succeeds();
    assert!(show.stdout.contains("never"), "{show}");
    fresh.regent(&["run", REQUEST]).run().succeeds();
    fresh.regent(&["doctor"]).run().succeeds();
}

fn is_off(world: &World, tool: &str) -> bool {
    let shown = world.regent(&["tools", "show", tool, "--json"]).run().succeeds().json();
    shown[0]["switch"] == "off"
}

fn restore(world: &World, folder: &Path, says: &str) {
    let done = world.regent(&["restore", "--yes", text(folder)]).run().succeeds();
    assert!(done.stdout.contains(says), "{done}");
    assert!(!world.home.join(".tool-access.restored").exists());
}

#[test]
fn a_tool_that_was_switched_off_is_off_after_a_restore_too() {
    const LEFT: &str = "switches of tools: left as they are";
    let world = World::lived_in();
    let before = back_up(&world);
    world.regent(&["tools", "disable", "write_file"]).run().succeeds();
    let folder = back_up(&world);

    let fresh = World::new();
    restore(&fresh, &folder, "switches of tools: put back");
    assert!(is_off(&fresh, "write_file"));
    let call = ["tools", "call", "write_file", "path=a.txt", "content=x"];
    fresh.regent(&call).run().fails(3, "R3002");

    // Those that are there are not taken back in time.
    world.regent(&["tools", "enable", "write_file"]).run().succeeds();
    world.regent(&["tools", "disable", "calc"]).run().succeeds();
    restore(&world, &folder, LEFT);
    assert!(is_off(&world, "calc") && !is_off(&world, "write_file"));

    // A backup of before has none.
    assert!(!before.join("tool-access.json").exists());
    restore(&world, &before, LEFT);
    assert!(is_off(&world, "calc"));
    let empty = World::new();
    restore(&empty, &before, LEFT);
    assert!(!empty.home.join("tool-access.json").exists());
}

#[test]
fn policies_come_back_where_there_are_none_and_are_left_where_there_are() {
    let world = World::lived_in();
    let file = world.folder().join("nobody.yaml");
    let nobody = "- name: nobody\n  match: {}\n  effect: deny\n  priority: 99\n";
    std::fs::write(&file, nobody).expect("file");
    world.regent(&["acl", "apply", text(&file)]).run().succeeds();
    let folder = back_up(&world);
    let fresh = World::new();
    restore(&fresh, &folder, "policies: put back");
    let listed = fresh.regent(&["acl", "list"]).run().succeeds();
    assert!(
        listed.stdout.contains("nobody ") && listed.stdout.contains("policies/acl/nobody.yaml"),
        "{listed}"
    );
    assert!(!fresh.home.join(".policies.restored").exists());
    // Those that are there are not taken back in time.
    world.regent(&["acl", "remove", "nobody.yaml"]).run().succeeds();
    restore(&world, &folder, "policies: left as they are");
    let listed = world.regent(&["acl", "list"]).run().succeeds();
    assert!(!listed.stdout.contains("nobody "), "{listed}");
}

#[test]
fn the_backup_of_another_house_is_refused_where_something_could_be_lost() {
    let (here, there) = (World::lived_in(), World::lived_in());
    let folder = back_up(&there);
    for args in [["restore", "--dry-run", text(&folder)], ["restore", "--yes", text(&folder)]] {
        here.refuses(here.regent(&args), 4, "R4025");
    }
    let empty = World::new();
    empty.regent(&["init", "--yes"]).run().succeeds();
    empty.regent(&["restore", "--yes", text(&folder)]).run().succeeds();
    empty.regent(&["audit", "verify"]).run().succeeds();
}

#[test]
fn what_is_damaged_or_no_backup_at_all_is_not_put_anywhere() {
    type Damage = fn(&Path);
    fn append(path: &Path) {
        let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("open");
        file.write_all(b"x").expect("write");
    }
    fn renamed(folder: &Path, from: &str, to: &str) {
        let path = folder.join("manifest.json");
        let text = std::fs::read_to_string(&path).expect("manifest").replacen(from, to, 1);
        std::fs::write(path, text).expect("manifest");
    }
    let damages: [(&str, i32, &str, Damage); 9] = [
        ("a byte more", 1, "R1006", |folder| append(&folder.join("regent.db"))),
        ("another key", 1, "R1006", |folder| append(&newest_key(&folder.join("keys")))),
        ("a file missing", 1, "R1006", |folder| std::fs::remove_file(folder.join("node")).expect("remove")),
        ("other counts", 1, "R1006", |folder| renamed(folder, "\"events\":", "\"events\":1")),
        ("a name that leads out", 1, "R1006", |folder| renamed(folder, "\"node\":\"", "\"../node\":\"")),
        ("another schema", 1, "R1006", |folder| {
            let schema = ledger_sql::SqliteStore::known_schema();
            renamed(folder, &format!("\"schema\":{schema}"), "\"schema\":1");
        }),
        ("a newer format", 4, "R4004", |folder| renamed(folder, "\"format\":3", "\"format\":4")),
        ("no JSON", 2, "R2009", |folder| append(&folder.join("manifest.json"))),
        ("nothing", 2, "R2009", |folder| std::fs::remove_file(folder.join("manifest.json")).expect("remove")),
    ];
    let world = World::lived_in();
    for (name, exit, code, damage) in damages {
        let folder = back_up(&world);
        damage(&folder);
        for how in ["--dry-run", "--yes"] {
            let refused = world.refuses(world.regent(&["restore", how, text(&folder)]), exit, code);
            assert!(refused.stderr.contains("nothing was changed"), "{name}: {refused}");
        }
        assert_eq!(leftovers(&world).len(), 0, "{name}");
        std::fs::remove_dir_all(folder).expect("remove");
    }
}

/// Digests alone could be made anew by whoever can write the backup; the seal cannot.
#[test]
fn a_forged_backup_is_refused() {
    let world = World::lived_in();
    let folder = back_up(&world);
    let database = crate::sql::Database::open(&folder.join("regent.db"));
    database.execute("DROP TRIGGER audit_is_not_deleted");
    database.execute("DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)");
    database.execute(
        "UPDATE audit_heads SET (seq, hash) = (SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1)",
    );
    database.close();
    let honest = world.regent(&["restore", "--dry-run", text(&folder)]).run().fails(1, "R1006");
    assert!(honest.stderr.contains("regent.db"), "{honest}");
    let path = folder.join("manifest.json");
    let mut manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).expect("manifest")).expect("JSON");
    let bytes = std::fs::read(folder.join("regent.db")).expect("database");
    manifest["files"]["regent.db"] = domain::Digest::of(&bytes).to_string().into();
    let entries = manifest["rows"]["audit"].as_u64().expect("a number");
    manifest["rows"]["audit"] = (entries - 1).into();
    std::fs::write(&path, manifest.to_string()).expect("manifest");
    world.refuses(world.regent(&["restore", "--yes", text(&folder)]), 1, "R1006");
}

#[test]
fn a_house_that_does_not_open_is_moved_aside_and_replaced() {
    for damage in ["the database", "the key", "no keys"] {
        let world = World::lived_in();
        let folder = back_up(&world);
        world.sql(&[]);
        let path =
            if damage == "the database" { world.database() } else { newest_key(&world.data().join("keys")) };
        if damage == "no keys" {
            std::fs::remove_dir_all(world.data().join("keys")).expect("remove");
        } else {
            std::fs::write(&path, "milk and bread, and no house at all; ".repeat(40)).expect("write");
        }
        if damage != "no keys" {
            world.regent(&["run", REQUEST]).run(); // it would make a folder for them
        }
        let done = world.regent(&["restore", "--yes", text(&folder)]).run().succeeds();
        assert!(done.stdout.contains("does not open"), "{damage}: {done}");
        assert!(done.stdout.contains("the halt stays"), "nobody can tell whether it was halted: {done}");
        world.regent(&["run", REQUEST]).run().fails(3, "R3003");
        world.regent(&["resume-all"]).run().succeeds();
        world.regent(&["run", REQUEST]).run().succeeds();
        world.regent(&["audit", "verify"]).run().succeeds();
        let aside = kept(&world).into_iter().find(|path| text(path).contains("/replaced-")).expect("aside");
        assert!(aside.join("regent.db").exists(), "{damage}");
        assert!(damage == "no keys" || newest_key(&aside.join("keys")).exists(), "{damage}");
    }
}

/// A process that has the old house open must not go on acknowledging what nobody will find again.
#[test]
fn whoever_still_has_the_old_house_open_can_write_nothing_to_it() {
    let world = World::lived_in();
    let folder = back_up(&world);
    let mut ingesting = world.regent(&["events", "ingest"]).start();
    let mut stdin = ingesting.take_stdin();
    stdin.write_all(event("before", "it is in the copy").as_bytes()).expect("write");
    assert!(ingesting.line().contains("\"new\":true"));
    world.regent(&["restore", "--yes", text(&folder)]).run().succeeds();
    stdin.write_all(event("after", "it is lost, and not acknowledged").as_bytes()).expect("write");
    drop(stdin);
    let refused = ingesting.finish();
    assert_eq!((refused.exit, refused.stdout.contains("\"new\":true")), (Some(4), false), "{refused}");
    assert!(refused.stderr.contains("replaced by a restore"), "{refused}");
    let replaced = kept(&world).into_iter().find(|path| text(path).ends_with("-replaced")).expect("kept");
    world.regent(&["restore", "--yes", text(&replaced)]).run().succeeds();
    assert!(record(&world)[0].contains("demo:before"), "what was acknowledged is in the copy");
}
