//! The task machine: one total fold over journalled inputs.

mod executor;
mod loops;
mod meta;
mod solver;
mod step;

use std::collections::BTreeMap;

use domain::approval::Answer;
use domain::ask::{Action, Ask, Perception};
use domain::call::{Call, Chooser, Failure, Outcome, ToolId};
use domain::id::{ApprovalId, CallId, Id, ReasonId, TaskId};
use domain::source::Text;
use domain::task::{Cause, Directive, FinalResult, Plan, Status, TaskSpec};
use domain::{Tags, Time, Trust};

use crate::plan;
use executor::{State, Work};
pub use solver::{SUCCESS_DISTANCE, distance};
pub use step::{Effect, Input, Message, NewReason, Opening, Role, Ruling, Step, Unexpected};

/// The tool that hands the answer back to whoever asked.
pub const DELIVER: &str = "deliver";

/// How an attempt is told that the owner does not want its call; a reason may follow.
pub const SAID_NO: &str = "the owner said no";
const AFTER_NO: &str = "something else, or the same with a better reason";
const AFTER_SILENCE: &str = "ask again, if it is still wanted";

/// A task as far as its journal tells. Everything in it follows from the inputs.
#[derive(Clone, Debug)]
pub struct Task {
    opening: Opening,
    /// How many inputs have been folded; the next one gets this number.
    steps: u64,
    opened_at: Time,
    /// Effects whose answer has not come yet. Whoever takes the task over starts them again.
    open: Vec<Effect>,
    /// Open calls that a person is asked about. They are not started again before there is an answer.
    waiting: BTreeMap<CallId, ApprovalId>,
    /// Open calls that a person has said yes to: what the yes is looked up by when authority is asked again.
    allowed: BTreeMap<CallId, ApprovalId>,
    spec: Option<TaskSpec>,
    plan: Option<Plan>,
    work: Vec<Work>,
    plan_reason: Option<ReasonId>,
    result: Option<FinalResult>,
    end: Option<End>,
}

/// How the machine came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Delivered,
    /// There is a result, but it could not or may not be handed back; the journal says why.
    Undelivered,
}

impl Task {
    /// The first step of every task.
    #[must_use]
    pub fn open(opening: Opening, now: Time) -> (Self, Step) {
        let ask = Ask::Perceive { request: opening.request.clone(), now };
        let mut task = Self {
            opening,
            steps: 0,
            opened_at: now,
            open: Vec::new(),
            waiting: BTreeMap::new(),
            allowed: BTreeMap::new(),
            spec: None,
            plan: None,
            work: Vec::new(),
            plan_reason: None,
            result: None,
            end: None,
        };
        let input = Input::Opened(task.opening.clone());
        let mut step = task.begin(input, now);
        task.start(&mut step, Effect::ask(ask));
        (task, step)
    }

    /// Folds a journal. The first input must be `Opened`; nothing else is assumed about it.
    ///
    /// # Errors
    /// If the journal does not begin with an opening, or holds an input that the machine cannot have seen.
    pub fn fold(inputs: impl IntoIterator<Item = (Input, Time)>) -> Result<Self, Unexpected> {
        let mut inputs = inputs.into_iter();
        let Some((Input::Opened(opening), now)) = inputs.next() else { return Err(Unexpected::NotOpened) };
        let (mut task, _) = Self::open(opening, now);
        for (input, now) in inputs {
            task.handle(input, now)?;
        }
        Ok(task)
    }

    /// One input, one step: what was said, and what is to be done.
    ///
    /// # Errors
    /// If nobody asked for this input. The state is unchanged then.
    pub fn handle(&mut self, input: Input, now: Time) -> Result<Step, Unexpected> {
        self.expects(&input)?;
        let mut step = self.begin(input.clone(), now);
        match input {
            Input::Opened(_) => {}
            Input::TakenOver => step.effects = self.unanswered(),
            Input::Perceived(perception) => self.perceived(perception, &mut step),
            Input::Planned(plan) => self.planned(plan, &mut step),
            Input::Acted { subtask, action } => self.acted(subtask, action, &mut step),
            Input::Ruled { call, ruling } => self.ruled(call, ruling, &mut step),
            Input::Answered { call, answer } => self.answered(call, answer, &mut step),
            Input::Returned { call, outcome } => self.returned(call, outcome, &mut step),
        }
        Ok(step)
    }

    fn begin(&mut self, input: Input, now: Time) -> Step {
        let n = self.steps;
        self.steps += 1;
        Step {
            n,
            at: now,
            rules: crate::RULES,
            input,
            messages: Vec::new(),
            reasons: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Whether somebody asked for this input.
    fn expects(&self, input: &Input) -> Result<(), Unexpected> {
        let expected = match input {
            Input::Opened(_) => false,
            Input::TakenOver => self.end.is_none(),
            Input::Perceived(_) => self.asked(|ask| matches!(ask, Ask::Perceive { .. })),
            Input::Planned(_) => self.asked(|ask| matches!(ask, Ask::Plan { .. })),
            Input::Acted { subtask, .. } => {
                self.asked(|ask| matches!(ask, Ask::Act { number, .. } if number == subtask))
            }
            Input::Ruled { call, .. } | Input::Returned { call, .. } => {
                self.open_call(*call).is_some() && !self.waiting.contains_key(call)
            }
            Input::Answered { call, .. } => self.waiting.contains_key(call),
        };
        if expected { Ok(()) } else { Err(Unexpected::NobodyAsked(input.name())) }
    }

    fn asked(&self, of: impl Fn(&Ask) -> bool) -> bool {
        self.open.iter().any(|open| matches!(open, Effect::Ask(ask) if of(ask)))
    }

    fn open_call(&self, id: CallId) -> Option<&Call> {
        self.open.iter().find_map(|open| match open {
            Effect::Call(call) if call.id == id => Some(call),
            Effect::Call(_) | Effect::Ask(_) => None,
        })
    }

    fn start(&mut self, step: &mut Step, effect: Effect) {
        self.open.push(effect.clone());
        step.effects.push(effect);
    }

    fn close_ask(&mut self, of: impl Fn(&Ask) -> bool) {
        self.open.retain(|open| !matches!(open, Effect::Ask(ask) if of(ask)));
    }

    /// What is open and does not wait for a person.
    fn unanswered(&self) -> Vec<Effect> {
        let waits =
            |effect: &&Effect| matches!(effect, Effect::Call(call) if self.waiting.contains_key(&call.id));
        self.open.iter().filter(|effect| !waits(effect)).cloned().collect()
    }

    fn close_call(&mut self, id: CallId) {
        self.waiting.remove(&id);
        self.allowed.remove(&id);
        self.open.retain(|open| !matches!(open, Effect::Call(call) if call.id == id));
    }

    // R1: what does this request need?
    fn perceived(&mut self, perception: Perception, step: &mut Step) {
        self.close_ask(|ask| matches!(ask, Ask::Perceive { .. }));
        match perception {
            Perception::Beyond { why } => self.abandon(Cause::NeedsModel, why, step),
            Perception::Task(spec) => {
                step.say(Role::Perceiver, Role::Planner, "TaskSpec", None);
                self.spec = Some((*spec).clone());
                self.start(step, Effect::ask(Ask::Plan { spec: *spec }));
            }
        }
    }

    // R2: a plan that can be carried out, or none.
    fn planned(&mut self, plan: Plan, step: &mut Step) {
        self.close_ask(|ask| matches!(ask, Ask::Plan { .. }));
        if let Err(bad) = plan::validate(&plan) {
            return self.abandon(Cause::Unplannable, bad.to_string(), step);
        }
        let intent = self.spec.as_ref().map_or_else(String::new, |spec| spec.intent.text.clone());
        self.plan_reason = Some(self.reason("plan", Some(self.opening.tags.reason), intent, step));
        self.work = plan.subtasks.iter().map(|_| Work::default()).collect();
        self.plan = Some(plan);
        self.dispatch(step);
    }

    // R3: the next move of one attempt.
    fn acted(&mut self, subtask: u32, action: Action, step: &mut Step) {
        self.close_ask(|ask| matches!(ask, Ask::Act { number, .. } if *number == subtask));
        if self.result.is_some() {
            return; // the task was ended while this was being thought about
        }
        match action {
            Action::Finish { output } => {
                step.say(Role::Executor, Role::Validator, "ExecutionResult", Some(subtask));
                self.finish(subtask, output, step);
            }
            Action::Call { tool, args, chosen_by } => {
                let intent = self.intent_of(subtask);
                let reason = self.reason("call", self.plan_reason, intent, step);
                let _id = self.call(Some(subtask), tool, args, chosen_by, reason, step);
            }
        }
    }

    fn call(
        &mut self,
        subtask: Option<u32>,
        tool: ToolId,
        args: serde_json::Value,
        chosen_by: Chooser,
        reason: ReasonId,
        step: &mut Step,
    ) -> CallId {
        let ordinal = u32::try_from(step.effects.len()).unwrap_or(u32::MAX);
        let id = Id::derived(self.opening.task, step.n, ordinal);
        let tags = self.opening.tags.because(reason);
        let call = Call { id, tool, args, task: self.opening.task, subtask, chosen_by, tags };
        self.start(step, Effect::Call(call));
        id
    }

    fn ruled(&mut self, id: CallId, ruling: Ruling, step: &mut Step) {
        match ruling {
            Ruling::Execute => return,
            // One that is asked about again waits for the new answer; the old one was not for this.
            Ruling::Review { approval } => {
                self.allowed.remove(&id);
                self.waiting.insert(id, approval);
                return;
            }
            Ruling::Refused { .. } | Ruling::Denied { .. } | Ruling::Exhausted { .. } => {}
        }
        let Some(call) = self.open_call(id).cloned() else { return };
        self.close_call(id);
        match (call.subtask, ruling) {
            (None, _) => self.end = Some(End::Undelivered),
            (Some(_), _) if self.result.is_some() => {}
            (Some(subtask), Ruling::Refused { why }) => self.stop_subtask(subtask, State::Refused(why), step),
            (Some(subtask), Ruling::Denied { why, instead, .. }) => {
                self.observe(subtask, &call, Err(Failure::refused(why, instead)), step)
            }
            (Some(_), Ruling::Exhausted { why }) => self.abandon(Cause::Exhausted, why, step),
            (Some(_), Ruling::Execute | Ruling::Review { .. }) => {}
        }
    }

    /// A yes lets the call be asked for again, with the yes; anything else ends it, and the attempt is told.
    fn answered(&mut self, id: CallId, answer: Answer, step: &mut Step) {
        let (Some(call), Some(approval)) = (self.open_call(id).cloned(), self.waiting.remove(&id)) else {
            return;
        };
        if self.result.is_some() {
            return self.close_call(id); // the task was ended while somebody was asked
        }
        let refused = match answer {
            Answer::Approved => {
                self.allowed.insert(id, approval);
                step.effects.push(Effect::Call(call));
                return;
            }
            // What runs is another call. Who chose it is no less asked about for it: what lets it run is the yes alone.
            Answer::Modified { args } => {
                self.close_call(id);
                let new = self.call(call.subtask, call.tool, args, call.chosen_by, call.tags.reason, step);
                self.allowed.insert(new, approval);
                return;
            }
            Answer::Rejected { reason } if reason.is_empty() => (SAID_NO.to_owned(), AFTER_NO),
            Answer::Rejected { reason } => (format!("{SAID_NO}: {reason}"), AFTER_NO),
            Answer::Expired => {
                ("nobody answered in time; that is neither yes nor no".to_owned(), AFTER_SILENCE)
            }
        };
        self.close_call(id);
        match call.subtask {
            None => self.end = Some(End::Undelivered),
            Some(subtask) => {
                let (why, instead) = refused;
                self.observe(subtask, &call, Err(Failure::refused(why, vec![instead.to_owned()])), step);
            }
        }
    }

    fn returned(&mut self, id: CallId, outcome: Outcome, step: &mut Step) {
        let Some(call) = self.open_call(id).cloned() else { return };
        self.close_call(id);
        match call.subtask {
            Some(_) if self.result.is_some() => {}
            Some(subtask) => self.observe(subtask, &call, outcome, step),
            None => {
                step.say(Role::Solver, Role::User, "FinalResult", None);
                self.end = Some(if outcome.is_ok() { End::Delivered } else { End::Undelivered });
            }
        }
    }

    /// Records why something is done; a knock-on hangs under the reason that caused it.
    fn reason(
        &self,
        r_tag: &'static str,
        parent: Option<ReasonId>,
        thought: String,
        step: &mut Step,
    ) -> ReasonId {
        let ordinal = u32::try_from(step.reasons.len()).unwrap_or(u32::MAX);
        let id = Id::derived(self.opening.task, step.n, ordinal);
        step.reasons.push(NewReason { id, r_tag: r_tag.into(), parent, thought: Text::model(thought) });
        id
    }

    fn abandon(&mut self, cause: Cause, why: String, step: &mut Step) {
        let result = FinalResult {
            directive: Directive::Abandon,
            cause: Some(cause),
            text: self.outputs(),
            reason: Some(why),
            verdicts: Vec::new(),
        };
        self.conclude(result, step);
    }

    /// R7 alone ends a task, and what it says goes back through the same door as any other effect.
    fn conclude(&mut self, result: FinalResult, step: &mut Step) {
        let thought = format!("hand the result back: {}", result.directive);
        let parent = self.plan_reason.or(Some(self.opening.tags.reason));
        let reason = self.reason("deliver", parent, thought, step);
        let args = serde_json::json!({ "result": result });
        self.result = Some(result);
        match DELIVER.parse() {
            Ok(tool) => {
                let _id = self.call(None, tool, args, Chooser::Rule, reason, step);
            }
            Err(_not_an_id) => self.end = Some(End::Undelivered),
        }
    }

    fn intent_of(&self, subtask: u32) -> String {
        let node = self.plan.as_ref().and_then(|plan| plan.subtasks.get(subtask as usize));
        node.map_or_else(String::new, |node| node.intent.text.clone())
    }

    /// Takes away what the policy of now does not give any more. Nothing can be added.
    pub fn narrow(&mut self, trust: Trust, tools: &[String]) {
        self.opening.trust = self.opening.trust.min(trust);
        self.opening.tools.retain(|glob| tools.contains(glob));
    }

    #[must_use]
    pub const fn opened_at(&self) -> Time {
        self.opened_at
    }

    #[must_use]
    pub const fn id(&self) -> TaskId {
        self.opening.task
    }

    #[must_use]
    pub const fn opening(&self) -> &Opening {
        &self.opening
    }

    #[must_use]
    pub const fn tags(&self) -> Tags {
        self.opening.tags
    }

    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    #[must_use]
    pub const fn spec(&self) -> Option<&TaskSpec> {
        self.spec.as_ref()
    }

    #[must_use]
    pub const fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    #[must_use]
    pub const fn result(&self) -> Option<&FinalResult> {
        self.result.as_ref()
    }

    /// What a person is asked about.
    #[must_use]
    pub const fn waiting(&self) -> &BTreeMap<CallId, ApprovalId> {
        &self.waiting
    }

    /// The question that a person has said yes to, for this call.
    #[must_use]
    pub fn allowed(&self, call: CallId) -> Option<ApprovalId> {
        self.allowed.get(&call).copied()
    }

    /// What has been started and has not come back.
    #[must_use]
    pub fn pending(&self) -> &[Effect] {
        &self.open
    }

    #[must_use]
    pub fn status(&self) -> Status {
        match (&self.result, self.end) {
            (None, None) if !self.open.is_empty() && self.open.len() == self.waiting.len() => Status::Waiting,
            (_, None) => Status::Running,
            (Some(result), Some(End::Delivered)) if result.directive != Directive::Abandon => Status::Done,
            (_, Some(End::Delivered | End::Undelivered)) => Status::Stopped,
        }
    }
}

#[cfg(test)]
mod tests;
