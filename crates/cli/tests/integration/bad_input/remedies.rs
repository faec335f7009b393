//! What an error suggests can be typed: each command parses, and each code has its page.

use std::collections::BTreeSet;

use domain::problem::{CODES, page};

use crate::process::Outcome;
use crate::world::{REQUEST, World, event};

/// Errors of all kinds that need no special machine.
fn errors() -> Vec<Outcome> {
    let mut found = Vec::new();
    let world = World::lived_in();
    let mut of = |world: &World, args: &[&str]| {
        let regent = world.regent(args).stdin(format!("nonsense\n{}", event("9", "x")));
        found.push(regent.run());
    };
    for args in [
        &["statsu"][..],
        &["run", "--colour", "x"],
        &["run", ""],
        &["run", &"x".repeat(70_000)],
        &["run", "summarise the notes"],
        &["run", "list the files in no-such-folder"],
        &["why", "x"],
        &["why", "t-zzzzzzz"],
        &["tasks", "show", "t-zzzzzzz"],
        &["explain", "R9999"],
        &["resume"],
        &["resume", "t-zzzzzzz"],
        &["events", "ingest"],
    ] {
        of(&world, args);
    }
    world.sql(&["DROP TRIGGER audit_is_not_changed", "UPDATE audit SET subject = 'x' WHERE seq = 2"]);
    of(&world, &["audit", "verify"]);
    of(&world, &["doctor"]);
    std::fs::write(world.audit_key(), "ab".repeat(32)).expect("a key of somebody else");
    of(&world, &["run", REQUEST]);
    world.sql(&["PRAGMA user_version = 99"]);
    of(&world, &["status"]);
    std::fs::write(world.database(), "milk\n".repeat(300)).expect("database");
    of(&world, &["status"]);
    std::fs::remove_dir_all(world.data().join("keys")).expect("keys");
    of(&world, &["status"]);
    world.write_settings("[ui]\ncolour = 1\n");
    of(&world, &["status"]);
    world.write_settings([0xff]);
    of(&world, &["status"]);
    found
}

/// Splits a command as a shell would: words, and double quotes around some.
fn words(command: &str) -> Vec<String> {
    command
        .split('"')
        .enumerate()
        .flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

/// Appends `--help`: the program parses everything before it, and does nothing.
fn parses(world: &World, command: &str) {
    let mut args = words(command);
    assert_eq!(args.remove(0), "regent", "{command}");
    args.push("--help".into());
    let outcome = world.regent(&args).run().succeeds();
    assert!(outcome.stdout.contains("Usage: regent"), "{outcome}");
}

#[test]
fn every_suggested_command_parses() {
    let suggested: BTreeSet<String> = errors().iter().flat_map(Outcome::remedies).collect();
    assert!(suggested.len() >= 10, "errors suggest things: {suggested:?}");
    let world = World::new();
    for command in suggested.iter().filter(|line| line.starts_with("regent ")) {
        parses(&world, command);
    }
}

#[test]
fn every_error_has_a_code_that_explain_knows() {
    let world = World::new();
    for outcome in errors() {
        let code = outcome.stderr.strip_prefix("error ").and_then(|rest| rest.get(..5));
        let code = code.unwrap_or_else(|| panic!("no code\n{outcome}"));
        assert_eq!(outcome.exit.map(|exit| exit.to_string()).as_deref(), code.get(1..2), "{outcome}");
        let page = world.regent(&["explain", code]).run().succeeds().stdout;
        assert!(page.starts_with(code) && page.contains("What to do: "), "{page}");
    }
}

#[test]
fn every_error_names_a_command_to_type() {
    for outcome in errors() {
        let suggested = outcome.remedies().iter().any(|line| line.starts_with("regent "));
        let usage = outcome.stderr.contains("Usage: regent") && outcome.stderr.contains("'--help'");
        assert!(suggested || usage, "nothing can be typed\n{outcome}");
    }
}

/// The pages promise commands too: everything in backticks that begins with our name.
#[test]
fn every_command_on_a_page_parses() {
    let world = World::new();
    let pages = CODES.iter().filter_map(|&code| page(code));
    let commands: BTreeSet<&str> = pages
        .flat_map(|page| page.split('`').skip(1).step_by(2))
        .filter(|text| text.starts_with("regent ") && !text.contains('…') && *text != "regent --help")
        .collect();
    assert!(commands.len() >= 8, "{commands:?}");
    for command in commands {
        let typed = command.replace("<command>", "run").replace(" --help", "");
        parses(&world, &typed.replace(['<', '>'], ""));
    }
}
