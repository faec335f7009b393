//! When something is written, and when not.

use std::time::Duration;

use app::ModelDelta;
use domain::Time;
use domain::ask::Claim;
use present::progress::recording::{TASK, TaskRecording, aurora, plan_subtask};
use serde_json::json;

use super::DRAWN;
use crate::live::render::Size;
use crate::live::stage::{DisplayMode, Stage};

const SIZE: Size = Size { columns: 80, rows: 24 };

fn at(ms: u64) -> Time {
    Time::from_micros(0).plus(Duration::from_millis(ms))
}

fn stage(mode: DisplayMode) -> Stage {
    let mut stage = Stage::new(mode, DRAWN, at(0));
    stage.progress.name = "t-k7q2".into();
    stage
}

/// Every millisecond somebody would like to draw, while the steps of a task come in.
fn frames(mode: DisplayMode, ends: u64) -> Vec<(u64, String)> {
    let mut stage = stage(mode);
    let mut steps = aurora().steps.into_iter().peekable();
    let mut frames = Vec::new();
    for ms in 0..ends {
        while let Some(step) = steps.next_if(|step| step.at <= at(ms)) {
            stage.see(TASK, &step);
        }
        frames.extend(stage.draw(at(ms), SIZE).map(|frame| (ms, frame)));
    }
    frames
}

#[test]
fn nothing_is_drawn_at_first_and_then_at_most_ten_frames_a_second() {
    let frames = frames(DisplayMode::Live, 8_000);
    assert_eq!(frames[0].0, 250);
    for pair in frames.windows(2) {
        assert!(pair[1].0 - pair[0].0 >= 100, "{} {}", pair[0].0, pair[1].0);
    }
    for (ms, frame) in &frames {
        let (begins, ends) = (frame.matches("\x1b[?2026h").count(), frame.matches("\x1b[?2026l").count());
        assert_eq!((begins, ends), (1, 1), "one frame, one write, at {ms}");
    }
}

#[test]
fn nothing_is_drawn_of_what_has_not_changed() {
    let mut stage = stage(DisplayMode::Live);
    aurora().steps.iter().take(3).for_each(|step| drop(stage.see(TASK, step)));
    let drawn = (10_000..10_950).step_by(10).filter(|ms| stage.draw(at(*ms), SIZE).is_some()).count();
    assert_eq!(drawn, 1, "the clock has not moved");
    assert!(stage.draw(at(11_000), SIZE).is_some(), "now it has");
}

#[test]
fn a_clock_that_is_put_back_stops_nothing() {
    let mut stage = Stage::new(DisplayMode::Live, DRAWN, at(3_600_000));
    aurora().steps.iter().take(3).for_each(|step| drop(stage.see(TASK, step)));
    assert!(stage.draw(at(10_000), SIZE).is_some());
    assert!(stage.draw(at(9_000), SIZE).is_some(), "another second is shown");
}

#[test]
fn all_clocks_of_a_block_tick_together() {
    let frames = frames(DisplayMode::Live, 40_000);
    let quiet: Vec<u64> =
        frames.iter().map(|(ms, _)| *ms).filter(|ms| (12_000..39_000).contains(ms)).collect();
    assert_eq!(quiet.len(), 27, "one frame a second while nothing happens: {quiet:?}");
}

#[test]
fn no_sequence_that_takes_the_screen_away_is_ever_written() {
    let frames = frames(DisplayMode::Live, 60_000);
    assert!(frames.len() > 40);
    for (_, frame) in frames {
        let mut rest = frame.as_str();
        while let Some((_, after)) = rest.split_once('\x1b') {
            let end = after.find(|c: char| c.is_ascii_alphabetic()).expect("it ends");
            let (sequence, next) = after.split_at(end + 1);
            rest = next;
            let up = sequence.starts_with('[') && sequence.ends_with('A');
            let known = ["[?2026h", "[?2026l", "[?7h", "[?7l", "[J"].contains(&sequence)
                || sequence.ends_with('m')
                || up;
            assert!(known, "{sequence}");
        }
    }
}

#[test]
fn a_task_that_is_over_at_once_says_nothing_but_its_result() {
    let mut stage = stage(DisplayMode::Live);
    aurora().steps.iter().for_each(|step| drop(stage.see(TASK, step)));
    assert_eq!(stage.draw(at(200), SIZE), None);
    assert_eq!(stage.close(at(249), SIZE), None);
    assert_eq!(stage.draw(at(60_000), SIZE), None, "after the end nothing is drawn");
}

#[test]
fn what_is_over_during_a_question_is_said_after_the_answer() {
    let mut stage = stage(DisplayMode::Live);
    let recording = aurora();
    let (before, during) = recording.steps.split_at(8);
    before.iter().for_each(|step| drop(stage.see(TASK, step)));
    assert!(stage.draw(at(300), SIZE).is_some());
    let cleared = stage.give_way(at(400), SIZE).expect("the block goes");
    assert!(!cleared.contains('╌'), "{cleared}");
    during.iter().for_each(|step| drop(stage.see(TASK, step)));
    assert_eq!((stage.draw(at(60_000), SIZE), stage.until(at(60_000))), (None, None));
    stage.come_back();
    let after = stage.draw(at(60_001), SIZE).expect("a frame");
    assert!(after.contains("✓ 4 delete the duplicate copies"), "{after}");
}

#[test]
fn plain_lines_move_no_cursor_and_show_a_sign_of_life_every_thirty_seconds() {
    let frames = frames(DisplayMode::Plain, 40_000);
    assert!(frames.iter().all(|(_, text)| !text.contains(['\x1b', '\r']) && text.ends_with('\n')));
    let mut last = 0;
    for (ms, _) in &frames {
        assert!(ms - last <= 30_000, "{last} {ms}");
        last = *ms;
    }
    let signs: Vec<&str> =
        frames.iter().map(|(_, text)| text.as_str()).filter(|text| text.starts_with("still")).collect();
    assert_eq!(signs, ["still working: [2/5] compare amounts and dates, 36 s\n"]);
}

#[test]
fn a_question_that_nobody_answers_is_a_sign_of_life_too() {
    let mut stage = stage(DisplayMode::Plain);
    let mut task = TaskRecording::new(Some(domain::gradient::Params::default()));
    task.understood().planned(vec![plan_subtask("tidy", 1, &[], "delete_file")]);
    let _call = task.asks(0, "delete_file", json!({ "path": "x" }));
    task.steps.iter().for_each(|step| drop(stage.see(TASK, step)));
    assert!(stage.draw(at(1), SIZE).is_some());
    assert_eq!(stage.draw(at(31_000), SIZE).as_deref(), Some("still waiting for you: [1/1] tidy, 31 s\n"));
}

#[test]
fn where_there_is_one_way_only_the_end_says_all() {
    let mut stage = stage(DisplayMode::Plain);
    let mut task = TaskRecording::new(None);
    task.understood().planned(vec![plan_subtask("count", 1, &[], "find_files")]);
    let call = task.calls(0, "find_files", json!({}));
    task.returns(call).finishes(0, Claim::Completed);
    task.steps.iter().for_each(|step| drop(stage.see(TASK, step)));
    assert_eq!(stage.draw(at(1_000), SIZE), None);
}

#[test]
fn while_its_size_changes_the_block_is_one_short_line() {
    let mut stage = stage(DisplayMode::Live);
    aurora().steps.iter().take(4).for_each(|step| drop(stage.see(TASK, step)));
    let rows = |frame: Option<String>| frame.expect("a frame").matches("\r\n").count();
    assert!(rows(stage.draw(at(1_000), SIZE)) > 3);
    let other = Size { columns: 100, ..SIZE };
    assert_eq!(rows(stage.draw(at(1_200), other)), 0);
    assert_eq!(stage.draw(at(1_440), other), None, "it may still be changing");
    assert!(rows(stage.draw(at(1_450), other)) > 3);
}

#[test]
fn what_a_model_says_is_seen_while_it_says_it_and_not_afterwards() {
    let mut stage = stage(DisplayMode::Live);
    let size = Size { columns: 80, rows: 40 };
    let recording = aurora();
    let (before, after) = recording.steps.split_at(1);
    before.iter().for_each(|step| drop(stage.see(TASK, step)));
    assert!(stage.draw(at(300), size).is_some());
    stage.hear(&ModelDelta::Text("{\"task\": \x1b[31m first".into()));
    let frame = stage.draw(at(400), size).expect("a frame, with the first word");
    assert!(frame.contains("  {\"task\": ") && frame.contains("first"), "{frame:?}");
    assert!(!frame.contains("\x1b[31m"), "what it says is shown, not obeyed: {frame:?}");
    stage.hear(&ModelDelta::Text("word ".repeat(200)));
    let frame = stage.draw(at(500), size).expect("a frame");
    assert!(frame.contains("  …") && frame.contains("word"), "{frame:?}");
    stage.hear(&ModelDelta::Restart);
    stage.hear(&ModelDelta::Thought("another try".into()));
    let frame = stage.draw(at(600), size).expect("a frame");
    assert!(frame.contains("another try") && !frame.contains("word"), "{frame:?}");
    after.iter().take(1).for_each(|step| drop(stage.see(TASK, step)));
    assert!(!stage.draw(at(700), size).expect("a frame").contains("another try"));
}
