//! The real program and a model on a server that says and tries what it should not.

use double::{Double, Said, Script};
use serde_json::{Value, json};

use crate::process::Outcome;
use crate::world::World;

fn finish(output: &str) -> Said {
    Said::call("finish", json!({ "output": output, "status": "completed" }))
}

/// A task of one subtask with this criterion, and then these moves.
fn script(criterion: &Value, moves: Vec<Said>) -> Script {
    let task = json!({ "task": { "task_class": "answer", "intent": "do what was asked" } });
    let plan = json!({ "subtasks": [{ "intent": "do it", "success_criteria": [criterion] }] });
    let first = [Said::text(task.to_string()), Said::text(plan.to_string())];
    first.into_iter().chain(moves).fold(Script::new(), Script::then)
}

fn run(world: &World, request: &str, script: Script) -> Outcome {
    let double = Double::start(script);
    let regent = world.regent(&["run", request]);
    let regent = regent.env("REGENT_PROVIDER_DOUBLE_URL", &double.url);
    let regent = regent.env("REGENT_PROVIDER_DOUBLE_DIALECT", "anthropic");
    let regent = regent.env("REGENT_PROVIDER_DOUBLE_KEY", "env:DOUBLE_API_KEY");
    let regent = regent.env("REGENT_MODEL_BRAIN", "double/double-large");
    regent.env("DOUBLE_API_KEY", double::KEY).run()
}

/// `home.profile` is the owner's word, and `.profile` is not.
#[test]
fn a_piece_of_a_word_is_not_written_to() {
    let pieces = [
        ("tell me how home.profile differs from work.profile", ".profile"),
        ("what is wrong with config.env, please", ".env"),
        ("say what is new in my_notes.txt", "_notes.txt"),
        ("why is cafe\u{301}.txt so long, after all", "cafe"),
    ];
    for (request, piece) in pieces {
        let world = World::new();
        let written = json!({ "text": "it is said", "check": { "file_exists": { "path": piece } } });
        let moves = vec![Said::call("write_file", json!({ "path": piece, "content": "x" })), finish("said")];
        let outcome = run(&world, request, script(&written, moves));
        assert_eq!(outcome.exit, Some(3), "{outcome}");
        assert!(!world.workspace().join(piece).exists(), "{outcome}");
    }
}

/// The criterion is about the world, and no tool was called.
#[test]
fn what_is_only_claimed_is_unverified_and_exits_5() {
    let world = World::new();
    let claimed = json!({ "text": "old.txt is gone", "check": { "regex": { "pattern": "deleted" } } });
    let moves = vec![finish("I have deleted old.txt")];
    let outcome = run(&world, "make sure that old.txt is out of my way", script(&claimed, moves));
    assert_eq!(outcome.exit, Some(5), "{outcome}");
    assert!(outcome.stderr.contains("good enough: 1 check unverified"), "{outcome}");
    assert!(outcome.stderr.contains("old.txt is gone (/deleted/ matches; no call shows it)"), "{outcome}");
}

#[test]
fn the_closing_line_counts_what_is_proved_and_what_is_judged() {
    let world = World::new();
    let plan = json!({ "subtasks": [{ "intent": "do it", "success_criteria": [
        { "text": "notes.md was read", "check": { "tool_called": { "tool": "read_file" } } },
        { "text": "it reads well", "mode": "plausible" },
    ] }] });
    let verdicts = json!({ "verdicts": [{ "verdict": "pass", "evidence": "it does" }] });
    let said = [
        Said::text(json!({ "task": { "task_class": "answer", "intent": "say it" } }).to_string()),
        Said::text(plan.to_string()),
        Said::call("read_file", json!({ "path": "notes.md" })),
        finish("x"),
        Said::text(verdicts.to_string()),
    ];
    let script = said.into_iter().fold(Script::new(), Script::then);
    let outcome = run(&world, "what would you say of the notes I have", script);
    assert_eq!(outcome.exit, Some(0), "{outcome}");
    assert!(outcome.stderr.contains("done: 1 of 2 checks proved, 1 judged"), "{outcome}");
}
