//! The fast loop: what R4a sends back to R3, how often, and when not at all.

use domain::approval::Answer;
use domain::ask::{Action, Correction, Want};
use domain::call::{Failure, FailureClass};
use domain::criterion::{Check, Criterion};
use domain::limits::ATTEMPT_RETRIES;
use domain::task::{Cause, Directive};
use serde_json::{Value, json};

use super::super::world::{
    FIND, GLOB, READ, World, beside_the_point, counted, criterion, out_of_reach, plan, side_by_side, wanting,
};
use crate::task::Ruling;

#[test]
fn a_correction_that_helps_ends_in_a_match() {
    let mut world = World::with(plan(&[&[]]));
    world.attempts(0, beside_the_point());
    let Want::Act { attempt, evidence, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    assert_eq!((*attempt, evidence.as_slice()), (1, &[][..]), "what was seen before does not count");
    let expected = Correction {
        what_was_wrong: vec!["number 0 is known (the result has no /count)".into()],
        what_to_do: "use another approach: this one cannot give what is wanted".into(),
        failure_class: FailureClass::Logical,
        not_again: vec![r#"find_files: {"under":"folder 0"} → {} (0 ms)"#.into()],
    };
    assert_eq!(*world.correction(), expected);

    world.matches(0);
    assert_eq!(world.ending(), (Directive::Accept, None, None));
    let trajectory = &world.bodies("SubTaskOutcome")[0]["gap_trajectory"];
    let expected = json!([
        { "attempt": 1, "score": 0.0, "unmet_criteria": ["number 0 is known"], "failure_class": "logical" },
        { "attempt": 2, "score": 1.0, "unmet_criteria": [], "failure_class": null },
    ]);
    assert_eq!(*trajectory, expected);
}

#[test]
fn what_the_world_refused_is_to_be_tried_on_another_target() {
    let mut world = World::with(plan(&[&[]]));
    world.attempts(0, out_of_reach());
    let expected = Correction {
        what_was_wrong: vec![
            "find_files failed: no such folder".into(),
            "number 0 is known (no call succeeded)".into(),
        ],
        what_to_do: "do it in another way, or on another target: this one is not to be had".into(),
        failure_class: FailureClass::Environmental,
        not_again: vec![r#"find_files: {"under":"folder 0"} → failed: no such folder (0 ms)"#.into()],
    };
    assert_eq!(*world.correction(), expected);
}

/// Attempt 1 has the number and not the tool, attempt 2 the tool and not the number. A pointer looks into the newest
/// record only.
#[test]
fn a_newer_record_takes_the_place_of_one_from_an_earlier_attempt() {
    let by_glob = Criterion::checked("glob ran", Check::ToolCalled { tool: GLOB.parse().unwrap() });
    let mut world = World::with(wanting(vec![criterion(0), by_glob]));
    world.attempts(0, counted());
    assert_eq!(world.correction().what_was_wrong, ["glob ran (glob was not called)"]);
    world.does(0, GLOB, json!({ "pattern": "*" }), beside_the_point());
    world.claims(0, "both, by now");
    assert_eq!(world.correction().what_was_wrong, ["number 0 is known (the result has no /count)"]);
}

#[test]
fn calls_of_every_earlier_attempt_are_not_to_be_repeated() {
    let mut world = World::with(plan(&[&[]]));
    world.attempts(0, beside_the_point());
    world.does(0, GLOB, json!({ "pattern": "*" }), beside_the_point());
    world.claims(0, "again");
    let not_again =
        [r#"find_files: {"under":"folder 0"} → {} (0 ms)"#, r#"glob: {"pattern":"*"} → {} (0 ms)"#];
    assert_eq!(world.correction().not_again, not_again);
}

#[test]
fn there_are_two_corrections_at_most() {
    let mut world = World::with(plan(&[&[]]));
    for _ in 0..=ATTEMPT_RETRIES {
        assert_eq!(world.bodies("SubTaskOutcome"), Vec::<&Value>::new());
        world.attempts(0, beside_the_point());
    }
    let said: Vec<_> = world.bodies("CorrectionSignal").iter().map(|body| body["attempt"].clone()).collect();
    assert_eq!(said, [1, 2]);
    let [outcome] = world.bodies("SubTaskOutcome")[..] else { panic!("one outcome") };
    assert_eq!((&outcome["status"], &outcome["tool_calls"]), (&json!("failed"), &json!(3)));
    assert_eq!(outcome["failure_reason"], "number 0 is known (the result has no /count)");
    assert_eq!(outcome["gap_trajectory"].as_array().map(Vec::len), Some(3));
}

/// Each attempt has its own moves; one that uses them up is not corrected.
#[test]
fn an_attempt_without_an_end_is_not_corrected() {
    let mut world = World::with(plan(&[&[]]));
    world.attempts(0, beside_the_point());
    for n in 0..10 {
        world.does(0, READ, json!({ "path": n.to_string() }), Ok(json!({ "n": n })));
    }
    let [outcome] = world.bodies("SubTaskOutcome")[..] else { panic!("one outcome") };
    assert_eq!(outcome["failure_reason"], "no result after 10 moves");
    assert_eq!(world.bodies("CorrectionSignal").len(), 1);
}

/// "`failed` status or infrastructure error: no retry"; nor where authority said no.
#[test]
fn what_would_come_to_the_same_is_not_corrected() {
    let denied = || Ruling::Denied { why: "not that".into(), instead: Vec::new(), violated: Vec::new() };
    let refused = || Ruling::Refused { why: "not here".into() };
    type Script = Box<dyn Fn(&mut World)>;
    let under = || json!({ "under": "x" });
    let table: Vec<(&str, Script, &str)> = vec![
        ("it says itself that it failed", Box::new(|w| w.finishes(0, Action::failed("no idea"))), "no idea"),
        (
            "it failed, and its last call says why",
            Box::new(move |w| w.fails(0, FIND, under(), out_of_reach())),
            "no such folder",
        ),
        (
            "its last call was interrupted",
            Box::new(move |w| {
                w.does(0, FIND, under(), Err(Failure::interrupted("time ran out")));
                w.claims(0, "done");
            }),
            "time ran out",
        ),
        (
            "authority denied its last call",
            Box::new(move |w| {
                let call = w.moves(0, FIND, under());
                w.rules(call.id, denied());
                w.claims(0, "done");
            }),
            "not that",
        ),
        (
            "authority refused a call",
            Box::new(move |w| {
                let call = w.moves(0, FIND, under());
                w.rules(call.id, refused());
            }),
            "not here",
        ),
        (
            "nobody answered in time",
            Box::new(move |w| {
                let call = w.is_reviewed(0, FIND, under());
                w.answers(call.id, Answer::Expired);
                w.claims(0, "done");
            }),
            "nobody answered in time; that is neither yes nor no; ask again, if it is still wanted",
        ),
    ];
    for (name, script, reason) in table {
        let mut world = World::with(side_by_side(2));
        script(&mut world);
        assert_eq!(world.bodies("CorrectionSignal"), Vec::<&Value>::new(), "{name}");
        let [outcome] = world.bodies("SubTaskOutcome")[..] else { panic!("{name}: one outcome") };
        assert_eq!(
            (&outcome["status"], &outcome["failure_reason"]),
            (&json!("failed"), &json!(reason)),
            "{name}"
        );
    }
}

/// "An executor status `failed` is never scored as matched", whatever its evidence shows.
#[test]
fn a_failed_status_over_evidence_that_meets_everything_is_a_failure() {
    let mut world = World::with(plan(&[&[]]));
    world.fails(0, FIND, json!({}), counted());
    let [outcome] = world.bodies("SubTaskOutcome")[..] else { panic!("one outcome") };
    assert_eq!(
        (&outcome["status"], &outcome["criteria_verdicts"][0]["passed"]),
        (&json!("failed"), &json!(true))
    );
    assert_eq!(world.directed().loss.d, 0.5, "one more criterion, and that one failed");
    assert_eq!(world.task.result(), None);
}

#[test]
fn a_circle_ends_the_task_and_is_not_corrected() {
    let mut world = World::with(plan(&[&[]]));
    for _ in 0..3 {
        world.does(0, FIND, json!({ "under": "x" }), counted());
    }
    let why = "find_files was called 3 times in a row, with the same result";
    assert_eq!(world.ending(), (Directive::Abandon, Some(Cause::Loop), Some(why)));
}
