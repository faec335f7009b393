//! Whether a plan can be carried out at all. Ids are never the model's: a subtask is its place in the list.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use domain::criterion::Criterion;
use domain::limits::PLAN_SUBTASKS;
use domain::task::{MustNot, Plan};

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
    #[error("a criterion of the task only restates the request")]
    RestatesTask,
    #[error(
        "the check of \"{0}\" holds although nothing is done: name what a call has to show, or leave the check out"
    )]
    ProvesNothing(String),
    #[error("subtask {subtask}: {why}")]
    Forbidden { subtask: u32, why: String },
}

/// A plan that gives groups and no dependencies, as a DAG: every subtask depends on the whole group before its own.
#[must_use]
pub fn arranged(mut plan: Plan) -> Plan {
    let is_grouped = plan.subtasks.iter().any(|subtask| subtask.sequence.is_some());
    if !is_grouped || plan.subtasks.iter().any(|subtask| subtask.waits_for().next().is_some()) {
        return plan;
    }
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (number, subtask) in (0..).zip(&plan.subtasks) {
        groups.entry(subtask.sequence.unwrap_or_default()).or_default().push(number);
    }
    let mut before: &[u32] = &[];
    for members in groups.values() {
        for number in members {
            if let Some(subtask) = plan.subtasks.get_mut(*number as usize) {
                subtask.depends_on = before.to_vec();
            }
        }
        before = members;
    }
    plan
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
        if restates(&node.success_criteria, &node.intent.text) {
            return Err(BadPlan::Restates(subtask));
        }
    }
    let criteria = plan.subtasks.iter().flat_map(|node| &node.success_criteria).chain(&plan.task_criteria);
    let proves_nothing =
        |criterion: &&Criterion| criterion.check.as_ref().is_some_and(|check| !check.wants_something());
    if let Some(criterion) = criteria.into_iter().find(proves_nothing) {
        return Err(BadPlan::ProvesNothing(criterion.text.clone()));
    }
    acyclic(plan)
}

/// # Errors
/// The first thing that the plan names and must not.
pub fn abides(plan: &Plan, must_not: &MustNot) -> Result<(), BadPlan> {
    for (subtask, node) in (0..).zip(&plan.subtasks) {
        let forbidden = node
            .tool_hints
            .iter()
            .find_map(|hint| must_not.forbids(hint.tool.as_str(), hint.target.as_deref()));
        if let Some(why) = forbidden {
            return Err(BadPlan::Forbidden { subtask, why });
        }
    }
    Ok(())
}

/// Whether one of them says no more than what is wanted.
pub(crate) fn restates(criteria: &[Criterion], intent: &str) -> bool {
    let intent = folded(intent);
    criteria.iter().any(|criterion| folded(&criterion.text) == intent)
}

/// The text without case, punctuation and blanks.
fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Who waits for whom, from both sides, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edges {
    /// For how many each subtask still waits.
    pub(crate) waits: Vec<usize>,
    /// Who waits for each subtask.
    pub(crate) dependents: Vec<Vec<u32>>,
}

impl Edges {
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut edges =
            Self { waits: Vec::new(), dependents: plan.subtasks.iter().map(|_| Vec::new()).collect() };
        for (number, node) in (0..).zip(&plan.subtasks) {
            let on: BTreeSet<u32> = node.waits_for().collect();
            edges.waits.push(on.len());
            for on in on {
                if let Some(dependents) = edges.dependents.get_mut(on as usize) {
                    dependents.push(number);
                }
            }
        }
        edges
    }
}

/// Takes away what waits for nothing that is left, until nothing is left. What stays is a cycle or waits for one.
fn acyclic(plan: &Plan) -> Result<(), BadPlan> {
    let Edges { mut waits, dependents } = Edges::of(plan);
    let mut free: VecDeque<usize> =
        waits.iter().enumerate().filter(|(_, waits)| **waits == 0).map(|(number, _)| number).collect();
    let mut left = waits.len();
    while let Some(number) = free.pop_front() {
        left -= 1;
        for dependent in dependents.get(number).into_iter().flatten().map(|dependent| *dependent as usize) {
            if let Some(waits) = waits.get_mut(dependent) {
                *waits -= 1;
                if *waits == 0 {
                    free.push_back(dependent);
                }
            }
        }
    }
    if left == 0 {
        return Ok(());
    }
    let stuck = (0..).zip(&waits).filter(|(_, waits)| **waits > 0).map(|(number, _)| number);
    Err(BadPlan::Cycle(cycle(plan, &stuck.collect())))
}

/// Names one cycle among subtasks that all wait for another one of them.
fn cycle(plan: &Plan, among: &BTreeSet<u32>) -> String {
    let next = |at: u32| {
        let node = plan.subtasks.get(at as usize);
        node.and_then(|node| node.waits_for().filter(|on| among.contains(on)).min())
    };
    let mut path: Vec<u32> = among.first().copied().into_iter().collect();
    let mut place: BTreeMap<u32, usize> = path.iter().map(|first| (*first, 0)).collect();
    while let Some(on) = path.last().copied().and_then(next) {
        if let Some(start) = place.get(&on) {
            path.drain(..*start);
            path.push(on);
            break;
        }
        place.insert(on, path.len());
        path.push(on);
    }
    path.iter().map(u32::to_string).collect::<Vec<_>>().join(" needs ")
}

#[cfg(test)]
mod tests {
    use super::{BadPlan, abides, arranged, validate};
    use domain::criterion::{Check, Criterion};
    use domain::recall::Tag;
    use domain::source::Text;
    use domain::task::{Hint, MustNot, Plan, Subtask};

    fn subtask(depends_on: &[u32], criteria: &[&str]) -> Subtask {
        let check = Check::NotEmpty { pointer: "/x".into() };
        let criteria = criteria.iter().map(|text| Criterion::checked(*text, check.clone())).collect();
        let subtask = Subtask::new(Text::model("Count the files."), criteria);
        Subtask { depends_on: depends_on.to_vec(), ..subtask }
    }

    fn plan(edges: &[&[u32]]) -> Plan {
        Plan::of(edges.iter().map(|on| subtask(on, &["the number is known"])).collect())
    }

    fn after(edges: &[&[u32]]) -> Plan {
        let subtask = |on: &&[u32]| Subtask { after: on.to_vec(), ..subtask(&[], &["the number is known"]) };
        Plan::of(edges.iter().map(subtask).collect())
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
            (Plan::of(vec![subtask(&[], &[])]), Err(BadPlan::NoCriterion(0))),
            (Plan::of(vec![subtask(&[], &["count the FILES"])]), Err(BadPlan::Restates(0))),
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

    /// "a plan that only gives `sequence` numbers is turned into one": every subtask depends on the whole previous group.
    #[test]
    fn groups_become_a_dag_and_dependencies_win_over_them() {
        let grouped = |groups: &[u32]| {
            let subtask =
                |group: &u32| Subtask { sequence: Some(*group), ..subtask(&[], &["the number is known"]) };
            Plan::of(groups.iter().map(subtask).collect())
        };
        let edges = |plan: Plan| plan.subtasks.into_iter().map(|s| s.depends_on).collect::<Vec<_>>();
        assert_eq!(
            edges(arranged(grouped(&[1, 1, 2, 5, 5]))),
            [vec![], vec![], vec![0, 1], vec![2], vec![2]]
        );
        assert_eq!(edges(arranged(grouped(&[2, 1]))), [vec![1], vec![]]);
        assert_eq!(edges(arranged(grouped(&[]))), Vec::<Vec<u32>>::new());
        let mut both = grouped(&[1, 2]);
        both.subtasks[0].depends_on = vec![1];
        assert_eq!(edges(arranged(both)), [vec![1], vec![]]);
        assert_eq!(edges(arranged(plan(&[&[], &[0]]))), [vec![], vec![0]]);
    }

    /// "R2 plan cannot reuse a tool in `blocked_tools` from PlanDirective", nor a target, nor what memory avoids.
    #[test]
    fn a_plan_that_names_what_it_must_not_use_is_refused() {
        let naming = |tool: &str, target: Option<&str>| {
            let hint = Hint { tool: tool.parse().unwrap(), target: target.map(Into::into) };
            Plan::of(vec![Subtask { tool_hints: vec![hint], ..subtask(&[], &["the number is known"]) }])
        };
        let must_not = MustNot {
            tools: ["glob".into()].into(),
            targets: ["docs".into()].into(),
            avoided: [Tag::tool("hash", "a.md")].into(),
        };
        let table = [
            (naming("glob", None), false),
            (naming("find_files", Some("docs")), false),
            (naming("hash", Some("a.md")), false),
            (naming("hash", Some("b.md")), true),
            (naming("find_files", None), true),
        ];
        for (plan, abiding) in table {
            assert_eq!(abides(&plan, &must_not).is_ok(), abiding, "{:?}", plan.subtasks[0].tool_hints);
        }
    }
}
