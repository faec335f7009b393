//! R4a: a verdict on each criterion, from the evidence. What is claimed is a claim; a gap that can be closed goes back to
//! the executor, with what was wrong and what to do.

use domain::Tier;
use domain::ask::{Ask, Claim, Correction, Judgement, Opinion, Unanswered, Want};
use domain::call::{Evidence, Failure, FailureClass, ToolCard, ToolId};
use domain::criterion::{Basis, Criterion, Mode, Verdict};
use domain::limits::ATTEMPT_RETRIES;

use super::contract::{Gap, Said, SubTaskOutcome};
use super::executor::{Made, State, Work};
use super::{Role, Step, Task};
use crate::check::{self, Found};
use crate::files;

impl Task {
    pub(super) fn criteria(&self, subtask: u32) -> &[Criterion] {
        let node = self.plan.as_ref().and_then(|plan| plan.subtasks.get(subtask as usize));
        node.map_or(&[], |node| &node.success_criteria)
    }

    /// The executor says that its attempt is over. What cannot be tried again with another result is not judged further.
    pub(super) fn finish(&mut self, subtask: u32, output: String, claim: Claim, step: &mut Step) {
        let steered = self.is_steered();
        let Some(work) = self.work.get_mut(subtask as usize) else { return };
        (work.output, work.claim) = (output, claim);
        let forbidden = work.calls.last().is_some_and(|made| made.forbidden);
        let state = match work.latest().last().map(|last| &last.outcome) {
            Some(Err(Failure { class: FailureClass::Refused, message, instead, .. })) => {
                let why = [std::slice::from_ref(message), instead].concat().join("; ");
                if forbidden { State::Failed(why) } else { State::Refused(why) }
            }
            Some(Err(failure)) if !steered || failure.interrupted || claim == Claim::Failed => {
                State::Failed(failure.message.clone())
            }
            _ if claim == Claim::Failed => State::Failed(work.output.clone()),
            Some(Ok(_) | Err(_)) | None => return self.judge(subtask, step),
        };
        self.stop_subtask(subtask, state, step);
    }

    /// In code where there is a check, by a judge where there is none.
    fn judge(&mut self, subtask: u32, step: &mut Step) {
        let verdicts = self.checked(subtask);
        let Some(work) = self.work.get_mut(subtask as usize) else { return };
        work.verdicts = verdicts;
        let (claim, evidence) = (work.output.clone(), work.evidence.clone());
        let open = self.criteria(subtask).iter().filter(|criterion| criterion.check.is_none());
        let criteria: Vec<String> = open.map(|criterion| criterion.text.clone()).collect();
        match self.spec.clone() {
            Some(spec) if self.is_steered() && !criteria.is_empty() => {
                self.ask(Want::Judge { spec, of: Some(subtask), criteria, claim, evidence }, None, step);
            }
            _ => self.weigh(subtask, step),
        }
    }

    fn checked(&self, subtask: u32) -> Vec<Verdict> {
        let Some(work) = self.work.get(subtask as usize) else { return Vec::new() };
        let acting = self.acting();
        let found = Found { evidence: &work.evidence, claim: &work.output, acting: &acting };
        self.criteria(subtask).iter().map(|criterion| check::judge(criterion, found)).collect()
    }

    /// Tools that act on the world.
    pub(super) fn acting(&self) -> Vec<ToolId> {
        let acts = |card: &&ToolCard| card.tier > Tier::ReadOnly;
        self.opening.cards.iter().filter(acts).map(|card| card.id.clone()).collect()
    }

    /// A judge has spoken. One that did not speak of each criterion is asked once more.
    pub(super) fn judged(&mut self, ask: Ask, judgements: Vec<Judgement>, step: &mut Step) {
        let Want::Judge { of, criteria, .. } = &ask.want else { return };
        if judgements.len() != criteria.len() {
            let why = format!("{} verdicts on {} criteria", judgements.len(), criteria.len());
            return self.unanswered(ask, &Unanswered::unusable(why), step);
        }
        match *of {
            None => self.judged_as_a_whole(&judgements, step),
            Some(subtask) => {
                let class = self.work.get(subtask as usize).map(|work| check::class(&work.evidence));
                let class = class.unwrap_or(FailureClass::Logical);
                self.fill_subtask(subtask, &judgements, class);
                self.weigh(subtask, step);
            }
        }
    }

    /// No judge, no verdict: what nobody judged is not met, and trying the work again would not change that.
    pub(super) fn no_judge(&mut self, of: Option<u32>, why: &str, step: &mut Step) {
        let unclear = Judgement {
            verdict: Opinion::Unclear,
            failure_class: Some(FailureClass::Environmental),
            evidence: why.to_owned(),
        };
        match of {
            None => {
                let open = self.plan.as_ref().map_or(0, |plan| open_verdicts(&plan.task_criteria).len());
                self.judged_as_a_whole(&vec![unclear; open], step);
            }
            Some(subtask) => {
                let open = open_verdicts(self.criteria(subtask)).len();
                self.fill_subtask(subtask, &vec![unclear; open], FailureClass::Environmental);
                self.record_gap(subtask);
                self.end_subtask(subtask, State::Unmet(why.to_owned()), step);
            }
        }
    }

    fn fill_subtask(&mut self, subtask: u32, judgements: &[Judgement], class: FailureClass) {
        let criteria = self.criteria(subtask).to_vec();
        let node = self.plan.as_ref().and_then(|plan| plan.subtasks.get(subtask as usize));
        let hinted = node.is_some_and(|node| !node.tool_hints.is_empty());
        if let Some(work) = self.work.get_mut(subtask as usize) {
            let seen = Seen { calls: work.evidence.iter().any(Evidence::is_ok), tools_planned: hinted };
            fill(&mut work.verdicts, &criteria, judgements, class, seen);
        }
    }

    /// Matched, or corrected, or over.
    fn weigh(&mut self, subtask: u32, step: &mut Step) {
        self.record_gap(subtask);
        let steered = self.is_steered();
        let Some(work) = self.work.get(subtask as usize) else { return };
        let contradiction = if steered { self.contradiction(subtask, work) } else { None };
        let unmet = work.verdicts.iter().filter(|verdict| verdict.is_failed());
        let unmet = unmet.map(|verdict| format!("{} ({})", verdict.criterion, verdict.evidence));
        let wrong: Vec<String> = contradiction.into_iter().chain(unmet).collect();
        if wrong.is_empty() {
            return self.end_subtask(subtask, State::Matched, step);
        }
        if steered && work.attempt < ATTEMPT_RETRIES {
            return self.correct(subtask, wrong, step);
        }
        let why = if steered { wrong.join("; ") } else { String::new() };
        self.end_subtask(subtask, State::Unmet(why), step);
    }

    /// What is claimed against what happened: the primary action is the last one that acts on the world, in whichever
    /// attempt, or else the last one of this attempt. A look afterwards proves nothing about an action that failed; what
    /// was refused never happened.
    fn contradiction(&self, subtask: u32, work: &Work) -> Option<String> {
        let acting = self.acting();
        let acts = |call: &&Evidence| {
            let ran = !matches!(&call.outcome, Err(failure) if failure.class == FailureClass::Refused);
            ran && acting.contains(&call.tool)
        };
        let primary = work.evidence.iter().rev().find(acts).or_else(|| work.latest().last())?;
        match &primary.outcome {
            Err(failure) => Some(format!("{} failed: {}", primary.tool, failure.message)),
            Ok(record) if work.claim == Claim::Completed && files::is_cut_off(record) => Some(format!(
                "the result of {} was cut off, so it does not show all that is claimed",
                primary.tool
            )),
            Ok(_) => self.left_undone(subtask, work),
        }
    }

    /// The first act that failed on something which the subtask names, where no later act on it succeeded. What it does
    /// not name may have been tried and given up for something else.
    fn left_undone(&self, subtask: u32, work: &Work) -> Option<String> {
        let criteria = self.criteria(subtask).iter().map(|criterion| criterion.text.as_str());
        let words: Vec<String> = criteria.map(str::to_owned).chain([self.intent_of(subtask)]).collect();
        let acting = self.acting();
        let acts = |made: &&Made| acting.iter().any(|tool| tool.as_str() == made.tool);
        let calls: Vec<&Made> = work.calls.iter().filter(acts).collect();
        let undone = calls.iter().enumerate().find(|(at, made)| {
            let mut later = calls.iter().skip(at + 1);
            let named = !made.target.is_empty() && words.iter().any(|text| text.contains(&made.target));
            made.ran && !made.ok && named && !later.any(|later| later.ok && later.target == made.target)
        });
        undone.map(|(_, made)| format!("{} failed on {}, and no later call did it", made.tool, made.target))
    }

    fn correct(&mut self, subtask: u32, what_was_wrong: Vec<String>, step: &mut Step) {
        let Some(work) = self.work.get_mut(subtask as usize) else { return };
        let failure_class = work
            .verdicts
            .iter()
            .find_map(|verdict| verdict.failure_class)
            .unwrap_or_else(|| check::class(&work.evidence));
        let what_to_do = match failure_class {
            FailureClass::Environmental => {
                "do it in another way, or on another target: this one is not to be had"
            }
            FailureClass::Logical | FailureClass::Refused => {
                "use another approach: this one cannot give what is wanted"
            }
        };
        let not_again = work.calls.iter().map(|made| made.line.clone()).collect();
        let correction =
            Correction { what_was_wrong, what_to_do: what_to_do.into(), failure_class, not_again };
        let said = Said::CorrectionSignal { attempt: work.attempt + 1, correction: &correction };
        step.say(Role::Validator, Role::Executor, &said, Some(subtask));
        work.next_attempt(correction);
        self.ask_to_act(subtask, step);
    }

    /// A subtask that did not come to its end: it is judged by what there is.
    pub(super) fn stop_subtask(&mut self, subtask: u32, state: State, step: &mut Step) {
        self.stop_because(subtask, state, None, step);
    }

    pub(super) fn stop_because(
        &mut self,
        subtask: u32,
        state: State,
        class: Option<FailureClass>,
        step: &mut Step,
    ) {
        let mut verdicts = self.checked(subtask);
        for verdict in verdicts.iter_mut().filter(|verdict| verdict.is_failed()) {
            verdict.failure_class = class.or(verdict.failure_class);
        }
        if let Some(work) = self.work.get_mut(subtask as usize) {
            work.verdicts = verdicts;
        }
        self.record_gap(subtask);
        self.end_subtask(subtask, state, step);
    }

    fn record_gap(&mut self, subtask: u32) {
        let Some(work) = self.work.get_mut(subtask as usize) else { return };
        let failed = || work.verdicts.iter().filter(|verdict| verdict.is_failed());
        let (all, unmet) = (work.verdicts.len(), failed().count());
        let gap = Gap {
            attempt: work.attempt + 1,
            score: share(all - unmet, all),
            unmet_criteria: failed().map(|verdict| verdict.criterion.clone()).collect(),
            failure_class: failed().find_map(|verdict| verdict.failure_class),
        };
        work.gaps.push(gap);
        work.trail.push(work.verdicts.iter().map(|verdict| !verdict.is_failed()).collect());
    }

    fn end_subtask(&mut self, subtask: u32, state: State, step: &mut Step) {
        let Some(work) = self.work.get_mut(subtask as usize) else { return };
        work.state = state;
        self.tell_outcome(subtask, step);
        self.settle(subtask, step);
    }

    /// What a subtask came to, also where it was skipped: the meta-validator hears of every one.
    pub(super) fn tell_outcome(&self, subtask: u32, step: &mut Step) {
        let Some(work) = self.work.get(subtask as usize) else { return };
        let outcome = work.outcome(self.subtask_id(subtask).to_string());
        step.say(Role::Validator, Role::MetaValidator, &Said::SubTaskOutcome(&outcome), Some(subtask));
    }
}

impl Work {
    fn outcome(&self, subtask_id: String) -> SubTaskOutcome {
        SubTaskOutcome {
            subtask_id,
            status: match self.state {
                State::Matched => "matched",
                State::Skipped => "skipped",
                _ => "failed",
            },
            failure_reason: self.trouble(),
            gap_trajectory: self.gaps.clone(),
            criteria_verdicts: self.verdicts.clone(),
            tool_calls: self.calls.len(),
        }
    }

    /// Why it is not done, in words.
    pub(super) fn trouble(&self) -> Option<String> {
        match &self.state {
            State::Failed(why) | State::Refused(why) | State::Unmet(why) => {
                Some(why.clone()).filter(|why| !why.is_empty())
            }
            State::Waiting | State::Running | State::Matched | State::Skipped => None,
        }
    }
}

/// Which criteria are a judge's.
pub(super) fn open_verdicts(criteria: &[Criterion]) -> Vec<usize> {
    criteria.iter().enumerate().filter(|(_, criterion)| criterion.check.is_none()).map(|(at, _)| at).collect()
}

/// What a judge could go by.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// Whether a call succeeded.
    pub(super) calls: bool,
    /// Whether the plan names tools for it.
    pub(super) tools_planned: bool,
}

/// Puts what a judge said in its places. What is unclear is not met. Where no call succeeded, a judge has only a claim to
/// go by: what can be verified, or was to be done with tools, is unverified then, whatever the judge says.
pub(super) fn fill(
    verdicts: &mut [Verdict],
    criteria: &[Criterion],
    judgements: &[Judgement],
    class: FailureClass,
    seen: Seen,
) {
    for (at, judgement) in open_verdicts(criteria).into_iter().zip(judgements) {
        let (Some(verdict), Some(criterion)) = (verdicts.get_mut(at), criteria.get(at)) else { continue };
        let met = judgement.verdict == Opinion::Pass;
        let claimed = met && !seen.calls && (criterion.mode == Mode::Verifiable || seen.tools_planned);
        verdict.passed = met && !claimed;
        verdict.basis = match (met, claimed) {
            (true, true) => Some(Basis::Claim),
            (true, false) => Some(Basis::Judge),
            (false, _) => None,
        };
        verdict.failure_class = (!met).then(|| judgement.failure_class.unwrap_or(class));
        verdict.evidence = match claimed {
            true => format!("no call succeeded that could show it; a judge says: {}", judgement.evidence),
            false => judgement.evidence.clone(),
        };
    }
}

#[expect(clippy::cast_precision_loss, reason = "a subtask has a handful of criteria")]
fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { part as f64 / all as f64 }
}
