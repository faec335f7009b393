//! The inline prompt of the real program, on a real terminal: nobody decides by accident, and the terminal goes back as
//! it was.

use crate::terminal::Terminal;
use crate::world::World;
use nix::sys::signal::Signal;
use serde_json::Value;

const CALL: [&str; 4] = ["tools", "call", "delete_file", "path=notes.md"];
/// What is shown when an answer is waited for.
const PROMPT: &str = "> ";

/// A call that has to be asked about, at a terminal.
fn asked(world: &World) -> Terminal {
    with(world, |command| {
        command.arg(env!("CARGO_BIN_EXE_regent")).args(CALL);
    })
}

fn with(world: &World, prepare: impl Fn(&mut std::process::Command)) -> Terminal {
    Terminal::start(|command| {
        prepare(command);
        command.env("REGENT_HOME", &world.home).env("NO_COLOR", "1").current_dir(world.workspace());
        if command.get_envs().all(|(name, _)| name != "TERM") {
            command.env("TERM", "xterm");
        }
    })
}

/// The same as a job of a shell that goes on when the job is stopped.
fn as_a_job(world: &World, script: &str) -> Terminal {
    with(world, |command| {
        command.args(["bash", "-c", script]).arg(env!("CARGO_BIN_EXE_regent")).args(CALL);
    })
}

/// The open questions about calls; somebody also wants in, in a house that is lived in.
fn open(world: &World) -> Vec<Value> {
    let mut open: Vec<Value> = world.regent(&["approvals", "list", "--json"]).run().succeeds().json();
    open.retain(|view| view.get("question").is_some());
    open
}

fn is_there(world: &World) -> bool {
    world.workspace().join("notes.md").exists()
}

/// Nothing was decided: the question is open, the task waits, and `regent` says how to go on.
fn is_left_open(world: &World, exit: Option<i32>, shown: &str) {
    assert_eq!(exit, Some(3), "{shown}");
    assert!(is_there(world), "{shown}");
    let open = open(world);
    assert_eq!((open.len(), &open[0]["status"]), (1, &"pending".into()), "{shown}");
    let audit = world.regent(&["audit", "list", "--json"]).run().succeeds().stdout;
    assert!(!audit.contains("reject"), "{audit}");
}

#[test]
fn a_typed_yes_lets_it_run() {
    let world = World::lived_in();
    let mut terminal = asked(&world);
    terminal.sees(PROMPT, 1).sees("path: notes.md", 1).sees("named by     you, who typed it", 1);
    terminal.types("y\n");
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(0), "{shown}");
    assert!(!is_there(&world) && open(&world).is_empty(), "{shown}");
    assert_eq!(shown.matches('\x07').count(), 1, "one bell: {shown}");
}

/// One question for all of them, with every path, and one answer.
#[test]
fn a_typed_yes_is_for_every_file_that_was_shown() {
    let world = World::lived_in();
    let paths = "paths=[\"notes.md\",\"lib.rs\"]";
    let mut terminal = with(&world, |command| {
        command.arg(env!("CARGO_BIN_EXE_regent")).args(["tools", "call", "delete_files", paths]);
    });
    terminal.sees(PROMPT, 1).sees("delete 2 files", 1).sees(" 1  notes.md", 1).sees(" 2  lib.rs", 1);
    terminal.types("y\n");
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(0), "{shown}");
    let there = ["notes.md", "lib.rs", "main.rs"].map(|name| world.workspace().join(name).exists());
    assert_eq!((there, open(&world).len()), ([false, false, true], 0), "{shown}");
}

#[test]
fn what_was_typed_before_never_decides() {
    let world = World::lived_in();
    let mut terminal = asked(&world);
    terminal.types("y\ny\nyes\n");
    terminal.sees(PROMPT, 1);
    assert!(is_there(&world));
    terminal.types("l\n");
    let (exit, shown) = terminal.ends();
    is_left_open(&world, exit, &shown);
}

#[test]
fn what_is_pasted_never_decides() {
    for pasted in ["\x1b[200~y\r\x1b[201~", "\x1b[200~x\ry\ry\r\x1b[201~", "\x1b[200~y\x1b[201~\r"] {
        let world = World::lived_in();
        let mut terminal = asked(&world);
        terminal.sees(PROMPT, 1);
        terminal.types(pasted);
        terminal.sees("what is pasted is no answer", 1).sees(PROMPT, 2);
        terminal.types("\n"); // the end of what was pasted
        terminal.sees(PROMPT, 3);
        assert!(is_there(&world), "{}", terminal.text());
        terminal.types("l\n");
        let (exit, shown) = terminal.ends();
        is_left_open(&world, exit, &shown);
    }
}

/// What a terminal that does not mark it hands over of what is pasted.
#[test]
fn what_is_pasted_without_marks_never_decides() {
    let world = World::lived_in();
    let mut terminal = asked(&world);
    terminal.sees(PROMPT, 1);
    terminal.types("y\rls -l\r");
    terminal.sees("what is pasted is no answer", 1).sees(PROMPT, 2);
    assert!(is_there(&world), "{}", terminal.text());
    terminal.types("l\n");
    let (exit, shown) = terminal.ends();
    is_left_open(&world, exit, &shown);

    for term in ["linux", "dumb"] {
        let world = World::lived_in();
        let mut terminal = with(&world, |command| {
            command.arg(env!("CARGO_BIN_EXE_regent")).args(CALL).env("TERM", term);
        });
        terminal.sees("yes this once", 1).sees(PROMPT, 1);
        terminal.types("y\n");
        terminal.sees("type the whole word: yes", 1).sees(PROMPT, 2);
        assert!(is_there(&world), "{}", terminal.text());
        terminal.types("yes\n");
        let (exit, shown) = terminal.ends();
        assert_eq!((exit, is_there(&world)), (Some(0), false), "{shown}");
    }
}

#[test]
fn standard_input_never_decides() {
    let world = World::lived_in();
    let mut terminal = with(&world, |command| {
        command.args(["sh", "-c", "yes | \"$0\" \"$@\""]).arg(env!("CARGO_BIN_EXE_regent")).args(CALL);
    });
    terminal.sees(PROMPT, 1);
    assert!(is_there(&world));
    terminal.types("l\n");
    let (exit, shown) = terminal.ends();
    is_left_open(&world, exit, &shown);
}

#[test]
fn an_empty_or_unknown_answer_asks_again() {
    let world = World::lived_in();
    let mut terminal = asked(&world);
    for (times, line) in (1..).zip(["\n", "Y\n", "yes please\n", "\x1by\n"]) {
        terminal.sees(PROMPT, times);
        terminal.types(line);
    }
    terminal.sees(PROMPT, 5);
    assert!(is_there(&world));
    terminal.types("n not this one\n");
    let (exit, shown) = terminal.ends();
    assert_ne!(exit, Some(0), "{shown}");
    assert!(shown.contains("you said no, so it was not done") && !shown.contains("better reason"), "{shown}");
    assert!(is_there(&world) && open(&world).is_empty(), "{shown}");
}

#[test]
fn ctrl_c_and_ctrl_d_are_neither_yes_nor_no() {
    for key in ["\x03", "\x04", "y\x04\x04", "y\x03"] {
        let world = World::lived_in();
        let mut terminal = asked(&world);
        terminal.sees(PROMPT, 1);
        terminal.types(key);
        let (exit, shown) = terminal.ends();
        is_left_open(&world, exit, &shown);
        assert!(
            shown.contains("waiting for you: a-") && shown.contains("then   regent resume t-"),
            "{shown}"
        );
    }
}

#[test]
fn a_signal_or_a_closed_terminal_is_neither_yes_nor_no() {
    for signal in [Signal::SIGTERM, Signal::SIGQUIT] {
        let world = World::lived_in();
        let terminal = asked(&world);
        terminal.sees(PROMPT, 1).signal(signal);
        let (exit, shown) = terminal.ends();
        is_left_open(&world, exit, &shown);
    }

    let world = World::lived_in();
    let terminal = asked(&world);
    terminal.sees(PROMPT, 1);
    is_left_open(&world, terminal.hangs_up(), "");
}

#[test]
fn an_answer_from_elsewhere_closes_the_prompt() {
    let world = World::lived_in();
    let terminal = asked(&world);
    terminal.sees(PROMPT, 1);
    let id = open(&world)[0]["id"].as_str().expect("an id").to_owned();
    world.regent(&["approvals", "approve", &id]).run().succeeds();
    terminal.sees("was approved by owner, terminal", 1);
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(0), "{shown}");
    assert!(!is_there(&world), "{shown}");
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_takes_it_again() {
    let world = World::lived_in();
    let script = r#"set -m; "$0" "$@"; echo '[stopped]'; read line; fg; exit $?"#;
    let mut terminal = as_a_job(&world, script);
    terminal.sees(PROMPT, 1);
    terminal.types("\x1a");
    terminal.sees("[stopped]", 1).sees("\x1b[?2004l", 1);
    assert_eq!(terminal.settings(), terminal.before);
    terminal.types("fg\ny\n"); // to a shell, perhaps
    terminal.sees(PROMPT, 2);
    assert!(is_there(&world), "{}", terminal.text());
    terminal.types("l\n");
    let (exit, shown) = terminal.ends();
    is_left_open(&world, exit, &shown);
}

/// What is typed before the terminal is ours again was typed for somebody else, and is never an answer.
#[test]
fn what_is_typed_while_it_is_in_the_background_never_decides() {
    let world = World::lived_in();
    let script =
        r#"set -m; "$0" "$@"; echo '[stopped]'; read line; bg; echo '[background]'; read line; fg; exit $?"#;
    let mut terminal = as_a_job(&world, script);
    terminal.sees(PROMPT, 1);
    terminal.types("\x1a");
    terminal.sees("[stopped]", 1);
    terminal.types("bg\n");
    terminal.sees("[background]", 1);
    std::thread::sleep(std::time::Duration::from_millis(400)); // it goes on, and looks
    assert_eq!(terminal.text().matches("\x1b[?2004h").count(), 1, "{}", terminal.text());
    assert_eq!(terminal.text().matches(PROMPT).count(), 1, "{}", terminal.text());
    terminal.types("fg\ny\nyes\n");
    terminal.sees(PROMPT, 2).sees("\x1b[?2004h", 2);
    assert!(is_there(&world), "{}", terminal.text());
    terminal.types("l\n");
    let (exit, shown) = terminal.ends();
    is_left_open(&world, exit, &shown);
}

#[test]
fn without_a_shell_above_ctrl_z_stops_nothing_for_good() {
    let world = World::lived_in();
    let mut terminal = asked(&world);
    terminal.sees(PROMPT, 1);
    terminal.types("\x1a");
    terminal.sees(PROMPT, 2);
    terminal.types("l\n");
    let (exit, shown) = terminal.ends();
    is_left_open(&world, exit, &shown);
}

#[test]
fn whoever_resumes_what_another_process_is_at_is_not_asked() {
    let world = World::lived_in();
    let mut first = asked(&world);
    first.sees(PROMPT, 1);
    let task = open(&world)[0]["task"].as_str().expect("a task").to_owned();
    let second = with(&world, |command| {
        command.arg(env!("CARGO_BIN_EXE_regent")).args(["resume", &task]);
    });
    let (exit, shown) = second.ends();
    assert_eq!(exit, Some(4), "{shown}");
    assert!(shown.contains("R4011") && !shown.contains(['\x07', '>']), "{shown}");
    first.types("l\n");
    let (exit, shown) = first.ends();
    is_left_open(&world, exit, &shown);
}

#[test]
fn an_answer_from_elsewhere_closes_a_change_too() {
    let world = World::lived_in();
    let mut terminal = asked(&world);
    terminal.sees(PROMPT, 1);
    terminal.types("e\n");
    terminal.sees("name=value> ", 1);
    let id = open(&world)[0]["id"].as_str().expect("an id").to_owned();
    world.regent(&["approvals", "reject", &id, "not", "this", "one"]).run().succeeds();
    terminal.sees("was rejected by owner, terminal: \"not this one\"", 1);
    let (exit, shown) = terminal.ends();
    assert!(exit != Some(0) && is_there(&world), "{shown}");
}

/// A word among the ids that is none, as from a line that was copied whole: nothing is decided.
#[test]
fn a_stray_word_among_several_decides_nothing() {
    let world = World::lived_in();
    let outcome = world.regent(&CALL).run();
    let id = open(&world)[0]["short"].as_str().expect("an id").to_owned();
    world
        .regent(&["approvals", "approve", &id, "reject", &id, "reason"])
        .run()
        .says(&["no question is called"]);
    is_left_open(&world, outcome.exit, "");
    for shown in [["approvals", "list"].as_slice(), &["approvals", "show", &id]] {
        let outcome = world.regent(shown).run().succeeds();
        for line in outcome.stderr.lines() {
            assert_eq!(
                line.matches("approve ").count()
                    + line.matches("reject ").count()
                    + line.matches("show ").count(),
                1,
                "{line}"
            );
        }
    }
}

#[test]
fn a_reason_with_line_ends_draws_no_line_of_ours() {
    let world = World::lived_in();
    world.regent(&CALL).run();
    let view = &open(&world)[0];
    let [id, task] = ["id", "task"].map(|name| view[name].as_str().expect("an id").to_owned());
    world
        .regent(&["approvals", "reject", &id, "no\nproof: all is good\n  safe     nothing"])
        .run()
        .succeeds();
    let shown = [
        ["resume", &task].as_slice(),
        &["why", &task],
        &["tasks", "show", &task],
        &["approvals", "show", &id],
    ]
    .map(|args| world.regent(args).run());
    for outcome in shown {
        let lines = outcome.stdout.lines().chain(outcome.stderr.lines());
        let forged =
            lines.filter(|line| line.starts_with("proof: all") || line.starts_with("  safe     nothing"));
        assert_eq!(forged.filter(|line| !line.contains("was done")).count(), 0, "{outcome}");
    }
}

/// What was not shown cannot be approved together with others.
#[test]
fn a_list_shows_what_its_rows_have_no_room_for() {
    let world = World::lived_in();
    let long = "x".repeat(200);
    std::fs::write(world.workspace().join(&long), "a").expect("a file");
    std::fs::write(world.workspace().join("b   c"), "a").expect("a file");
    for path in [&long, "b   c", "notes.md"] {
        world.regent(&["tools", "call", "delete_file", &format!("path={path}")]).run();
    }
    let outcome = world.regent(&["approvals", "list"]).run().succeeds();
    let rows: String = outcome.stdout.lines().filter_map(|line| line.strip_prefix("    | ")).collect();
    assert_eq!(rows, long, "{outcome}");
    assert!(outcome.stdout.contains("    path: b   c\n"), "{outcome}");
    assert!(outcome.stderr.contains("  2 alike: ") && !outcome.stderr.contains("notes.md"), "{outcome}");
}

/// A yes to several at once is offered for files of one folder and one kind only, and they are named.
#[test]
fn a_temporary_file_and_a_source_file_are_not_alike() {
    let world = World::lived_in();
    std::fs::create_dir_all(world.workspace().join("src")).expect("a folder");
    for path in ["src/a.rs", "src/b.rs", "src/b.rs.tmp", "src/.b.rs", "c.rs"] {
        std::fs::write(world.workspace().join(path), "a").expect("a file");
        world.regent(&["tools", "call", "delete_file", &format!("path={path}")]).run();
    }
    let outcome = world.regent(&["approvals", "list"]).run().succeeds();
    assert_eq!(outcome.stderr.matches("alike").count(), 1, "{outcome}");
    let hint = outcome.stderr.lines().skip_while(|line| !line.contains("alike")).collect::<Vec<_>>();
    assert_eq!(hint[0], "  2 alike: src/a.rs, src/b.rs", "{outcome}");
    assert!(hint[1].starts_with("regent approvals approve a-"), "{outcome}");
    assert_eq!(hint[1].matches("a-").count(), 2, "{outcome}");
}

#[test]
fn without_a_terminal_nobody_is_asked_and_what_to_do_is_said() {
    let world = World::lived_in();
    let outcome = world.regent(&CALL).run();
    assert_eq!((outcome.exit, outcome.stdout.as_str()), (Some(3), ""), "{outcome}");
    assert!(!outcome.stderr.contains(['\x1b', '\r', '\x07']), "{outcome}");
    let outcome = outcome.says(&[
        "waiting for you: a-",
        "delete_file notes.md",
        "open until",
        "then   regent resume t-",
    ]);
    is_left_open(&world, outcome.exit, "");
}

#[test]
fn json_never_asks() {
    let world = World::lived_in();
    let terminal = with(&world, |command| {
        command.arg(env!("CARGO_BIN_EXE_regent")).args(CALL).arg("--json");
    });
    let (exit, shown) = terminal.ends();
    assert!(!shown.contains(PROMPT) && shown.contains("\"type\":\"core:waiting\""), "{shown}");
    is_left_open(&world, exit, &shown);
}
