//! R3: attempts at subtasks, and the evidence they leave.

use std::collections::BTreeSet;

use domain::ask::{Action, Claim, Correction, Want};
use domain::call::{Call, Evidence, FailureClass, Outcome, target};
use domain::criterion::Verdict;
use domain::limits::ATTEMPT_STEPS;
use domain::source::{Source, Text};
use domain::task::Cause;

use super::contract::{Gap, Said};
use super::{Role, Step, Task, loops};

/// Where one subtask stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    pub(super) state: State,
    /// For how many it still waits, and who waits for it.
    waits: usize,
    dependents: Vec<u32>,
    /// From 0.
    pub(super) attempt: u32,
    moves: usize,
    pub(super) correction: Option<Correction>,
    /// Of every attempt in this round.
    pub(super) evidence: Vec<Evidence>,
    /// How much of it is from earlier attempts.
    earlier: usize,
    /// Every call of every attempt.
    pub(super) calls: Vec<Made>,
    /// What was claimed to have come out.
    pub(super) output: String,
    pub(super) claim: Claim,
    pub(super) verdicts: Vec<Verdict>,
    /// Whether each criterion was met, attempt by attempt.
    pub(super) trail: Vec<Vec<bool>>,
    pub(super) gaps: Vec<Gap>,
    /// Whether the owner has said no to one of its calls.
    pub(super) refused_by_owner: bool,
}

/// What is remembered of one call when its attempt is over.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) tool: String,
    pub(super) target: String,
    pub(super) ok: bool,
    /// Whether authority let it run.
    pub(super) ran: bool,
    /// The step in which its result came.
    pub(super) step: u64,
    /// Whether the plan forbade it: then it was not authority that stood in the way.
    pub(super) forbidden: bool,
    pub(super) line: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Waiting,
    Running,
    /// Every criterion is met.
    Matched,
    /// It came to its end, and not everything is met; why, where that was steered.
    Unmet(String),
    /// It did not come to its end.
    Failed(String),
    Refused(String),
    /// Something it needs failed.
    Skipped,
}

impl State {
    const fn is_over(&self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }
}

impl Work {
    pub(super) fn new(waits: usize, dependents: Vec<u32>) -> Self {
        Self { waits, dependents, ..Self::default() }
    }

    pub(super) fn next_attempt(&mut self, correction: Correction) {
        self.attempt += 1;
        self.moves = 0;
        self.earlier = self.evidence.len();
        self.correction = Some(correction);
    }

    /// The evidence of this attempt alone.
    pub(super) fn latest(&self) -> &[Evidence] {
        self.evidence.get(self.earlier..).unwrap_or_default()
    }
}

impl Task {
    /// Starts every subtask that waits for nothing.
    pub(super) fn dispatch(&mut self, step: &mut Step) {
        let free = (0..).zip(&self.work).filter(|(_, work)| work.waits == 0).map(|(number, _)| number);
        let free: Vec<u32> = free.collect();
        free.into_iter().for_each(|number| self.begin_subtask(number, step));
    }

    fn begin_subtask(&mut self, number: u32, step: &mut Step) {
        if let Some(work) = self.work.get_mut(number as usize) {
            work.state = State::Running;
        }
        let id = self.subtask_id(number).to_string();
        step.say(Role::Planner, Role::Executor, &Said::SubTask { id }, Some(number));
        self.ask_to_act(number, step);
    }

    /// A subtask is over: those that need it are skipped if it failed, those that only waited for it go on, and when
    /// nothing is left the meta-validator has its turn. Each edge is looked at once.
    pub(super) fn settle(&mut self, number: u32, step: &mut Step) {
        let (mut over, mut free, mut skipped) = (vec![number], BTreeSet::new(), BTreeSet::new());
        while let Some(number) = over.pop() {
            self.left = self.left.saturating_sub(1);
            let Some(work) = self.work.get(number as usize) else { continue };
            let failed = self.is_failure(&work.state);
            for dependent in work.dependents.clone() {
                let needs = self.needs(dependent, number);
                let Some(work) = self.work.get_mut(dependent as usize) else { continue };
                work.waits = work.waits.saturating_sub(1);
                if work.state.is_over() {
                    continue;
                }
                if failed && needs {
                    work.state = State::Skipped;
                    over.push(dependent);
                    skipped.insert(dependent);
                } else if work.waits == 0 {
                    free.insert(dependent);
                }
            }
        }
        skipped.into_iter().for_each(|number| self.tell_outcome(number, step));
        free.into_iter().for_each(|number| self.begin_subtask(number, step));
        if self.left == 0 {
            self.review(step);
        }
    }

    fn needs(&self, number: u32, on: u32) -> bool {
        let node = self.plan.as_ref().and_then(|plan| plan.subtasks.get(number as usize));
        node.is_some_and(|node| node.depends_on.contains(&on))
    }

    /// Whether whoever needs a subtask in this state cannot go on. Where nothing is steered, what came to its end is
    /// good enough to go on with.
    pub(super) const fn is_failure(&self, state: &State) -> bool {
        match state {
            State::Failed(_) | State::Refused(_) | State::Skipped => true,
            State::Unmet(_) => self.is_steered(),
            State::Waiting | State::Running | State::Matched => false,
        }
    }

    pub(super) fn ask_to_act(&mut self, number: u32, step: &mut Step) {
        let (Some(spec), Some(plan)) = (self.spec.clone(), &self.plan) else { return };
        let Some(mut subtask) = plan.subtasks.get(number as usize).cloned() else { return };
        subtask.context.extend(subtask.depends_on.iter().filter_map(|on| self.handed_on(*on)));
        let Some(work) = self.work.get_mut(number as usize) else { return };
        work.moves += 1;
        let (evidence, attempt, correction) = (work.latest().to_vec(), work.attempt, work.correction.clone());
        self.ask(Want::Act { spec, number, subtask, evidence, attempt, correction }, None, step);
    }

    /// The output of a dependency, with its source: what any attempt got from a tool, or from another subtask that used
    /// one, stays a tool's result.
    pub(super) fn handed_on(&self, number: u32) -> Option<Text> {
        let work = self.work.get(number as usize)?;
        let source = self.tool_behind(number).unwrap_or(Source::Model);
        Some(Text::new(work.output.clone(), source))
    }

    /// The last tool that a subtask had a result from, by itself or through what it depends on.
    fn tool_behind(&self, number: u32) -> Option<Source> {
        let (mut left, mut known) = (vec![number], BTreeSet::from([number]));
        while let Some(number) = left.pop() {
            let last = self.work.get(number as usize).and_then(|work| work.evidence.last());
            if let Some(last) = last {
                return Some(Source::Tool { call: last.call, field: String::new() });
            }
            let node = self.plan.as_ref().and_then(|plan| plan.subtasks.get(number as usize));
            let told = node.into_iter().flat_map(|node| &node.context).map(|text| &text.source);
            if let Some(source) = told.into_iter().find(|source| matches!(source, Source::Tool { .. })) {
                return Some(source.clone());
            }
            let needs = node.into_iter().flat_map(|node| &node.depends_on).copied();
            left.extend(needs.filter(|on| known.insert(*on)));
        }
        None
    }

    /// The next move of one attempt.
    pub(super) fn acted(&mut self, subtask: u32, action: Action, step: &mut Step) {
        match action {
            Action::Finish { output, status } => {
                step.say(Role::Executor, Role::Validator, &Said::Plain("ExecutionResult"), Some(subtask));
                self.finish(subtask, output, status, step);
            }
            Action::Call { tool, args, chosen_by } => {
                let intent = self.intent_of(subtask);
                let reason = self.reason("call", self.plan_reason, intent, step);
                let _id = self.call(Some(subtask), tool, args, chosen_by, reason, step);
            }
        }
    }

    pub(super) fn observe(&mut self, subtask: u32, call: &Call, outcome: Outcome, step: &mut Step) {
        let started = self.started.remove(&call.id);
        let took_ms = started.map(|at| u64::try_from(step.at.since(at).as_millis()).unwrap_or(u64::MAX));
        let card = self.opening.cards.iter().find(|card| card.id == call.tool);
        let target = target(card.and_then(|card| card.target.as_deref()), &call.args);
        let forbidden = self.must_not().forbids(call.tool.as_str(), Some(&target)).is_some();
        let Some(work) = self.work.get_mut(subtask as usize) else { return };
        let (tool, args) = (call.tool.clone(), call.args.clone());
        let seen = Evidence { call: call.id, tool, args, outcome, took_ms };
        let (tool, ok, line) = (call.tool.to_string(), seen.is_ok(), seen.to_string());
        let ran = !matches!(&seen.outcome, Err(failure) if failure.class == FailureClass::Refused);
        work.calls.push(Made { tool, target, ok, ran, step: step.n, forbidden, line });
        work.evidence.push(seen);
        if let Some(circle) = loops::circle(work.latest()) {
            return self.abandon(Cause::Loop, circle.to_string(), step);
        }
        if work.moves < ATTEMPT_STEPS {
            self.ask_to_act(subtask, step);
        } else {
            let why = format!("no result after {ATTEMPT_STEPS} moves");
            self.stop_subtask(subtask, State::Failed(why), step);
        }
    }

    /// Nobody moves this attempt on: what it was to do is not done, and the world is to blame.
    pub(super) fn fall_silent(&mut self, subtask: u32, why: String, step: &mut Step) {
        self.stop_because(subtask, State::Failed(why), Some(FailureClass::Environmental), step);
    }

    pub(super) fn said_no(&mut self, subtask: Option<u32>) {
        if let Some(work) = subtask.and_then(|subtask| self.work.get_mut(subtask as usize)) {
            work.refused_by_owner = true;
        }
    }
}
