//! Who starts when, with what, and who does not start at all.

use domain::ask::Want;
use domain::source::{Source, Text};
use domain::task::{Directive, Plan, Subtask};
use serde_json::json;

use super::super::world::{World, beside_the_point, counted, plan, subtask};
use crate::task::Role;

fn grouped(groups: &[u32]) -> Plan {
    let one = |(number, group): (u32, &u32)| Subtask { sequence: Some(*group), ..subtask(number, &[]) };
    Plan::of((0..).zip(groups).map(one).collect())
}

#[test]
fn groups_run_one_after_the_other_and_side_by_side_within() {
    let mut world = World::with(grouped(&[1, 1, 2, 3, 3]));
    assert_eq!(world.acting(), [0, 1]);
    world.matches(1);
    assert_eq!(world.acting(), Vec::<u32>::new());
    world.matches(0);
    assert_eq!(world.acting(), [2]);
    world.matches(2);
    assert_eq!(world.acting(), [3, 4]);
    world.matches(3);
    world.matches(4);
    assert_eq!(world.ending(), (Directive::Accept, None, None));
    assert_eq!(world.result().text, "out 0\nout 1\nout 2\nout 3\nout 4");
}

#[test]
fn the_next_group_is_handed_the_outputs_of_the_group_before() {
    let mut world = World::with(grouped(&[1, 1, 2]));
    world.matches(0);
    world.matches(1);
    let Want::Act { subtask, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    let handed: Vec<&str> = subtask.context.iter().map(|text| text.text.as_str()).collect();
    assert_eq!(handed, ["out 0", "out 1"]);
}

/// A tool's result stays a tool's result; the planner's context stays the planner's.
#[test]
fn outputs_of_dependencies_are_handed_on_with_their_source() {
    let mut needing = subtask(1, &[0]);
    needing.context = vec![Text::model("be brief")];
    let mut world = World::with(Plan::of(vec![subtask(0, &[]), needing]));
    let call = world.moves(0, "find_files", json!({}));
    world.give(crate::task::Input::Returned { call: call.id, outcome: counted() });
    world.claims(0, "3 files");
    let Want::Act { subtask, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    let source = Source::Tool { call: call.id, field: String::new() };
    assert_eq!(subtask.context, [Text::model("be brief"), Text::new("3 files", source)]);
}

/// 0 fails: 1 and 3 need it, 2 only waits for it, 4 needs nothing.
#[test]
fn what_needs_a_failed_subtask_is_skipped_and_what_only_waits_goes_on() {
    let mut waiting = subtask(2, &[]);
    waiting.after = vec![0];
    let mut world = World::with(Plan::of(vec![
        subtask(0, &[]),
        subtask(1, &[0]),
        waiting,
        subtask(3, &[1, 4]),
        subtask(4, &[]),
    ]));
    world.fails_environmentally(0);
    assert_eq!(world.acting(), [2]);
    world.matches(4);
    assert_eq!(world.acting(), Vec::<u32>::new(), "half of what it needs is not enough");
    world.matches(2);
    let request = json!({ "failed_outcomes": [0, 1, 3], "gap_summary": "no such folder" });
    assert_eq!(world.said("ReplanRequest"), [(Role::MetaValidator, Role::Solver, &request)]);
    // What was skipped counts in D, and nothing is to blame for it: 3 of 5, and one class.
    let directive = world.directed();
    assert_eq!((directive.loss.d, directive.loss.p), (0.6, 0.0));
}

/// "the whole DAG": a failure does not end what runs beside it.
#[test]
fn the_meta_validator_waits_for_everything_that_runs() {
    let mut world = World::with(plan(&[&[], &[]]));
    world.fails_logically(0);
    assert!(world.said("ReplanRequest").is_empty());
    world.matches(1);
    assert_eq!(world.said("ReplanRequest").len(), 1);
}

/// It came to its end, and not to what was wanted of it: whoever needs that cannot go on.
#[test]
fn what_needs_a_subtask_that_did_not_meet_its_criteria_is_skipped() {
    let mut world = World::with(plan(&[&[], &[0]]));
    for _ in 0..3 {
        world.attempts(0, beside_the_point());
    }
    assert_eq!(world.bodies("ReplanRequest")[0]["failed_outcomes"], json!([0, 1]));
}

/// What was tried is named before what was skipped for it, whatever they are called.
#[test]
fn the_failure_is_named_and_not_what_was_skipped_for_it() {
    let mut world = World::with(plan(&[&[1], &[]]));
    world.fails_environmentally(1);
    assert_eq!(world.directed().failed_criterion, "number 1 is known");
}
