//! Rubbish, silence and refusal from each role's model: one repair where that helps, then that role's own failure, and
//! never a hang.

use domain::ask::{Opinion, Silence, Subject, Unanswered};
use domain::call::FailureClass;
use domain::criterion::Verdict;
use domain::gradient::Macro;
use domain::task::{Cause, Directive, Plan};
use serde_json::json;

use super::super::world::{FIND, READ, World, counted, judgement, plan, plausible, wanting};
use crate::task::Input;

const KIND: &str = "it is kind";

/// Where each role has been asked and nothing else is open.
fn asked(subject: Subject) -> World {
    match subject {
        Subject::Perceive => World::open(),
        Subject::Plan => World::planning(),
        Subject::Act(_) => World::with(plan(&[&[]])),
        Subject::Judge(Some(_)) => {
            let mut world = World::with(wanting(vec![plausible(KIND)]));
            world.does(0, READ, json!({ "path": "a" }), counted());
            world.claims(0, "a poem");
            world
        }
        Subject::Judge(None) => {
            let mut world = World::with(Plan { task_criteria: vec![plausible(KIND)], ..plan(&[&[]]) });
            world.matches(0);
            world
        }
    }
}

const ALL: [Subject; 5] =
    [Subject::Perceive, Subject::Plan, Subject::Act(0), Subject::Judge(Some(0)), Subject::Judge(None)];

#[test]
fn rubbish_is_asked_about_once_more_with_what_was_wrong() {
    for subject in ALL {
        let mut world = asked(subject);
        let first = world.asked().clone();
        world.does_not_answer(subject, Unanswered::unusable("no JSON"));
        let again = world.asked();
        assert_eq!((&again.want, again.repair.as_deref()), (&first.want, Some("no JSON")), "{subject:?}");
        assert_eq!(world.last().effects.len(), 1);
    }
}

#[test]
fn silence_and_refusal_are_not_asked_about_again() {
    for subject in ALL {
        for kind in [Silence::Unreachable, Silence::Declined] {
            let mut world = asked(subject);
            world.does_not_answer(subject, Unanswered::new(kind, "away"));
            assert!(world.asks().all(|ask| ask.repair.is_none()), "{subject:?}");
        }
    }
}

#[test]
fn a_perceiver_or_planner_that_cannot_be_reached_ends_the_task_without_an_answer() {
    for (subject, said) in [
        (Subject::Perceive, "the model as perceiver: it did not answer: away"),
        (Subject::Plan, "the model as planner: it did not answer: away"),
    ] {
        let mut world = asked(subject);
        world.does_not_answer(subject, Unanswered::unreachable("away"));
        assert_eq!(world.ending(), (Directive::Abandon, Some(Cause::NoAnswer), Some(said)));
        assert_eq!(
            world.result().next,
            ["look whether the model can be reached (`regent model test`), and ask again"]
        );
    }
}

#[test]
fn rubbish_twice_is_no_answer_of_the_perceiver_and_no_plan_of_the_planner() {
    for (subject, cause, said) in [
        (
            Subject::Perceive,
            Cause::NoAnswer,
            "the model as perceiver: its reply cannot be used: still no JSON",
        ),
        (Subject::Plan, Cause::Unplannable, "the model as planner: its reply cannot be used: still no JSON"),
    ] {
        let mut world = asked(subject);
        world.does_not_answer(subject, Unanswered::unusable("no JSON"));
        world.does_not_answer(subject, Unanswered::unusable("still no JSON"));
        assert_eq!(world.ending(), (Directive::Abandon, Some(cause), Some(said)));
    }
}

/// The world is to blame, so it is not the tools that are blocked.
#[test]
fn an_executor_that_is_silent_fails_its_subtask_and_the_world_is_to_blame() {
    let rubbish = [Unanswered::unusable("no JSON"), Unanswered::unusable("still no JSON")];
    let silence = [Unanswered::unreachable("away")];
    for whys in [&rubbish[..], &silence] {
        let mut world = asked(Subject::Act(0));
        whys.iter().for_each(|why| world.does_not_answer(Subject::Act(0), why.clone()));
        let why = whys.last().expect("one");
        let [outcome] = world.bodies("SubTaskOutcome")[..] else { panic!("one outcome") };
        assert_eq!(outcome["failure_reason"], format!("the model as executor: {why}"));
        let directive = world.directed();
        assert_eq!((directive.directive, directive.loss.p), (Macro::ChangePath, 0.0));
        assert!(world.bodies("CorrectionSignal").is_empty());
    }
}

/// Each repair is for one ask: the next move of the same attempt has its own.
#[test]
fn the_next_move_of_an_attempt_may_be_repaired_again() {
    let mut world = asked(Subject::Act(0));
    for _ in 0..2 {
        world.does_not_answer(Subject::Act(0), Unanswered::unusable("no JSON"));
        assert_eq!(world.asked().repair.as_deref(), Some("no JSON"));
        world.does(0, FIND, json!({}), counted());
        assert_eq!(world.asked().repair, None);
    }
    world.claims(0, "3");
    assert_eq!(world.result().directive, Directive::Accept);
}

/// No judge, no verdict; and doing the work again would not bring one.
#[test]
fn without_a_judge_a_criterion_is_not_met_and_the_work_is_not_corrected() {
    for whys in [
        vec![Unanswered::unreachable("away")],
        vec![Unanswered::unusable("no JSON"), Unanswered::unusable("still no JSON")],
    ] {
        let mut world = asked(Subject::Judge(Some(0)));
        whys.iter().for_each(|why| world.does_not_answer(Subject::Judge(Some(0)), why.clone()));
        let said = format!("the model as validator: {}", whys.last().expect("one"));
        let [outcome] = world.bodies("SubTaskOutcome")[..] else { panic!("one outcome") };
        let verdict = Verdict {
            criterion: KIND.into(),
            passed: false,
            failure_class: Some(FailureClass::Environmental),
            evidence: said.clone(),
            basis: None,
        };
        assert_eq!(outcome["criteria_verdicts"], json!([verdict]));
        assert_eq!((&outcome["status"], &outcome["failure_reason"]), (&json!("failed"), &json!(said)));
        assert!(world.bodies("CorrectionSignal").is_empty());
    }
}

/// "A judge that answers rubbish is a reject with a reason, never a hang."
#[test]
fn a_meta_validator_without_a_judge_rejects_with_the_reason() {
    let mut world = asked(Subject::Judge(None));
    world.does_not_answer(Subject::Judge(None), Unanswered::unusable("no JSON"));
    world.does_not_answer(Subject::Judge(None), Unanswered::unusable("still no JSON"));
    assert_eq!(world.bodies("ReplanRequest"), [&json!({ "failed_outcomes": [], "gap_summary": KIND })]);
    let directive = world.directed();
    // The subtask matched, the task's own criterion did not: 1 of 2.
    assert_eq!((directive.directive, directive.loss.d, directive.loss.p), (Macro::ChangePath, 0.5, 0.0));
}

#[test]
fn a_judge_with_the_wrong_number_of_verdicts_is_rubbish() {
    for subject in [Subject::Judge(Some(0)), Subject::Judge(None)] {
        let Subject::Judge(of) = subject else { panic!("a judge") };
        for (n, said) in [(0, "0 verdicts on 1 criteria"), (2, "2 verdicts on 1 criteria")] {
            let mut world = asked(subject);
            let verdicts = vec![judgement(Opinion::Pass, "fine"); n];
            world.judges(of, verdicts.clone());
            assert_eq!(world.asked().repair.as_deref(), Some(said), "{subject:?}");
            world.judges(of, verdicts);
            assert_eq!(world.said("ReplanRequest").len(), 1, "{subject:?}");
        }
    }
}

#[test]
fn what_is_unclear_to_a_judge_is_not_met() {
    let mut world = asked(Subject::Judge(Some(0)));
    world.judges(Some(0), vec![judgement(Opinion::Unclear, "cannot tell")]);
    assert_eq!(world.correction().what_was_wrong, ["it is kind (cannot tell)"]);

    let mut world = asked(Subject::Judge(None));
    world.judges(None, vec![judgement(Opinion::Unclear, "cannot tell")]);
    assert_eq!(world.said("ReplanRequest").len(), 1);
    assert_eq!(world.directed().failed_criterion, KIND);
}

/// What was thought about while the task was ended changes nothing.
#[test]
fn a_silence_that_comes_too_late_changes_nothing() {
    for subject in ALL {
        let mut world = asked(subject);
        world.give(Input::Cancelled { by: "the owner".into() });
        let before = world.result().clone();
        world.does_not_answer(subject, Unanswered::unusable("no JSON"));
        assert_eq!((world.last().effects.as_slice(), world.result()), (&[][..], &before), "{subject:?}");
    }
}
