//! How a task ends: with a result that says how far it can be relied on, and, where it is not done, with what there is,
//! what was tried and what could be done next. The result goes back through the same door as any other effect.

use std::collections::BTreeSet;

use domain::call::{Chooser, FailureClass, Outcome};
use domain::gradient::Macro;
use domain::task::{Cause, Directive, FinalResult};

use super::contract::Said;
use super::executor::State;
use super::{DELIVER, End, Role, Step, Task};

/// Of each kind of advice, this much: what comes next is for a person to read.
const MOVES: usize = 3;

impl Task {
    pub(super) fn abandon(&mut self, cause: Cause, why: String, step: &mut Step) {
        let mut result = FinalResult::new(Directive::Abandon, self.partial());
        // A circle, and a task that nobody can plan, teach something about their kind; a budget, a model that is away and
        // somebody who cancels do not.
        if matches!(cause, Cause::Loop | Cause::Unplannable) && self.spec.is_some() {
            let megram = self.lesson(Macro::Abandon, &why);
            step.say(Role::Solver, Role::Memory, &Said::Megram(&megram), None);
        }
        (result.cause, result.reason) = (Some(cause), Some(why));
        self.explain(&mut result);
        self.conclude(result, step);
    }

    pub(super) fn cancelled(&mut self, by: &str, step: &mut Step) {
        step.say(Role::User, Role::Solver, &Said::Plain("Cancel"), None);
        self.abandon(Cause::Cancelled, format!("cancelled by {by}"), step);
    }

    /// What there is of a result where it is given up: what this round has shown to be so, or else an earlier one did, and
    /// only where there is neither, what is merely claimed.
    pub(super) fn partial(&self) -> String {
        let matched = self.work.iter().filter(|work| work.state == State::Matched);
        let matched: Vec<&str> = matched.map(|work| work.output.as_str()).collect();
        let achieved: Vec<&str> = self.rounds.achieved.iter().map(|text| text.text.as_str()).collect();
        match (matched.is_empty(), achieved.is_empty()) {
            _ if !self.is_steered() => self.outputs(),
            (false, _) => matched.join("\n"),
            (true, false) => achieved.join("\n"),
            (true, true) => self.outputs(),
        }
    }

    /// Nothing is handed over bare: what is there, what was tried, what could come next.
    pub(super) fn explain(&self, result: &mut FinalResult) {
        result.tried.clone_from(&self.rounds.tried);
        if self.is_steered() {
            result.next = self.next_moves(result);
        }
    }

    fn next_moves(&self, result: &FinalResult) -> Vec<String> {
        let fixed = match result.cause {
            Some(Cause::Unplannable) => Some("say more exactly what is wanted, or in smaller steps"),
            Some(Cause::NoAnswer) => {
                Some("look whether the model can be reached (`regent model test`), and ask again")
            }
            Some(Cause::Cancelled) => Some("ask again when it is wanted"),
            Some(Cause::Exhausted) => {
                Some("allow more (`regent config show` names the budgets), and ask again")
            }
            Some(Cause::Loop) => Some("say which tool or file to use: it found no way by itself"),
            Some(Cause::Refused) => {
                Some("allow what was refused, or ask for something that does not need it")
            }
            Some(Cause::Failed | Cause::NeedsModel) | None => None,
        };
        let failed =
            |class: FailureClass| result.unmet().filter(move |verdict| verdict.failure_class == Some(class));
        let mut moves: Vec<String> = fixed.into_iter().map(Into::into).collect();
        if result.cause == Some(Cause::Failed) {
            let failed_work = self.work.iter().filter(|work| self.is_failure(&work.state));
            let missed = failed_work.flat_map(|work| &work.calls).filter(|made| !made.ok);
            let missed: BTreeSet<&str> = missed.map(|made| made.target.as_str()).collect();
            let missed = missed.into_iter().take(MOVES);
            if failed(FailureClass::Environmental).next().is_some() {
                moves.extend(missed.map(|target| format!("make `{target}` available, and ask again")));
            }
            let unmet: BTreeSet<&str> =
                failed(FailureClass::Logical).map(|verdict| verdict.criterion.as_str()).collect();
            let name = |criterion| format!("say how this can be met, or that it need not be: {criterion}");
            moves.extend(unmet.into_iter().take(MOVES).map(name));
            if let (true, Some(why)) = (moves.is_empty(), &result.reason) {
                moves.push(format!("see to this, and ask again: {why}"));
            }
        }
        if moves.is_empty() {
            moves.push("look at what was tried, and say more exactly what is wanted".into());
        }
        moves
    }

    /// R7 alone ends a task.
    pub(super) fn conclude(&mut self, result: FinalResult, step: &mut Step) {
        let thought = format!("hand the result back: {}", result.directive);
        let parent = self.plan_reason.or(Some(self.opening.tags.reason));
        let reason = self.reason("deliver", parent, thought, step);
        let args = serde_json::json!({ "result": result });
        self.question = None;
        self.result = Some(result);
        match DELIVER.parse() {
            Ok(tool) => {
                let _id = self.call(None, tool, args, Chooser::Rule, reason, step);
            }
            Err(_not_an_id) => self.end = Some(End::Undelivered),
        }
    }

    pub(super) fn delivered(&mut self, outcome: &Outcome, step: &mut Step) {
        if let Some(result) = &self.result {
            let said = Said::FinalResult { directive: result.directive, measured: result.measured.as_ref() };
            step.say(Role::Solver, Role::User, &said, None);
        }
        self.end = Some(if outcome.is_ok() { End::Delivered } else { End::Undelivered });
    }
}
