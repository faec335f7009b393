//! Policy files that are wrong, unreadable, or not the owner's alone, seen by the real program.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::world::{REQUEST, World};

const NOBODY: &str = "- name: nobody\n  match: {}\n  effect: deny\n  priority: 99\n  enabled: false\n";
const LEA: &str = "- name: lea\n  match: { principal: { id: lea } }\n  effect: allow\n  priority: 81\n";

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("mode");
}

/// By hand, whatever the umask is.
fn put(world: &World, name: &str, text: &str) {
    let file = world.home.join("policies/acl").join(name);
    std::fs::write(&file, text).expect("file");
    mode(&file, 0o600);
}

/// A house with one good policy file, put there by hand.
fn governed() -> World {
    let world = World::lived_in();
    std::fs::create_dir_all(world.home.join("policies/acl")).expect("folder");
    mode(&world.home.join("policies"), 0o700);
    mode(&world.home.join("policies/acl"), 0o700);
    put(&world, "nobody.yaml", NOBODY);
    world.regent(&["acl", "list"]).run().succeeds();
    world
}

/// The policies of the owner in force.
fn own(world: &World) -> Vec<String> {
    let listed = world.regent(&["acl", "list", "--json"]).run().succeeds();
    let report: serde_json::Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let policies = report["policies"].as_array().expect("a list").iter();
    let own = policies.filter(|line| line["shipped"] == false);
    own.map(|line| line["name"].as_str().expect("a name").to_owned()).collect()
}

/// INVARIANT (last-good), with files as they really are.
#[test]
fn a_file_that_cannot_be_relied_on_changes_nothing() {
    type Spoil = fn(&Path);
    let table: [(&str, &str, Spoil); 8] = [
        ("a link", "it is a link", |file| {
            let beside = file.with_extension("txt");
            std::fs::write(&beside, LEA).expect("file");
            std::fs::remove_file(file).expect("file");
            std::os::unix::fs::symlink(&beside, file).expect("link");
        }),
        ("a link that leads nowhere", "it is a link", |file| {
            std::fs::remove_file(file).expect("file");
            std::os::unix::fs::symlink("nowhere", file).expect("link");
        }),
        ("others can write it", "chmod go-w", |file| mode(file, 0o622)),
        ("no text", "not UTF-8", |file| std::fs::write(file, b"- name: \xff").expect("file")),
        ("empty", "it is empty", |file| std::fs::write(file, "").expect("file")),
        ("too large", "larger than", |file| std::fs::write(file, "#".repeat(300 * 1024)).expect("file")),
        ("a folder", "it is no file", |file| {
            std::fs::remove_file(file).expect("file");
            std::fs::create_dir(file).expect("folder");
        }),
        ("its folder is open", "chmod go-w", |file| mode(file.parent().expect("a folder"), 0o777)),
    ];
    for (what, says, spoil) in table {
        let world = governed();
        put(&world, "lea.yaml", LEA);
        spoil(&world.home.join("policies/acl/lea.yaml"));
        assert_eq!(own(&world), ["nobody"], "{what}");
        let listed = world.regent(&["acl", "list"]).run().succeeds();
        assert!(listed.stderr.contains(says) && listed.stderr.contains("last good"), "{what}: {listed}");
        world.regent(&["acl", "validate"]).run().fails(2, "R2023").says(&[says]);
        let doctor = world.regent(&["doctor"]).run();
        assert!(doctor.stdout.contains("policies/acl"), "{what}: {doctor}");
        let status = world.regent(&["status"]).run().succeeds();
        assert!(status.stdout.contains("last good policies"), "{what}: {status}");
        let run = world.regent(&["run", REQUEST]).run();
        assert!(run.stderr.contains("the last good policies"), "{what}: {run}");
        // What is wrong beside it is not hidden by one that is good.
        let apply = world.folder().join("family.yaml");
        std::fs::write(&apply, LEA.replace("lea", "family")).expect("file");
        world.regent(&["acl", "apply", apply.to_str().expect("text")]).run().fails(2, "R2023");
        assert!(!world.home.join("policies/acl/family.yaml").exists(), "{what}");
    }
}

/// What the owner deletes is out of force at once; what cannot be read is not deleted.
#[test]
fn a_deleted_file_is_out_of_force_while_another_has_a_mistake() {
    let world = governed();
    put(&world, "lea.yaml", LEA);
    put(&world, "tom.yaml", &LEA.replace("lea", "tom").replace("81", "82"));
    assert_eq!(own(&world), ["nobody", "tom", "lea"]);
    put(&world, "bad.yaml", "- name: [");
    let folder = world.home.join("policies/acl");
    std::fs::remove_file(folder.join("lea.yaml")).expect("removed");
    std::fs::write(folder.join("tom.yaml"), b"\xff").expect("file");
    assert_eq!(own(&world), ["nobody", "tom"]);
    let listed = world.regent(&["acl", "list"]).run().succeeds();
    assert!(listed.stderr.contains("! not in force, because the file was deleted: lea\n"), "{listed}");
    let run = world.regent(&["run", REQUEST]).run().succeeds();
    assert!(run.stderr.contains("are in force without `lea`, whose file was deleted"), "{run}");
    world.regent(&["acl", "disable", "lea"]).run().fails(2, "R2024");
    // Nobody can tell what is in a folder that others can write.
    mode(&folder, 0o777);
    assert_eq!(own(&world), ["nobody", "tom", "lea"]);
    mode(&folder, 0o700);
    let removed = world.regent(&["acl", "remove", "nobody.yaml"]).run().succeeds();
    assert_eq!(removed.stdout, "- nobody\n", "{removed}");
    assert!(removed.stderr.contains("in force from now on; the rest stays as it is"), "{removed}");
    assert_eq!(own(&world), ["tom"]);
}

#[test]
fn what_editors_and_people_leave_in_the_folder_is_no_policy() {
    let world = governed();
    let folder = world.home.join("policies/acl");
    for name in
        [".lea.yaml.swp", ".#lea.yaml", "lea.yaml~", "lea.yaml.bak", "#lea.yaml#", "README.md", ".lea.yaml"]
    {
        std::fs::write(folder.join(name), "nonsense: [").expect("file");
    }
    assert_eq!(own(&world), ["nobody"]);
    world.regent(&["acl", "validate"]).run().succeeds();
}

/// Neither does one that nobody can read; root can.
#[test]
fn a_file_without_leave_to_read_it_changes_nothing() {
    if nix::unistd::Uid::effective().is_root() {
        return;
    }
    let world = governed();
    let file = world.home.join("policies/acl/lea.yaml");
    std::fs::write(&file, LEA).expect("file");
    mode(&file, 0o000);
    assert_eq!(own(&world), ["nobody"]);
}

/// What was applied is for its owner only, and killed before it is in force the next command puts it there.
#[test]
fn an_applied_file_is_ours_alone() {
    let world = World::lived_in();
    let file = world.folder().join("lea.yaml");
    std::fs::write(&file, LEA).expect("file");
    world.regent(&["acl", "apply", file.to_str().expect("text")]).run().succeeds();
    let applied = world.home.join("policies/acl/lea.yaml");
    let mode = std::fs::metadata(&applied).expect("file").permissions().mode();
    assert_eq!((mode & 0o777, std::fs::read_to_string(&applied).expect("text")), (0o600, LEA.to_owned()));
    assert_eq!(own(&world), ["lea"]);
    let left: Vec<_> = std::fs::read_dir(world.home.join("policies/acl")).expect("folder").collect();
    assert_eq!(left.len(), 1);
}

/// Asking who would be let in makes no house where there is none.
#[test]
fn asking_needs_no_house() {
    let world = World::new();
    let case = r#"{"principal":{"is_owner":true},"event":{"platform":"matrix","container_kind":"dm"}}"#;
    let asked = world.regent(&["acl", "test"]).stdin(format!("{case}\n")).run().succeeds();
    assert!(asked.stdout.contains("owner-full-access"), "{asked}");
    assert!(!world.home.exists());
}
