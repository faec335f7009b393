//! A task that knows one way only: never corrected, never replanned. A reflex, or a call by the owner's own hand.

use domain::ask::{Action, Perception, Want};
use domain::call::{Call, Chooser, Failure, FailureClass, Outcome};
use domain::criterion::{Check, Criterion};
use domain::id::{EntityId, OriginId, ReasonId, TaskId, VpolId};
use domain::principal::Principal;
use domain::source::{Source, Text};
use domain::task::{Cause, Constraints, Directive, FinalResult, Plan, Status, Subtask, TaskSpec};
use domain::{Tags, Time, Trust};
use serde_json::json;

use crate::task::{Effect, Input, Opening, Role, Ruling, Step, Task, Unexpected};

const NOW: Time = Time::from_micros(0);

fn opening() -> Opening {
    Opening {
        task: TaskId::from_bits(1),
        agent: "main".into(),
        tags: Tags {
            origin: OriginId::from_bits(1),
            reason: ReasonId::from_bits(2),
            vpol: VpolId::from_bits(3),
        },
        principal: Principal::Owner { entity: EntityId::from_bits(4) },
        trust: Trust::Operator,
        tools: vec!["*".into()],
        request: Text::new("count the files", Source::Owner),
        workspace: "/somewhere".into(),
        steering: None,
        cards: Vec::new(),
        history: Vec::new(),
        assessment: None,
    }
}

fn spec() -> TaskSpec {
    TaskSpec {
        task_class: "count_files".into(),
        intent: Text::model("count the files"),
        constraints: Constraints::default(),
        raw_input: opening().request,
    }
}

fn subtask(depends_on: &[u32]) -> Subtask {
    let criterion = Criterion::checked("the number is known", Check::NotEmpty { pointer: "/count".into() });
    Subtask { depends_on: depends_on.to_vec(), ..Subtask::new(Text::model("count"), vec![criterion]) }
}

/// A machine with a journal, driven by hand.
struct Run {
    task: Task,
    journal: Vec<Step>,
}

impl Run {
    fn new() -> Self {
        let (task, step) = Task::open(opening(), NOW);
        Self { task, journal: vec![step] }
    }

    fn planned(edges: &[&[u32]]) -> Self {
        let mut run = Self::new();
        run.give(Input::Perceived(Perception::Task(Box::new(spec()))));
        run.give(Input::Planned(Plan::of(edges.iter().map(|on| subtask(on)).collect())));
        run
    }

    fn give(&mut self, input: Input) -> Vec<Effect> {
        let step = self.task.handle(input, NOW).expect("expected");
        self.journal.push(step);
        self.journal.last().map(|step| step.effects.clone()).unwrap_or_default()
    }

    fn act(&mut self, subtask: u32) -> Call {
        let action =
            Action::Call { tool: "find_files".parse().unwrap(), args: json!({}), chosen_by: Chooser::Rule };
        match self.give(Input::Acted { subtask, action }).as_slice() {
            [Effect::Call(call)] => call.clone(),
            other => panic!("one call, not {other:?}"),
        }
    }

    /// One subtask from its first move to its claim.
    fn work(&mut self, subtask: u32, outcome: Outcome) -> Vec<Effect> {
        let call = self.act(subtask);
        self.give(Input::Ruled { call: call.id, ruling: Ruling::Execute });
        self.give(Input::Returned { call: call.id, outcome });
        self.give(Input::Acted { subtask, action: Action::done(format!("out {subtask}")) })
    }

    fn delivery(effects: &[Effect]) -> Call {
        match effects {
            [Effect::Call(call)] if call.tool.as_str() == "deliver" => call.clone(),
            other => panic!("a delivery, not {other:?}"),
        }
    }

    fn result(&self) -> &FinalResult {
        self.task.result().expect("a result")
    }

    /// Which subtasks are asked to act next.
    fn acting(effects: &[Effect]) -> Vec<u32> {
        effects.iter().filter_map(|effect| asked_to_act(effect).map(|(number, _)| number)).collect()
    }
}

fn asked_to_act(effect: &Effect) -> Option<(u32, &Subtask)> {
    let Effect::Ask(ask) = effect else { return None };
    if let Want::Act { number, subtask, .. } = &ask.want { Some((*number, subtask)) } else { None }
}

#[test]
fn a_task_goes_from_request_to_delivery() {
    let mut run = Run::planned(&[&[]]);
    let effects = run.work(0, Ok(json!({ "count": 3 })));
    assert_eq!(run.task.status(), Status::Running, "not over before it is delivered");
    let delivery = Run::delivery(&effects);
    run.give(Input::Ruled { call: delivery.id, ruling: Ruling::Execute });
    run.give(Input::Returned { call: delivery.id, outcome: Ok(json!({})) });
    assert_eq!(run.task.status(), Status::Done);
    assert_eq!((run.result().directive, run.result().text.as_str()), (Directive::Accept, "out 0"));
}

/// The messages are the contract between the roles; nobody else speaks.
#[test]
fn the_roles_speak_in_order() {
    let mut run = Run::planned(&[&[]]);
    let effects = run.work(0, Ok(json!({ "count": 3 })));
    let delivery = Run::delivery(&effects);
    run.give(Input::Returned { call: delivery.id, outcome: Ok(json!({})) });
    let said: Vec<_> =
        run.journal.iter().flat_map(|step| &step.messages).map(|m| (m.from, m.to, m.kind.as_str())).collect();
    assert_eq!(
        said,
        [
            (Role::Perceiver, Role::Planner, "TaskSpec"),
            (Role::Planner, Role::MetaValidator, "DispatchManifest"),
            (Role::Planner, Role::Executor, "SubTask"),
            (Role::Executor, Role::Validator, "ExecutionResult"),
            (Role::Validator, Role::MetaValidator, "SubTaskOutcome"),
            (Role::MetaValidator, Role::Solver, "OutcomeSummary"),
            (Role::Solver, Role::Memory, "Megram"),
            (Role::Solver, Role::User, "FinalResult"),
        ]
    );
}

#[test]
fn folding_the_journal_gives_the_same_task_and_the_same_steps() {
    let mut run = Run::planned(&[&[], &[0]]);
    run.work(0, Ok(json!({ "count": 3 })));
    let inputs: Vec<_> = run.journal.iter().map(|step| (step.input.clone(), step.at)).collect();
    let folded = Task::fold(inputs.clone()).expect("fold");
    assert_eq!(folded.steps(), run.task.steps());
    assert!(folded.pending().eq(run.task.pending()));
    let (mut task, first) = Task::open(opening(), NOW);
    let again: Vec<Step> = std::iter::once(first)
        .chain(inputs.into_iter().skip(1).map(|(input, at)| task.handle(input, at).unwrap()))
        .collect();
    assert_eq!(again, run.journal);
}

#[test]
fn whoever_takes_over_starts_what_was_open_and_nothing_else() {
    let mut run = Run::planned(&[&[], &[]]);
    run.work(0, Ok(json!({ "count": 1 })));
    let call = run.act(1);
    run.give(Input::Ruled { call: call.id, ruling: Ruling::Execute });
    assert_eq!(run.give(Input::TakenOver), [Effect::Call(call)], "the same call under the same id");
}

#[test]
fn independent_subtasks_start_together_and_dependents_wait() {
    let mut run = Run::planned(&[&[], &[0], &[]]);
    assert_eq!(Run::acting(&run.journal.last().unwrap().effects), [0, 2]);
    let effects = run.work(0, Ok(json!({ "count": 1 })));
    let [(1, subtask)] = effects.iter().filter_map(asked_to_act).collect::<Vec<_>>()[..] else {
        panic!("{effects:?}")
    };
    let [handed_on] = subtask.context.as_slice() else { panic!("{:?}", subtask.context) };
    assert_eq!(handed_on.text, "out 0");
    assert!(matches!(handed_on.source, Source::Tool { .. }), "a tool's result stays a tool's result");
}

#[test]
fn dependents_of_a_failed_subtask_are_skipped_and_the_task_is_stopped() {
    let mut run = Run::planned(&[&[], &[0], &[1]]);
    let effects = run.work(0, Err(Failure::environmental("no such folder")));
    Run::delivery(&effects);
    let result = run.result();
    assert_eq!((result.directive, result.cause), (Directive::Abandon, Some(Cause::Failed)));
    assert_eq!((result.text.as_str(), result.reason.as_deref()), ("", Some("no such folder")));
    assert_eq!(result.verdicts[0].failure_class, Some(FailureClass::Environmental));
}

/// Field lesson: a validator that does not believe a fabricated success.
#[test]
fn a_claim_over_a_failed_call_is_not_believed() {
    let mut run = Run::planned(&[&[]]);
    run.work(0, Err(Failure::logical("nothing happened")));
    assert_eq!(run.result().directive, Directive::Abandon);
}

#[test]
fn a_claim_without_evidence_is_not_believed() {
    let mut run = Run::planned(&[&[]]);
    run.give(Input::Acted { subtask: 0, action: Action::done("42 files, trust me") });
    assert_eq!(run.result().directive, Directive::Abandon);
}

#[test]
fn a_refused_call_ends_its_subtask_with_the_reason() {
    let mut run = Run::planned(&[&[]]);
    let call = run.act(0);
    let effects =
        run.give(Input::Ruled { call: call.id, ruling: Ruling::Refused { why: "not allowed".into() } });
    Run::delivery(&effects);
    assert_eq!(
        (run.result().cause, run.result().reason.as_deref()),
        (Some(Cause::Refused), Some("not allowed"))
    );
}

#[test]
fn a_refused_delivery_ends_the_task_stopped_never_done() {
    let mut run = Run::planned(&[&[]]);
    let effects = run.work(0, Ok(json!({ "count": 1 })));
    let delivery = Run::delivery(&effects);
    run.give(Input::Ruled { call: delivery.id, ruling: Ruling::Refused { why: "no".into() } });
    assert_eq!(run.task.pending().count(), 0);
    assert_eq!(run.task.status(), Status::Stopped);
}

#[test]
fn what_is_not_understood_and_what_cannot_be_planned_is_said_so() {
    let mut run = Run::new();
    run.give(Input::Perceived(Perception::Beyond { why: "the word `fly`".into() }));
    assert_eq!(run.result().cause, Some(Cause::NeedsModel));

    let run = Run::planned(&[&[0]]);
    assert_eq!(run.result().cause, Some(Cause::Unplannable));
    assert_eq!(run.result().reason.as_deref(), Some("subtasks wait for each other: 0 needs 0"));
}

#[test]
fn an_attempt_has_ten_moves() {
    let mut run = Run::planned(&[&[]]);
    for n in 0..10 {
        let call = run.act(0);
        run.give(Input::Returned { call: call.id, outcome: Ok(json!(n)) });
    }
    assert_eq!(run.result().reason.as_deref(), Some("no result after 10 moves"));
}

/// The whole run, not only the subtask; what comes back later changes nothing.
#[test]
fn a_circle_ends_the_run_while_others_are_still_at_work() {
    let mut run = Run::planned(&[&[], &[]]);
    let other = run.act(1);
    for _ in 0..3 {
        let call = run.act(0);
        run.give(Input::Returned { call: call.id, outcome: Ok(json!("again")) });
    }
    assert_eq!((run.result().directive, run.result().cause), (Directive::Abandon, Some(Cause::Loop)));
    let before = run.result().clone();
    run.give(Input::Returned { call: other.id, outcome: Ok(json!("late")) });
    assert_eq!(*run.result(), before);
}

#[test]
fn a_denial_is_evidence_and_the_attempt_goes_on() {
    let mut run = Run::planned(&[&[]]);
    let call = run.act(0);
    let ruling =
        Ruling::Denied { why: "not that".into(), instead: vec!["this".into()], violated: Vec::new() };
    let effects = run.give(Input::Ruled { call: call.id, ruling });
    let [Effect::Ask(ask)] = effects.as_slice() else { panic!("{effects:?}") };
    let Want::Act { evidence, .. } = &ask.want else { panic!("{ask:?}") };
    let told = evidence.last().unwrap().outcome.clone();
    assert_eq!(told, Err(Failure::refused("not that", vec!["this".into()])));
    // If it gives up then, authority is what it failed for.
    run.give(Input::Acted { subtask: 0, action: Action::done("no") });
    assert_eq!(
        (run.result().cause, run.result().reason.as_deref()),
        (Some(Cause::Refused), Some("not that; this"))
    );
}

#[test]
fn a_budget_that_is_used_up_ends_the_run() {
    let mut run = Run::planned(&[&[]]);
    let call = run.act(0);
    run.give(Input::Ruled { call: call.id, ruling: Ruling::Exhausted { why: "enough".into() } });
    assert_eq!(
        (run.result().cause, run.result().reason.as_deref()),
        (Some(Cause::Exhausted), Some("enough"))
    );
}

#[test]
fn an_input_that_nobody_asked_for_changes_nothing() {
    let mut run = Run::planned(&[&[]]);
    let call = run.act(0);
    let stray = [
        Input::Opened(opening()),
        Input::Planned(Plan::of(vec![])),
        Input::Acted { subtask: 0, action: Action::done("") },
        Input::Acted { subtask: 9, action: Action::done("") },
        Input::Returned { call: domain::id::CallId::from_bits(9), outcome: Ok(json!({})) },
    ];
    for input in stray {
        let name = input.name();
        assert_eq!(run.task.handle(input, NOW), Err(Unexpected::NobodyAsked(name)));
    }
    assert!(run.task.pending().eq([&Effect::Call(call)]));
}

#[test]
fn every_call_carries_the_trinity_and_hangs_under_the_plan() {
    let mut run = Run::planned(&[&[]]);
    let call = run.act(0);
    assert_eq!((call.tags.origin, call.tags.vpol), (opening().tags.origin, opening().tags.vpol));
    let reasons: Vec<_> = run.journal.iter().flat_map(|step| &step.reasons).collect();
    let [plan, action] = reasons.as_slice() else { panic!("{reasons:?}") };
    assert_eq!((plan.parent, action.parent), (Some(opening().tags.reason), Some(plan.id)));
    assert_eq!(call.tags.reason, action.id);
}

#[test]
fn what_comes_after_waits_until_the_one_before_is_over_whatever_it_came_to() {
    let mut run = Run::new();
    run.give(Input::Perceived(Perception::Task(Box::new(spec()))));
    let after = |numbers: &[u32]| Subtask { after: numbers.to_vec(), ..subtask(&[]) };
    let effects = run.give(Input::Planned(Plan::of(vec![after(&[]), after(&[0]), after(&[1])])));
    assert_eq!(Run::acting(&effects), [0]);
    let effects = run.work(0, Err(Failure::environmental("the disk is full")));
    assert_eq!(Run::acting(&effects), [1]);
    let effects = run.work(1, Ok(json!({ "count": 3 })));
    assert_eq!(Run::acting(&effects), [2]);
    run.work(2, Ok(json!({ "count": 3 })));
    assert!(run.task.result().is_some());
}
