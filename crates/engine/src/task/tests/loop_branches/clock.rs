//! What counts as time spent: not a person's, and not nobody's.

use domain::approval::Answer;
use domain::ask::Perception;
use domain::source::{Source, Text};
use serde_json::json;

use super::super::world::{DELETE, World, plan, side_by_side};
use crate::task::Input;

const HOUR: u64 = 3_600;

/// Ω of a first round that fails, beyond the 0.2 that the replan is.
#[track_caller]
fn assert_seconds(world: &World, seconds: f64) {
    let omega = world.directed().loss.omega;
    assert!((omega - 0.2 - 0.4 * seconds / 300.0).abs() < 1e-12, "Ω is {omega}");
}

#[test]
fn time_at_work_counts() {
    let mut world = World::with(plan(&[&[]]));
    world.wait(30);
    world.fails_environmentally(0);
    assert_seconds(&world, 30.0);
}

#[test]
fn time_waiting_for_a_persons_answer_to_a_question_does_not_count() {
    let mut world = World::open();
    world.wait(10);
    world.give(Input::Perceived(Perception::Clarify { question: "which?".into() }));
    world.wait(HOUR);
    world.give(Input::Clarified(Text::new("that one", Source::Owner)));
    world.wait(20);
    world.understands();
    world.replans(plan(&[&[]]));
    world.fails_environmentally(0);
    assert_seconds(&world, 30.0);
}

#[test]
fn time_waiting_for_a_persons_yes_does_not_count() {
    let mut world = World::with(plan(&[&[]]));
    let call = world.is_reviewed(0, DELETE, json!({ "path": "a" }));
    world.wait(HOUR);
    world.answers(call.id, Answer::Approved);
    world.wait(30);
    world.give(Input::Returned { call: call.id, outcome: Ok(json!({ "path": "a" })) });
    world.finishes(0, domain::ask::Action::failed("no"));
    assert_seconds(&world, 30.0);
}

/// While something else is at work the task does not wait, and its time is its own.
#[test]
fn time_in_which_only_a_part_waits_counts() {
    let mut world = World::with(side_by_side(2));
    let call = world.is_reviewed(0, DELETE, json!({ "path": "a" }));
    world.wait(30);
    world.fails_environmentally(1);
    world.wait(HOUR);
    world.answers(call.id, Answer::Expired);
    world.claims(0, "no answer");
    assert_seconds(&world, 30.0);
}

#[test]
fn time_with_nobody_at_it_does_not_count() {
    let mut world = World::with(plan(&[&[]]));
    world.wait(HOUR);
    world.give(Input::TakenOver);
    world.wait(30);
    world.fails_environmentally(0);
    assert_seconds(&world, 30.0);
}

/// A clock that goes backwards takes nothing back, and what it goes over twice counts once.
#[test]
fn a_clock_that_is_set_back_does_not_add_time() {
    let mut world = World::with(plan(&[&[]]));
    let start = world.now;
    world.wait(30);
    let call = world.moves(0, DELETE, json!({ "path": "a" }));
    world.now = start;
    world.give(Input::Returned { call: call.id, outcome: Ok(json!({})) });
    world.wait(30);
    world.finishes(0, domain::ask::Action::failed("no"));
    assert_seconds(&world, 30.0);
}

#[test]
fn every_wait_is_taken_off() {
    let mut world = World::with(plan(&[&[]]));
    for _ in 0..2 {
        world.wait(HOUR);
        world.give(Input::TakenOver);
        world.wait(15);
        let call = world.is_reviewed(0, DELETE, json!({ "path": "a" }));
        world.wait(HOUR);
        world.answers(call.id, Answer::Expired);
    }
    world.claims(0, "nobody answers");
    assert_seconds(&world, 30.0);
}
