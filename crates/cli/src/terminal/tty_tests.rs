//! A question on a real terminal. The terminal has to be the controlling one of whoever asks, so the test starts this
//! very program again, as the leader of a session on a terminal that the test holds the other end of.

#![expect(clippy::disallowed_methods, reason = "tests start processes and read their environment")]

use super::{Heard, Marks, Tty};

#[expect(dead_code, reason = "shared with the tests of the whole program, which use all of it")]
#[path = "../../tests/integration/terminal.rs"]
mod terminal;

use nix::sys::termios::LocalFlags;
use terminal::Terminal;

const CHILD: &str = "REGENT_TEST_ASKS";

/// Asks until somebody says `bye`, or leaves. It is a test of nothing but when the tests below start it.
#[test]
fn asks() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let tty = Tty::open(Marks::Sure).expect("a terminal");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    tty.write("begins\n");
    runtime.block_on(async {
        std::thread::sleep(std::time::Duration::from_millis(300)); // time to type ahead
        loop {
            let heard = tty.ask("ask> ").await;
            tty.write(&format!("heard {heard:?}\n"));
            if heard == Heard::End || heard == Heard::Line("bye".into()) {
                return;
            }
            if heard == Heard::Line("give up".into()) {
                let asked = tty.ask("and> ");
                drop(tokio::time::timeout(std::time::Duration::from_millis(50), asked).await);
                tty.write("gave up\n");
            }
        }
    });
}

fn asked() -> Terminal {
    Terminal::start(|command| {
        command.arg(std::env::current_exe().expect("this program"));
        command.args(["terminal::tty::tests::asks", "--exact", "--nocapture"]).env(CHILD, "1");
    })
}

/// The same, as a job of a shell that goes on when the job is stopped.
fn asked_as_a_job() -> Terminal {
    const SHELL: &str =
        r#"set -m; "$0" "$@"; echo '[stopped]'; read line; bg; echo '[background]'; read line; fg"#;
    Terminal::start(|command| {
        command.args(["bash", "-c", SHELL]).arg(std::env::current_exe().expect("this program"));
        command.args(["terminal::tty::tests::asks", "--exact", "--nocapture"]).env(CHILD, "1");
    })
}

#[test]
fn in_the_background_nothing_is_asked_set_or_written() {
    let mut terminal = asked_as_a_job();
    terminal.sees("begins", 1);
    terminal.types("\x1a"); // before it asks
    terminal.sees("[stopped]", 1);
    terminal.types("\n");
    terminal.sees("[background]", 1);
    let before = terminal.settings();
    std::thread::sleep(std::time::Duration::from_millis(900)); // it asks now, or would
    let text = terminal.text();
    assert!(!text.contains("ask> ") && !text.contains("\x1b[?2004"), "{text}");
    assert_eq!(terminal.settings(), before);
    terminal.types("fg\nearly\n");
    terminal.sees("ask> ", 1);
    terminal.types("bye\n");
    let (_, shown) = terminal.ends();
    assert!(shown.contains("heard Line(\"bye\")") && !shown.contains("Line(\"early"), "{shown}");
}

#[test]
fn what_follows_a_line_at_once_was_not_typed() {
    let mut terminal = asked();
    terminal.sees("ask> ", 1);
    terminal.types("y\nls -l\n");
    terminal.sees("heard Pasted", 1).sees("ask> ", 2);
    terminal.types("bye\n");
    let (_, shown) = terminal.ends();
    assert!(!shown.contains("Line(\"y\")") && !shown.contains("Line(\"ls"), "{shown}");
}

#[test]
fn a_line_that_is_too_long_is_no_answer_and_its_end_mark_is_not_missed() {
    let long = "x".repeat(5_000);
    let mut terminal = asked();
    terminal.sees("ask> ", 1);
    terminal.types(&long);
    terminal.types("\n");
    terminal.sees("heard TooLong", 1).sees("ask> ", 2);
    terminal.types(&format!("\x1b[200~{long}\x1b[201~\n")); // the terminal loses the second mark
    terminal.sees("heard Pasted", 1).sees("ask> ", 3);
    terminal.types("bye\n");
    terminal.sees("heard Pasted", 2).sees("ask> ", 4);
    terminal.types("\n");
    terminal.sees("heard Pasted", 3).sees("ask> ", 5);
    terminal.types("bye\n");
    let (_, shown) = terminal.ends();
    assert!(shown.contains("heard Line(\"bye\")"), "{shown}");
}

#[test]
fn terminals_that_tell_what_is_pasted() {
    let table = [
        (Some("xterm-256color"), false, Marks::Sure),
        (Some("tmux-256color"), true, Marks::Sure),
        (Some("screen-256color"), true, Marks::Sure),
        (Some("vte-256color"), false, Marks::Sure),
        (Some("screen"), false, Marks::Perhaps),
        (Some("linux"), false, Marks::Perhaps),
        (Some("vt100"), false, Marks::Perhaps),
        (Some("dumb"), false, Marks::Never),
        (Some(""), false, Marks::Never),
        (None, false, Marks::Never),
    ];
    for (term, in_tmux, expected) in table {
        assert_eq!(Marks::of(term, in_tmux), expected, "{term:?}");
    }
}

#[test]
fn a_line_is_heard_with_its_enter_and_echoed() {
    let mut terminal = asked();
    terminal.sees("ask> ", 1);
    assert!(
        terminal.settings().local_flags.contains(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG)
    );
    terminal.types("yes or no");
    terminal.types("\r");
    terminal.sees("ask> yes or no\r\n\x1b[?2004lheard Line(\"yes or no\")", 1);
    terminal.sees("ask> ", 2);
    terminal.types("bye\n");
    terminal.ends();
}

#[test]
fn what_was_typed_before_is_gone() {
    let mut terminal = asked();
    terminal.types("early\nhalf");
    terminal.sees("ask> ", 1);
    terminal.types("bye\n");
    let (_, shown) = terminal.ends();
    assert!(!shown.contains("heard Line(\"early") && !shown.contains("half"), "{shown}");
}

#[test]
fn what_is_pasted_is_told_apart_to_its_end() {
    let mut terminal = asked();
    terminal.sees("ask> ", 1);
    terminal.types("\x1b[200~x\ry\ry\ry");
    terminal.sees("heard Pasted", 1);
    terminal.types("\ry\r");
    terminal.types("z\x1b[201~typed\r");
    terminal.sees("heard Pasted", 2);
    std::thread::sleep(std::time::Duration::from_millis(300)); // it has settled
    terminal.types("bye\n");
    let (_, shown) = terminal.ends();
    assert!(!shown.contains("heard Line(\"y\")") && !shown.contains("Line(\"z"), "{shown}");
}

#[test]
fn ctrl_d_needs_an_empty_line_and_ends_it() {
    let mut terminal = asked();
    terminal.sees("ask> ", 1);
    terminal.types("half a line\x04");
    terminal.types("\x04");
    let (_, shown) = terminal.ends();
    assert!(shown.contains("heard End") && !shown.contains("Line("), "{shown}");
}

#[test]
fn whoever_gives_up_has_the_terminal_as_it_was() {
    let mut terminal = asked();
    terminal.sees("ask> ", 1);
    terminal.types("give up\n");
    terminal.sees("and> \r\n", 1).sees("gave up", 1).sees("ask> ", 2);
    terminal.types("bye\n");
    terminal.ends();
}
