//! What a round did not meet, one entry each. Everything that is measured of failures is measured of these.

use domain::gradient::Blame;

use super::outcome::{Class, Outcome, Status};

#[derive(Clone, Copy, Debug)]
pub(super) struct Unmet<'a> {
    pub(super) subtask: &'a str,
    /// The criterion; none where the subtask failed and no criterion says so.
    pub(super) criterion: Option<&'a str>,
    pub(super) weight: f64,
    pub(super) class: Option<Class>,
    /// What was skipped was not.
    pub(super) tried: bool,
}

pub(super) fn unmet(outcomes: &[Outcome]) -> Vec<Unmet<'_>> {
    let mut found = Vec::new();
    for outcome in outcomes {
        let subtask = outcome.subtask.as_str();
        if outcome.status == Status::Skipped {
            // Nobody looked, whatever its verdicts say: all of it is missing, and nothing is to blame for it.
            found.extend(outcome.criteria.iter().map(|judged| Unmet {
                subtask,
                criterion: Some(&judged.text),
                weight: 1.0,
                class: None,
                tried: false,
            }));
            continue;
        }
        let before = found.len();
        found.extend(outcome.failed().map(|judged| Unmet {
            subtask,
            criterion: Some(&judged.text),
            weight: judged.weight(),
            class: judged.failure_class,
            tried: true,
        }));
        if outcome.status == Status::Failed && found.len() == before {
            found.push(Unmet { subtask, criterion: None, weight: 1.0, class: None, tried: true });
        }
    }
    found
}

/// How many of them are logical, and how many environmental.
pub(super) fn classes(unmet: &[Unmet<'_>]) -> (u32, u32) {
    let classes = unmet.iter().filter_map(|unmet| unmet.class);
    classes.fold((0, 0), |(logical, environmental), class| match class {
        Class::Logical => (logical + 1, environmental),
        Class::Environmental => (logical, environmental + 1),
    })
}

/// Where nothing has a class, P is 0 and the cascade looks for another target: it blames the world, and so does this.
pub(super) fn blame(unmet: &[Unmet<'_>]) -> Blame {
    match classes(unmet) {
        (0, _) => Blame::Environmental,
        (_, 0) => Blame::Logical,
        _ => Blame::Mixed,
    }
}

/// The one that counts most, in words; empty where there is none. What was tried comes before what was skipped; then it
/// goes by the names, so that the order of the outcomes does not matter.
pub(super) fn weightiest(unmet: &[Unmet<'_>]) -> String {
    let first = unmet.iter().min_by(|a, b| {
        let rank = b.tried.cmp(&a.tried).then_with(|| b.weight.total_cmp(&a.weight));
        rank.then_with(|| (a.subtask, a.criterion).cmp(&(b.subtask, b.criterion)))
    });
    first.map_or_else(String::new, |unmet| match unmet.criterion {
        Some(text) => text.to_owned(),
        None => format!("subtask `{}` succeeds", unmet.subtask),
    })
}
