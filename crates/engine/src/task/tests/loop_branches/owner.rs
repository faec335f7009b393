//! What the owner says to one call.

use domain::approval::Answer;
use domain::ask::Want;
use domain::call::Failure;
use domain::criterion::{Check, Criterion};
use domain::id::ApprovalId;
use domain::task::{Cause, Directive};
use serde_json::json;

use super::super::world::{DELETE, World, plan, side_by_side, wanting};
use crate::task::{Effect, Ruling};

fn no(reason: &str) -> Answer {
    Answer::Rejected { reason: reason.into() }
}

#[test]
fn an_owners_no_ends_the_task_without_another_plan() {
    let mut world = World::with(plan(&[&[]]));
    let call = world.is_reviewed(0, DELETE, json!({ "path": "a" }));
    world.answers(call.id, no("I need it"));
    let Want::Act { evidence, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    let told = vec!["something else, or the same with a better reason".to_owned()];
    assert_eq!(evidence[0].outcome, Err(Failure::refused("the owner said no: I need it", told)));
    world.claims(0, "very well");
    let why = "the owner said no: I need it; something else, or the same with a better reason";
    assert_eq!(world.ending(), (Directive::Abandon, Some(Cause::Refused), Some(why)));
    assert!(world.said("PlanDirective").is_empty());
    assert_eq!(world.learnt(), [], "a no is held neither against the tool nor against the kind of work");
    let next = ["allow what was refused, or ask for something that does not need it"];
    assert_eq!(world.result().next, next);
}

/// What the owner does not want is not tried in another way behind their back, whichever subtask failed.
#[test]
fn a_no_in_one_subtask_keeps_the_failure_of_another_from_being_replanned() {
    let mut world = World::with(side_by_side(2));
    let call = world.is_reviewed(0, DELETE, json!({ "path": "a" }));
    world.answers(call.id, no(""));
    world.matches(0);
    world.fails_environmentally(1);
    assert_eq!(world.ending(), (Directive::Abandon, Some(Cause::Failed), Some("no such folder")));
    assert!(world.said("PlanDirective").is_empty());
}

/// What was refused did not run: it is no action that failed, and what was done instead is judged by itself.
#[test]
fn a_no_that_the_attempt_does_without_is_no_failure() {
    let mut world = World::with(plan(&[&[]]));
    let call = world.is_reviewed(0, DELETE, json!({ "path": "a" }));
    world.answers(call.id, no(""));
    world.matches(0);
    assert_eq!(world.ending(), (Directive::Accept, None, None));
}

/// Authority's own denial is not the owner's: another plan may do without it.
#[test]
fn a_denial_by_authority_is_replanned() {
    let mut world = World::with(plan(&[&[]]));
    let call = world.moves(0, DELETE, json!({ "path": "a" }));
    let ruling = Ruling::Denied { why: "not that".into(), instead: Vec::new(), violated: Vec::new() };
    world.rules(call.id, ruling);
    world.claims(0, "no");
    assert_eq!(world.directed().blocked_tools, [DELETE]);
}

#[test]
fn a_yes_lets_the_same_call_be_asked_for_again_under_it() {
    let mut world = World::with(plan(&[&[]]));
    let call = world.is_reviewed(0, DELETE, json!({ "path": "a" }));
    world.answers(call.id, Answer::Approved);
    assert_eq!(world.last().effects, [Effect::Call(call.clone())]);
    assert_eq!(world.task.allowed(call.id), Some(ApprovalId::from_bits(7)));
}

#[test]
fn a_yes_with_other_arguments_is_another_call_and_its_evidence_counts() {
    let gone = Criterion::checked("b is gone", Check::FileAbsent { path: "b".into() });
    let mut world = World::with(wanting(vec![gone]));
    let call = world.is_reviewed(0, DELETE, json!({ "path": "a" }));
    world.answers(call.id, Answer::Modified { args: json!({ "path": "b" }) });
    let [Effect::Call(other)] = world.last().effects.as_slice() else { panic!("{:?}", world.last()) };
    let other = other.clone();
    assert_ne!(other.id, call.id);
    assert_eq!(
        (other.args.clone(), world.task.allowed(other.id)),
        (json!({ "path": "b" }), Some(ApprovalId::from_bits(7)))
    );
    world.give(crate::task::Input::Returned { call: other.id, outcome: Ok(json!({ "path": "b" })) });
    world.claims(0, "b is gone");
    assert_eq!(world.ending(), (Directive::Accept, None, None));
}

#[test]
fn a_budget_that_is_used_up_ends_the_task_with_what_there_is() {
    let mut world = World::with(side_by_side(2));
    world.matches(0);
    let call = world.moves(1, DELETE, json!({}));
    world.rules(call.id, Ruling::Exhausted { why: "1000 calls".into() });
    assert_eq!(world.ending(), (Directive::Abandon, Some(Cause::Exhausted), Some("1000 calls")));
    assert_eq!(world.result().text, "out 0");
    let next = ["allow more (`regent config show` names the budgets), and ask again"];
    assert_eq!(world.result().next, next);
}
