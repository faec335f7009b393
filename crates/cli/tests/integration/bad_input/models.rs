//! Models and keys under bad input: a key is in no output, no file and no core dump, whatever goes wrong around it.

use std::os::unix::fs::PermissionsExt as _;

use crate::process::{Outcome, Regent};
use crate::world::{REQUEST, World};

/// What a planted key holds; whatever shows it leaks.
const CANARY: &str = "canary0123456789";

fn key() -> String {
    format!("sk-ant-api03-{CANARY}")
}

/// Nobody answers there, whatever runs on the machine of the test.
fn quiet(regent: Regent) -> Regent {
    let local = [
        ("ANTHROPIC", "http://127.0.0.1:1"),
        ("OLLAMA", "http://127.0.0.1:1"),
        ("LLAMACPP", "http://127.0.0.1:1/v1"),
        ("LMSTUDIO", "http://127.0.0.1:1/v1"),
        ("VLLM", "http://127.0.0.1:1/v1"),
    ];
    local.iter().fold(regent, |regent, (name, url)| regent.env(&format!("REGENT_PROVIDER_{name}_URL"), url))
}

fn holds_no_key(outcome: &Outcome) {
    assert!(!outcome.stdout.contains(CANARY) && !outcome.stderr.contains(CANARY), "{outcome}");
}

fn put_key(world: &World, name: &str, mode: u32) {
    let folder = world.home.join("keys");
    std::fs::create_dir_all(&folder).expect("folder");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).expect("mode");
    std::fs::write(folder.join(name), format!("{}\n", key())).expect("key");
    std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(mode)).expect("mode");
}

const COMMANDS: [&[&str]; 11] = [
    &["model", "list"],
    &["model", "list", "--json"],
    &["model", "test"],
    &["model", "test", "anthropic/claude-x", "--json"],
    &["model", "set", "hands", "anthropic/claude-x"],
    &["model", "set", "hands", "auto", "--json"],
    &["doctor"],
    &["doctor", "--json"],
    &["config", "show", "--origin", "--json"],
    &["status"],
    &["run", REQUEST],
];

#[test]
fn a_key_in_the_environment_or_in_a_file_is_in_no_output_and_in_no_other_file() {
    for in_file in [false, true] {
        let world = World::new();
        if in_file {
            put_key(&world, "anthropic", 0o600);
        }
        for args in COMMANDS {
            let regent = quiet(world.regent(args));
            let outcome = if in_file { regent } else { regent.env("ANTHROPIC_API_KEY", key()) }.run();
            holds_no_key(&outcome);
        }
        let mut folders = vec![world.home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("folder") {
                let path = entry.expect("entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path != world.home.join("keys").join("anthropic") {
                    let bytes = std::fs::read(&path).expect("file");
                    let found = bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
                    assert!(!found, "{}", path.display());
                }
            }
        }
    }
}

#[test]
fn a_key_in_the_wrong_place_is_refused_without_being_repeated() {
    let world = World::new();
    let key = key();
    for text in [
        format!("[provider.anthropic]\nkey = \"{key}\"\n"),
        format!("[provider.anthropic]\nurl = \"https://{key}@example.com\"\n"),
        format!("[model]\nbrain = \"{key}\"\n"),
        format!("[provider.anthropic]\nkey = \"{key}\n"),
    ] {
        world.write_settings(&text);
        for args in [&["model", "list"][..], &["status"], &["config", "show"]] {
            holds_no_key(&world.regent(args).run().fails(2, "R2006"));
        }
        holds_no_key(&world.regent(&["doctor"]).run().fails(1, "R1004"));
        holds_no_key(&world.regent(&["model", "set", "brain", "reflex"]).run().fails(2, "R2006"));
        let kept = std::fs::read_to_string(world.home.join("regent.toml")).expect("settings");
        assert_eq!(kept, text, "what is wrong is not written over");
    }
    world.write_settings("");
    holds_no_key(&world.regent(&["model", "set", "brain", &key]).run().fails(2, "R2035"));
    holds_no_key(&world.regent(&["model", "test", &key]).run().fails(2, "R2035"));
    let variable = world.regent(&["status"]).env("REGENT_PROVIDER_ANTHROPIC_KEY", &key);
    holds_no_key(&variable.run().fails(2, "R2006"));
}

#[test]
fn a_key_that_others_can_read_is_not_used_and_the_way_out_is_said() {
    let world = World::new();
    put_key(&world, "anthropic", 0o644);
    world.write_settings("[model]\nbrain = \"anthropic/claude-x\"\n");
    let outcome = quiet(world.regent(&["model", "list"])).run().fails(4, "R4033");
    assert!(outcome.stderr.contains("others can read it; chmod 600 "), "{outcome}");
    holds_no_key(&outcome);
    let doctor = quiet(world.regent(&["doctor"])).run().fails(1, "R1004");
    assert!(
        doctor.stdout.contains("BAD   model") && doctor.stdout.contains("regent explain R4033"),
        "{doctor}"
    );
}

#[test]
fn a_wrong_price_list_is_said_with_its_mistakes() {
    let world = World::new();
    std::fs::create_dir_all(&world.home).expect("house");
    std::fs::write(world.home.join("prices.toml"), "\"gpt\" = 1\n").expect("prices");
    let outcome = world.regent(&["model", "list"]).run().fails(2, "R2036");
    assert!(outcome.stderr.contains("prices.toml: `gpt` names no model"), "{outcome}");
}

#[test]
fn whoever_holds_a_key_leaves_no_core_dump() {
    let limit = |pid: u32| {
        let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).expect("limits");
        let line =
            limits.lines().find(|line| line.starts_with("Max core file size")).expect("a limit").to_owned();
        line.split_whitespace().skip(4).take(2).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let ours = limit(std::process::id());
    let world = World::new();
    for (with_key, expected) in [(true, "0 0"), (false, ours.as_str())] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_regent"));
        command.arg("authorize").env_clear().env("REGENT_HOME", &world.home);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        if with_key {
            command.env("ANTHROPIC_API_KEY", key());
        }
        let mut child = command.spawn().expect("start");
        // It has answered a line: everything before the first line is behind it.
        let mut stdin = child.stdin.take().expect("stdin");
        std::io::Write::write_all(&mut stdin, b"nonsense\n").expect("a line");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).expect("an answer");
        assert_eq!(limit(child.id()), expected, "with a key: {with_key}");
        drop(stdin);
        child.wait().expect("its end");
    }
}
