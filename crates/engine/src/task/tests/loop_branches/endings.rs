//! How a steered task ends: with everything, with enough, or with what there is.

use domain::ask::{Action, Subject, Unanswered};
use domain::task::{Cause, Directive, Measured, Status};
use serde_json::json;

use super::super::world::{
    FIND, READ, World, assert_measured, beside_the_point, counted, criterion_text, out_of_reach, plan,
    side_by_side,
};

fn measured(world: &World) -> &Measured {
    world.result().measured.as_ref().expect("measured")
}

/// D = 1/4: close enough, and what is unmet is listed.
#[test]
fn close_enough_is_a_success_that_lists_what_is_unmet() {
    let mut world = World::with(side_by_side(4));
    (0..3).for_each(|number| world.matches(number));
    world.fails_environmentally(3);
    assert_eq!(world.ending(), (Directive::Success, None, Some("no such folder")));
    assert_eq!(world.unmet(), ["number 3 is known"]);
    assert_eq!(world.result().text, "out 0\nout 1\nout 2");
    assert_measured(&measured(&world).loss, measured(&world).grad_l, [0.25, 0.0, 0.2, 0.23, 0.0]);
    world.is_delivered();
    assert_eq!(world.status(), Status::Done);
}

/// What nobody looked at is not met either: 1 of 10 failed, and 2 that need it were skipped.
#[test]
fn a_success_lists_what_was_skipped() {
    let mut edges: Vec<&[u32]> = vec![&[]; 8];
    edges.extend([&[7][..], &[8][..]]);
    let mut world = World::with(plan(&edges));
    (0..7).for_each(|number| world.matches(number));
    world.fails_environmentally(7);
    assert_eq!(world.result().directive, Directive::Success);
    assert_eq!(measured(&world).loss.d, 0.3);
    assert_eq!(world.unmet(), [7, 8, 9].map(criterion_text));
}

/// A subtask that failed although every criterion of it holds is one thing more that is not met.
#[test]
fn a_success_lists_a_subtask_that_failed_without_a_failed_criterion() {
    let mut world = World::with(side_by_side(4));
    (0..3).for_each(|number| world.matches(number));
    world.fails(3, FIND, json!({}), counted());
    assert_eq!((world.result().directive, measured(&world).loss.d), (Directive::Success, 0.2));
    assert_eq!(world.unmet(), ["count 3"]);
}

#[test]
fn what_is_finished_is_accepted_however_long_it_took() {
    let mut world = World::with(plan(&[&[]]));
    world.wait(24 * 60 * 60);
    world.matches(0);
    assert_eq!(world.ending(), (Directive::Accept, None, None));
    assert_eq!((measured(&world).loss.omega, measured(&world).replans), (1.0, 0));
}

/// Ω = 0.6·4/3 at the fourth round, without any time.
#[test]
fn the_fourth_round_that_fails_is_the_last() {
    let mut world = World::with(plan(&[&[]]));
    for round in 0..4 {
        world.fails(0, READ, json!({ "path": format!("file {round}") }), out_of_reach());
        if round < 3 {
            world.replans(plan(&[&[]]));
        }
    }
    assert_eq!(world.ending(), (Directive::Abandon, Some(Cause::Failed), Some("no such folder")));
    assert_eq!((measured(&world).replans, measured(&world).prev_directive.as_str()), (3, "change_path"));
    assert_measured(&measured(&world).loss, measured(&world).grad_l, [1.0, 0.0, 0.8, 0.92, 0.08]);
    let tried = [
        "round 1: no such folder → change_path (D 1.00)",
        "round 2: no such folder → change_path (D 1.00)",
        "round 3: no such folder → change_path (D 1.00)",
        "round 4: no such folder → abandon (D 1.00)",
    ];
    assert_eq!(world.result().tried, tried);
    assert_eq!(world.result().next, ["make `file 3` available, and ask again"]);
    world.is_delivered();
    assert_eq!(world.status(), Status::Stopped);
}

/// Ω = 0.2 + 0.4·450/300 = 0.8 in the first round; a second less is not.
#[test]
fn time_alone_uses_the_budget_up() {
    let after = |seconds| {
        let mut world = World::with(plan(&[&[]]));
        world.wait(seconds);
        world.fails_environmentally(0);
        world
    };
    let world = after(450);
    assert_eq!(world.ending(), (Directive::Abandon, Some(Cause::Failed), Some("no such folder")));
    assert_measured(&measured(&world).loss, 0.0, [1.0, 0.0, 0.8, 0.92, 0.0]);
    assert_eq!(after(449).task.result(), None);
}

/// Nothing is handed over bare: what this round and the rounds before came to, what was tried, what could be done.
#[test]
fn an_abandoned_task_hands_over_what_an_earlier_round_achieved() {
    let mut world = World::with(side_by_side(2));
    world.matches(0);
    world.fails_environmentally(1);
    world.replans(plan(&[&[]]));
    world.wait(600);
    world.fails(0, READ, json!({ "path": "b" }), beside_the_point());
    assert_eq!(world.result().directive, Directive::Abandon);
    assert_eq!(world.result().text, "out 0");
    let next = ["say how this can be met, or that it need not be: number 0 is known"];
    assert_eq!(world.result().next, next);
}

/// A claim that nothing bears out does not push aside what is really there.
#[test]
fn what_was_achieved_comes_before_what_is_only_claimed() {
    let mut world = World::with(side_by_side(2));
    world.matches(0);
    world.fails_environmentally(1);
    world.replans(plan(&[&[]]));
    world.wait(600);
    for _ in 0..3 {
        world.claims(0, "42 files, trust me");
    }
    assert_eq!((world.result().directive, world.result().text.as_str()), (Directive::Abandon, "out 0"));
}

/// Two targets out of reach, one approach that was wrong: a move for each.
#[test]
fn next_moves_name_the_targets_and_the_criteria() {
    let mut world = World::with(side_by_side(3));
    world.wait(600);
    world.fails_environmentally(0);
    world.fails(1, READ, json!({ "path": "b" }), out_of_reach());
    world.fails_logically(2);
    let next = [
        "make `b` available, and ask again",
        "make `folder 0` available, and ask again",
        "say how this can be met, or that it need not be: number 2 is known",
    ];
    assert_eq!(world.result().next, next);
}

/// However a task is abandoned, there is something to do next.
#[test]
fn there_is_always_a_next_move() {
    let mut failed_without_a_class = World::with(plan(&[&[]]));
    failed_without_a_class.wait(600);
    failed_without_a_class.fails(0, FIND, json!({}), counted());

    let mut nobody_moved_it = World::with(plan(&[&[]]));
    nobody_moved_it.wait(600);
    nobody_moved_it.does_not_answer(Subject::Act(0), Unanswered::unreachable("away"));

    let mut gave_up_at_once = World::with(plan(&[&[]]));
    gave_up_at_once.wait(600);
    gave_up_at_once.finishes(0, Action::failed("no idea"));

    let table = [
        (failed_without_a_class, "see to this, and ask again: gave up on 0"),
        (nobody_moved_it, "see to this, and ask again: the model as executor: it did not answer: away"),
        (gave_up_at_once, "say how this can be met, or that it need not be: number 0 is known"),
    ];
    for (world, next) in table {
        assert_eq!(
            (world.result().directive, &world.result().next[..]),
            (Directive::Abandon, &[next.to_owned()][..])
        );
    }
}

/// A delivery that a person is asked about is a delivery all the same.
#[test]
fn a_delivery_that_was_approved_is_delivered_and_one_that_was_not_ends_the_task_stopped() {
    use crate::task::{Effect, Input, Ruling};
    use domain::approval::Answer;
    use domain::id::ApprovalId;
    let reviewed = || {
        let mut world = World::with(plan(&[&[]]));
        world.matches(0);
        let call = world.delivery();
        world.rules(call.id, Ruling::Review { approval: ApprovalId::from_bits(7) });
        (world, call)
    };
    let (mut world, call) = reviewed();
    world.answers(call.id, Answer::Approved);
    assert_eq!(world.last().effects, [Effect::Call(call.clone())]);
    world.give(Input::Returned { call: call.id, outcome: Ok(json!({})) });
    assert_eq!(world.status(), Status::Done);

    for answer in [Answer::Rejected { reason: String::new() }, Answer::Expired] {
        let (mut world, call) = reviewed();
        world.answers(call.id, answer);
        assert_eq!((world.status(), world.task.pending().count()), (Status::Stopped, 0));
    }
}
