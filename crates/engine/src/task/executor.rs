//! R3 and R4a: attempts at subtasks, the evidence they leave, and the verdict on it.

use domain::ask::Ask;
use domain::call::{Call, Evidence, Failure, FailureClass, Outcome};
use domain::criterion::Verdict;
use domain::limits::ATTEMPT_STEPS;
use domain::source::{Source, Text};
use domain::task::Cause;

use super::{Effect, Role, Step, Task, loops};
use crate::check;

/// Where one subtask stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    pub(super) state: State,
    pub(super) moves: usize,
    pub(super) evidence: Vec<Evidence>,
    pub(super) output: String,
    pub(super) verdicts: Vec<Verdict>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Waiting,
    Running,
    /// It finished, and the verdicts say how well.
    Judged,
    Failed(String),
    Refused(String),
    /// Something it needs failed.
    Skipped,
}

impl State {
    pub(super) const fn is_over(&self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }

    const fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Refused(_) | Self::Skipped)
    }
}

impl Task {
    /// Starts every subtask whose dependencies are met, skips those whose dependencies failed, and hands on
    /// to the meta-validator when nothing is left.
    pub(super) fn dispatch(&mut self, step: &mut Step) {
        loop {
            let settled = self.settle(step);
            if self.work.iter().all(|work| work.state.is_over()) {
                return self.review(step);
            }
            // Skipping one may settle others that were looked at before it.
            if settled == 0 {
                return;
            }
        }
    }

    /// One look at every subtask that waits; how many do not wait any more.
    fn settle(&mut self, step: &mut Step) -> usize {
        let mut settled = 0;
        for number in 0..u32::try_from(self.work.len()).unwrap_or(u32::MAX) {
            if self.state(number) != Some(&State::Waiting) {
                continue;
            }
            let Some(next) = self.next(number) else { continue };
            let starts = next == State::Running;
            self.set(number, next);
            if starts {
                step.say(Role::Planner, Role::Executor, "SubTask", Some(number));
                self.ask_to_act(number, step);
            }
            settled += 1;
        }
        settled
    }

    /// What becomes of a subtask that waits; nothing if it goes on waiting.
    fn next(&self, number: u32) -> Option<State> {
        let node = self.plan.as_ref().and_then(|plan| plan.subtasks.get(number as usize))?;
        let states = |of: &'_ [u32]| of.iter().filter_map(|on| self.state(*on)).collect::<Vec<_>>();
        let (needed, before) = (states(&node.depends_on), states(&node.after));
        if needed.iter().any(|state| state.is_failure()) {
            return Some(State::Skipped);
        }
        let starts =
            needed.iter().all(|state| **state == State::Judged) && before.iter().all(|state| state.is_over());
        starts.then_some(State::Running)
    }

    fn ask_to_act(&mut self, number: u32, step: &mut Step) {
        let (Some(spec), Some(plan)) = (self.spec.clone(), &self.plan) else { return };
        let Some(mut subtask) = plan.subtasks.get(number as usize).cloned() else { return };
        subtask.context.extend(subtask.depends_on.iter().filter_map(|on| self.handed_on(*on)));
        let Some(work) = self.work.get_mut(number as usize) else { return };
        work.moves += 1;
        let evidence = work.evidence.clone();
        self.start(step, Effect::ask(Ask::Act { spec, number, subtask, evidence }));
    }

    /// The output of a dependency, with its source: a tool's result stays a tool's result.
    fn handed_on(&self, number: u32) -> Option<Text> {
        let work = self.work.get(number as usize)?;
        let source = work
            .evidence
            .last()
            .map_or(Source::Model, |last| Source::Tool { call: last.call, field: String::new() });
        Some(Text::new(work.output.clone(), source))
    }

    pub(super) fn observe(&mut self, subtask: u32, call: &Call, outcome: Outcome, step: &mut Step) {
        let Some(work) = self.work.get_mut(subtask as usize) else { return };
        work.evidence.push(Evidence {
            call: call.id,
            tool: call.tool.clone(),
            args: call.args.clone(),
            outcome,
        });
        if let Some(circle) = loops::circle(&work.evidence) {
            return self.abandon(Cause::Loop, circle.to_string(), step);
        }
        if work.moves < ATTEMPT_STEPS {
            self.ask_to_act(subtask, step);
        } else {
            let why = format!("no result after {ATTEMPT_STEPS} moves");
            self.stop_subtask(subtask, State::Failed(why), step);
        }
    }

    /// The executor says it is done. Its words are a claim; the evidence is judged. A failed last call is
    /// never scored as matched, whatever is claimed.
    pub(super) fn finish(&mut self, subtask: u32, output: String, step: &mut Step) {
        let last = self.work.get(subtask as usize).and_then(|work| work.evidence.last());
        let state = match last.map(|last| &last.outcome) {
            Some(Err(Failure { class: FailureClass::Refused, message, instead })) => {
                State::Refused([std::slice::from_ref(message), instead].concat().join("; "))
            }
            Some(Err(failure)) => State::Failed(failure.message.clone()),
            Some(Ok(_)) | None => State::Judged,
        };
        if let Some(work) = self.work.get_mut(subtask as usize) {
            work.output = output;
        }
        self.stop_subtask(subtask, state, step);
    }

    pub(super) fn stop_subtask(&mut self, subtask: u32, state: State, step: &mut Step) {
        let criteria = self.plan.as_ref().and_then(|plan| plan.subtasks.get(subtask as usize));
        let criteria = criteria.map_or(&[][..], |node| &node.success_criteria);
        if let Some(work) = self.work.get_mut(subtask as usize) {
            work.verdicts =
                criteria.iter().map(|criterion| check::judge(criterion, &work.evidence)).collect();
            work.state = state;
        }
        step.say(Role::Validator, Role::MetaValidator, "SubTaskOutcome", Some(subtask));
        self.dispatch(step);
    }

    fn state(&self, number: u32) -> Option<&State> {
        self.work.get(number as usize).map(|work| &work.state)
    }

    fn set(&mut self, number: u32, state: State) {
        if let Some(work) = self.work.get_mut(number as usize) {
            work.state = state;
        }
    }
}
