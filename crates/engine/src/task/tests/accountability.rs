//! The seed's accountability map: each failure mode is caught where its role answers for it. What Shared Memory (R5) and the
//! Auditor (R6) answer for waits for them.

use domain::ask::{Opinion, Perception, Replan, Want};
use domain::gradient::Macro;
use domain::source::Text;
use domain::task::{Directive, Plan, TaskSpec};
use serde_json::json;

use super::world::{
    FIND, GLOB, READ, WRITE, World, beside_the_point, counted, judgement, opening, out_of_reach, plan,
    plausible, side_by_side, spec, wanting,
};
use crate::task::Input;

/// The words are kept verbatim and with their source, whatever R1 makes of them; and a request without a class gets one of
/// its own, in any script.
#[test]
fn r1_intent_not_preserved_faithfully() {
    let mut classes = std::collections::BTreeSet::new();
    for request in ["ファイルはいくつ?", "كم عدد الملفات؟", "how many files?"] {
        let request = Text::new(request, opening().request.source);
        let mut world = World::opened(crate::task::Opening { request: request.clone(), ..opening() });
        let spec = TaskSpec { task_class: String::new(), raw_input: Text::model("something else"), ..spec() };
        world.give(Input::Perceived(Perception::Task(Box::new(spec))));
        let kept = world.task.spec().expect("a spec");
        assert_eq!(kept.raw_input, request);
        classes.insert(kept.task_class.clone());
    }
    assert_eq!(classes.len(), 3, "{classes:?}");
    assert!(classes.iter().all(|class| class.len() == "request_".len() + 12), "{classes:?}");
}

/// A criterion that could not be wrong is none; and what the planner is not sure of it can ask.
#[test]
fn r2_fuzzy_intent_misinterpreted_and_criteria_wrong() {
    let mut world = World::planning();
    world.plans(wanting(vec![plausible("count 0")]));
    assert_eq!(world.asked().repair.as_deref(), Some("a criterion of subtask 0 only restates its intent"));
}

#[test]
fn r2_goal_not_achieved_despite_valid_subtask_execution() {
    let mut world = World::with(Plan { task_criteria: vec![plausible("it is kind")], ..plan(&[&[]]) });
    world.matches(0);
    world.judges(None, vec![judgement(Opinion::Fail, "rude")]);
    world.remembers_nothing();
    let Want::Plan { replan: Some(Replan { directive, outcomes, .. }), .. } = &world.asked().want else {
        panic!("{:?}", world.asked())
    };
    assert_eq!(
        (directive.failed_criterion.as_str(), &outcomes[..]),
        ("it is kind", &["done: count 0".to_owned()][..])
    );
}

#[test]
fn r2_on_abandon_a_bare_failure_message() {
    let mut world = World::with(side_by_side(2));
    world.matches(0);
    world.wait(600);
    world.fails_environmentally(1);
    let result = world.result();
    assert_eq!(
        (result.text.as_str(), &result.tried[..], &result.next[..]),
        (
            "out 0",
            &["round 1: no such folder → abandon (D 0.50)".to_owned()][..],
            &["make `folder 1` available, and ask again".to_owned()][..]
        )
    );
}

/// It is told what was wrong as long as that may help, and after that its name stands at the failure.
#[test]
fn r3_feasible_subtask_not_correctly_executed() {
    let mut world = World::with(side_by_side(2));
    world.matches(0);
    for _ in 0..3 {
        world.attempts(1, beside_the_point());
    }
    let failed: Vec<_> =
        world.bodies("SubTaskOutcome").into_iter().filter(|o| o["status"] == "failed").collect();
    let [outcome] = failed[..] else { panic!("{failed:?}") };
    assert_eq!(outcome["subtask_id"], world.bodies("DispatchManifest")[0]["subtasks"][1]["id"]);
}

#[test]
fn r4a_gap_unresolved_or_unreported() {
    let mut world = World::with(wanting(vec![super::world::criterion(0), plausible("it is kind")]));
    for (n, verdict) in [Opinion::Fail, Opinion::Pass, Opinion::Fail].into_iter().enumerate() {
        world.does(0, READ, json!({ "path": n.to_string() }), counted());
        world.claims(0, "here");
        world.judges(Some(0), vec![judgement(verdict, "read it")]);
        if verdict == Opinion::Pass {
            break;
        }
    }
    let [outcome] = world.bodies("SubTaskOutcome")[..] else { panic!("one outcome") };
    let scores: Vec<_> =
        outcome["gap_trajectory"].as_array().expect("gaps").iter().map(|gap| gap["score"].clone()).collect();
    assert_eq!(scores, [0.5, 1.0]);
}

#[test]
fn r4b_failed_subtask_accepted_or_merged_result_fails_its_criteria() {
    let mut failed = World::with(Plan { task_criteria: vec![plausible("it is kind")], ..side_by_side(2) });
    failed.matches(0);
    failed.fails_logically(1);
    let mut unkind = World::with(Plan { task_criteria: vec![plausible("it is kind")], ..side_by_side(2) });
    unkind.matches(0);
    unkind.matches(1);
    unkind.judges(None, vec![judgement(Opinion::Fail, "rude")]);
    for world in [failed, unkind] {
        assert_eq!((world.said("OutcomeSummary").len(), world.said("ReplanRequest").len()), (0, 1));
        assert_ne!(world.task.result().map(|result| result.directive), Some(Directive::Accept));
    }
}

/// The same wrong approach again and again is not asked for again: each round takes away what failed, until none is left or
/// the budget is gone.
#[test]
fn r7_local_minimum_not_escaped_or_budget_misjudged() {
    let mut world = World::with(plan(&[&[]]));
    let mut blocked = Vec::new();
    for tool in [FIND, GLOB, WRITE] {
        world.fails(0, tool, json!({ "under": "x", "pattern": "x", "path": "x" }), beside_the_point());
        assert_eq!(world.directed().directive, Macro::BreakSymmetry);
        blocked.extend(world.directed().blocked_tools);
        world.replans(plan(&[&[]]));
    }
    assert_eq!(blocked, [FIND, GLOB, WRITE]);
    world.fails(0, READ, json!({ "path": "y" }), out_of_reach());
    assert_eq!(world.result().directive, Directive::Abandon);
    let measured = world.result().measured.as_ref().expect("measured");
    assert!((measured.loss.omega - 0.8).abs() < 1e-12);
}
