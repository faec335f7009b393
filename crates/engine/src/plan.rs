//! Whether a plan can be carried out at all. Ids are never the model's: a subtask is its place in the list.

use std::collections::HashSet;

use domain::limits::PLAN_SUBTASKS;
use domain::task::Plan;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPlan {
    #[error("the plan is empty")]
    Empty,
    #[error("the plan has {0} subtasks, more than {PLAN_SUBTASKS}")]
    TooLarge(usize),
    #[error("subtask {subtask} depends on {on}, which is not there")]
    UnknownDependency { subtask: u32, on: u32 },
    #[error("subtasks wait for each other: {0}")]
    Cycle(String),
    #[error("subtask {0} has no criterion: nobody could tell when it is done")]
    NoCriterion(u32),
    #[error("a criterion of subtask {0} only restates its intent")]
    Restates(u32),
}

/// # Errors
/// The first reason why this plan cannot be carried out.
pub fn validate(plan: &Plan) -> Result<(), BadPlan> {
    match plan.subtasks.len() {
        0 => return Err(BadPlan::Empty),
        n if n > PLAN_SUBTASKS => return Err(BadPlan::TooLarge(n)),
        _ => {}
    }
    for (subtask, node) in (0..).zip(&plan.subtasks) {
        if let Some(on) = node.waits_for().find(|&on| plan.subtasks.get(on as usize).is_none()) {
            return Err(BadPlan::UnknownDependency { subtask, on });
        }
        if node.success_criteria.is_empty() {
            return Err(BadPlan::NoCriterion(subtask));
        }
        let intent = folded(&node.intent.text);
        if node.success_criteria.iter().any(|criterion| folded(&criterion.text) == intent) {
            return Err(BadPlan::Restates(subtask));
        }
    }
    acyclic(plan)
}

/// The text without case, punctuation and blanks.
fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Takes away what depends on nothing that is left, until nothing is left. What stays is a cycle or waits for one.
fn acyclic(plan: &Plan) -> Result<(), BadPlan> {
    let mut left: HashSet<u32> = (0..).zip(&plan.subtasks).map(|(number, _)| number).collect();
    loop {
        let waits = |number: &u32| {
            plan.subtasks
                .get(*number as usize)
                .is_some_and(|node| node.waits_for().any(|on| left.contains(&on)))
        };
        let waiting: HashSet<u32> = left.iter().copied().filter(waits).collect();
        if waiting.is_empty() {
            return Ok(());
        }
        if waiting.len() == left.len() {
            return Err(BadPlan::Cycle(cycle(plan, &left)));
        }
        left = waiting;
    }
}

/// Names one cycle among subtasks that all wait for another one of them.
fn cycle(plan: &Plan, among: &HashSet<u32>) -> String {
    let next = |at: u32| {
        let node = plan.subtasks.get(at as usize);
        node.and_then(|node| node.waits_for().filter(|on| among.contains(on)).min())
    };
    let mut path: Vec<u32> = among.iter().min().copied().into_iter().collect();
    while let Some(on) = path.last().copied().and_then(next) {
        if let Some(start) = path.iter().position(|&seen| seen == on) {
            path.drain(..start);
            path.push(on);
            break;
        }
        path.push(on);
    }
    path.iter().map(u32::to_string).collect::<Vec<_>>().join(" needs ")
}

#[cfg(test)]
mod tests {
    use super::{BadPlan, validate};
    use domain::criterion::{Check, Criterion};
    use domain::source::Text;
    use domain::task::{Plan, Subtask};

    fn subtask(depends_on: &[u32], criteria: &[&str]) -> Subtask {
        let check = Check::NotEmpty { pointer: "/x".into() };
        Subtask {
            intent: Text::model("Count the files."),
            context: Vec::new(),
            success_criteria: criteria.iter().map(|text| Criterion::checked(*text, check.clone())).collect(),
            depends_on: depends_on.to_vec(),
            after: Vec::new(),
        }
    }

    fn plan(edges: &[&[u32]]) -> Plan {
        Plan { subtasks: edges.iter().map(|on| subtask(on, &["the number is known"])).collect() }
    }

    fn after(edges: &[&[u32]]) -> Plan {
        let subtask = |on: &&[u32]| Subtask { after: on.to_vec(), ..subtask(&[], &["the number is known"]) };
        Plan { subtasks: edges.iter().map(subtask).collect() }
    }

    /// ari's example, by its text: 5 needs 3 and 4, 4 needs 2, 2 needs 1; 3 is independent (here from 0).
    #[test]
    fn aris_dag_is_a_plan() {
        assert_eq!(validate(&plan(&[&[], &[0], &[], &[1], &[2, 3]])), Ok(()));
    }

    #[test]
    fn what_cannot_be_carried_out_is_refused_with_the_reason() {
        let cycle = |names: &str| Err(BadPlan::Cycle(names.into()));
        let table = [
            (plan(&[]), Err(BadPlan::Empty)),
            (plan(&[&[][..]; 501]), Err(BadPlan::TooLarge(501))),
            (plan(&[&[1]]), Err(BadPlan::UnknownDependency { subtask: 0, on: 1 })),
            (plan(&[&[0]]), cycle("0 needs 0")),
            (plan(&[&[], &[3], &[1], &[2]]), cycle("1 needs 3 needs 2 needs 1")),
            (plan(&[&[1], &[2], &[1]]), cycle("1 needs 2 needs 1")),
            (after(&[&[], &[0], &[1]]), Ok(())),
            (after(&[&[1]]), Err(BadPlan::UnknownDependency { subtask: 0, on: 1 })),
            (after(&[&[1], &[0]]), cycle("0 needs 1 needs 0")),
            (Plan { subtasks: vec![subtask(&[], &[])] }, Err(BadPlan::NoCriterion(0))),
            (Plan { subtasks: vec![subtask(&[], &["count the FILES"])] }, Err(BadPlan::Restates(0))),
        ];
        for (plan, expected) in table {
            assert_eq!(
                validate(&plan),
                expected,
                "{:?}",
                plan.subtasks.iter().map(|s| &s.depends_on).collect::<Vec<_>>()
            );
        }
    }
}
