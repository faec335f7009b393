//! R7, the Goal Gradient Solver: what a round's failures mean for the next plan, as a pure function. It measures how far
//! the result is from what was wanted, how wrong the approach is and how much of the budget is gone, compares that
//! with the round before, and says one of seven things.
//!
//! It makes no plan, looks at no content and keeps nothing: what it has to remember goes in and out as [`State`].
//!
//! INVARIANT (order): a solution does not depend on the order of outcomes, calls or criteria.
//!
//! Start reading at [`solve`], then [`cascade()`].

mod block;
mod cascade;
pub mod filter;
mod loss;
mod outcome;
mod rationale;
mod unmet;

use std::collections::{BTreeMap, BTreeSet};

use domain::gradient::{Blame, INIT, Loss, Macro, Params, PlanDirective};

use block::Urgency;
pub use block::failed_calls;
pub use cascade::{Trend, cascade};
pub use outcome::{Class, Judged, Outcome, Status, ToolCall, Verdict};

/// What is known at the end of a round.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// Since the task began, without the time that it waited for a person.
    pub elapsed_ms: f64,
    pub outcomes: &'a [Outcome],
    /// Every tool of each class that the registry knows.
    pub classes: &'a BTreeMap<String, BTreeSet<String>>,
}

/// What the solver has to know of the rounds before. A new task has the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    rounds: u32,
    previous: Option<Previous>,
    /// Rounds in a row, up to the last one, in which the loss rose by more than ε.
    worsening: u32,
    /// Targets that are blocked, of all rounds.
    tried: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Previous {
    l: f64,
    gap: f64,
    directive: Macro,
}

/// What is to be done, with everything it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Counted from 1.
    pub round: u32,
    pub loss: Loss,
    /// ∇L: how far the loss has moved since the round before; 0 in the first.
    pub grad_l: f64,
    /// The same without λ·Ω: time alone does not move it upwards.
    pub grad_gap: f64,
    pub directive: Macro,
    /// [`INIT`] in the first round.
    pub prev_directive: String,
    /// In order. Only where the approach is to be changed.
    pub blocked_tools: Vec<String>,
    /// In order. Of all rounds up to this one.
    pub blocked_targets: Vec<String>,
    /// The calls, as (tool, target), whose targets are blocked since this round.
    pub newly_blocked: Vec<(String, String)>,
    /// Rounds in a row, this one included, in which the loss rose by more than ε.
    pub worsening: u32,
    /// Whether Law 2 ends the task: it diverges, and no budget would help.
    pub law2: bool,
    /// The weightiest of what is not met; empty where nothing failed.
    pub failed_criterion: String,
    pub blame: Blame,
    pub rationale: String,
}

impl Solution {
    /// What the planner is told, unless the task is over.
    #[must_use]
    pub fn plan_directive(&self) -> Option<PlanDirective> {
        (!self.directive.is_final()).then(|| PlanDirective {
            loss: self.loss,
            prev_directive: self.prev_directive.clone(),
            directive: self.directive,
            blocked_tools: self.blocked_tools.clone(),
            blocked_targets: self.blocked_targets.clone(),
            failed_criterion: self.failed_criterion.clone(),
            failure_class: self.blame,
            budget_pressure: self.loss.omega,
            grad_l: self.grad_l,
            grad_gap: self.grad_gap,
            rationale: self.rationale.clone(),
        })
    }
}

/// A round in which nothing was tried cannot be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a round without outcomes says nothing")]
pub struct NoOutcomes;

/// One round. Accept comes before everything: what is finished is not abandoned for having been slow.
///
/// # Errors
/// If there are no outcomes.
pub fn solve(params: &Params, state: &State, round: &Round<'_>) -> Result<(State, Solution), NoOutcomes> {
    let outcomes = round.outcomes;
    if outcomes.is_empty() {
        return Err(NoOutcomes);
    }
    let number = state.rounds.saturating_add(1);
    let accepted = outcomes.iter().all(|outcome| outcome.status == Status::Matched && !outcome.is_failing());
    // Whatever is not accepted asks for a replan, and that one counts.
    let replans = if accepted { number - 1 } else { number };
    let unmet = unmet::unmet(outcomes);
    let loss = loss::measure(params, round, &unmet, replans);
    let gap = loss::gap(params, loss.d, loss.p, loss.omega);
    let (grad_l, grad_gap) =
        state.previous.map_or((0.0, 0.0), |previous| (loss.l - previous.l, gap - previous.gap));

    let trend = Trend::of(params, grad_l);
    let worsening = if trend == Trend::Worsening { state.worsening.saturating_add(1) } else { 0 };
    let found = if accepted { Macro::Accept } else { cascade(params, grad_l, &loss) };
    let law2 = worsening >= params.worsening_rounds && !matches!(found, Macro::Accept | Macro::Success);
    let directive = if law2 { Macro::Abandon } else { found };

    let urgency = Urgency::of(trend, outcomes);
    let (urgency, blocked_tools) = match directive {
        Macro::BreakSymmetry | Macro::ChangeApproach => (urgency, block::tools(round, urgency)),
        _ => (Urgency::Plain, Vec::new()),
    };
    let newly_blocked: Vec<(String, String)> = match directive {
        Macro::ChangePath | Macro::Refine => {
            let failed = failed_calls(outcomes).into_iter();
            failed.filter(|(_, target)| !state.tried.contains(target)).collect()
        }
        _ => Vec::new(),
    };
    let mut tried = state.tried.clone();
    tried.extend(newly_blocked.iter().map(|(_, target)| target.clone()));

    let mut solution = Solution {
        round: number,
        loss,
        grad_l,
        grad_gap,
        directive,
        prev_directive: state.previous.map_or(INIT, |previous| previous.directive.name()).to_owned(),
        blocked_tools,
        blocked_targets: tried.iter().cloned().collect(),
        newly_blocked,
        worsening,
        law2,
        failed_criterion: unmet::weightiest(&unmet),
        blame: unmet::blame(&unmet),
        rationale: String::new(),
    };
    solution.rationale = rationale::tell(&solution, found, urgency);
    let previous = Some(Previous { l: loss.l, gap, directive });
    Ok((State { rounds: number, previous, worsening, tried }, solution))
}

#[cfg(test)]
mod tests;
