//! D, P, Ω and L of one round.

use domain::gradient::{Loss, Params};

use super::Round;
use super::unmet::{Unmet, classes};

/// The round in numbers, apart from what came before.
pub(super) fn measure(params: &Params, round: &Round<'_>, unmet: &[Unmet<'_>], replans: u32) -> Loss {
    let criteria = round.outcomes.iter().map(|outcome| outcome.criteria.len()).sum();
    let (d, p) = (distance(criteria, unmet), implausibility(unmet));
    let omega = pressure(params, replans, round.elapsed_ms);
    let l = gap(params, d, p, omega) + params.lambda * omega;
    Loss { d, p, omega, l }
}

/// L without what the budget adds to it. The less budget is left, the less the approach counts.
pub(super) fn gap(params: &Params, d: f64, p: f64, omega: f64) -> f64 {
    params.alpha * d + params.beta * (1.0 - omega) * p
}

/// D: failures, weighed, over criteria. A subtask that failed without a criterion is one more; none at all give 0.
#[expect(clippy::cast_precision_loss, reason = "a line of 1 MiB has no 2⁵³ criteria")]
fn distance(criteria: usize, unmet: &[Unmet<'_>]) -> f64 {
    let all = criteria + unmet.iter().filter(|unmet| unmet.criterion.is_none()).count();
    let mut weights: Vec<f64> = unmet.iter().map(|unmet| unmet.weight).collect();
    // INVARIANT (order): added in order of size, the sum is the same to the bit, however the outcomes are listed.
    weights.sort_by(f64::total_cmp);
    // From 0 on: the sum of nothing would be −0.
    let failed = weights.iter().fold(0.0, |sum, weight| sum + weight);
    if all == 0 { 0.0 } else { failed / all as f64 }
}

/// P: the share of the approach in what failed; where nothing has a class, 0.
fn implausibility(unmet: &[Unmet<'_>]) -> f64 {
    let (logical, environmental) = classes(unmet);
    let classified = logical + environmental;
    if classified == 0 { 0.0 } else { f64::from(logical) / f64::from(classified) }
}

/// Ω: how much of the budget is used, in replans and in time.
#[expect(clippy::cast_precision_loss, reason = "a budget of 2⁵³ milliseconds is none")]
fn pressure(params: &Params, replans: u32, elapsed_ms: f64) -> f64 {
    let replans = share(f64::from(replans), f64::from(params.max_replans));
    // What is no time counts as none, and what has no end as the longest there is: this is total.
    let elapsed_ms = if elapsed_ms > 0.0 { elapsed_ms.min(f64::MAX) } else { 0.0 };
    let time = share(elapsed_ms, params.time_budget_ms as f64);
    (params.replan_weight * replans + params.time_weight * time).clamp(0.0, 1.0)
}

/// How much of a budget is used; where there is none, all of it.
fn share(used: f64, budget: f64) -> f64 {
    if budget > 0.0 { used / budget } else { 1.0 }
}
