//! An audit that somebody changed behind the program's back.

use crate::process::Outcome;
use crate::world::{REQUEST, World};

const OPEN_THE_AUDIT: [&str; 2] = ["DROP TRIGGER audit_is_not_changed", "DROP TRIGGER audit_is_not_deleted"];

fn tampered(statement: &str) -> World {
    let world = World::lived_in();
    world.sql(&[OPEN_THE_AUDIT[0], OPEN_THE_AUDIT[1], statement]);
    world
}

fn verify(world: &World) -> Outcome {
    let outcome = world.regent(&["audit", "verify"]).run().fails(1, "R1001");
    let json = world.regent(&["audit", "verify", "--json"]).run();
    assert_eq!((json.exit, &json.json()[0]["verdict"]), (Some(1), &"broken".into()), "{json}");
    let faults = json.json()[0]["faults"].as_array().expect("faults").len();
    assert_eq!(outcome.stdout.lines().count(), faults, "each on a line of its own\n{outcome}");
    outcome
}

#[test]
fn the_triggers_keep_the_audit_as_it_is() {
    let world = World::lived_in();
    let changed = std::panic::catch_unwind(|| world.sql(&["UPDATE audit SET kind = 'x' WHERE seq = 3"]));
    assert!(changed.is_err(), "the database itself refuses");
    world.regent(&["audit", "verify"]).run().succeeds();
}

#[test]
fn one_changed_byte_in_an_entry_is_found_and_the_entry_named() {
    let replace = |by: &str| {
        format!(
            "UPDATE audit SET bytes = CAST(replace(CAST(bytes AS TEXT), 'adapter:cli', '{by}') AS BLOB) WHERE seq = 1"
        )
    };
    let untouched = tampered(&replace("adapter:cli"));
    untouched.regent(&["audit", "verify"]).run().succeeds();
    verify(&tampered(&replace("adapter:clj"))).says(&["entry 1"]);
}

#[test]
fn an_entry_that_is_no_longer_an_entry_is_found_and_named() {
    // Its last byte, which closes the object, becomes a blank.
    let changed =
        "UPDATE audit SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) || x'20' AS BLOB) WHERE seq = 3";
    verify(&tampered(changed)).says(&["entry 3"]);
}

#[test]
fn a_column_that_no_longer_says_what_its_entry_says_is_found() {
    verify(&tampered("UPDATE audit SET subject = 'e-somethingelse' WHERE seq = 2")).says(&["2"]);
}

#[test]
fn an_entry_that_was_taken_out_is_found() {
    verify(&tampered("DELETE FROM audit WHERE seq = 4")).says(&["4"]);
}

#[test]
fn an_entry_that_was_put_in_is_found() {
    let put_in = "INSERT INTO audit SELECT stream, 1000, bytes, prev_hash, hash, at, kind, actor, subject, trust, \
                  origin_id, reason_id, vpol_id FROM audit WHERE seq = 1";
    verify(&tampered(put_in));
}

#[test]
fn the_last_entries_cannot_be_cut_off_unseen() {
    verify(&tampered("DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)"));
}

/// The work goes on, its owner is told, and nothing ever hides it again.
#[test]
fn a_tail_that_was_moved_or_taken_away_heals_and_is_named_for_ever() {
    for damage in ["UPDATE audit_heads SET seq = seq - 1", "DELETE FROM audit_heads"] {
        let world = tampered(damage);
        verify(&world);
        decides_what_counts(&world);
        for _ in 0..2 {
            verify(&world).says(&["records that the chain was damaged"]);
            let again = world.regent(&["run", REQUEST]).run().succeeds();
            assert!(!again.stderr.contains("changed outside"), "told once\n{again}");
        }
        let ingest = world.regent(&["events", "ingest"]).stdin(crate::world::event("9", "x"));
        ingest.run().succeeds();
        world.regent(&["audit", "verify", "--complete"]).run().fails(1, "R1001");
    }
}

/// A copy of the database from before, put back whole: its seals are genuine, and what this house noted outside is not.
#[test]
fn a_database_that_was_put_back_is_found_out() {
    let world = World::lived_in();
    world.sql(&["PRAGMA wal_checkpoint(TRUNCATE)"]);
    let copy = world.folder().join("copy.db");
    std::fs::copy(world.database(), &copy).expect("a copy");
    world.regent(&["run", REQUEST]).run().succeeds();
    world.regent(&["audit", "verify"]).run().succeeds();
    for beside in ["regent.db-wal", "regent.db-shm"] {
        drop(std::fs::remove_file(world.data().join(beside)));
    }
    std::fs::copy(&copy, world.database()).expect("put back");
    verify(&world).says(&["was cut"]);
    decides_what_counts(&world);
    verify(&world).says(&["records that the chain was damaged"]);
}

/// After damage nobody can tell what is halted or allowed: nothing runs until the owner has decided.
fn decides_what_counts(world: &World) {
    world.regent(&["run", REQUEST]).run().fails(4, "R4035").says(&["regent authority reset"]);
    world.regent(&["authority", "show"]).run().fails(1, "R1016");
    world.regent(&["authority", "reset"]).run().fails(2, "R2012");
    let reset = world.regent(&["authority", "reset", "--yes"]).run().succeeds();
    reset.says(&["changed outside", "regent audit verify"]);
    world.regent(&["run", REQUEST]).run().fails(3, "R3003");
    world.regent(&["resume-all"]).run().succeeds();
    world.regent(&["run", REQUEST]).run().succeeds();
    world.regent(&["authority", "show"]).run().succeeds();
}

#[test]
fn status_and_doctor_say_that_the_audit_is_broken() {
    let world = tampered("DELETE FROM audit WHERE seq = 4");
    let status = world.regent(&["status"]).run();
    assert!(status.stdout.contains("BROKEN") && status.stdout.contains("regent audit verify"), "{status}");
    let doctor = world.regent(&["doctor"]).run().fails(1, "R1004");
    assert!(doctor.stdout.contains("BAD   audit") && doctor.stdout.contains("R1001"), "{doctor}");
}

#[test]
fn a_changed_body_is_named_and_an_erased_one_is_counted() {
    let world = World::lived_in();
    let verify = || world.regent(&["audit", "verify", "--bodies"]).run();
    let report = |exit: i32| {
        let json = world.regent(&["audit", "verify", "--bodies", "--json"]).run();
        assert_eq!((json.exit, &json.json()[0]["verdict"]), (Some(exit), &"consistent".into()), "{json}");
        json.json()[0]["bodies"].clone()
    };
    let verdict = verify().succeeds().stdout;
    let all = report(0)["compared"].as_u64().expect("a number");
    assert!(verdict.contains(&format!("; {all} bodies are what their digests say\n")), "{verdict}");
    assert_eq!(report(0), serde_json::json!({ "compared": all, "erased": 0, "changed": [], "more": 0 }));

    let change = |whose: &str| {
        let one = format!("(SELECT min(hash) FROM blobs WHERE {whose})");
        format!("UPDATE blobs SET content = CAST(content || 'x' AS BLOB) WHERE hash = {one}")
    };
    world.sql(&[&change("person IS NULL"), &change("person IS NOT NULL")]);
    world.regent(&["audit", "verify", "--complete"]).run().succeeds();
    let outcome = verify().fails(1, "R1015");
    let changed = report(1)["changed"].as_array().expect("a list").clone();
    assert_eq!(changed.len(), 2);
    for digest in &changed {
        let line = format!("the body {} is not what its digest says\n", digest.as_str().expect("text"));
        assert!(outcome.stdout.contains(&line), "{outcome}");
    }
    assert!(outcome.stdout.ends_with(&format!("{all} bodies compared: 2 changed; 0 erased\n")), "{outcome}");

    world.sql(&["DELETE FROM salts"]);
    let left = report(1);
    let erased = left["erased"].as_u64().expect("a number");
    assert_eq!(left["changed"].as_array().expect("a list").len(), 1, "one of them was personal\n{left}");
    assert!(erased > 0 && left["compared"] == all - erased, "{left}");

    world.sql(&[
        &change("person IS NULL").replace("content || 'x'", "substr(content, 1, length(content) - 1)")
    ]);
    let verdict = verify().succeeds().stdout;
    assert!(
        verdict.contains(&format!("{erased} cannot be compared because their salt is erased")),
        "{verdict}"
    );
    world.regent(&["audit", "verify", "--bodies", "--export", "x"]).run().fails(2, "R2001");
}

/// What lies beside an anchor is the owner's, whatever its name is.
#[test]
fn an_anchor_removes_nothing_of_its_owner() {
    let world = World::lived_in();
    let place = world.folder().join("anchors");
    let own = [place.join("anchor.draft"), place.join(".git/regent-anchor")];
    for own in &own {
        std::fs::create_dir_all(own).expect("folder");
        std::fs::write(own.join("novel"), "x").expect("write");
    }
    let to = place.join("anchor.jsonl");
    let anchor = || world.regent(&["audit", "anchor", "--to", to.to_str().expect("text")]).run();
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        assert!(git.arg("-C").arg(&place).args(args).output().expect("git").status.success(), "{args:?}");
    };
    git(&["init"]);
    git(&["config", "user.name", "x"]);
    git(&["config", "user.email", "x@example.org"]);
    anchor().succeeds();
    for own in &own {
        assert_eq!(std::fs::read_to_string(own.join("novel")).expect("still there"), "x");
    }
    std::fs::remove_file(&to).expect("remove");
    let list = |folder: &std::path::Path| {
        let names = std::fs::read_dir(folder).expect("folder");
        let mut names: Vec<_> = names.map(|name| name.expect("name").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(list(&place), [".git", "anchor.draft"]);
    assert!(!list(&place.join(".git")).iter().any(|name| name.to_string_lossy().contains("regent-anchor-")));
}

/// A repository says which programs git starts: hooks, filters, monitors, signers, helpers. An anchor starts none of them, and
/// git gets nothing of our environment.
#[test]
fn an_anchor_in_a_hostile_repository_starts_nothing_of_it() {
    let world = World::lived_in();
    let repository = world.folder().join("repository");
    let marker = world.folder().join("marker");
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", world.folder());
        let done = git.arg("-C").arg(&repository).args(args).output().expect("git");
        assert!(done.status.success(), "{args:?}: {done:?}");
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    };
    std::fs::create_dir_all(repository.join("kept")).expect("folder");
    git(&["init", "--quiet"]);
    for (name, value) in [("user.name", "a"), ("user.email", "a@example.org")] {
        git(&["config", name, value]);
    }
    std::fs::write(repository.join("other"), "one").expect("file");
    git(&["add", "other"]);
    git(&["commit", "--quiet", "-m", "first"]);
    std::fs::write(repository.join("other"), "staged").expect("file");
    git(&["add", "other"]);
    let script = repository.join("script");
    std::fs::write(&script, format!("#!/bin/sh\nenv >> {}\ncat\n", marker.display())).expect("script");
    mode(&script, 0o755);
    let hooks = [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "post-index-change",
        "reference-transaction",
        "pre-auto-gc",
        "post-checkout",
        "fsmonitor-watchman",
        "applypatch-msg",
        "sendemail-validate",
    ];
    for hook in hooks {
        for folder in [".git/hooks", "hooks"] {
            std::fs::create_dir_all(repository.join(folder)).expect("folder");
            std::fs::copy(&script, repository.join(folder).join(hook)).expect("hook");
        }
    }
    std::fs::write(repository.join(".gitattributes"), "* filter=evil diff=evil\n").expect("attributes");
    let mut config =
        std::fs::OpenOptions::new().append(true).open(repository.join(".git/config")).expect("config");
    let program = script.display();
    std::io::Write::write_all(
        &mut config,
        format!(
            "[core]\nhooksPath = {}\nfsmonitor = {program}\npager = {program}\neditor = {program}\nsshCommand = {program}\naskPass = {program}\n\
             [filter \"evil\"]\nclean = {program}\nsmudge = {program}\nprocess = {program}\nrequired = true\n\
             [diff]\nexternal = {program}\n[diff \"evil\"]\ntextconv = {program}\ncommand = {program}\n\
             [commit]\ngpgSign = true\n[gpg]\nprogram = {program}\n[credential]\nhelper = {program}\n\
             [protocol \"ext\"]\nallow = always\n[remote \"far\"]\nurl = ext::{program}\npromisor = true\n\
             [alias]\nupdate-index = !{program}\n",
            repository.join("hooks").display(),
        )
        .as_bytes(),
    )
    .expect("config");
    let anchor = || {
        let regent =
            world.regent(&["audit", "anchor", "--to", repository.join("kept").to_str().expect("text")]);
        regent.env("ANTHROPIC_API_KEY", "sk-canary").env("GIT_DIR", "/nowhere").run()
    };
    let done = anchor().succeeds();
    assert!(said_of(&done).contains("committed"), "{done}");
    assert!(!marker.exists(), "{}", std::fs::read_to_string(&marker).unwrap_or_default());
    // What git itself says is asked without the repository's programs.
    let quiet = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
    let files = git(&[&quiet[..], &["ls-tree", "-r", "--name-only", "HEAD"]].concat());
    let [anchored, other] = files.lines().collect::<Vec<_>>().try_into().expect("two files");
    assert!(anchored.starts_with("kept/regent-") && other == "other", "{files}");
    let kept = git(&[&quiet[..], &["cat-file", "blob", &format!("HEAD:{anchored}")]].concat());
    assert_eq!(kept, std::fs::read_to_string(repository.join(anchored)).expect("anchor").trim());
    assert_eq!(
        git(&[&quiet[..], &["cat-file", "blob", "HEAD:other"]].concat()),
        "one",
        "what was staged stays staged"
    );
    assert_eq!(git(&[&quiet[..], &["cat-file", "blob", ":other"]].concat()), "staged");
    // Once more: nothing, or one more checkpoint.
    anchor().succeeds();
    assert!(!marker.exists(), "{}", std::fs::read_to_string(&marker).unwrap_or_default());
}

fn said_of(outcome: &Outcome) -> String {
    format!("{}{}", outcome.stdout, outcome.stderr)
}

fn mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("mode");
}
