//! What is claimed against what happened.

use domain::ask::{Action, Claim};
use domain::call::{Failure, FailureClass};
use domain::criterion::{Check, Criterion};
use domain::task::Directive;
use serde_json::{Value, json};

use super::super::world::{DELETE, FIND, READ, WRITE, World, class_of, counted, plan, wanting};

fn there(path: &str) -> Criterion {
    Criterion::checked("the file is there", Check::FileExists { path: path.into() })
}

#[test]
fn a_claim_without_a_call_is_corrected_and_in_the_end_not_believed() {
    let mut world = World::with(plan(&[&[]]));
    for _ in 0..2 {
        world.claims(0, "42 files, trust me");
        assert_eq!(world.correction().what_was_wrong, ["number 0 is known (no call succeeded)"]);
    }
    world.claims(0, "42 files, trust me");
    let [outcome] = world.bodies("SubTaskOutcome")[..] else { panic!("one outcome") };
    assert_eq!((&outcome["status"], class_of(outcome)), (&json!("failed"), Some(FailureClass::Logical)));
}

#[test]
fn looking_afterwards_does_not_prove_that_a_failed_write_wrote() {
    let mut world = World::with(wanting(vec![there("a.md")]));
    let write = json!({ "path": "a.md", "content": "new" });
    for attempt in 1..=3 {
        world.does(0, WRITE, write.clone(), Err(Failure::environmental("the disk is full")));
        world.does(
            0,
            FIND,
            json!({ "under": "." }),
            Ok(json!({ "count": 1, "files": [{ "path": "a.md" }] })),
        );
        world.claims(0, "written");
        if attempt < 3 {
            let unmet = "the file is there (no call shows that `a.md` is there)";
            assert_eq!(world.correction().what_was_wrong, ["write_file failed: the disk is full", unmet]);
        }
    }
    let [outcome] = world.bodies("SubTaskOutcome")[..] else { panic!("one outcome") };
    assert_eq!(
        (&outcome["status"], &outcome["criteria_verdicts"][0]["passed"]),
        (&json!("failed"), &json!(false))
    );
}

#[test]
fn an_action_that_failed_and_then_worked_is_proof() {
    let mut world = World::with(wanting(vec![there("b.md")]));
    world.does(0, WRITE, json!({ "path": "a.md" }), Err(Failure::environmental("read-only")));
    world.does(0, WRITE, json!({ "path": "b.md" }), Ok(json!({ "path": "b.md" })));
    world.does(0, READ, json!({ "path": "a.md" }), Err(Failure::environmental("no such file")));
    world.claims(0, "b.md");
    assert_eq!(world.ending(), (Directive::Accept, None, None));
}

/// The last one that acts is the primary action, whatever was read after it.
#[test]
fn an_interrupted_action_is_a_contradiction_although_something_was_read_since() {
    let gone = Criterion::checked("it is gone", Check::FileAbsent { path: "a.md".into() });
    let mut world = World::with(wanting(vec![gone]));
    world.does(0, DELETE, json!({ "path": "a.md" }), Err(Failure::interrupted("stopped half-way")));
    world.does(0, FIND, json!({ "name": "a.md" }), Ok(json!({ "count": 0, "files": [], "complete": true })));
    world.claims(0, "gone");
    let unmet = "it is gone (no call shows that `a.md` is gone)";
    assert_eq!(world.correction().what_was_wrong, ["delete_file failed: stopped half-way", unmet]);
}

#[test]
fn a_result_that_was_cut_off_contradicts_completed_and_not_uncertain() {
    let cut = |record: Value| {
        let mut world = World::with(plan(&[&[]]));
        world.does(0, FIND, json!({}), Ok(record));
        world
    };
    let records = [
        json!({ "count": 3, "truncated": true }),
        json!({ "count": 3, "complete": false }),
        json!({ "count": 3, "interrupted": true }),
    ];
    for record in records {
        let mut world = cut(record.clone());
        world.claims(0, "3 files");
        let wrong = ["the result of find_files was cut off, so it does not show all that is claimed"];
        assert_eq!(world.correction().what_was_wrong, wrong, "{record}");

        let mut world = cut(record.clone());
        world.finishes(0, Action::Finish { output: "3 or more".into(), status: Claim::Uncertain });
        assert_eq!(world.ending(), (Directive::Accept, None, None), "{record}");
    }
}

#[test]
fn an_empty_search_is_an_answer() {
    let one_is_named = Criterion::checked("one is named", Check::NotEmpty { pointer: "/files/0".into() });
    let mut world = World::with(wanting(vec![one_is_named]));
    world.does(0, FIND, json!({}), Ok(json!({ "count": 0, "files": [], "complete": true })));
    world.claims(0, "there is none");
    assert_eq!(world.ending(), (Directive::Accept, None, None));
    assert_eq!(world.result().verdicts[0].evidence, "find_files ran and found nothing");
}

/// What a claim says can only ever be tested as a text, never as a number that a tool has found.
#[test]
fn a_number_in_a_claim_is_not_a_number_that_was_found() {
    let mut world = World::with(plan(&[&[]]));
    world.does(0, READ, json!({ "path": "a" }), Ok(json!({ "text": "nothing to see" })));
    world.claims(0, r#"{"count": 42}"#);
    assert_eq!(world.correction().what_was_wrong, ["number 0 is known (the result has no /count)"]);
}

#[test]
fn evidence_says_how_long_a_call_ran_since_authority_let_it() {
    let mut world = World::with(plan(&[&[]]));
    let call = world.moves(0, FIND, json!({}));
    world.wait(60);
    world.rules(call.id, crate::task::Ruling::Execute);
    world.wait(2);
    world.give(crate::task::Input::Returned { call: call.id, outcome: counted() });
    let domain::ask::Want::Act { evidence, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    assert_eq!(evidence[0].took_ms, Some(2_000));
    assert_eq!(evidence[0].to_string(), r#"find_files: {} → {"count":3} (2000 ms)"#);
}
