//! What a test says: tools, plans, criteria, what comes back.

use domain::ask::{Judgement, Opinion};
use domain::call::{Failure, FailureClass, Outcome, ToolCard};
use domain::criterion::{Check, Criterion, Mode};
use domain::gradient::{Loss, Params};
use domain::id::{EntityId, OriginId, ReasonId, TaskId, VpolId};
use domain::principal::Principal;
use domain::recall::{Inclination, Potentials, Recalled, Remembered, Tag};
use domain::source::{Source, Text};
use domain::task::{Constraints, Hint, Plan, Subtask, TaskSpec};
use domain::{Tags, Tier, Trust};
use serde_json::{Value, json};

use crate::task::Opening;

pub(in crate::task::tests) const FIND: &str = "find_files";
pub(in crate::task::tests) const GLOB: &str = "glob";
pub(in crate::task::tests) const READ: &str = "read_file";
pub(in crate::task::tests) const WRITE: &str = "write_file";
pub(in crate::task::tests) const DELETE: &str = "delete_file";

const DATA: &str = "data";
const OPERATIONS: &str = "operations";

pub(in crate::task::tests) fn cards() -> Vec<ToolCard> {
    let card = |id: &str, class: &str, tier, target: &str| ToolCard {
        id: id.parse().unwrap(),
        class: class.into(),
        tier,
        target: Some(target.into()),
    };
    vec![
        card(FIND, DATA, Tier::ReadOnly, "under"),
        card(GLOB, DATA, Tier::ReadOnly, "pattern"),
        card(READ, DATA, Tier::ReadOnly, "path"),
        card(WRITE, OPERATIONS, Tier::WriteSafe, "path"),
        card(DELETE, OPERATIONS, Tier::WriteDestructive, "path"),
    ]
}

pub(in crate::task::tests) fn opening() -> Opening {
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
        request: Text::new("How many files are there?", Source::Owner),
        workspace: "/somewhere".into(),
        steering: Some(Params::default()),
        cards: cards(),
        history: Vec::new(),
        assessment: None,
    }
}

pub(in crate::task::tests) fn spec() -> TaskSpec {
    TaskSpec {
        task_class: "count_files".into(),
        intent: Text::model("count the files"),
        constraints: Constraints::default(),
        raw_input: opening().request,
    }
}

/// What a subtask has to show, by its number: that its last call counted something.
pub(in crate::task::tests) fn criterion(number: u32) -> Criterion {
    Criterion::checked(criterion_text(number), Check::NotEmpty { pointer: "/count".into() })
}

pub(in crate::task::tests) fn criterion_text(number: u32) -> String {
    format!("number {number} is known")
}

/// What only a judge can say.
pub(in crate::task::tests) fn plausible(text: &str) -> Criterion {
    Criterion { text: text.into(), mode: Mode::Plausible, check: None }
}

pub(in crate::task::tests) fn subtask(number: u32, depends_on: &[u32]) -> Subtask {
    let subtask = Subtask::new(Text::model(format!("count {number}")), vec![criterion(number)]);
    Subtask { depends_on: depends_on.to_vec(), ..subtask }
}

/// One subtask for each list of what it depends on.
pub(in crate::task::tests) fn plan(edges: &[&[u32]]) -> Plan {
    Plan::of((0..).zip(edges).map(|(number, on)| subtask(number, on)).collect())
}

/// So many subtasks that need nothing of each other.
pub(in crate::task::tests) fn side_by_side(n: usize) -> Plan {
    plan(&vec![&[][..]; n])
}

/// One subtask with these criteria.
pub(in crate::task::tests) fn wanting(criteria: Vec<Criterion>) -> Plan {
    Plan::of(vec![Subtask { success_criteria: criteria, ..subtask(0, &[]) }])
}

/// One subtask that names a tool.
pub(in crate::task::tests) fn naming(tool: &str, target: Option<&str>) -> Plan {
    let hint = Hint { tool: tool.parse().unwrap(), target: target.map(Into::into) };
    Plan::of(vec![Subtask { tool_hints: vec![hint], ..subtask(0, &[]) }])
}

/// What memory says of a tool on a target: stay away.
pub(in crate::task::tests) fn avoid(tag: Tag) -> Recalled {
    let potentials = Potentials { attention: 1.0, decision: -1.0, action: Inclination::Avoid };
    Recalled { about: vec![Remembered { tag, sops: Vec::new(), recent: Vec::new(), potentials }] }
}

pub(in crate::task::tests) fn counted() -> Outcome {
    Ok(json!({ "count": 3 }))
}

/// It ran, and did not give what is wanted: the approach is to blame.
pub(in crate::task::tests) fn beside_the_point() -> Outcome {
    Ok(json!({}))
}

/// The world is to blame.
pub(in crate::task::tests) fn out_of_reach() -> Outcome {
    Err(Failure::environmental("no such folder"))
}

pub(in crate::task::tests) fn judgement(verdict: Opinion, evidence: &str) -> Judgement {
    Judgement { verdict, failure_class: None, evidence: evidence.into() }
}

/// D, P, Ω, L, ∇L to twelve digits.
#[track_caller]
pub(in crate::task::tests) fn assert_measured(loss: &Loss, grad_l: f64, expected: [f64; 5]) {
    let found = [loss.d, loss.p, loss.omega, loss.l, grad_l];
    let close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
    assert!(close, "D, P, Ω, L, ∇L are {found:?}, not {expected:?}");
}

/// The class of the only failure that the last round has.
pub(in crate::task::tests) fn class_of(outcome: &Value) -> Option<FailureClass> {
    serde_json::from_value(outcome["criteria_verdicts"][0]["failure_class"].clone()).expect("a class or none")
}
