//! Somebody says that it is to stop: at every stage there is a result, and nothing goes on.

use domain::ask::{Opinion, Perception};
use domain::task::{Cause, Directive, Plan, Status};
use serde_json::json;

use super::super::world::{
    DELETE, FIND, READ, World, counted, judgement, naming, plan, plausible, side_by_side, wanting,
};
use crate::task::{Input, Ruling};

fn cancel() -> Input {
    Input::Cancelled { by: "the owner".into() }
}

fn stages() -> Vec<(&'static str, World)> {
    let build = |script: &dyn Fn(&mut World), mut world: World| {
        script(&mut world);
        world
    };
    vec![
        ("perceiving", World::open()),
        (
            "a question is open",
            build(
                &|w| {
                    w.give(Input::Perceived(Perception::Clarify { question: "which?".into() }));
                },
                World::open(),
            ),
        ),
        ("memory is asked", build(&World::understands, World::open())),
        ("planning", World::planning()),
        ("memory is asked about a plan", build(&|w| w.plans(naming(FIND, Some("x"))), World::planning())),
        ("acting", World::with(side_by_side(2))),
        (
            "a call is ruled on",
            build(
                &|w| {
                    w.moves(0, FIND, json!({}));
                },
                World::with(plan(&[&[]])),
            ),
        ),
        (
            "a call runs",
            build(
                &|w| {
                    let call = w.moves(0, FIND, json!({}));
                    w.rules(call.id, Ruling::Execute);
                },
                World::with(plan(&[&[]])),
            ),
        ),
        (
            "a person is asked",
            build(
                &|w| {
                    w.is_reviewed(0, DELETE, json!({}));
                },
                World::with(plan(&[&[]])),
            ),
        ),
        (
            "a subtask is judged",
            build(&|w| w.attempts(0, counted()), World::with(wanting(vec![plausible("kind")]))),
        ),
        (
            "the whole is judged",
            build(
                &|w| w.matches(0),
                World::with(Plan { task_criteria: vec![plausible("kind")], ..plan(&[&[]]) }),
            ),
        ),
        ("planning again", build(&|w| w.fails_logically(0), World::with(plan(&[&[]])))),
    ]
}

#[test]
fn a_task_can_be_cancelled_at_every_stage() {
    for (stage, mut world) in stages() {
        world.give(cancel());
        let why = Some("cancelled by the owner");
        assert_eq!(world.ending(), (Directive::Abandon, Some(Cause::Cancelled), why), "{stage}");
        assert_eq!(world.result().next, ["ask again when it is wanted"], "{stage}");
        assert_eq!((world.last().effects.len(), world.task.question()), (1, None), "{stage}");
        assert!(world.task.handle(cancel(), world.now).is_err(), "{stage}: once is enough");
        world.is_delivered();
        assert_eq!(world.status(), Status::Stopped, "{stage}");
        assert!(
            world.bodies("Megram").iter().all(|megram| megram["state"] != "abandon"),
            "{stage}: nobody failed"
        );
    }
}

/// What was under way may come back, before the delivery or after it; nothing follows from it.
#[test]
fn what_comes_back_after_a_cancel_changes_nothing() {
    for delivered_first in [false, true] {
        let mut world = World::with(side_by_side(2));
        let call = world.moves(0, FIND, json!({}));
        world.give(cancel());
        let before = world.result().clone();
        if delivered_first {
            world.is_delivered();
        }
        world.give(Input::Returned { call: call.id, outcome: counted() });
        assert!(world.last().effects.is_empty() && world.last().messages.is_empty());
        world.claims(1, "late");
        assert!(world.last().effects.is_empty() && world.last().messages.is_empty());
        if !delivered_first {
            world.is_delivered();
        }
        assert_eq!((world.result(), world.task.pending().count()), (&before, 0));
    }
}

#[test]
fn a_verdict_that_comes_after_a_cancel_accepts_nothing() {
    let mut world = World::with(Plan { task_criteria: vec![plausible("kind")], ..plan(&[&[]]) });
    world.matches(0);
    world.give(cancel());
    world.judges(None, vec![judgement(Opinion::Pass, "it is")]);
    assert_eq!(world.result().directive, Directive::Abandon);
    assert_eq!(world.result().text, "out 0", "what there is, is handed over");
}

#[test]
fn an_answer_that_comes_after_a_cancel_lets_nothing_run() {
    let mut world = World::with(plan(&[&[]]));
    let call = world.is_reviewed(0, DELETE, json!({ "path": "a" }));
    world.give(cancel());
    world.answers(call.id, domain::approval::Answer::Approved);
    assert_eq!((world.last().effects.len(), world.task.allowed(call.id)), (0, None));
}

#[test]
fn a_plan_that_comes_after_a_cancel_is_not_carried_out() {
    let mut world = World::planning();
    world.give(cancel());
    world.plans(naming(READ, Some("a")));
    assert_eq!((world.last().effects.len(), world.task.plan()), (0, None));

    let mut asked = World::planning();
    asked.plans(naming(READ, Some("a")));
    asked.give(cancel());
    asked.remembers_nothing();
    assert_eq!((asked.last().effects.len(), asked.task.plan()), (0, None));
}
