//! The Four Laws, as far as they are the loop's. Law 1 (no harm without a word) is authority's: here it is only that a
//! call waits for the word.

use domain::approval::Answer;
use domain::ask::Subject;
use domain::gradient::Macro;
use domain::task::{Directive, Status};
use serde_json::json;

use super::world::{
    DELETE, FIND, READ, World, beside_the_point, criterion_text, out_of_reach, plan, side_by_side,
};
use crate::task::{Input, Ruling};

#[test]
fn law_0_an_abandoned_task_never_looks_done() {
    let mut failed = World::with(plan(&[&[]]));
    failed.wait(600);
    failed.fails_logically(0);
    let mut cancelled = World::with(side_by_side(2));
    cancelled.matches(0);
    cancelled.give(Input::Cancelled { by: "the owner".into() });
    for mut world in [failed, cancelled] {
        assert_eq!(world.result().directive, Directive::Abandon);
        assert!(world.result().cause.is_some() && world.result().reason.is_some());
        world.is_delivered();
        assert_eq!(world.status(), Status::Stopped);
    }
}

#[test]
fn law_0_a_success_lists_what_is_unmet_and_an_accept_has_nothing_to_list() {
    let mut world = World::with(side_by_side(10));
    (0..8).for_each(|number| world.matches(number));
    world.fails_logically(8);
    world.fails_environmentally(9);
    assert_eq!(world.result().directive, Directive::Success);
    assert_eq!(world.unmet(), [criterion_text(8), criterion_text(9)]);
    assert_eq!(world.result().reason.as_deref(), Some("gave up on 8; no such folder"));

    let mut accepted = World::with(plan(&[&[]]));
    accepted.matches(0);
    assert_eq!((accepted.unmet(), accepted.result().reason.clone()), (Vec::new(), None));
}

#[test]
fn law_0_a_result_that_could_not_be_handed_over_is_not_done() {
    let mut world = World::with(plan(&[&[]]));
    world.matches(0);
    assert_eq!(world.status(), Status::Running);
    let call = world.delivery().id;
    world.rules(call, Ruling::Execute);
    world.give(Input::Returned {
        call,
        outcome: Err(domain::call::Failure::environmental("the pipe is closed")),
    });
    assert_eq!(world.status(), Status::Stopped);
}

#[test]
fn law_1_a_call_that_waits_for_a_word_is_not_started_again_without_it() {
    let mut world = World::with(plan(&[&[]]));
    let call = world.is_reviewed(0, DELETE, json!({ "path": "a" }));
    assert_eq!(world.status(), Status::Waiting);
    world.give(Input::TakenOver);
    assert!(world.last().effects.is_empty());
    assert!(world.task.handle(Input::Returned { call: call.id, outcome: Ok(json!({})) }, world.now).is_err());
    world.answers(call.id, Answer::Rejected { reason: String::new() });
    assert!(world.task.pending().all(|effect| !matches!(effect, crate::task::Effect::Call(_))));
}

/// Worse, better, worse: it diverges only if it does so twice in a row.
#[test]
fn law_2_stops_on_two_worsening_rounds_in_a_row_and_not_on_two_apart() {
    let mut world = World::with(side_by_side(2));
    world.matches(0);
    world.fails_environmentally(1);
    world.replans(plan(&[&[]]));
    world.fails(0, READ, json!({ "path": "a" }), out_of_reach());
    world.replans(side_by_side(2));
    world.matches(0);
    world.fails(1, READ, json!({ "path": "b" }), out_of_reach());
    // 0.38, 0.76, 0.3 + 0.24 = 0.54: the count begins again.
    assert_eq!(world.directed().directive, Macro::Refine);
    assert_eq!(world.task.result(), None);
}

/// "unless the directive is success": 0.23, 0.76, and then 1 of 4.
#[test]
fn law_2_does_not_take_away_what_is_close_enough_or_done() {
    let worse = || {
        let mut world = World::with(side_by_side(2));
        world.matches(0);
        world.fails_environmentally(1);
        world.replans(plan(&[&[]]));
        world.fails(0, READ, json!({ "path": "a" }), out_of_reach());
        world
    };
    let mut close = worse();
    close.replans(side_by_side(4));
    (0..3).for_each(|number| close.matches(number));
    close.fails_logically(3);
    assert_eq!(close.result().directive, Directive::Success);
    let mut done = worse();
    done.replans(plan(&[&[]]));
    done.matches(0);
    assert_eq!(done.result().directive, Directive::Accept);
}

/// Memory integrity: what the world refused is not held against a tool, what failed is not praised, and what somebody
/// stopped is nobody's failure.
#[test]
fn law_3_memory_is_not_told_who_is_not_to_blame() {
    let mut environmental = World::with(plan(&[&[]]));
    environmental.fails_environmentally(0);
    let [megram] = environmental.bodies("Megram")[..] else { panic!("one megram") };
    assert_eq!((&megram["sigma"], &megram["state"]), (&json!(0.0), &json!("change_path")));

    let mut stuck = World::with(plan(&[&[]]));
    stuck.fails_logically(0);
    assert_eq!(stuck.learnt(), []);
    stuck.replans(plan(&[&[]]));
    stuck.fails(0, READ, json!({ "path": "a" }), beside_the_point());
    assert!(stuck.learnt().iter().all(|(_, _, state)| *state != Macro::BreakSymmetry));

    let mut stopped = World::with(plan(&[&[]]));
    stopped.give(Input::Cancelled { by: "the owner".into() });
    assert_eq!(stopped.learnt(), []);
}

/// Cost integrity: "an atomic task with verifiable criteria needs R1 + R2 + R3", and no judge.
#[test]
fn law_3_a_task_that_code_can_check_asks_no_judge() {
    let mut world = World::with(plan(&[&[]]));
    world.does(0, FIND, json!({}), super::world::counted());
    world.claims(0, "3");
    assert_eq!(world.result().directive, Directive::Accept);
    let asked: Vec<Subject> = world.asks().map(domain::ask::Ask::subject).collect();
    assert_eq!(
        asked,
        [Subject::Perceive, Subject::Plan, Subject::Act(0), Subject::Act(0)],
        "one call, one claim"
    );
}
