//! R7 in the machine: what a round came to is measured, remembered and turned into the next plan's direction, or into the
//! result. The mathematics is [`crate::ggs`]. R7 alone ends a task, and alone tells memory.

use std::collections::{BTreeMap, BTreeSet};

use domain::ask::Replan;
use domain::call::FailureClass;
use domain::criterion::{Criterion, Mode, Verdict};
use domain::gradient::Macro;
use domain::megram::Megram;
use domain::source::Text;
use domain::task::{Cause, Directive, FinalResult, Measured};

use super::contract::Said;
use super::executor::{State, Work};
use super::{Role, Step, Task};
use crate::ggs::{self, Class, Judged, Outcome, Solution, Status, ToolCall};

/// What the rounds so far came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    state: ggs::State,
    replans: u32,
    /// Verdicts on the task's own criteria, while a judge is asked about the rest of them.
    pub(super) verdicts: Vec<Verdict>,
    /// What there was of a result, of the last round that had any.
    pub(super) achieved: Vec<Text>,
    /// One line for each round that was not the last.
    pub(super) tried: Vec<String>,
    /// Tools that were used in earlier rounds.
    used: BTreeSet<String>,
    /// Whether the last direction was to try something new altogether.
    breaking: bool,
}

impl Rounds {
    pub(super) const fn number(&self) -> u32 {
        self.replans
    }
}

impl Task {
    pub(super) fn solve(&mut self, task_verdicts: Vec<Verdict>, step: &mut Step) {
        let outcomes = self.ggs_outcomes(&task_verdicts);
        let params = self.opening.steering.unwrap_or_default();
        // A task that has one way only has no budget to use up.
        let elapsed = if self.is_steered() { self.pace.worked().as_secs_f64() * 1000.0 } else { 0.0 };
        let mut classes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for card in &self.opening.cards {
            classes.entry(card.class.clone()).or_default().insert(card.id.to_string());
        }
        let round = ggs::Round { elapsed_ms: elapsed, outcomes: &outcomes, classes: &classes };
        let Ok((state, solution)) = ggs::solve(&params, &self.rounds.state, &round) else {
            return self.abandon(Cause::Failed, "nothing was tried".into(), step);
        };
        self.rounds.state = state;
        // Where there is no other way, or the owner does not want it done in any, what would be replanned is over.
        let last = !self.is_steered() || self.work.iter().any(|work| work.refused_by_owner);
        let verdicts = self.work.iter().flat_map(|work| &work.verdicts).chain(&task_verdicts);
        let unverified = verdicts.into_iter().any(Verdict::is_unverified);
        let directive = match solution.directive {
            other if last && !other.is_final() => Macro::Abandon,
            // The result is delivered, and lists what could not be verified.
            Macro::Accept if unverified => Macro::Success,
            other => other,
        };
        self.remember(directive, &solution, &outcomes, step);
        match directive {
            Macro::Accept => self.end(Directive::Accept, &solution, task_verdicts, step),
            Macro::Success => self.end(Directive::Success, &solution, task_verdicts, step),
            Macro::Abandon => self.end(Directive::Abandon, &solution, task_verdicts, step),
            Macro::Refine | Macro::ChangePath | Macro::ChangeApproach | Macro::BreakSymmetry => {
                self.replan(&solution, step);
            }
        }
    }

    fn replan(&mut self, solution: &Solution, step: &mut Step) {
        let Some(directive) = solution.plan_directive() else { return };
        step.say(Role::Solver, Role::Planner, &Said::PlanDirective(&directive), None);
        self.keep_what_is_there();
        let line = |(number, work): (usize, &Work)| {
            let intent = self.intent_of(u32::try_from(number).unwrap_or(u32::MAX));
            match (&work.state, work.trouble()) {
                (State::Matched, _) => format!("done: {intent}"),
                (State::Skipped, _) => format!("skipped: {intent}"),
                (_, Some(why)) => format!("failed: {intent}: {why}"),
                (_, None) => format!("failed: {intent}"),
            }
        };
        let outcomes: Vec<String> = self.work.iter().enumerate().map(line).collect();
        self.rounds.tried.push(self.tried_line(solution));
        self.rounds.breaking = solution.directive == Macro::BreakSymmetry;
        self.rounds.used.extend(self.work.iter().flat_map(|work| &work.calls).map(|made| made.tool.clone()));
        self.rounds.replans += 1;
        let achieved = self.rounds.achieved.clone();
        self.planning.direct(Replan { directive, outcomes, achieved });
        self.begin_planning(step);
    }

    /// What was done in a round and why that was not enough, in a line.
    fn tried_line(&self, solution: &Solution) -> String {
        let why = self.troubles().join("; ");
        let why = if why.is_empty() { solution.failed_criterion.clone() } else { why };
        format!("round {}: {why} → {} (D {:.2})", solution.round, solution.directive, solution.loss.d)
    }

    /// What a later round may not have any more.
    fn keep_what_is_there(&mut self) {
        let there = (0..).zip(&self.work).filter(|(_, work)| work.state == State::Matched);
        let there: Vec<Text> = there.filter_map(|(number, _)| self.handed_on(number)).collect();
        if !there.is_empty() {
            self.rounds.achieved = there;
        }
    }

    fn end(
        &mut self,
        directive: Directive,
        solution: &Solution,
        task_verdicts: Vec<Verdict>,
        step: &mut Step,
    ) {
        let unmet = task_verdicts.iter().filter(|verdict| verdict.is_failed());
        let unmet = unmet.map(|verdict| format!("{} ({})", verdict.criterion, verdict.evidence));
        let troubles: Vec<String> = self.troubles().into_iter().chain(unmet).collect();
        let refused = self.work.iter().any(|work| matches!(work.state, State::Refused(_)));
        let verdicts = (0..).zip(&self.work).flat_map(|(number, work)| self.told(number, work));
        let text = if directive == Directive::Abandon { self.partial() } else { self.outputs() };
        let mut result = FinalResult::new(directive, text);
        result.verdicts = verdicts.chain(task_verdicts).collect();
        result.reason = (!troubles.is_empty()).then(|| troubles.join("; "));
        result.measured = Some(Measured {
            loss: solution.loss,
            grad_l: solution.grad_l,
            replans: self.rounds.replans,
            prev_directive: solution.prev_directive.clone(),
        });
        if directive == Directive::Abandon {
            result.cause = Some(if refused { Cause::Refused } else { Cause::Failed });
            if self.is_steered() {
                self.rounds.tried.push(self.tried_line(solution));
            }
            self.explain(&mut result);
        }
        self.conclude(result, step);
    }

    /// The verdicts on one subtask as a person is told them: Law 0 leaves nothing out that is not met. The criteria of one
    /// that was skipped are not, and one that failed although its criteria hold is itself what is missing.
    fn told(&self, number: u32, work: &Work) -> Vec<Verdict> {
        let missing = |criterion: String, evidence: String| Verdict {
            criterion,
            passed: false,
            failure_class: None,
            evidence,
            basis: None,
        };
        if work.state == State::Skipped {
            let skipped = |criterion: &Criterion| {
                missing(criterion.text.clone(), "skipped: something it needs failed".to_owned())
            };
            return self.criteria(number).iter().map(skipped).collect();
        }
        let mut verdicts = work.verdicts.clone();
        if self.is_failure(&work.state) && !verdicts.iter().any(Verdict::is_failed) {
            verdicts.push(missing(self.intent_of(number), work.trouble().unwrap_or_default()));
        }
        verdicts
    }

    /// GGS is the only one who tells memory, with every round.
    fn remember(&self, state: Macro, solution: &Solution, outcomes: &[Outcome], step: &mut Step) {
        for megram in self.megrams(state, solution, outcomes) {
            step.say(Role::Solver, Role::Memory, &Said::Megram(&megram), None);
        }
    }

    fn megrams(&self, state: Macro, solution: &Solution, outcomes: &[Outcome]) -> Vec<Megram> {
        let of =
            |(tool, target): &(String, String)| Megram::of_call(tool, target, state, &*solution.rationale);
        let mut megrams: Vec<Megram> = match state {
            Macro::ChangePath | Macro::Refine => solution.newly_blocked.iter().map(of).collect(),
            Macro::ChangeApproach => ggs::failed_calls(outcomes).iter().map(of).collect(),
            // Whether what is new was any good is known when it has matched.
            Macro::BreakSymmetry => Vec::new(),
            // That the owner does not want something says nothing about how such work goes.
            Macro::Abandon if self.work.iter().any(|work| work.refused_by_owner) => Vec::new(),
            Macro::Accept | Macro::Success | Macro::Abandon => vec![self.lesson(state, &solution.rationale)],
        };
        if self.rounds.breaking {
            let matched = self.work.iter().filter(|work| work.state == State::Matched);
            let made = matched.flat_map(|work| &work.calls).filter(|made| made.ok);
            let novel: BTreeSet<(&str, &str)> = made
                .filter(|made| !self.rounds.used.contains(&made.tool))
                .map(|made| (made.tool.as_str(), made.target.as_str()))
                .collect();
            megrams.extend(novel.into_iter().map(|(tool, target)| {
                Megram::of_call(tool, target, Macro::BreakSymmetry, "it worked where others had not")
            }));
        }
        megrams
    }

    /// What a task has taught about its kind.
    pub(super) fn lesson(&self, state: Macro, content: &str) -> Megram {
        let class = self.spec.as_ref().map_or("", |spec| spec.task_class.as_str());
        Megram::of_intent(class, state, content)
    }

    fn ggs_outcomes(&self, task_verdicts: &[Verdict]) -> Vec<Outcome> {
        let mut outcomes: Vec<Outcome> =
            (0..).zip(&self.work).map(|(n, work)| self.ggs_outcome(n, work)).collect();
        if !task_verdicts.is_empty() {
            let criteria = self.plan.as_ref().map_or(&[][..], |plan| &plan.task_criteria);
            let failed = task_verdicts.iter().any(Verdict::is_failed);
            outcomes.push(Outcome {
                subtask: "task".into(),
                status: if failed { Status::Failed } else { Status::Matched },
                tool_calls: Vec::new(),
                criteria: judged(criteria, task_verdicts, &[]),
            });
        }
        outcomes
    }

    fn ggs_outcome(&self, number: u32, work: &Work) -> Outcome {
        let class = |tool: &str| {
            let card = self.opening.cards.iter().find(|card| card.id.as_str() == tool);
            card.map(|card| card.class.clone())
        };
        let calls = work.calls.iter().map(|made| ToolCall {
            tool: made.tool.clone(),
            target: Some(made.target.clone()),
            class: class(&made.tool),
            ok: Some(made.ok),
        });
        let criteria = self.criteria(number);
        let (status, criteria) = match work.state {
            State::Matched => (Status::Matched, judged(criteria, &work.verdicts, &work.trail)),
            State::Skipped => (Status::Skipped, criteria.iter().map(skipped).collect()),
            _ => (Status::Failed, judged(criteria, &work.verdicts, &work.trail)),
        };
        Outcome {
            // By its words: a planner knows no ids, and which of two equals comes first must not depend on them.
            subtask: self.intent_of(number),
            status,
            tool_calls: calls.collect(),
            criteria,
        }
    }
}

fn judged(criteria: &[Criterion], verdicts: &[Verdict], trail: &[Vec<bool>]) -> Vec<Judged> {
    let one = |(at, (criterion, verdict)): (usize, (&Criterion, &Verdict))| Judged {
        text: criterion.text.clone(),
        mode: criterion.mode,
        verdict: if verdict.is_failed() { ggs::Verdict::Fail } else { ggs::Verdict::Pass },
        failure_class: verdict.failure_class.map(|class| match class {
            FailureClass::Environmental => Class::Environmental,
            // What authority refuses was the wrong approach.
            FailureClass::Logical | FailureClass::Refused => Class::Logical,
        }),
        attempts: trail.iter().filter_map(|attempt| attempt.get(at).copied()).collect(),
    };
    criteria.iter().zip(verdicts).enumerate().map(one).collect()
}

fn skipped(criterion: &Criterion) -> Judged {
    Judged {
        text: criterion.text.clone(),
        mode: Mode::Verifiable,
        verdict: ggs::Verdict::Fail,
        failure_class: None,
        attempts: Vec::new(),
    }
}
