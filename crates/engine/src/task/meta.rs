//! R4b: waits for the whole plan, merges what came out, and looks at it as one. It accepts or asks for another plan, and
//! it asks the solver, never the planner.

use domain::ask::{Judgement, Want};
use domain::call::{Evidence, FailureClass};
use domain::criterion::Verdict;

use super::contract::Said;
use super::executor::State;
use super::validator::{Seen, fill, open_verdicts};
use super::{Role, Step, Task};
use crate::check::{self, Found};

impl Task {
    pub(super) fn review(&mut self, step: &mut Step) {
        let failed = |work: &super::executor::Work| self.is_failure(&work.state);
        if self.work.iter().any(failed) {
            return self.ask_for_another_plan(Vec::new(), step);
        }
        let criteria = self.plan.as_ref().map_or(&[][..], |plan| &plan.task_criteria);
        let (claim, evidence) = (self.outputs(), self.all_evidence());
        let acting = self.acting();
        let found = Found { evidence: &evidence, claim: &claim, acting: &acting };
        let verdicts: Vec<Verdict> =
            criteria.iter().map(|criterion| check::judge(criterion, found)).collect();
        let open: Vec<String> = open_verdicts(criteria)
            .into_iter()
            .filter_map(|at| criteria.get(at).map(|criterion| criterion.text.clone()))
            .collect();
        match self.spec.clone() {
            Some(spec) if self.is_steered() && !open.is_empty() => {
                self.rounds.verdicts = verdicts;
                self.ask(Want::Judge { spec, of: None, criteria: open, claim, evidence }, None, step);
            }
            _ => self.decide_on(verdicts, step),
        }
    }

    pub(super) fn judged_as_a_whole(&mut self, judgements: &[Judgement], step: &mut Step) {
        let mut verdicts = std::mem::take(&mut self.rounds.verdicts);
        let succeeded = self.work.iter().flat_map(|work| &work.evidence).any(Evidence::is_ok);
        let subtasks = self.plan.iter().flat_map(|plan| &plan.subtasks);
        let tools_planned = subtasks.into_iter().any(|subtask| !subtask.tool_hints.is_empty());
        let criteria = self.plan.as_ref().map_or(&[][..], |plan| &plan.task_criteria);
        let seen = Seen { calls: succeeded, tools_planned };
        fill(&mut verdicts, criteria, judgements, FailureClass::Logical, seen);
        self.decide_on(verdicts, step);
    }

    fn decide_on(&mut self, verdicts: Vec<Verdict>, step: &mut Step) {
        let unmet = self.work.iter().flat_map(|work| &work.verdicts).chain(&verdicts);
        if unmet.into_iter().any(Verdict::is_failed) {
            return self.ask_for_another_plan(verdicts, step);
        }
        let summary = format!("{} subtasks matched", self.work.len());
        step.say(Role::MetaValidator, Role::Solver, &Said::OutcomeSummary { summary }, None);
        self.solve(verdicts, step);
    }

    fn ask_for_another_plan(&mut self, verdicts: Vec<Verdict>, step: &mut Step) {
        let failed = (0..).zip(&self.work).filter(|(_, work)| work.state != State::Matched);
        let failed_outcomes = failed.map(|(number, _)| number).collect();
        let troubles = self.troubles();
        let unmet =
            verdicts.iter().filter(|verdict| verdict.is_failed()).map(|verdict| verdict.criterion.clone());
        let gap_summary = troubles.into_iter().chain(unmet).collect::<Vec<_>>().join("; ");
        step.say(
            Role::MetaValidator,
            Role::Solver,
            &Said::ReplanRequest { failed_outcomes, gap_summary },
            None,
        );
        self.solve(verdicts, step);
    }

    pub(super) fn troubles(&self) -> Vec<String> {
        self.work.iter().filter_map(super::executor::Work::trouble).collect()
    }

    /// What there is of a result: the outputs themselves, in the order of the plan.
    pub(super) fn outputs(&self) -> String {
        let came = |state: &State| matches!(state, State::Matched | State::Unmet(_));
        let there = self.work.iter().filter(|work| came(&work.state));
        there.map(|work| work.output.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// In the order in which it came.
    fn all_evidence(&self) -> Vec<Evidence> {
        let needed = self.plan.as_ref().is_some_and(|plan| !plan.task_criteria.is_empty());
        let work = self.work.iter().filter(|_| needed);
        let mut all: Vec<_> =
            work.flat_map(|work| work.calls.iter().map(|made| made.step).zip(&work.evidence)).collect();
        all.sort_by_key(|(step, _)| *step);
        all.into_iter().map(|(_, evidence)| evidence.clone()).collect()
    }
}
