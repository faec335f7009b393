//! What is shown, as whole pictures.

use domain::Time;
use domain::ask::Claim;
use domain::gradient::Params;
use present::progress::recording::{TASK, TaskRecording, aurora, plan_subtask, second_round};
use present::progress::{ProgressLine, SubtaskRow, SubtaskState, TaskProgress, describe_line, render_line};
use present::{Theme, measure_width};
use proptest::prelude::*;
use serde_json::json;

use super::{ASCII, COLORED, DRAWN, bare};
use crate::live::render::{Extent, Size, render};

fn folded(recording: &TaskRecording) -> (TaskProgress, Vec<ProgressLine>) {
    let mut model = TaskProgress::default();
    model.name = "t-k7q2".into();
    let lines = recording.steps.iter().flat_map(|step| model.apply(TASK, step).lines).collect();
    (model, lines)
}

fn block(model: &TaskProgress, columns: usize, rows: usize, theme: Theme, now: Time) -> Vec<String> {
    let size = Size { columns, rows };
    render(model, size, size.extent(), theme, now)
}

#[test]
fn the_lines_that_stay_are_the_same_on_a_terminal_and_in_a_log() {
    let (_, lines) = folded(&aurora());
    let on_screen: Vec<String> =
        lines.iter().flat_map(|line| render_line(line, "t-k7q2", DRAWN, 80)).collect();
    assert_eq!(
        on_screen,
        [
            "task t-k7q2: 5 steps, 9 checks",
            "✓ 1 find the Aurora invoices              1/1 check                      0.2 s",
            "✗ 3 look up Aurora's billing address      0/2 checks                       6 s",
            "    https://aurora.example/contact refused us (HTTP 403)",
            "- 5 write to Aurora's billing desk        skipped, needs 3, 4",
            "✓ 2 compare amounts and dates             2/2 checks                      38 s",
            "✓ 4 delete the duplicate copies           2/2 checks, you: yes            11 s",
            "↻ round 2: step 3 looks elsewhere, https://aurora.example/contact refused us (HTTP 403); 1, 2, 4 kept",
        ]
    );
    let in_a_log: Vec<String> = lines.iter().map(|line| describe_line(line, "t-k7q2")).collect();
    assert_eq!(
        in_a_log,
        [
            "task t-k7q2: 5 steps, 9 checks",
            "[1/5] done: find the Aurora invoices, 1/1 check, 0.2 s",
            "[3/5] failed: look up Aurora's billing address, 0/2 checks, 6 s: https://aurora.example/contact refused us (HTTP 403)",
            "[5/5] skipped: write to Aurora's billing desk, needs 3, 4",
            "[2/5] done: compare amounts and dates, 2/2 checks, 38 s",
            "[4/5] done: delete the duplicate copies, 2/2 checks, you: yes, 11 s",
            "round 2: step 3 looks elsewhere, https://aurora.example/contact refused us (HTTP 403); 1, 2, 4 kept",
        ]
    );
    let ascii: Vec<String> = lines.iter().flat_map(|line| render_line(line, "t-k7q2", ASCII, 60)).collect();
    assert_eq!(ascii[1], "ok 1 find the Aurora invoices, 1/1 check, 0.2 s");
    assert_eq!(ascii[2], "FAIL 3 look up Aurora's billing address, 0/2 checks, 6 s");
    assert!(ascii.last().unwrap().starts_with("~ round 2: "), "{ascii:?}");
    assert!(ascii.iter().all(|line| line.is_ascii()), "{ascii:?}");
}

#[test]
fn a_round_that_runs_looks_like_its_picture() {
    let mut task = aurora();
    second_round(&mut task);
    let (model, _) = folded(&task);
    let wide = [
        "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ t-k7q2  0:54",
        "understand ✓  plan ✓  work ▸  check  review  steer             replan 1 of 3",
        "▸ 1 look up Aurora's billing address      0/2 checks                     2 s",
        "    http_fetch https://aurora.example/impressum",
        "- 2 write to Aurora's billing desk        needs 1",
        "unmet ▪▪▪▪▪▪▪▪▪▪ 100%    spent ▪▪▪▫▫▫▫▫▫▫ 26%, stops at 80%    cost 0.05",
        "cause outside: https://aurora.example/contact refused us.. trend first round",
    ];
    assert_eq!(block(&model, 80, 24, DRAWN, task.now()), wide);
    let ascii = block(&model, 80, 24, ASCII, task.now());
    assert_eq!(ascii[1], "understand ok  plan ok  work >  check  review  steer           replan 1 of 3");
    assert_eq!(ascii[5], "unmet ########## 100%    spent ###....... 26%, stops at 80%    cost 0.05");
    assert!(ascii.iter().all(|line| line.is_ascii()), "{ascii:?}");
    let colored: Vec<String> =
        block(&model, 80, 24, COLORED, task.now()).iter().map(|line| bare(line)).collect();
    assert_eq!(colored, wide, "with colours it says the same");
    let narrow = ["▸ 1/2 look up Aurora's billin.. 0:54"];
    assert_eq!(block(&model, 56, 24, DRAWN, task.now()), narrow);
    let low = [
        "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ t-k7q2  0:54",
        "▸ 1 look up Aurora's billing address      0/2 checks                     2 s",
        "- 1 later",
    ];
    assert_eq!(block(&model, 80, 10, DRAWN, task.now()), low);
    for (columns, rows) in [(39, 24), (80, 9)] {
        assert_eq!(block(&model, columns, rows, DRAWN, task.now()), Vec::<String>::new());
    }
}

#[test]
fn the_time_in_which_nobody_was_at_it_does_not_count() {
    let mut task = TaskRecording::new(Some(Params::default()));
    task.wait(2_000).understood().wait(3_600_000).taken_over().wait(3_000);
    let (model, _) = folded(&task);
    assert_eq!(model.elapsed(task.now()).as_secs(), 5);
    assert_eq!((model.waited.as_secs(), model.lasted().as_secs()), (0, 2));
}

#[test]
fn too_many_steps_fold_and_what_matters_stays() {
    let mut task = TaskRecording::new(Some(Params::default()));
    let parts =
        (0..20).map(|n| plan_subtask(&format!("part {n}"), 1, if n < 9 { &[] } else { &[0] }, "find_files"));
    task.understood().planned(parts.collect());
    for n in 1..7 {
        let call = task.calls(n, "find_files", json!({ "under": "x" }));
        task.returns(call).finishes(n, Claim::Completed);
    }
    let _waits = task.asks(7, "delete_file", json!({ "path": "x" }));
    let (model, _) = folded(&task);
    let shown = block(&model, 80, 24, DRAWN, task.now());
    assert_eq!(
        shown.get(2..7).unwrap(),
        [
            "▸ 1 part 0                                0/1 check",
            "? 8 part 7                                waiting for you",
            "    delete_file x",
            "▸ 9 part 8                                0/1 check",
            "✓ 6 done   - 11 later",
        ]
    );
    assert_eq!(shown.len(), 8, "{shown:?}");
    let shown = block(&model, 80, 15, DRAWN, task.now());
    assert_eq!(
        shown.get(2..4).unwrap(),
        ["▸ 1 part 0                                0/1 check", "✓ 6 done   ▸ 2 more   - 11 later"]
    );
}

/// Symbols and words, not colour, tell states apart.
#[test]
fn every_state_is_told_apart_without_colours_and_by_words_alone() {
    let states = [
        SubtaskState::Done,
        SubtaskState::Failed(String::new()),
        SubtaskState::Skipped,
        SubtaskState::Working,
    ];
    let line = |state: &SubtaskState| {
        let row = SubtaskRow { intent: "x".into(), state: state.clone(), checks: 1, ..SubtaskRow::default() };
        ProgressLine::Subtask { number: 1, of: 1, row }
    };
    let (mut symbols, mut words) = (Vec::new(), Vec::new());
    for state in &states {
        symbols.push(bare(&render_line(&line(state), "t", COLORED, 80)[0]));
        words.push(describe_line(&line(state), "t"));
    }
    for list in [&mut symbols, &mut words] {
        list.sort();
        list.dedup();
        assert_eq!(list.len(), states.len(), "{list:?}");
    }
    assert!(words.iter().all(|word| word.is_ascii()), "{words:?}");
}

#[test]
fn text_from_outside_is_shown_and_never_obeyed() {
    let evil = "a\x1b[2J\u{9b}31m\u{202e}b\u{200b}c\r\nd";
    let mut task = TaskRecording::new(Some(Params::default()));
    task.understood().planned(vec![
        plan_subtask(evil, 1, &[], "find_files"),
        plan_subtask("after", 1, &[0], "find_files"),
    ]);
    let call = task.calls(0, "find_files", json!({ "under": evil }));
    let (model, _) = folded(&task);
    let shown = block(&model, 100, 40, COLORED, task.now()).join("");
    task.breaks(call, evil).finishes(0, Claim::Failed);
    let (after, lines) = folded(&task);
    let drawn: String = lines.iter().flat_map(|line| render_line(line, "t", DRAWN, 80)).collect();
    let worded: String = lines.iter().map(|line| describe_line(line, "t")).collect();
    let cause = block(&after, 100, 40, DRAWN, task.now()).join("");
    for text in [bare(&shown), drawn, worded, cause] {
        assert!(text.contains("\\u{1b}[2J"), "{text}");
        assert!(!text.chars().any(domain::is_unseen), "{text:?}");
    }
}

fn any_part() -> impl Strategy<Value = SubtaskRow> {
    let state = prop_oneof![
        Just(SubtaskState::Later),
        Just(SubtaskState::Working),
        Just(SubtaskState::Done),
        Just(SubtaskState::Skipped),
        any::<String>().prop_map(SubtaskState::Failed),
    ];
    (any::<String>(), state, 0..9_usize, prop::collection::vec(0..30_u32, 0..4)).prop_map(
        |(intent, state, checks, needs)| SubtaskRow { intent, state, checks, needs, ..SubtaskRow::default() },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the text, the block is at most a third of the screen high and never reaches its edge.
    #[test]
    fn the_block_stays_within_its_bounds(
        parts in prop::collection::vec(any_part(), 0..30),
        columns in 1..200_usize,
        rows in 1..80_usize,
        symbols: bool,
        seconds in 0..100_000_u64,
    ) {
        let mut task = aurora();
        second_round(&mut task);
        let (mut model, _) = folded(&task);
        model.subtasks = parts;
        let size = Size { columns, rows };
        let now = task.now().plus(std::time::Duration::from_secs(seconds));
        for extent in [size.extent(), Extent::Line] {
            let shown = render(&model, size, extent, Theme { symbols, ..DRAWN }, now);
            prop_assert!(shown.len() <= 3.max(rows / 3));
            for line in shown {
                prop_assert!(measure_width(&line) <= columns.saturating_sub(4), "{} > {columns} - 4: {line}", measure_width(&line));
            }
        }
    }
}
