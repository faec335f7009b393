//! The seed's table of key invariants, one test for each row that is the loop's.
//!
//! Rows that wait:
//! - "R4b reasoning capability must be ≥ R2's" is a matter of which models are configured for which role;
//! - "C-level Megrams have k=0.0 until Trust Bankruptcy" and "Recall of a C-level SOP updates last_recalled_at" are the
//!   store's, which is not there yet; the engine only asks and tells.

use std::collections::BTreeSet;

use domain::ask::{Opinion, Subject, Want};
use domain::gradient::{INIT, Macro};
use domain::task::{Cause, Directive, Plan};
use serde_json::{Value, json};

use super::world::{
    FIND, GLOB, READ, World, beside_the_point, criterion_text, judgement, naming, out_of_reach, plan,
    plausible, side_by_side, spec,
};
use crate::task::{CONTRACT, Effect, Role};

fn with_task_criterion() -> World {
    World::with(Plan { task_criteria: vec![plausible("it is kind")], ..plan(&[&[]]) })
}

fn kinds(from: Role, to: Role) -> Vec<&'static str> {
    CONTRACT.iter().filter(|(f, t, _)| (*f, *t) == (from, to)).map(|(_, _, kind)| *kind).collect()
}

/// Amended: they derive from (task, step, ordinal), so that a replay gives the same.
#[test]
fn subtask_ids_are_assigned_by_the_runtime_never_by_a_model() {
    let world = World::with(side_by_side(2));
    let [manifest] = world.bodies("DispatchManifest")[..] else { panic!("one manifest") };
    let ids: Vec<Value> = (0..2).map(|number| json!(world.task.subtask_id(number).to_string())).collect();
    assert_eq!([&manifest["subtasks"][0]["id"], &manifest["subtasks"][1]["id"]], [&ids[0], &ids[1]]);
    let written = serde_json::to_value(world.task.plan()).expect("JSON");
    assert!(written["subtasks"][0].get("id").is_none(), "a plan has no place for one: {written}");
}

#[test]
fn a_task_spec_carries_no_success_criteria() {
    let written = serde_json::to_value(spec()).expect("JSON");
    let fields: BTreeSet<&str> = written.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(fields, ["task_class", "intent", "constraints", "raw_input"].into());
}

#[test]
fn task_criteria_live_in_the_dispatch_manifest_as_plain_strings_and_r4b_reads_them() {
    let mut world = with_task_criterion();
    assert_eq!(world.bodies("DispatchManifest")[0]["task_criteria"], json!(["it is kind"]));
    world.matches(0);
    let Want::Judge { of: None, criteria, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    assert_eq!(*criteria, ["it is kind"]);
}

#[test]
fn r4b_defaults_to_reject_when_evidence_is_ambiguous() {
    let mut world = with_task_criterion();
    world.matches(0);
    world.judges(None, vec![judgement(Opinion::Unclear, "hard to say")]);
    assert_eq!((world.said("OutcomeSummary").len(), world.said("ReplanRequest").len()), (0, 1));
}

#[test]
fn r4bs_model_is_not_invoked_when_any_subtask_failed() {
    let mut world = World::with(Plan { task_criteria: vec![plausible("it is kind")], ..side_by_side(4) });
    (0..3).for_each(|number| world.matches(number));
    world.fails_logically(3);
    assert!(world.asks().all(|ask| ask.subject() != Subject::Judge(None)));
    assert_eq!(world.said("ReplanRequest").len(), 1);
}

#[test]
fn r4b_sends_its_replan_request_to_r7_never_to_r2() {
    assert_eq!(kinds(Role::MetaValidator, Role::Solver), ["OutcomeSummary", "ReplanRequest"]);
    assert_eq!(kinds(Role::MetaValidator, Role::Planner), Vec::<&str>::new());
    let mut world = World::with(plan(&[&[]]));
    world.fails_logically(0);
    let [(from, to, _)] = world.said("ReplanRequest")[..] else { panic!("one request") };
    assert_eq!((from, to), (Role::MetaValidator, Role::Solver));
}

/// Whoever is asked to plan again has been directed, round for round.
#[test]
fn ggs_computes_loss_and_gradient_and_r2_does_not_direct_itself() {
    let mut world = World::with(plan(&[&[]]));
    for round in 1..=3 {
        world.fails(0, READ, json!({ "path": round.to_string() }), out_of_reach());
        world.remembers_nothing();
        let Want::Plan { replan: Some(replan), .. } = &world.asked().want else {
            panic!("{:?}", world.asked())
        };
        assert_eq!((replan.directive.clone(), world.directives().len()), (world.directed(), round));
        world.plans(plan(&[&[]]));
    }
    assert!(world.said("PlanDirective").iter().all(|(from, _, _)| *from == Role::Solver));
}

#[test]
fn an_r2_plan_cannot_reuse_a_blocked_tool() {
    let mut world = World::with(plan(&[&[]]));
    world.fails_logically(0);
    assert_eq!(world.directed().blocked_tools, [FIND]);
    world.remembers_nothing();
    world.plans(naming(FIND, None));
    assert_eq!(world.acting(), Vec::<u32>::new());
    world.plans(naming(FIND, None));
    assert_eq!(world.result().cause, Some(Cause::Unplannable));
}

/// Whatever D, P and ∇L say, as long as something failed; what is finished is accepted (the specification's amendment).
#[test]
fn ggs_emits_abandon_when_the_budget_is_used_up_regardless_of_other_signals() {
    for (subtasks, logical) in [(1, true), (1, false), (4, true), (4, false)] {
        let mut world = World::with(side_by_side(subtasks));
        world.wait(450);
        let last = u32::try_from(subtasks).unwrap() - 1;
        (0..last).for_each(|number| world.matches(number));
        if logical {
            world.fails_logically(last)
        } else {
            world.fails_environmentally(last)
        }
        assert_eq!(world.result().directive, Directive::Abandon, "{subtasks} {logical}");
    }
}

#[test]
fn ggs_emits_success_when_there_is_budget_and_d_is_within_delta_regardless_of_p_and_gradient() {
    for logical in [true, false] {
        for worse_before in [true, false] {
            let mut world = World::with(if worse_before { plan(&[&[]]) } else { side_by_side(2) });
            if !worse_before {
                world.matches(1);
            }
            world.fails_environmentally(0);
            world.replans(side_by_side(4));
            (1..4).for_each(|number| world.matches(number));
            if logical {
                world.fails_logically(0)
            } else {
                world.fails_environmentally(0)
            }
            assert_eq!(world.result().directive, Directive::Success, "{logical} {worse_before}");
        }
    }
}

#[test]
fn blocked_targets_accumulate_across_all_replan_rounds_of_the_same_task() {
    let mut world = World::with(plan(&[&[]]));
    let mut expected = Vec::new();
    for target in ["c", "a", "b"] {
        world.fails(0, READ, json!({ "path": target }), out_of_reach());
        expected.push(target.to_owned());
        expected.sort();
        assert_eq!(world.directed().blocked_targets, expected);
        world.replans(plan(&[&[]]));
    }
}

#[test]
fn ggs_is_the_sole_emitter_of_the_final_result_on_all_paths_and_its_directive_is_one_of_three() {
    let finals: Vec<_> = CONTRACT.iter().filter(|(_, _, kind)| *kind == "FinalResult").collect();
    assert_eq!(finals, [&(Role::Solver, Role::User, "FinalResult")]);
    let mut accepted = World::with(plan(&[&[]]));
    accepted.matches(0);
    let mut good_enough = World::with(side_by_side(4));
    (0..3).for_each(|number| good_enough.matches(number));
    good_enough.fails_logically(3);
    let mut abandoned = World::planning();
    abandoned.give(crate::task::Input::Cancelled { by: "the owner".into() });
    for (mut world, directive) in [(accepted, "accept"), (good_enough, "success"), (abandoned, "abandon")] {
        world.is_delivered();
        let [(from, to, body)] = world.said("FinalResult")[..] else { panic!("one result") };
        assert_eq!((from, to, &body["directive"]), (Role::Solver, Role::User, &json!(directive)));
    }
    for word in ["refine", "change_path", "change_approach", "break_symmetry", "replan"] {
        assert!(serde_json::from_value::<Directive>(json!(word)).is_err(), "{word}");
    }
}

#[test]
fn ggs_is_the_sole_writer_to_shared_memory() {
    let told: Vec<_> = CONTRACT.iter().filter(|(_, to, _)| *to == Role::Memory).collect();
    assert_eq!(
        told,
        [&(Role::Planner, Role::Memory, "Recall"), &(Role::Solver, Role::Memory, "Megram")],
        "asking is not writing"
    );
}

#[test]
fn one_megram_per_blocked_target_for_action_states() {
    let mut world = World::with(side_by_side(3));
    world.fails_environmentally(0);
    world.does(1, READ, json!({ "path": "a" }), out_of_reach());
    world.fails(1, READ, json!({ "path": "a" }), out_of_reach());
    world.fails_environmentally(2);
    let directive = world.directed();
    assert_eq!(directive.directive, Macro::ChangePath);
    let learnt: Vec<String> = world.learnt().into_iter().map(|(_, entity, _)| entity).collect();
    let mut blocked: Vec<String> =
        directive.blocked_targets.iter().map(|target| format!("path:{target}")).collect();
    blocked.sort();
    let mut found = learnt.clone();
    found.sort();
    assert_eq!(found, blocked);
}

/// Telling memory is a message of the step; nothing is opened for it, and nothing waits.
#[test]
fn megram_writes_are_fire_and_forget() {
    let mut world = World::with(plan(&[&[]]));
    world.fails_environmentally(0);
    let step = world.last();
    assert!(step.messages.iter().any(|message| message.kind == "Megram"));
    assert!(matches!(step.effects[..], [Effect::Recall(_)]), "what is next is asked for in the same step");
}

#[test]
fn memory_returns_structured_data_and_r2_gets_it_as_such() {
    let mut world = World::open();
    world.understands();
    let recalled = super::world::avoid(domain::recall::Tag::intent("count_files"));
    world.remembers(recalled.clone());
    let Want::Plan { recalled: told, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    assert_eq!(*told, recalled);
}

#[test]
fn prev_directive_is_init_in_the_first_round_and_the_last_one_after() {
    let mut world = World::with(plan(&[&[]]));
    world.fails_logically(0);
    assert_eq!(world.directed().prev_directive, INIT);
    world.replans(plan(&[&[]]));
    world.fails(0, GLOB, json!({ "pattern": "*" }), beside_the_point());
    assert_eq!(world.directed().prev_directive, "break_symmetry");
}

/// 0.38, 0.76, 0.96: worse by more than ε twice.
#[test]
fn law_2_two_consecutive_worsening_rounds_force_abandon() {
    let mut world = World::with(side_by_side(2));
    world.matches(0);
    world.fails_environmentally(1);
    world.replans(plan(&[&[]]));
    world.fails(0, READ, json!({ "path": "a" }), out_of_reach());
    assert_eq!(world.directed().directive, Macro::Refine);
    world.replans(plan(&[&[]]));
    world.fails(0, READ, json!({ "path": "b" }), beside_the_point());
    assert_eq!(world.ending().0, Directive::Abandon);
    let measured = world.result().measured.as_ref().expect("measured");
    super::world::assert_measured(&measured.loss, measured.grad_l, [1.0, 1.0, 0.6, 0.96, 0.2]);
    assert_eq!(world.unmet(), [criterion_text(0)]);
}
