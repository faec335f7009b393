//! R4b: waits for the whole plan and merges what came out.

use domain::criterion::Verdict;
use domain::task::{Cause, Directive, FinalResult};

use super::executor::{State, Work};
use super::solver::{self, Outcome};
use super::{Role, Step, Task};

impl Task {
    pub(super) fn review(&mut self, step: &mut Step) {
        step.say(Role::MetaValidator, Role::Solver, "OutcomeSummary", None);
        let outcomes: Vec<Outcome> =
            self.work.iter().enumerate().map(|(i, work)| self.outcome(i, work)).collect();
        let directive = solver::steer(&outcomes);
        let troubles: Vec<String> = self.work.iter().filter_map(trouble).collect();
        let refused = self.work.iter().any(|work| matches!(work.state, State::Refused(_)));
        let result = FinalResult {
            directive,
            cause: (directive == Directive::Abandon).then_some(if refused {
                Cause::Refused
            } else {
                Cause::Failed
            }),
            text: self.outputs(),
            reason: (!troubles.is_empty()).then(|| troubles.join("; ")),
            verdicts: self.work.iter().flat_map(|work| work.verdicts.clone()).collect(),
        };
        self.conclude(result, step);
    }

    /// What there is of a result.
    pub(super) fn outputs(&self) -> String {
        let judged = self.work.iter().filter(|work| work.state == State::Judged);
        judged.map(|work| work.output.as_str()).collect::<Vec<_>>().join("\n")
    }

    fn outcome(&self, number: usize, work: &Work) -> Outcome {
        let failed = work.verdicts.iter().filter(|verdict: &&Verdict| !verdict.passed).count();
        let planned = self.plan.as_ref().and_then(|plan| plan.subtasks.get(number));
        let criteria = planned.map_or(0, |node| node.success_criteria.len());
        match work.state {
            State::Judged => Outcome { criteria, failed, matched: failed == 0 },
            State::Skipped => Outcome { criteria, failed: criteria, matched: false },
            _ => Outcome { criteria: criteria.max(1), failed: failed.max(1), matched: false },
        }
    }
}

fn trouble(work: &Work) -> Option<String> {
    match &work.state {
        State::Failed(why) | State::Refused(why) => Some(why.clone()),
        State::Waiting | State::Running | State::Judged | State::Skipped => None,
    }
}
