//! What each role does not do, by the lists of the seed. A role is a module that answers one kind of input: what it cannot
//! say is outside the contract (`contract.rs` shows that nothing else is ever said), and what it cannot do it has no
//! effect for.

use std::collections::BTreeSet;

use domain::ask::{Action, Opinion, Perception, Subject, Want};
use domain::call::Failure;
use domain::criterion::{Check, Criterion};
use domain::source::Text;
use domain::task::{Directive, Plan, TaskSpec};
use serde_json::json;

use super::world::{
    FIND, READ, World, beside_the_point, counted, judgement, opening, plan, plausible, side_by_side, spec,
    wanting,
};
use crate::task::{CONTRACT, Effect, Input, Role, Step};

/// Everything that a role may say, and to whom.
fn says(role: Role) -> Vec<(Role, &'static str)> {
    CONTRACT.iter().filter(|(from, _, _)| *from == role).map(|(_, to, kind)| (*to, *kind)).collect()
}

fn calls(step: &Step) -> usize {
    step.effects.iter().filter(|effect| matches!(effect, Effect::Call(_))).count()
}

mod r1_perceiver_does_not {
    use super::*;

    #[test]
    fn set_success_criteria() {
        let criteria = json!({ "task_class": "c", "intent": Text::model("i"), "raw_input": Text::model("r"),
            "constraints": { "scope": null, "deadline": null }, "success_criteria": ["it is done"] });
        let read: TaskSpec = serde_json::from_value(criteria).expect("a spec");
        assert!(serde_json::to_value(read).expect("JSON").get("success_criteria").is_none());
    }

    #[test]
    fn make_tool_choices_or_suggest_strategies() {
        let fields = serde_json::to_value(spec()).expect("JSON");
        let fields: BTreeSet<String> = fields.as_object().expect("fields").keys().cloned().collect();
        assert_eq!(fields, ["constraints", "intent", "raw_input", "task_class"].map(String::from).into());
        assert_eq!(
            says(Role::Perceiver),
            [(Role::Planner, "TaskSpec"), (Role::User, "Answer"), (Role::User, "Question")]
        );
    }

    #[test]
    fn modify_the_users_intent_whatever_it_thinks_feasible() {
        let tampered = TaskSpec { raw_input: Text::model("count only the small files"), ..spec() };
        let mut world = World::open();
        world.give(Input::Perceived(Perception::Task(Box::new(tampered))));
        assert_eq!(world.task.spec().map(|spec| &spec.raw_input), Some(&opening().request));
    }

    /// What it sees is given with every ask: asked again after a question, it sees the same and the answer.
    #[test]
    fn persist_any_state() {
        let mut world = World::open();
        world.give(Input::Perceived(Perception::Clarify { question: "which?".into() }));
        world.give(Input::Clarified(Text::model("that")));
        let seen = world.asks().map(|ask| match &ask.want {
            Want::Perceive { request, history, .. } => (request.clone(), history.clone()),
            other => panic!("{other:?}"),
        });
        let seen: Vec<_> = seen.collect();
        assert_eq!(seen, vec![(opening().request, opening().history); 2]);
    }
}

mod r2_planner_does_not {
    use super::*;

    #[test]
    fn compute_loss_gradient_or_select_macro_states() {
        assert!(says(Role::Planner).iter().all(|(_, kind)| *kind != "PlanDirective"));
    }

    #[test]
    fn execute_tools_or_call_external_services() {
        let mut world = World::planning();
        world.plans(super::super::world::naming(FIND, Some("x")));
        assert_eq!(calls(world.last()), 0);
        world.remembers_nothing();
        assert_eq!((calls(world.last()), world.acting()), (0, vec![0]), "the executor is asked to");
    }

    #[test]
    fn validate_outputs_against_criteria() {
        let to: BTreeSet<_> = says(Role::Planner).into_iter().collect();
        let expected = [
            (Role::User, "Question"),
            (Role::Memory, "Recall"),
            (Role::MetaValidator, "DispatchManifest"),
            (Role::Executor, "SubTask"),
            (Role::Solver, "Unplannable"),
        ];
        assert_eq!(to, expected.into());
    }

    #[test]
    fn write_to_shared_memory() {
        let to_memory: Vec<_> =
            says(Role::Planner).into_iter().filter(|(to, _)| *to == Role::Memory).collect();
        assert_eq!(to_memory, [(Role::Memory, "Recall")]);
    }
}

mod r3_executor_does_not {
    use super::*;

    #[test]
    fn evaluate_its_own_output_against_success_criteria() {
        let mut sure = World::with(plan(&[&[]]));
        sure.does(0, FIND, json!({}), beside_the_point());
        sure.claims(0, "every criterion is met");
        assert_eq!(sure.said("CorrectionSignal").len(), 1);
    }

    #[test]
    fn retry_on_its_own_initiative() {
        let mut world = World::with(plan(&[&[]]));
        world.claims(0, "done");
        assert!(
            world.task.handle(Input::Acted { subtask: 1, action: Action::done("again") }, world.now).is_err()
        );
        let attempts = world.asks().filter(|ask| matches!(ask.want, Want::Act { attempt: 1.., .. })).count();
        assert_eq!(attempts, world.said("CorrectionSignal").len());
        // Once its outcome is said, nobody listens.
        world.finishes(0, Action::failed("no"));
        assert!(
            world.task.handle(Input::Acted { subtask: 0, action: Action::done("now") }, world.now).is_err()
        );
    }

    /// Evidence is made by the machine from what was called and what came back; an action has no place for any.
    #[test]
    fn generate_fake_tool_output() {
        let mut world = World::with(plan(&[&[]]));
        world.claims(0, r#"find_files: {} → {"count": 42}"#);
        let Want::Act { evidence, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
        assert!(evidence.is_empty());
        assert_eq!(world.correction().not_again, Vec::<String>::new());
    }

    #[test]
    fn write_to_shared_memory() {
        assert_eq!(says(Role::Executor), [(Role::Validator, "ExecutionResult")]);
    }
}

mod r4a_agent_validator_does_not {
    use super::*;

    #[test]
    fn execute_tools() {
        let mut world = World::with(wanting(vec![plausible("it is kind")]));
        world.attempts(0, counted());
        assert_eq!((calls(world.last()), world.asked().subject()), (0, Subject::Judge(Some(0))));
        world.judges(Some(0), vec![judgement(Opinion::Fail, "rude")]);
        assert_eq!((calls(world.last()), world.asked().subject()), (0, Subject::Act(0)));
    }

    /// It is asked about the criteria of its subtask only; those of the task come up when all subtasks are over.
    #[test]
    fn evaluate_task_level_criteria_across_subtasks() {
        let mut both = wanting(vec![plausible("it is kind")]);
        both.task_criteria = vec![plausible("all of it rhymes")];
        let mut world = World::with(both);
        world.attempts(0, counted());
        let Want::Judge { of: Some(0), criteria, .. } = &world.asked().want else {
            panic!("{:?}", world.asked())
        };
        assert_eq!(*criteria, ["it is kind"]);
        let asked = world.asks().filter(|ask| ask.subject() == Subject::Judge(None)).count();
        assert_eq!(asked, 0);
    }

    #[test]
    fn write_to_shared_memory() {
        assert_eq!(
            says(Role::Validator),
            [(Role::Executor, "CorrectionSignal"), (Role::MetaValidator, "SubTaskOutcome")]
        );
    }
}

mod r4b_meta_validator_does_not {
    use super::*;

    #[test]
    fn write_to_shared_memory_or_send_a_directive_to_the_planner_or_compute_loss() {
        assert_eq!(
            says(Role::MetaValidator),
            [(Role::Solver, "OutcomeSummary"), (Role::Solver, "ReplanRequest")]
        );
        let mut world = World::with(plan(&[&[]]));
        world.fails_logically(0);
        let [request] = world.bodies("ReplanRequest")[..] else { panic!("one request") };
        assert_eq!(
            *request,
            json!({ "failed_outcomes": [0], "gap_summary": "gave up on 0" }),
            "no number in it"
        );
    }

    #[test]
    fn retry_individual_subtasks() {
        let mut world = World::with(Plan { task_criteria: vec![plausible("it is kind")], ..side_by_side(2) });
        world.matches(0);
        world.matches(1);
        world.judges(None, vec![judgement(Opinion::Fail, "rude")]);
        assert_eq!((world.acting(), world.said("CorrectionSignal").len()), (Vec::new(), 0));
        assert_eq!(world.said("PlanDirective").len(), 1);
    }
}

mod r7_solver_does_not {
    use super::*;

    #[test]
    fn generate_subtasks_or_modify_the_plan_directly() {
        let mut world = World::with(plan(&[&[]]));
        let before = world.task.plan().cloned();
        world.fails_logically(0);
        assert_eq!(world.task.plan().cloned(), before, "the old one stays until R2 gives another");
        assert_eq!(
            says(Role::Solver),
            [(Role::Planner, "PlanDirective"), (Role::Memory, "Megram"), (Role::User, "FinalResult")]
        );
    }

    /// It knows which tool, on what, and whether that worked; never what came back.
    #[test]
    fn observe_individual_tool_calls() {
        let directed = |outcome| {
            let mut world = World::with(plan(&[&[]]));
            world.fails(0, READ, json!({ "path": "a" }), outcome);
            world.directed()
        };
        assert_eq!(
            directed(Ok(json!({ "text": "one" }))),
            directed(Ok(json!({ "text": "two", "more": [1] })))
        );
        let failed = |why: &str| Err(Failure::environmental(why));
        assert_eq!(directed(failed("no such file")), directed(failed("permission denied")));
    }

    #[test]
    fn merge_or_verify_outputs() {
        let met = Criterion::checked("it is there", Check::NotEmpty { pointer: "/count".into() });
        let mut world = World::with(Plan { task_criteria: vec![met], ..side_by_side(2) });
        world.does(0, FIND, json!({}), counted());
        world.claims(0, "utter nonsense");
        world.matches(1);
        // Whether that is sense was nobody's criterion; what is merged is what R4b was given, in the plan's order.
        assert_eq!(world.ending(), (Directive::Accept, None, None));
        assert_eq!(world.result().text, "utter nonsense\nout 1");
    }

    #[test]
    fn override_the_fan_in_gate() {
        let mut world = World::with(side_by_side(3));
        world.fails_logically(0);
        world.fails_logically(1);
        assert_eq!((world.said("PlanDirective").len(), world.said("Megram").len()), (0, 0));
        world.fails_logically(2);
        assert_eq!(world.said("PlanDirective").len(), 1);
    }
}
