//! Keys, signals and the settings of the terminal.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::sys::termios::LocalFlags;

use super::script::{asking, slow, vain};
use super::{REQUEST, RULE, Scene, USUAL, screen, text};
use crate::terminal::Terminal;

/// The block is drawn, and nothing that is typed now is seen.
fn drawn(terminal: &Terminal) {
    terminal.sees(RULE, 1);
    let flags = terminal.settings().local_flags;
    assert!(flags.contains(LocalFlags::ICANON | LocalFlags::ISIG) && !flags.contains(LocalFlags::ECHO));
}

/// However it ends, `Terminal::ends` compares the settings with those of before.
#[test]
fn canonical_mode_and_signals_are_on_at_every_moment() {
    let scene = Scene::new(&slow(500));
    let terminal = scene.run();
    let since = Instant::now();
    while !terminal.text().contains("✓ done") {
        let flags = terminal.settings().local_flags;
        assert!(flags.contains(LocalFlags::ICANON | LocalFlags::ISIG), "{}", terminal.text());
        assert!(since.elapsed() < Duration::from_secs(30), "{}", terminal.text());
        std::thread::sleep(Duration::from_millis(1));
    }
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(0), "{shown}");
    for never in
        ["\x1b[?1049", "\x1b[?47", "\x1b[?1000", "\x1b[?1002", "\x1b[?1003", "\x1b[2J", "\x1b[3J", "\x1bc"]
    {
        assert!(!shown.contains(never), "{never:?} in {shown}");
    }
}

#[test]
fn an_abandoned_task_gives_the_terminal_back() {
    let scene = Scene::new(&vain(200));
    let terminal = scene.run();
    drawn(&terminal);
    assert_eq!(terminal.ends().0, Some(1));
}

#[test]
fn ctrl_c_stops_within_two_seconds_and_resume_finishes() {
    let scene = Scene::new(&slow(1_500));
    let mut terminal = scene.run();
    drawn(&terminal);
    terminal.sees("count the docs", 1);
    let since = Instant::now();
    terminal.types("\x03");
    let (exit, shown) = terminal.ends();
    assert!(since.elapsed() < Duration::from_secs(3), "{:?}", since.elapsed());
    assert_eq!(exit, Some(130), "{shown}");
    let left = screen(&shown, USUAL);
    let last = left.iter().rev().find(|line| line.starts_with("interrupted")).expect("it says so");
    assert!(
        last.contains("what was done is saved; regent resume t-") && last.ends_with(" goes on"),
        "{left:?}"
    );
    assert!(left.iter().all(|line| !line.contains(RULE)), "nothing is left of the block: {left:?}");
    let resumed = scene.terminal(USUAL, &["resume"], &[]);
    drawn(&resumed);
    let (exit, shown) = resumed.ends();
    assert_eq!(exit, Some(0), "{shown}");
    let left = screen(&shown, USUAL);
    let expected =
        ["✓ 1 count the docs", "✓ 2 add it up", "find_files is done", "calc is done", "✓ done: all 2"];
    for (line, expected) in left.iter().zip(expected) {
        assert!(line.starts_with(expected), "what was said before is not said again: {left:#?}");
    }
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let scene = Scene::new(&slow(20_000));
    let mut terminal = scene.run();
    drawn(&terminal);
    terminal.types("\x03");
    terminal.types("\x03");
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(130), "{shown}");
}

#[test]
fn a_polite_kill_is_a_ctrl_c() {
    for signal in [Signal::SIGTERM, Signal::SIGHUP] {
        let scene = Scene::new(&slow(20_000));
        let script = "\"$0\" \"$@\" & echo $! > ../pid; fg > /dev/null; exit $?";
        let terminal = scene.shell(USUAL, &REQUEST, &[], Some(&format!("set -m; {script}")));
        drawn(&terminal);
        let pid = std::fs::read_to_string(scene.at("pid")).expect("a process");
        let pid = nix::unistd::Pid::from_raw(pid.trim().parse().expect("a number"));
        nix::sys::signal::kill(pid, signal).expect("signal");
        let (exit, shown) = terminal.ends();
        assert_eq!(exit, Some(130), "{signal}: {shown}");
        assert!(shown.contains("regent resume"), "{shown}");
    }
}

#[test]
fn a_breakdown_gives_the_terminal_back_before_it_says_why() {
    let mut scene = Scene::new(&slow(800));
    scene.panics = "executor";
    let terminal = scene.run();
    drawn(&terminal);
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(4), "{shown}");
    let left = screen(&shown, USUAL);
    assert!(left.iter().any(|line| line.starts_with("error R4099: the work broke off")), "{left:?}");
    assert!(left.iter().any(|line| line.contains("breaks down, as the test wants")), "{left:?}");
    assert!(left.iter().all(|line| !line.contains(RULE)), "{left:?}");
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_draws_again() {
    let scene = Scene::new(&slow(1_500));
    let script =
        r#"set -m; "$0" "$@"; echo '[stopped]'; stty -a | grep -o ' .\?echo '; read line; fg; exit $?"#;
    let mut terminal = scene.shell(USUAL, &REQUEST, &[], Some(script));
    drawn(&terminal);
    terminal.types("\x1a");
    terminal.sees("[stopped]", 1).sees(" echo ", 1);
    assert_eq!(terminal.settings(), terminal.before);
    let before = terminal.text().matches(RULE).count();
    terminal.types("go on\n");
    terminal.sees(RULE, before + 1).sees("✓ done", 1);
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(0), "{shown}");
    let left = screen(&shown, USUAL);
    assert!(left.iter().all(|line| !line.contains(RULE)), "{left:?}");
}

#[test]
fn what_is_typed_while_it_works_is_not_seen_and_stays_for_the_shell() {
    let scene = Scene::new(&slow(800));
    let script = r#""$0" "$@"; read line; echo "[heard $line]""#;
    let mut terminal = scene.shell(USUAL, &REQUEST, &[], Some(script));
    drawn(&terminal);
    terminal.types("y yes ls\n");
    terminal.sees("[heard y yes ls]", 1);
    let (_, shown) = terminal.ends();
    assert_eq!(shown.matches("y yes ls").count(), 1, "{shown}");
}

#[test]
fn a_question_takes_the_place_of_the_block_and_what_is_over_meanwhile_follows_the_answer() {
    let scene = Scene::new(&asking());
    let mut terminal = scene.run();
    terminal.types("y\n"); // before it is asked: never an answer
    terminal.sees("step 1 of t-", 1).sees("> ", 1);
    assert!(terminal.settings().local_flags.contains(LocalFlags::ECHO), "what is answered is seen");
    // The other step is over by now, and nothing disturbs the prompt.
    std::thread::sleep(Duration::from_millis(2_000));
    let asked = terminal.text();
    let (_, prompt) = asked.rsplit_once("path: notes.md").expect("a question");
    assert!(!prompt.contains(RULE) && !prompt.contains("add it up"), "{asked}");
    assert!(scene.workspace().join("notes.md").exists());
    terminal.types("y\n");
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(0), "{shown}");
    let left = screen(&shown, USUAL);
    let place = |what: &str| {
        let found = left.iter().position(|line| line.contains(what));
        found.unwrap_or_else(|| panic!("{what} is not there: {left:#?}"))
    };
    assert!(place("approved, this once") < place("✓ 2 add it up"), "{left:#?}");
    let order = [
        place("path: notes.md"),
        place("approved, this once"),
        place("✓ 1 delete the note"),
        place("✓ 3 count the docs"),
        place("delete_file is done"),
        place("✓ done: all 3 checks proved"),
    ];
    assert!(order.is_sorted(), "{order:?} {left:#?}");
    assert!(left[place("✓ 1 delete the note")].contains("1/1 check, you: yes"), "{left:#?}");
    assert!(left.iter().all(|line| !line.contains(RULE)), "{left:#?}");
}

#[test]
fn ctrl_c_at_a_question_decides_nothing() {
    let scene = Scene::new(&asking());
    let mut terminal = scene.run();
    terminal.sees("step 1 of t-", 1).sees("> ", 1);
    std::thread::sleep(Duration::from_millis(1_800)); // the other step is over: nothing goes on without an answer
    terminal.types("\x03");
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(3), "{shown}");
    assert!(scene.workspace().join("notes.md").exists());
    let audit = text(&scene.plain(&["audit", "list", "--json"]).stdout);
    assert!(!audit.contains("reject"), "{audit}");
}

#[test]
fn in_the_background_nothing_is_drawn() {
    let scene = Scene::new(&slow(400));
    let terminal = scene.shell(USUAL, &REQUEST, &[], Some(r#"set -m; "$0" "$@" & wait %1"#));
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(0), "{shown}");
    assert!(shown.contains("[1/2] done: count the docs") && !shown.contains(RULE), "{shown}");
}
