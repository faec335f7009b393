//! What is shown where.

use serde_json::Value;

use super::script::{enough, slow, vain};
use super::{REQUEST, RULE, Scene, USUAL, screen, text};

#[test]
fn the_result_alone_is_in_the_file_and_the_display_is_live() {
    let scene = Scene::new(&slow(500));
    let script = r#""$0" "$@" > ../result"#;
    let terminal = scene.shell(USUAL, &REQUEST, &[], Some(script));
    terminal.sees(RULE, 1);
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(0), "{shown}");
    let result = std::fs::read_to_string(scene.at("result")).expect("a result");
    assert_eq!(result, "find_files is done\ncalc is done\n");
}

#[test]
fn the_screen_is_left_with_what_stays() {
    let scene = Scene::new(&slow(500));
    let (exit, shown) = scene.run().ends();
    assert_eq!(exit, Some(0), "{shown}");
    let left = screen(&shown, USUAL);
    let expected = [
        "task t-",
        "✓ 1 count the docs",
        "✓ 2 add it up",
        "find_files is done",
        "calc is done",
        "✓ done: all 2 checks proved, ",
        "  cost      6 asks: understand 1, plan 1, work 4; ",
        "  regent why t-",
    ];
    assert!(left.len() >= expected.len(), "{left:#?}");
    for (line, expected) in left.iter().zip(expected) {
        assert!(line.starts_with(expected), "{expected}: {left:#?}");
    }
}

#[test]
fn a_pipe_gets_no_escape_and_no_carriage_return() {
    for script in [slow(0), vain(0)] {
        let ran = Scene::new(&script).plain(&REQUEST);
        for bytes in [&ran.stderr, &ran.stdout] {
            assert!(!bytes.iter().any(|byte| matches!(byte, 0x1b | b'\r')), "{}", text(bytes));
        }
        assert!(text(&ran.stderr).contains("[1/2] done: "), "{}", text(&ran.stderr));
    }
}

#[test]
fn what_cannot_move_its_cursor_and_who_listens_get_plain_lines() {
    let table = [
        ("auto", ("TERM", "dumb"), 0),
        ("auto", ("ACCESSIBLE", "1"), 1),
        ("auto", ("REGENT_UI_ACCESSIBLE", "yes"), 1),
        ("auto", ("CI", "true"), 0),
        ("plain", ("TERM", "xterm"), 0),
    ];
    for (progress, environment, bells) in table {
        let scene = Scene::new(&slow(300));
        let flags = ["--color", "never", "--progress", progress];
        let (exit, shown) = scene.terminal(USUAL, &[&REQUEST[..], &flags].concat(), &[environment]).ends();
        assert_eq!(exit, Some(0), "{shown}");
        assert!(!shown.contains('\x1b'), "{environment:?}: {shown:?}");
        assert!(shown.contains("[1/2] done: count the docs, 1/1 check"), "{shown}");
        assert_eq!(shown.matches('\x07').count(), bells, "{shown:?}");
    }
}

#[test]
fn a_small_window_gets_plain_lines_and_a_narrow_one_a_short_line() {
    let scene = Scene::new(&slow(500));
    let (_, small) = scene.terminal((36, 24), &REQUEST, &[("NO_COLOR", "1")]).ends();
    assert!(
        small.contains("[1/2] done: count the docs") && !small.contains(RULE) && !small.contains('▸'),
        "{small}"
    );
    let (_, narrow) = Scene::new(&slow(500)).terminal((50, 20), &REQUEST, &[("NO_COLOR", "1")]).ends();
    assert!(narrow.contains(" 1/2 count the docs") && !narrow.contains(RULE), "{narrow}");
    assert!(narrow.contains(" 1 count the docs, 1/1 check"), "{narrow}");
}

#[test]
fn while_the_window_changes_there_is_one_short_line() {
    let scene = Scene::new(&slow(1_500));
    let terminal = scene.terminal(USUAL, &REQUEST, &[("NO_COLOR", "1")]);
    terminal.sees("1 count the docs", 1);
    terminal.resizes((90, 24));
    terminal.sees(" 1/2 count the docs", 1);
    let wide = "╌".repeat(70);
    terminal.sees(&wide, 1);
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(0), "{shown}");
}

#[test]
fn east_asian_and_plain_locales_get_ascii() {
    for locale in ["ja_JP.UTF-8", "zh_CN.UTF-8", "C"] {
        let scene = Scene::new(&slow(400));
        let (_, shown) = scene.terminal(USUAL, &REQUEST, &[("LC_ALL", locale), ("NO_COLOR", "1")]).ends();
        assert!(
            shown.is_ascii()
                && screen(&shown, USUAL).iter().any(|line| line.starts_with("ok 1 count the docs")),
            "{locale}: {shown}"
        );
    }
}

#[test]
fn an_abandoned_task_is_never_green() {
    let scene = Scene::new(&vain(200));
    let (exit, shown) = scene.run().ends();
    assert_eq!(exit, Some(1), "{shown}");
    let left = screen(&shown, USUAL);
    let result = left.iter().position(|line| line.starts_with("PARTIAL RESULT")).expect("a result");
    assert!(left[result + 1..].iter().all(|line| !line.contains('✓')), "{left:#?}");
    let closing = shown.rsplit_once("PARTIAL RESULT").expect("a result").1;
    assert!(!closing.contains("\x1b[32m") && closing.contains("\x1b[1;31m✗ stopped"), "{closing}");
    for part in
        ["  done      1 add it up", "  not done  2 count the docs: ", "  next      ", "regent explain R1002"]
    {
        assert!(left.iter().any(|line| line.contains(part)), "{part}: {left:#?}");
    }
    let piped = scene.plain(&REQUEST);
    assert!(text(&piped.stdout).starts_with("PARTIAL RESULT\n"), "{}", text(&piped.stdout));
}

#[test]
fn what_is_good_enough_lists_what_is_not_met() {
    let scene = Scene::new(&enough());
    let (exit, shown) = scene.run().ends();
    assert_eq!(exit, Some(5), "{shown}");
    let left = screen(&shown, USUAL);
    assert!(
        left.iter().any(|line| line.starts_with("! good enough: 5 of 6 checks proved, 1 not met")),
        "{left:#?}"
    );
    assert!(
        left.iter().any(|line| line.starts_with("  not met   there are seven (/count is 2)")),
        "{left:#?}"
    );
}

#[test]
fn the_json_stream_has_a_type_on_every_line_and_ends_with_the_exit_code() {
    for (script, exit) in [(slow(0), 0), (vain(0), 1), (enough(), 5)] {
        let ran = Scene::new(&script).plain(&[&REQUEST[..], &["--json"]].concat());
        assert_eq!(ran.status.code(), Some(exit), "{}", text(&ran.stderr));
        assert_eq!(text(&ran.stderr), "");
        let lines: Vec<Value> =
            text(&ran.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let (last, events) = lines.split_last().expect("lines");
        assert!(events.iter().all(|line| line["seq"].is_u64()), "{lines:#?}");
        assert!(
            lines
                .iter()
                .all(|line| line["v"] == 1 && line["type"].is_string() && line["task_id"].is_string())
        );
        let documented = include_str!("../../../../../docs/filters.md");
        for line in &lines {
            let kind = line["type"].as_str().expect("a type");
            assert!(documented.contains(&format!("| `{kind}`")), "docs/filters.md does not know {kind}");
        }
        assert_eq!((&last["type"], &last["exit"]), (&"core:response".into(), &exit.into()));
    }
}

#[test]
fn a_live_display_that_cannot_be_is_an_error() {
    let scene = Scene::new(&slow(0));
    let refused = scene.plain(&[&REQUEST[..], &["--progress", "live"]].concat());
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).starts_with("error R2001: `--progress live` is not possible here"));
    let silent = scene.plain(&[&REQUEST[..], &["--progress", "none"]].concat());
    assert!(text(&silent.stderr).starts_with("done: all 2 checks proved, "), "{}", text(&silent.stderr));
}

#[test]
fn a_plan_that_is_only_shown_is_a_line_for_each_step() {
    let scene = Scene::new(&super::script::asking());
    let shown = scene.plain(&[&REQUEST[..], &["--plan"]].concat());
    let expected = "plan only, nothing was done: 3 steps, 3 checks\n1 delete the note\n2 add it up\n3 count the docs     needs 1\n";
    assert_eq!((text(&shown.stdout).as_str(), text(&shown.stderr).as_str()), (expected, ""));
    assert!(scene.workspace().join("notes.md").exists());
}

/// Nothing is closed by who looks on: the task goes on when its terminal's other end is gone.
#[test]
fn a_reader_of_standard_error_that_is_gone_does_not_stop_the_work() {
    let scene = Scene::new(&slow(100));
    let script = r#""$0" "$@" 2>&1 > ../result | head -c 1 > /dev/null; exit ${PIPESTATUS[0]}"#;
    let (exit, shown) = scene.shell(USUAL, &REQUEST, &[], Some(script)).ends();
    assert_eq!(exit, Some(0), "{shown}");
    assert_eq!(
        std::fs::read_to_string(scene.at("result")).expect("a result"),
        "find_files is done\ncalc is done\n"
    );
}
