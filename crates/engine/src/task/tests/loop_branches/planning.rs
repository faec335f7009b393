//! A plan that can be carried out, once repaired if need be, or none.

use domain::ask::{NotPlanned, Want};
use domain::task::{Cause, Directive, Plan};
use serde_json::{Value, json};

use super::super::world::{
    FIND, GLOB, READ, WRITE, World, beside_the_point, counted, naming, opening, out_of_reach, plan,
    plausible, side_by_side, wanting,
};

const UNPLANNABLE: Option<Cause> = Some(Cause::Unplannable);

#[test]
fn a_plan_that_is_invalid_is_asked_for_once_more_with_the_reason() {
    let restating = wanting(vec![plausible("Count 0!")]);
    let task_restating = Plan { task_criteria: vec![plausible("Count the files.")], ..plan(&[&[]]) };
    let table = [
        (plan(&[]), "the plan is empty"),
        (plan(&[&[0]]), "subtasks wait for each other: 0 needs 0"),
        (plan(&[&[1], &[0]]), "subtasks wait for each other: 0 needs 1 needs 0"),
        (plan(&[&[7]]), "subtask 0 depends on 7, which is not there"),
        (wanting(Vec::new()), "subtask 0 has no criterion: nobody could tell when it is done"),
        (restating, "a criterion of subtask 0 only restates its intent"),
        (task_restating, "a criterion of the task only restates the request"),
    ];
    for (bad, reason) in table {
        let mut world = World::planning();
        let first = world.asked().clone();
        world.plans(bad.clone());
        let second = world.asked();
        assert_eq!((&second.want, second.repair.as_deref()), (&first.want, Some(reason)));

        let mut repaired = World { task: world.task.clone(), journal: world.journal.clone(), ..world };
        repaired.plans(plan(&[&[]]));
        assert_eq!(repaired.acting(), [0], "{reason}");

        world.plans(bad);
        assert_eq!(world.ending(), (Directive::Abandon, UNPLANNABLE, Some(reason)));
        assert_eq!(world.bodies("Unplannable"), [&json!({ "why": reason })]);
        assert_eq!(world.result().next, ["say more exactly what is wanted, or in smaller steps"]);
    }
}

#[test]
fn what_the_planner_cannot_do_is_unplannable_at_once() {
    let mut world = World::planning();
    world.does_not_plan(NotPlanned::Impossible { why: "there is no such tool".into() });
    assert_eq!(world.ending(), (Directive::Abandon, UNPLANNABLE, Some("there is no such tool")));
}

/// A world whose next plan must not use `find_files`.
fn without_find() -> World {
    let mut world = World::with(plan(&[&[]]));
    world.fails_logically(0);
    world.remembers_nothing();
    world
}

#[test]
fn a_plan_that_names_a_blocked_tool_is_repaired_once() {
    let reason = "subtask 0: find_files did not work here, and the plan is not to use it again";
    let mut world = without_find();
    world.plans(naming(FIND, None));
    assert_eq!(world.asked().repair.as_deref(), Some(reason));
    world.plans(naming(GLOB, None));
    assert_eq!(world.acting(), [0]);

    let mut world = without_find();
    world.plans(naming(FIND, Some("elsewhere")));
    world.plans(naming(FIND, None));
    assert_eq!(world.ending(), (Directive::Abandon, UNPLANNABLE, Some(reason)));
}

#[test]
fn a_plan_that_names_a_blocked_target_is_repaired_once() {
    let blocked = || {
        let mut world = World::with(plan(&[&[]]));
        world.fails_environmentally(0);
        world.remembers_nothing();
        world
    };
    let reason = "subtask 0: `folder 0` did not work here, and the plan is not to use it again";
    let mut world = blocked();
    world.plans(naming(GLOB, Some("folder 0")));
    assert_eq!(world.asked().repair.as_deref(), Some(reason));
    world.plans(naming(FIND, Some("folder 1")));
    world.remembers_nothing();
    assert_eq!(world.acting(), [0]);

    let mut world = blocked();
    world.plans(naming(GLOB, Some("folder 0")));
    world.plans(naming(FIND, Some("folder 0")));
    assert_eq!(world.ending(), (Directive::Abandon, UNPLANNABLE, Some(reason)));
}

/// A plan may fail in one way and its repair in another: there is one repair, not one for each way.
#[test]
fn there_is_one_repair_whatever_was_wrong() {
    let mut world = without_find();
    world.plans(plan(&[&[0]]));
    world.plans(naming(FIND, None));
    assert_eq!(world.result().cause, UNPLANNABLE);
}

#[test]
fn a_plan_for_which_no_tool_is_left_is_not_even_asked_for() {
    let mut world = World::opened(crate::task::Opening { tools: vec![FIND.into()], ..opening() });
    world.understands();
    world.replans(plan(&[&[]]));
    world.fails_logically(0);
    world.remembers_nothing();
    let reason = "every tool that may be used has failed here";
    assert_eq!(world.ending(), (Directive::Abandon, UNPLANNABLE, Some(reason)));
    assert_eq!(world.asks().filter(|ask| matches!(ask.want, Want::Plan { .. })).count(), 1);
    assert_eq!(world.result().tried, ["round 1: gave up on 0 → break_symmetry (D 1.00)"]);
}

/// It got worse with a tool of each class: both classes are blocked, and those are all.
#[test]
fn classes_that_are_blocked_can_leave_nothing() {
    let mut world = World::with(side_by_side(2));
    world.matches(0);
    world.fails(1, READ, json!({ "path": "a" }), out_of_reach());
    world.replans(side_by_side(2));
    world.fails(0, READ, json!({ "path": "b" }), beside_the_point());
    world.fails(1, WRITE, json!({ "path": "c" }), beside_the_point());
    world.remembers_nothing();
    assert_eq!(world.result().cause, UNPLANNABLE);
    assert_eq!(world.result().text, "out 0", "whatever exists so far");
}

/// Where a model does not know its tools by name, hints are empty; the calls are the broker's to refuse then.
#[test]
fn a_plan_without_hints_is_not_asked_about() {
    let mut world = World::planning();
    let recalls = world.bodies("Recall").len();
    world.plans(plan(&[&[]]));
    assert_eq!((world.bodies("Recall").len(), world.acting()), (recalls, vec![0]));
}

#[test]
fn every_round_has_ids_of_its_own_that_no_model_gives() {
    let mut world = World::with(plan(&[&[]]));
    let first = world.task.subtask_id(0);
    world.fails_logically(0);
    world.replans(plan(&[&[]]));
    let second = world.task.subtask_id(0);
    assert_ne!(first, second);
    let ids: Vec<Value> = world.bodies("SubTask").iter().map(|body| body["subtask_id"].clone()).collect();
    assert_eq!(ids, [json!(first.to_string()), json!(second.to_string())]);
    world.does(0, GLOB, json!({}), counted());
    assert_eq!(world.task.subtask_id(0), second);
}
