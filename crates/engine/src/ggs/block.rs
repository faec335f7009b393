//! What the next plan must not use: tools where the approach is to blame, targets where the world is.

use std::collections::{BTreeMap, BTreeSet};

use super::Round;
use super::cascade::Trend;
use super::outcome::{Outcome, Status, ToolCall};

/// How hard the approach is changed: the sign of the gradient, applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    /// Neither better nor worse: the tools of what failed.
    Plain,
    /// It gets better: of them, those of subtasks with a criterion that failed in every attempt.
    Relaxed,
    /// It gets better, and there is no such subtask: all of them.
    NothingToRelax,
    /// It gets worse: all tools of their classes.
    Tightened,
}

impl Urgency {
    pub(super) fn of(trend: Trend, outcomes: &[Outcome]) -> Self {
        match trend {
            Trend::Level => Self::Plain,
            Trend::Worsening => Self::Tightened,
            Trend::Improving if failing(outcomes).any(never_worked) => Self::Relaxed,
            Trend::Improving => Self::NothingToRelax,
        }
    }
}

pub(super) fn tools(round: &Round<'_>, urgency: Urgency) -> Vec<String> {
    let failing = failing(round.outcomes);
    let blocked = match urgency {
        Urgency::Plain | Urgency::NothingToRelax => used(failing),
        Urgency::Relaxed => used(failing.filter(|outcome| never_worked(outcome))),
        Urgency::Tightened => with_their_classes(&used(failing), round),
    };
    blocked.into_iter().map(str::to_owned).collect()
}

fn failing(outcomes: &[Outcome]) -> impl Iterator<Item = &Outcome> {
    outcomes.iter().filter(|outcome| outcome.is_failing())
}

fn used<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> BTreeSet<&'a str> {
    outcomes.flat_map(|outcome| &outcome.tool_calls).map(|call| call.tool.as_str()).collect()
}

fn never_worked(outcome: &Outcome) -> bool {
    outcome.criteria.iter().any(|judged| judged.never_passed())
}

/// A class is what the registry says, and what the calls of this round say.
fn with_their_classes<'a>(tools: &BTreeSet<&'a str>, round: &Round<'a>) -> BTreeSet<&'a str> {
    let mut classes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (class, members) in round.classes {
        classes.entry(class).or_default().extend(members.iter().map(String::as_str));
    }
    for call in round.outcomes.iter().flat_map(|outcome| &outcome.tool_calls) {
        if let Some(class) = &call.class {
            classes.entry(class).or_default().insert(&call.tool);
        }
    }
    let hit = classes.into_values().filter(|members| !members.is_disjoint(tools));
    let widened: BTreeSet<&str> = hit.flatten().collect();
    &widened | tools
}

/// The calls that failed in what failed, as (tool, target), in order and without repeats. One that has no target is
/// left out: nothing could be avoided.
#[must_use]
pub fn failed_calls(outcomes: &[Outcome]) -> BTreeSet<(String, String)> {
    let failing = outcomes.iter().filter(|outcome| outcome.is_failing());
    let failed = failing
        .flat_map(|outcome| outcome.tool_calls.iter().filter(|call| call_failed(call, outcome.status)));
    failed.filter_map(|call| Some((call.tool.clone(), call.target.clone()?))).collect()
}

fn call_failed(call: &ToolCall, subtask: Status) -> bool {
    call.ok.map_or(subtask == Status::Failed, |ok| !ok)
}
