//! What the next plan must not use.

use std::collections::{BTreeMap, BTreeSet};

use domain::gradient::Macro::{BreakSymmetry, ChangeApproach, ChangePath, Refine, Success};
use domain::gradient::Params;

use super::{call, doubtful, failed, outcome, passed, play, play_with, share};
use crate::ggs::{Class, Judged, Outcome, Solution, Status, ToolCall};

const LOGICAL: Class = Class::Logical;
const ENVIRONMENTAL: Class = Class::Environmental;

fn with(mut outcome: Outcome, calls: Vec<ToolCall>) -> Outcome {
    outcome.tool_calls = calls;
    outcome
}

/// Two subtasks that failed by their approach, the second at least once not, and one that did not fail.
fn wrong(first: Judged, second: Judged) -> Vec<Outcome> {
    vec![
        with(
            outcome("a", Status::Failed, vec![first]),
            vec![
                call("shell", Some("x"), Some("run"), Some(false)),
                call("glob", None, None, Some(true)),
                call("shell", Some("y"), None, None),
            ],
        ),
        with(outcome("b", Status::Matched, vec![second]), vec![call("fetch", None, Some("net"), None)]),
        with(
            outcome("c", Status::Matched, vec![passed("c1")]),
            vec![
                call("python", None, Some("run"), Some(true)),
                call("search", Some("z"), Some("net"), Some(false)),
            ],
        ),
        with(outcome("d", Status::Skipped, Vec::new()), vec![call("mail", None, Some("post"), None)]),
    ]
}

fn registry() -> BTreeMap<String, BTreeSet<String>> {
    let classes = [("files", vec!["glob", "read_file"]), ("run", vec!["perl"]), ("post", vec!["chat"])];
    let owned = |tools: Vec<&str>| tools.into_iter().map(str::to_owned).collect();
    classes.into_iter().map(|(class, tools)| (class.to_owned(), owned(tools))).collect()
}

fn last(rounds: &[(f64, Vec<Outcome>)]) -> Solution {
    play_with(&Params::default(), &registry(), rounds).pop().expect("a round")
}

#[test]
fn stuck_with_a_wrong_approach_blocks_the_tools_of_what_failed() {
    let solution = last(&[(0.0, wrong(failed("a1", Some(LOGICAL)), failed("b1", Some(LOGICAL))))]);
    assert_eq!(solution.directive, BreakSymmetry);
    assert_eq!(solution.blocked_tools, ["fetch", "glob", "shell"]);
    assert_eq!((solution.blocked_targets, solution.newly_blocked), (vec![], vec![]));
}

/// Cell 6: it gets better, and the approach is wrong all the same.
#[test]
fn getting_better_blocks_only_what_never_worked() {
    let before = (0.0, share(1, 1, Some(LOGICAL)));
    let never = || doubtful("a1", LOGICAL, &[false, false]);
    let sometimes = || doubtful("b1", LOGICAL, &[true, false]);
    let told = "; it gets better, so only tools of what failed in every attempt are blocked";

    // D from 1 to (1 + 1/2)/3, P stays 1: −0.3 + 0.1·0.2 = −0.28.
    let relaxed = last(&[before.clone(), (0.0, wrong(never(), sometimes()))]);
    assert_eq!(relaxed.directive, ChangeApproach);
    assert_eq!(relaxed.blocked_tools, ["glob", "shell"]);
    assert!(relaxed.rationale.ends_with(told), "{}", relaxed.rationale);

    // Without attempts nobody knows whether it failed in every one.
    let unknown = last(&[before, (0.0, wrong(failed("a1", Some(LOGICAL)), sometimes()))]);
    assert_eq!(unknown.blocked_tools, ["fetch", "glob", "shell"]);
    assert!(!unknown.rationale.ends_with(told), "{}", unknown.rationale);
}

#[test]
fn getting_worse_blocks_the_whole_classes() {
    // L from 0.6·0.4 + 0.4·0.2 = 0.32 to 0.6·2/3 + 0.3·0.6 + 0.4·0.4 = 0.74.
    let before = (0.0, share(2, 5, None));
    let worse = last(&[before, (0.0, wrong(failed("a1", Some(LOGICAL)), failed("b1", Some(LOGICAL))))]);
    assert_eq!((worse.directive, worse.worsening), (ChangeApproach, 1));
    // `run` is known from the registry and from two calls, `net` from calls alone, `post` is nobody's who failed.
    assert_eq!(worse.blocked_tools, ["fetch", "glob", "perl", "python", "read_file", "search", "shell"]);
    assert!(worse.rationale.ends_with("the whole classes of the failing tools are blocked"));
}

#[test]
fn targets_of_failed_calls_are_blocked_for_good() {
    let env = Some(ENVIRONMENTAL);
    let first = vec![
        with(
            outcome("a", Status::Failed, vec![failed("a1", env)]),
            vec![
                call("read", Some("absent"), None, None),
                call("read", Some("there"), None, Some(true)),
                call("read", None, None, Some(false)),
            ],
        ),
        // It did not fail as a whole, so a call of which nobody says anything did not either.
        with(
            outcome("b", Status::Matched, vec![failed("b1", env)]),
            vec![call("list", Some("locked"), None, Some(false)), call("list", Some("open"), None, None)],
        ),
        // Nothing is held against what ended well, or was never tried.
        with(
            outcome("c", Status::Matched, vec![passed("c1")]),
            vec![call("read", Some("x"), None, Some(false))],
        ),
        with(
            outcome("d", Status::Skipped, vec![passed("d1")]),
            vec![call("read", Some("y"), None, Some(false))],
        ),
    ];
    let pair = |tool: &str, target: &str| (tool.to_owned(), target.to_owned());
    // From D 3/4 to 1, P 0: 0.15 + 0.08.
    let second = vec![with(
        outcome("a", Status::Failed, vec![failed("a1", env)]),
        vec![call("find", Some("absent"), None, Some(false)), call("find", Some("a"), None, Some(false))],
    )];
    // Close enough: nothing is said against anything any more.
    let mut third = share(1, 10, Some(LOGICAL));
    third[0].tool_calls = vec![call("find", Some("late"), None, Some(false))];

    let solved = play(&[(0.0, first), (0.0, second), (0.0, third)]);
    assert_eq!(solved[0].directive, ChangePath);
    assert_eq!(solved[0].blocked_targets, ["absent", "locked"]);
    assert_eq!(solved[0].newly_blocked, [pair("list", "locked"), pair("read", "absent")]);
    assert_eq!(solved[1].directive, Refine);
    assert_eq!(solved[1].blocked_targets, ["a", "absent", "locked"]);
    assert_eq!(solved[1].newly_blocked, [pair("find", "a")]);
    assert_eq!(solved[2].directive, Success);
    assert_eq!(solved[2].blocked_targets, ["a", "absent", "locked"]);
    assert!(solved[2].newly_blocked.is_empty());
    assert!(solved.iter().all(|solution| solution.blocked_tools.is_empty()));
}

#[test]
fn the_planner_is_told_unless_the_task_is_over() {
    let solved = play(&[(0.0, share(1, 1, Some(LOGICAL))), (0.0, share(0, 1, None))]);
    let told = solved[0].plan_directive().expect("a directive");
    assert_eq!((told.directive, told.prev_directive.as_str()), (BreakSymmetry, "init"));
    assert_eq!((told.loss, told.budget_pressure), (solved[0].loss, solved[0].loss.omega));
    assert_eq!(solved[1].plan_directive(), None);
}
