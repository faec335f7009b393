//! `--json`: every command that prints data prints JSON, one value per line, and nothing else.

use crate::world::{REQUEST, World, event};

fn world_with_ids() -> (World, [String; 3]) {
    let world = World::lived_in();
    let first = |args: &[&str], field: &str| {
        let lines = world.regent(args).run().succeeds().json();
        lines[0][field].as_str().expect("an id").to_owned()
    };
    let task = first(&["tasks", "list", "--json"], "task");
    let event = first(&["events", "list", "--json"], "id");
    let shown = world.regent(&["tasks", "show", &task, "--json"]).run().succeeds().json();
    let call = shown[0]["calls"][0]["call"].as_str().expect("a call").to_owned();
    (world, [task, event, call])
}

#[test]
fn every_command_that_prints_data_prints_json_lines() {
    let (world, [task, event_id, call]) = world_with_ids();
    let commands: [&[&str]; 19] = [
        &["run", REQUEST],
        &["resume", &task],
        &["tasks", "list"],
        &["tasks", "show", &task],
        &["why", &task],
        &["why", &call],
        &["why", &event_id],
        &["events", "list"],
        &["events", "ingest"],
        &["audit", "verify"],
        &["audit", "list"],
        &["status"],
        &["doctor"],
        &["paths"],
        &["config", "show"],
        &["init", "--yes"],
        &["explain", "R4010"],
        &["model", "list"],
        &["model", "set", "brain", "reflex"],
    ];
    for command in commands {
        let before: Vec<&str> = ["--json"].into_iter().chain(command.iter().copied()).collect();
        let after: Vec<&str> = command.iter().copied().chain(["--json"]).collect();
        for args in [before, after] {
            let outcome = world.regent(&args).stdin(event("new", "x")).run().succeeds();
            assert!(!outcome.json().is_empty(), "it prints nothing\n{outcome}");
            assert!(outcome.json().iter().all(serde_json::Value::is_object), "{outcome}");
        }
    }
}

#[test]
fn a_run_ends_with_the_answer_and_the_exit_code() {
    let world = World::new();
    let outcome = world.regent(&["run", "--json", REQUEST]).run().succeeds();
    let lines = outcome.json();
    let last = lines.last().expect("a last line");
    assert_eq!((&last["type"], &last["exit"]), (&"core:response".into(), &0.into()), "{outcome}");
    assert!(last["message"].as_str().is_some_and(|text| text.starts_with(crate::world::ANSWER)), "{outcome}");
}

#[test]
fn a_run_beyond_the_reflexes_says_so_in_its_last_line() {
    let world = World::new();
    let outcome = world.regent(&["run", "--json", "summarise the notes"]).run();
    assert_eq!(outcome.exit, Some(4), "{outcome}");
    let lines = outcome.json();
    let last = lines.last().expect("a last line");
    assert_eq!((&last["exit"], &last["problem"]["code"]), (&4.into(), &"R4010".into()), "{outcome}");
}

#[test]
fn an_error_is_a_problem_in_json_with_what_to_do() {
    let world = World::lived_in();
    for (args, exit, code) in [
        (&["why", "t-zzzzzzz", "--json"][..], 2, "R2004"),
        (&["run", "", "--json"], 2, "R2002"),
        (&["explain", "R9999", "--json"], 2, "R2008"),
        (&["resume", "--json"], 2, "R2007"),
    ] {
        let outcome = world.regent(args).run().fails(exit, code);
        let lines = outcome.json();
        assert_eq!((lines.len(), &lines[0]["problem"]["code"]), (1, &code.into()), "{outcome}");
        assert!(lines[0]["problem"]["do"].is_array(), "{outcome}");
    }
}

#[test]
fn completions_are_scripts_for_each_shell() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.regent(&["completions", shell]).run().succeeds().stdout;
        assert!(script.contains("regent") && script.contains("ingest"), "{shell}: {script}");
    }
    assert!(!world.home.exists(), "printing a script makes no house");
}
