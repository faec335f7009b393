//! The task machine: one total fold over journalled inputs. The roles of the loop are its modules: each answers one kind
//! of input, and what it wants of another it says in a message of the step.

mod contract;
mod ending;
mod executor;
mod loops;
mod meta;
mod pace;
mod perceiver;
mod planner;
mod solver;
mod step;
mod validator;

use std::collections::BTreeMap;

use domain::approval::Answer;
use domain::ask::{Ask, Clarified, Silence, Subject, Unanswered, Want};
use domain::call::{Call, Chooser, Failure, Outcome, ToolId};
use domain::id::{ApprovalId, CallId, Id, ReasonId, SubtaskId, TaskId};
use domain::source::Text;
use domain::task::{Cause, Directive, FinalResult, MustNot, Plan, Status, TaskSpec};
use domain::{Tags, Time, Trust};

use executor::{State, Work};
use pace::Pace;
use planner::Planning;
use solver::Rounds;
use step::Open;

pub use contract::{CONTRACT, Gap, SubTaskOutcome};
pub use step::{Assessment, Effect, Input, Message, NewReason, Opening, Role, Ruling, Step, Unexpected};

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
    pace: Pace,
    /// Effects whose answer has not come yet. Whoever takes the task over starts them again.
    open: BTreeMap<Open, Effect>,
    /// Open calls that a person is asked about. They are not started again before there is an answer.
    waiting: BTreeMap<CallId, ApprovalId>,
    /// Open calls that a person has said yes to: what the yes is looked up by when authority is asked again.
    allowed: BTreeMap<CallId, ApprovalId>,
    /// When authority said yes to a call that runs.
    started: BTreeMap<CallId, Time>,
    /// The one question back, while nobody has answered it, and who asked.
    question: Option<(Role, String)>,
    clarified: Option<Clarified>,
    spec: Option<TaskSpec>,
    planning: Planning,
    plan: Option<Plan>,
    work: Vec<Work>,
    /// How many subtasks are not over.
    left: usize,
    plan_reason: Option<ReasonId>,
    rounds: Rounds,
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
        let mut task = Self {
            opening,
            steps: 0,
            pace: Pace::new(now),
            open: BTreeMap::new(),
            waiting: BTreeMap::new(),
            allowed: BTreeMap::new(),
            started: BTreeMap::new(),
            question: None,
            clarified: None,
            spec: None,
            planning: Planning::default(),
            plan: None,
            work: Vec::new(),
            left: 0,
            plan_reason: None,
            rounds: Rounds::default(),
            result: None,
            end: None,
        };
        let input = Input::Opened(task.opening.clone());
        let mut step = task.begin(input, now);
        task.ask_to_perceive(&mut step);
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
        let idle = self.status() == Status::Waiting || input == Input::TakenOver;
        self.pace.pass(now, idle);
        let mut step = self.begin(input.clone(), now);
        let asked = input.subject().and_then(|subject| self.close_ask(subject));
        match (input, asked) {
            // The task was ended while this was being thought about.
            (_, Some(_)) if self.result.is_some() => {}
            (Input::Unanswered { why, .. }, Some(ask)) => self.unanswered(ask, &why, &mut step),
            (Input::Perceived(perception), _) => self.perceived(perception, &mut step),
            (Input::Planned(plan), Some(ask)) => self.planned(&ask, plan, &mut step),
            (Input::NotPlanned(why), _) => self.not_planned(why, &mut step),
            (Input::Acted { subtask, action }, _) => self.acted(subtask, action, &mut step),
            (Input::Judged { judgements, .. }, Some(ask)) => self.judged(ask, judgements, &mut step),
            (Input::Clarified(answer), _) => self.clarify(answer, &mut step),
            (Input::Recalled(recalled), _) => self.recalled(recalled, &mut step),
            (Input::Ruled { call, ruling }, _) => self.ruled(call, ruling, &mut step),
            (Input::Answered { call, answer }, _) => self.answered(call, answer, &mut step),
            (Input::Returned { call, outcome }, _) => self.returned(call, outcome, &mut step),
            (Input::TakenOver, _) => step.effects = self.unanswered_effects(),
            (Input::Cancelled { by }, _) => self.cancelled(&by, &mut step),
            (Input::Opened(_) | Input::Planned(_) | Input::Judged { .. } | Input::Unanswered { .. }, _) => {}
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
            usage: None,
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
            Input::Cancelled { .. } => self.result.is_none(),
            Input::Clarified(_) => self.question.is_some(),
            Input::Recalled(_) => self.open.contains_key(&Open::Recall),
            Input::Ruled { call, .. } | Input::Returned { call, .. } => {
                self.open_call(*call).is_some() && !self.waiting.contains_key(call)
            }
            Input::Answered { call, .. } => self.waiting.contains_key(call),
            Input::Perceived(_)
            | Input::Planned(_)
            | Input::NotPlanned(_)
            | Input::Acted { .. }
            | Input::Judged { .. }
            | Input::Unanswered { .. } => {
                input.subject().is_some_and(|subject| self.open.contains_key(&Open::Ask(subject)))
            }
        };
        if expected { Ok(()) } else { Err(Unexpected::NobodyAsked(input.name())) }
    }

    fn open_call(&self, id: CallId) -> Option<&Call> {
        match self.open.get(&Open::Call(id)) {
            Some(Effect::Call(call)) => Some(call),
            Some(Effect::Ask(_) | Effect::Recall(_)) | None => None,
        }
    }

    fn start(&mut self, step: &mut Step, effect: Effect) {
        self.open.insert(effect.key(), effect.clone());
        step.effects.push(effect);
    }

    fn ask(&mut self, want: Want, repair: Option<String>, step: &mut Step) {
        let (round, workspace) = (self.rounds.number(), self.opening.workspace.clone());
        let ask = Ask { want, round, now: step.at, workspace, repair };
        self.start(step, Effect::Ask(Box::new(ask)));
    }

    fn close_ask(&mut self, subject: Subject) -> Option<Ask> {
        match self.open.remove(&Open::Ask(subject)) {
            Some(Effect::Ask(ask)) => Some(*ask),
            Some(Effect::Call(_) | Effect::Recall(_)) | None => None,
        }
    }

    /// What is open and does not wait for a person.
    fn unanswered_effects(&self) -> Vec<Effect> {
        let waits =
            |effect: &&Effect| matches!(effect, Effect::Call(call) if self.waiting.contains_key(&call.id));
        self.open.values().filter(|effect| !waits(effect)).cloned().collect()
    }

    fn close_call(&mut self, id: CallId) {
        self.waiting.remove(&id);
        self.allowed.remove(&id);
        self.open.remove(&Open::Call(id));
    }

    /// Whether corrections and replans are steered here, or the first failure is the last.
    const fn is_steered(&self) -> bool {
        self.opening.steering.is_some()
    }

    /// What cannot be used is asked for once more, with what was wrong; after that each role lives with the silence in its
    /// own way, and none of them waits for ever.
    fn unanswered(&mut self, ask: Ask, why: &Unanswered, step: &mut Step) {
        if why.kind == Silence::Unusable && ask.repair.is_none() {
            return self.ask(ask.want, Some(why.why.clone()), step);
        }
        let said = format!("the model as {}: {why}", ask.subject().role().replace('_', "-"));
        match why.kind {
            // Nobody else would be allowed to think about it either.
            Silence::Refused => return self.abandon(Cause::Refused, said, step),
            Silence::Exhausted => return self.abandon(Cause::Exhausted, said, step),
            Silence::Unusable | Silence::Unreachable | Silence::Declined => {}
        }
        match ask.want {
            Want::Perceive { .. } => self.abandon(Cause::NoAnswer, said, step),
            Want::Plan { .. } if why.kind == Silence::Unusable => self.unplannable(&said, step),
            Want::Plan { .. } => self.abandon(Cause::NoAnswer, said, step),
            Want::Act { number, .. } => self.fall_silent(number, said, step),
            Want::Judge { of, .. } => self.no_judge(of, &said, step),
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
            Ruling::Execute => {
                self.started.insert(id, step.at);
                return;
            }
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
        if self.result.is_some() && call.subtask.is_some() {
            return self.close_call(id); // the task was ended while somebody was asked
        }
        let (why, instead) = match answer {
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
            Answer::Rejected { reason } => {
                self.said_no(call.subtask);
                let why = if reason.is_empty() { SAID_NO.to_owned() } else { format!("{SAID_NO}: {reason}") };
                (why, AFTER_NO)
            }
            Answer::Expired => {
                ("nobody answered in time; that is neither yes nor no".to_owned(), AFTER_SILENCE)
            }
        };
        self.close_call(id);
        match call.subtask {
            None => self.end = Some(End::Undelivered),
            Some(subtask) => {
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
            None => self.delivered(&outcome, step),
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
        self.pace.opened_at()
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

    /// The id of a subtask of the plan: given by the machine, the same whenever the journal is folded.
    #[must_use]
    pub fn subtask_id(&self, number: u32) -> SubtaskId {
        Id::derived(self.opening.task, self.planning.step(), number)
    }

    /// What the plan and its calls must not use.
    #[must_use]
    pub const fn must_not(&self) -> &MustNot {
        self.planning.must_not()
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

    /// The one question back, while nobody has answered it.
    #[must_use]
    pub fn question(&self) -> Option<&str> {
        self.question.as_ref().map(|(_, question)| question.as_str())
    }

    /// The question that a person has said yes to, for this call.
    #[must_use]
    pub fn allowed(&self, call: CallId) -> Option<ApprovalId> {
        self.allowed.get(&call).copied()
    }

    /// What has been started and has not come back.
    pub fn pending(&self) -> impl Iterator<Item = &Effect> {
        self.open.values()
    }

    #[must_use]
    pub fn status(&self) -> Status {
        let stands = self.open.len() == self.waiting.len();
        match (&self.result, self.end) {
            (None, None) if stands && (self.question.is_some() || !self.open.is_empty()) => Status::Waiting,
            (_, None) => Status::Running,
            (Some(result), Some(End::Delivered)) if result.directive != Directive::Abandon => Status::Done,
            (_, Some(End::Delivered | End::Undelivered)) => Status::Stopped,
        }
    }
}

#[cfg(test)]
mod tests;
