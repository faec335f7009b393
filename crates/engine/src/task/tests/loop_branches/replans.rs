//! The medium loop: each direction reached by what really happened, with the numbers worked out by hand and what the next
//! plan must not use. No time goes by, so Ω is 0.2 for every replan that was asked for.

use domain::ask::{Replan, Want};
use domain::gradient::{Blame, Macro, PlanDirective};
use domain::source::{Source, Text};
use domain::task::MustNot;
use serde_json::json;

use super::super::world::{
    FIND, GLOB, READ, WRITE, World, assert_measured, beside_the_point, counted, out_of_reach, plan,
    side_by_side,
};
use crate::task::Input;

fn set(names: &[&str]) -> std::collections::BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn tools(names: &[&str]) -> MustNot {
    MustNot { tools: set(names), ..MustNot::default() }
}

fn targets(names: &[&str]) -> MustNot {
    MustNot { targets: set(names), ..MustNot::default() }
}

#[track_caller]
fn assert_directed(world: &World, directive: Macro, prev: &str, numbers: [f64; 5], must_not: &MustNot) {
    let found = world.directed();
    assert_eq!((found.directive, found.prev_directive.as_str()), (directive, prev), "{}", found.rationale);
    assert_measured(&found.loss, found.grad_l, numbers);
    assert_eq!(found.budget_pressure, found.loss.omega);
    assert_eq!(world.task.must_not(), must_not);
}

/// L = 0.6·1 + 0.3·0.8·1 + 0.4·0.2
#[test]
fn break_symmetry_when_it_is_stuck_and_the_approach_is_wrong() {
    let mut world = World::with(plan(&[&[]]));
    world.fails_logically(0);
    assert_directed(&world, Macro::BreakSymmetry, "init", [1.0, 1.0, 0.2, 0.92, 0.0], &tools(&[FIND]));
    assert_eq!(
        (world.directed().failure_class, world.directed().failed_criterion.as_str()),
        (Blame::Logical, "number 0 is known")
    );
}

/// L = 0.6·1 + 0 + 0.4·0.2
#[test]
fn change_path_when_it_is_stuck_and_the_world_is_in_the_way() {
    let mut world = World::with(plan(&[&[]]));
    world.fails_environmentally(0);
    assert_directed(&world, Macro::ChangePath, "init", [1.0, 0.0, 0.2, 0.68, 0.0], &targets(&["folder 0"]));
    assert_eq!(world.directed().failure_class, Blame::Environmental);
}

/// 0.92, then L = 0.6·0.5 + 0.3·0.6·1 + 0.4·0.4 = 0.64. It gets better, so only the tools of what never worked are blocked.
#[test]
fn change_approach_when_it_moves_and_the_approach_is_wrong() {
    let mut world = World::with(plan(&[&[]]));
    world.fails_logically(0);
    world.replans(side_by_side(2));
    world.does(0, GLOB, json!({ "pattern": "*" }), counted());
    world.claims(0, "3");
    world.fails(1, READ, json!({ "path": "a" }), beside_the_point());
    let numbers = [0.5, 1.0, 0.4, 0.64, -0.28];
    assert_directed(&world, Macro::ChangeApproach, "break_symmetry", numbers, &tools(&[READ]));
}

/// 0.38 (D 0.5, P 0), then L = 0.6·1 + 0.3·0.6·1 + 0.4·0.4 = 0.94. It gets worse: the whole class is blocked.
#[test]
fn change_approach_when_it_gets_worse_blocks_the_class_of_the_tool() {
    let mut world = World::with(side_by_side(2));
    world.matches(0);
    world.fails_environmentally(1);
    world.replans(plan(&[&[]]));
    world.fails(0, GLOB, json!({ "pattern": "*" }), beside_the_point());
    let must_not =
        MustNot { tools: set(&[FIND, GLOB, READ]), targets: set(&["folder 1"]), ..MustNot::default() };
    assert_directed(&world, Macro::ChangeApproach, "change_path", [1.0, 1.0, 0.4, 0.94, 0.56], &must_not);
}

/// 0.68, then L = 0.6·0.5 + 0.4·0.4 = 0.46.
#[test]
fn refine_when_it_moves_and_the_world_is_in_the_way() {
    let mut world = World::with(plan(&[&[]]));
    world.fails_environmentally(0);
    world.replans(side_by_side(2));
    world.matches(0);
    world.fails(1, READ, json!({ "path": "b" }), out_of_reach());
    let must_not = targets(&["b", "folder 0"]);
    assert_directed(&world, Macro::Refine, "change_path", [0.5, 0.0, 0.4, 0.46, -0.22], &must_not);
}

/// As many failures of the approach as of the world: P is 0.5, which is not above ρ.
#[test]
fn what_fails_for_both_reasons_alike_is_blamed_on_the_world() {
    let mut world = World::with(side_by_side(2));
    world.fails_logically(0);
    world.fails_environmentally(1);
    assert_directed(&world, Macro::ChangePath, "init", [1.0, 0.5, 0.2, 0.8, 0.0], &targets(&["folder 1"]));
    assert_eq!(world.directed().failure_class, Blame::Mixed);
}

/// A matter of judgement counts by the share of attempts in which it failed: here two of three, and one of two as a whole.
#[test]
fn a_plausible_criterion_counts_by_how_often_it_failed() {
    use super::super::world::{judgement, plausible, wanting};
    use domain::ask::Opinion::{Fail, Pass};
    let mut world = World::with(wanting(vec![plausible("it reads well"), plausible("it is kind")]));
    for (n, verdicts) in [[Fail, Fail], [Pass, Fail], [Fail, Pass]].into_iter().enumerate() {
        world.does(0, READ, json!({ "path": n.to_string() }), counted());
        world.claims(0, "a poem");
        world.judges(Some(0), verdicts.map(|verdict| judgement(verdict, "read it")).to_vec());
    }
    // D = (2/3) / 2 = 1/3, P = 1, Ω = 0.2, L = 0.2 + 0.24 + 0.08.
    assert_directed(&world, Macro::BreakSymmetry, "init", [1.0 / 3.0, 1.0, 0.2, 0.52, 0.0], &tools(&[READ]));
}

/// Tools are blocked for the next plan only, targets for good.
#[test]
fn blocked_tools_are_of_the_last_round_and_blocked_targets_of_all() {
    let mut world = World::with(plan(&[&[]]));
    world.fails_environmentally(0);
    world.replans(plan(&[&[]]));
    world.fails(0, WRITE, json!({ "path": "b" }), beside_the_point());
    assert_eq!(world.directed().directive, Macro::ChangeApproach);
    assert_eq!(world.directed().blocked_targets, ["folder 0"]);
    world.replans(plan(&[&[]]));
    world.fails(0, READ, json!({ "path": "c" }), out_of_reach());
    let must_not = targets(&["c", "folder 0"]);
    assert_eq!((world.directed().directive, world.task.must_not()), (Macro::Refine, &must_not));
}

#[test]
fn the_planner_is_told_what_each_subtask_came_to_and_what_is_there() {
    let mut world = World::with(plan(&[&[], &[], &[1]]));
    world.matches(0);
    let call = world.journal.iter().flat_map(|step| &step.effects).find_map(|effect| match effect {
        crate::task::Effect::Call(call) => Some(call.id),
        _ => None,
    });
    world.fails_environmentally(1);
    world.remembers_nothing();
    let ask = world.asked();
    let Want::Plan { replan: Some(Replan { directive, outcomes, achieved }), .. } = &ask.want else {
        panic!("{ask:?}")
    };
    assert_eq!(*directive, world.directed());
    assert_eq!(ask.round, 1);
    assert_eq!(*outcomes, ["done: count 0", "failed: count 1: no such folder", "skipped: count 2"]);
    let source = Source::Tool { call: call.expect("a call"), field: String::new() };
    assert_eq!(*achieved, [Text::new("out 0", source)]);
}

#[test]
fn every_round_says_why_in_words() {
    let mut world = World::with(plan(&[&[]]));
    world.fails_logically(0);
    let PlanDirective { rationale, grad_gap, .. } = world.directed();
    assert_eq!(
        (rationale.as_str(), grad_gap),
        (
            "round 1: D 1.000, P 1.000, Ω 0.200, L 0.920: the approach is wrong and nothing moves, so another kind of tool is tried",
            0.0
        )
    );
}

/// Of two that count the same one is named: by its words, not by an id that depends on the step it was planned in.
#[test]
fn which_criterion_is_named_does_not_depend_on_who_drove_the_task() {
    for taken_over in 0..8 {
        let mut world = World::planning();
        (0..taken_over).for_each(|_| {
            world.give(Input::TakenOver);
        });
        world.plans(side_by_side(3));
        (0..3).for_each(|number| world.fails_logically(number));
        assert_eq!(world.directed().failed_criterion, "number 0 is known", "{taken_over}");
    }
}

/// A planner knows no ids: a subtask that failed without a failed criterion is named by its intent.
#[test]
fn a_failure_without_a_criterion_is_named_by_what_was_intended() {
    let mut world = World::with(plan(&[&[]]));
    world.fails(0, FIND, json!({}), counted());
    assert_eq!(world.directed().failed_criterion, "subtask `count 0` succeeds");
}
