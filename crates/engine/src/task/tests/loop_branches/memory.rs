//! What memory is asked before and after a plan, and what it is told after every round.

use domain::ask::{NotPlanned, Want};
use domain::gradient::Macro;
use domain::recall::{Inclination, Recall, Recalled, Tag};
use domain::task::{Cause, MustNot};
use serde_json::json;

use super::super::world::{
    FIND, GLOB, READ, World, avoid, beside_the_point, counted, naming, out_of_reach, plan, side_by_side,
};
use crate::task::{Effect, Input, Role};

fn intent() -> Tag {
    Tag::intent("count_files")
}

fn experience(tool: &str, target: &str, state: Macro) -> (String, String, Macro) {
    (format!("tool:{tool}"), format!("path:{target}"), state)
}

fn of_intent(state: Macro) -> (String, String, Macro) {
    ("intent:count_files".into(), "env:local".into(), state)
}

#[test]
fn memory_is_asked_about_the_intent_before_every_plan_and_the_planner_gets_it_as_data() {
    let mut world = World::open();
    world.understands();
    assert_eq!(world.last().effects, [Effect::Recall(Recall { tags: vec![intent()] })]);
    let recalled = Recalled { about: avoid(intent()).about };
    world.remembers(recalled.clone());
    let Want::Plan { recalled: told, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    assert_eq!(*told, recalled);
    assert_eq!(*world.task.must_not(), MustNot::default(), "an intent names no tool");

    world.plans(plan(&[&[]]));
    world.fails_logically(0);
    assert_eq!(world.last().effects, [Effect::Recall(Recall { tags: vec![intent()] })]);
}

/// A circle and what cannot be planned teach; a model that is away and somebody who cancels do not (Law 3).
#[test]
fn what_ends_outside_a_round_teaches_only_what_it_says_about_the_kind_of_work() {
    let mut world = World::planning();
    world.does_not_plan(NotPlanned::Impossible { why: "no tool can".into() });
    assert_eq!(
        (world.ending().1, world.learnt()),
        (Some(Cause::Unplannable), vec![of_intent(Macro::Abandon)])
    );
    let mut world = World::planning();
    world.give(Input::Cancelled { by: "the owner".into() });
    assert_eq!((world.ending().1, world.learnt()), (Some(Cause::Cancelled), vec![]));
}

#[test]
fn memory_is_asked_about_every_tool_and_target_that_a_plan_names() {
    let mut world = World::planning();
    let mut both = naming(FIND, Some("b"));
    both.subtasks.extend(naming(READ, Some("a")).subtasks);
    both.subtasks.extend(naming(READ, Some("a")).subtasks);
    both.subtasks.extend(naming(GLOB, None).subtasks);
    world.plans(both);
    let tags = vec![Tag::tool(FIND, "b"), Tag::tool(READ, "a")];
    assert_eq!(world.last().effects, [Effect::Recall(Recall { tags })]);
    assert_eq!(world.task.plan(), None, "it is not carried out before memory has spoken");
    world.remembers_nothing();
    assert_eq!(world.acting(), [0, 1, 2, 3]);
}

#[test]
fn what_memory_says_to_avoid_is_enforced_on_the_plan_and_stays_forbidden() {
    let mut world = World::planning();
    world.plans(naming(READ, Some("a")));
    world.remembers(avoid(Tag::tool(READ, "a")));
    let why = "subtask 0: read_file on `a` has gone wrong before";
    assert_eq!(world.asked().repair.as_deref(), Some(why));
    world.plans(naming(READ, Some("b")));
    world.remembers_nothing();
    assert_eq!(world.acting(), [0]);
    assert_eq!(
        world.task.must_not().forbids(READ, Some("a")).as_deref(),
        Some("read_file on `a` has gone wrong before")
    );

    let mut world = World::planning();
    for _ in 0..2 {
        world.plans(naming(READ, Some("a")));
        if world.task.must_not().is_empty() {
            world.remembers(avoid(Tag::tool(READ, "a")));
        }
    }
    assert_eq!(
        (world.result().cause, world.result().reason.as_deref()),
        (Some(Cause::Unplannable), Some(why))
    );
}

#[test]
fn only_an_avoid_forbids() {
    for action in [Inclination::Exploit, Inclination::Caution, Inclination::Ignore] {
        let mut world = World::planning();
        world.plans(naming(READ, Some("a")));
        let mut recalled = avoid(Tag::tool(READ, "a"));
        recalled.about[0].potentials.action = action;
        world.remembers(recalled);
        assert_eq!(world.acting(), [0], "{action:?}");
    }
}

#[test]
fn an_end_is_remembered_once_under_the_intent() {
    let mut accepted = World::with(plan(&[&[]]));
    accepted.matches(0);
    let mut succeeded = World::with(side_by_side(4));
    (0..3).for_each(|number| succeeded.matches(number));
    succeeded.fails_environmentally(3);
    let mut abandoned = World::with(plan(&[&[]]));
    abandoned.wait(600);
    abandoned.fails_environmentally(0);
    for (world, state) in
        [(accepted, Macro::Accept), (succeeded, Macro::Success), (abandoned, Macro::Abandon)]
    {
        assert_eq!(world.learnt(), [of_intent(state)]);
        assert!(
            world.said("Megram").iter().all(|(from, to, _)| (*from, *to) == (Role::Solver, Role::Memory))
        );
    }
}

/// change_path, then refine: one for each target that is blocked since that round, and none twice.
#[test]
fn a_target_that_is_blocked_is_remembered_with_its_tool() {
    let mut world = World::with(side_by_side(2));
    world.fails_environmentally(0);
    world.fails(1, READ, json!({ "path": "a" }), out_of_reach());
    let first = [experience(FIND, "folder 0", Macro::ChangePath), experience(READ, "a", Macro::ChangePath)];
    assert_eq!(world.learnt(), first);
    world.replans(side_by_side(2));
    world.matches(0);
    world.does(1, READ, json!({ "path": "a" }), out_of_reach());
    world.fails(1, READ, json!({ "path": "b" }), out_of_reach());
    assert_eq!(world.learnt()[2..], [experience(READ, "b", Macro::Refine)]);
}

/// change_approach: each call that failed in what failed, as tool and target.
#[test]
fn a_wrong_approach_is_remembered_for_each_failing_tool_and_target() {
    let mut world = World::with(plan(&[&[]]));
    world.fails_logically(0);
    assert_eq!(world.learnt(), [], "a symmetry that is to be broken has not been");
    world.replans(side_by_side(2));
    world.does(0, GLOB, json!({ "pattern": "*" }), counted());
    world.claims(0, "3");
    world.does(1, READ, json!({ "path": "a" }), Err(domain::call::Failure::logical("is a folder")));
    world.fails(1, READ, json!({ "path": "b" }), beside_the_point());
    assert_eq!(world.directed().directive, Macro::ChangeApproach);
    let expected =
        [experience(READ, "a", Macro::ChangeApproach), experience(GLOB, "*", Macro::BreakSymmetry)];
    assert_eq!(world.learnt(), expected);
}

/// "which is positive, is written for the novel tool once its subtask has matched, never for the one that failed".
#[test]
fn a_broken_symmetry_is_remembered_for_what_was_new_and_worked() {
    let mut world = World::with(plan(&[&[]]));
    world.fails_logically(0);
    world.replans(plan(&[&[]]));
    world.does(0, FIND, json!({ "under": "again" }), counted());
    world.does(0, READ, json!({ "path": "a" }), out_of_reach());
    world.does(0, GLOB, json!({ "pattern": "*" }), counted());
    world.claims(0, "3");
    assert_eq!(world.learnt(), [of_intent(Macro::Accept), experience(GLOB, "*", Macro::BreakSymmetry)]);
    let megram = world.bodies("Megram")[1];
    assert_eq!((&megram["f"], &megram["sigma"], &megram["k"]), (&json!(0.75), &json!(1.0), &json!(0.05)));
}
