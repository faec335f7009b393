//! Output that nobody reads, or that cannot be written.

use std::path::Path;

use crate::world::{REQUEST, World, event, events};

/// More than a pipe holds, so that the program has to meet the closed end.
const MANY: u32 = 600;

#[test]
fn a_reader_that_has_seen_enough_ends_a_listing_quietly() {
    let world = World::new();
    world.regent(&["events", "ingest"]).stdin(events(1..=MANY)).run().succeeds();
    for args in [
        &["events", "list", "--limit", "100000"][..],
        &["events", "list", "--json", "--limit", "100000"],
        &["audit", "list", "--limit", "100000"],
        &["audit", "list", "--json", "--limit", "100000"],
    ] {
        let mut running = world.regent(args).start();
        assert!(running.line().contains('1'), "the first line is there");
        running.close_stdout();
        let outcome = running.finish().succeeds();
        assert_eq!(outcome.stderr, "", "{outcome}");
    }
}

#[test]
fn a_reader_that_is_gone_before_the_answer_does_not_stop_the_work() {
    let world = World::new();
    let mut running = world.regent(&["run", REQUEST]).start();
    running.close_stdout();
    let outcome = running.finish();
    assert!(!outcome.stderr.contains("error"), "{outcome}");
    assert_eq!(outcome.exit, Some(0), "{outcome}");
    let tasks = world.regent(&["tasks", "list", "--json"]).run().succeeds().json();
    assert_eq!(tasks[0]["status"], "done");
}

#[test]
fn a_listing_that_cannot_be_written_is_an_error() {
    let world = World::lived_in();
    let full = Path::new("/dev/full");
    for args in [&["events", "list"][..], &["tasks", "list", "--json"], &["paths"], &["completions", "bash"]]
    {
        world.regent(args).run_into(full).fails(4, "R4016").says(&["standard output"]);
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    let world = World::new();
    let outcome = world.regent(&["--help"]).run_into(Path::new("/dev/full"));
    assert_eq!(outcome.exit, Some(4), "{outcome}");
}

#[test]
fn an_answer_that_cannot_be_written_is_never_called_done() {
    let world = World::new();
    let outcome = world.regent(&["run", REQUEST]).run_into(Path::new("/dev/full"));
    assert_ne!(outcome.exit, Some(0), "nobody has seen the answer\n{outcome}");
    assert!(!outcome.stderr.contains("done: all"), "{outcome}");
    world.regent(&["audit", "verify"]).run().succeeds();
}

#[test]
fn the_result_and_nothing_else_is_on_stdout() {
    let world = World::new();
    let outcome = world.regent(&["run", REQUEST]).run().succeeds();
    assert!(outcome.stdout.starts_with(crate::world::ANSWER), "{outcome}");
    assert!(outcome.stderr.contains("regent why t-"), "{outcome}");
    assert!(!outcome.stdout.contains("regent why"), "{outcome}");
}

#[test]
fn colours_come_only_where_they_are_asked_for() {
    let world = World::lived_in();
    let plain = world.regent(&["audit", "verify"]).env("TERM", "xterm-256color").run().succeeds();
    assert!(!plain.stdout.contains('\x1b'), "{plain}");
    let forced = world.regent(&["audit", "verify", "--color", "always"]).run();
    assert!(forced.stdout.contains('\x1b'), "{forced}");
    let never =
        world.regent(&["audit", "verify", "--color", "never"]).env("CLICOLOR_FORCE", "1").run().succeeds();
    assert!(!never.stdout.contains('\x1b'), "{never}");
}

/// The flag counts before `NO_COLOR`, and that before the settings.
#[test]
fn no_color_counts_before_the_settings_and_the_flag_before_both() {
    let world = World::lived_in();
    let coloured = |args: &[&str], no_color: &str| {
        let regent = world.regent(args).env("REGENT_UI_COLOR", "always").env("NO_COLOR", no_color);
        regent.run().stdout.contains('\x1b')
    };
    assert!(coloured(&["audit", "verify"], ""), "an empty `NO_COLOR` is none");
    assert!(coloured(&["audit", "verify", "--color", "always"], "1"));
    assert!(!coloured(&["audit", "verify"], "1"));
}

/// Neither the direction of the writing nor the cursor is turned by what somebody sent, in `--json` either.
#[test]
fn json_on_a_terminal_is_the_same_value_with_nothing_hidden_in_it() {
    use std::io::Read as _;
    let world = World::new();
    let sent = "evil\u{202e}gpj.exe \u{9b}31m zero\u{200b}width";
    world.regent(&["events", "ingest"]).stdin(event("1", sent)).run().succeeds();
    let list = ["events", "list", "--json"];
    let piped = world.regent(&list).run().succeeds();
    assert!(piped.stdout.contains(sent), "{piped}");
    let pty = nix::pty::openpty(None, None).expect("a terminal");
    let terminal = nix::unistd::ttyname(&pty.slave).expect("its name");
    world.regent(&list).run_into(&terminal).succeeds();
    drop(pty.slave);
    let (mut shown, mut master) = (Vec::new(), std::fs::File::from(pty.master));
    // A terminal that everybody has left reads as an error, after all that was written.
    drop(master.read_to_end(&mut shown));
    let shown = String::from_utf8(shown).expect("text");
    assert!(shown.contains(r"evil\u202egpj.exe \u009b31m zero\u200bwidth"), "{shown}");
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    assert_eq!(value(&shown), value(&piped.stdout));
}
