//! A steered task with a journal, and the words to drive it.

mod words;

use std::time::Duration;

use domain::Time;
use domain::approval::Answer;
use domain::ask::{Action, Ask, Correction, Judgement, NotPlanned, Perception, Subject, Unanswered, Want};
use domain::call::{Call, Chooser, Outcome};
use domain::gradient::{Macro, PlanDirective};
use domain::id::{ApprovalId, CallId};
use domain::recall::Recalled;
use domain::task::{Cause, Directive, FinalResult, Plan, Status};
use serde_json::{Value, json};

pub(super) use words::*;

use crate::task::{DELIVER, Effect, Input, Opening, Role, Ruling, Step, Task};

pub(super) struct World {
    pub(super) task: Task,
    pub(super) journal: Vec<Step>,
    pub(super) now: Time,
}

/// How far it goes.
impl World {
    pub(super) fn opened(opening: Opening) -> Self {
        let now = Time::from_micros(0);
        let (task, step) = Task::open(opening, now);
        Self { task, journal: vec![step], now }
    }

    pub(super) fn open() -> Self {
        Self::opened(opening())
    }

    /// Understood, and memory knows nothing: a plan is asked for.
    pub(super) fn planning() -> Self {
        let mut world = Self::open();
        world.understands();
        world.remembers_nothing();
        world
    }

    /// With a plan that is carried out.
    pub(super) fn with(plan: Plan) -> Self {
        let mut world = Self::planning();
        world.plans(plan);
        world
    }
}

/// What comes in.
impl World {
    #[track_caller]
    pub(super) fn give(&mut self, input: Input) -> &Step {
        let step = self.task.handle(input, self.now).expect("somebody asked for it");
        self.journal.push(step);
        self.last()
    }

    pub(super) fn wait(&mut self, seconds: u64) {
        self.now = self.now.plus(Duration::from_secs(seconds));
    }

    #[track_caller]
    pub(super) fn understands(&mut self) {
        self.give(Input::Perceived(Perception::Task(Box::new(spec()))));
    }

    #[track_caller]
    pub(super) fn remembers_nothing(&mut self) {
        self.remembers(Recalled::default());
    }

    #[track_caller]
    pub(super) fn remembers(&mut self, recalled: Recalled) {
        self.give(Input::Recalled(recalled));
    }

    #[track_caller]
    pub(super) fn plans(&mut self, plan: Plan) {
        self.give(Input::Planned(plan));
    }

    #[track_caller]
    pub(super) fn does_not_plan(&mut self, why: NotPlanned) {
        self.give(Input::NotPlanned(why));
    }

    /// Another round, with another plan.
    #[track_caller]
    pub(super) fn replans(&mut self, plan: Plan) {
        self.remembers_nothing();
        self.plans(plan);
    }

    /// The executor wants to call a tool.
    #[track_caller]
    pub(super) fn moves(&mut self, subtask: u32, tool: &str, args: Value) -> Call {
        let action = Action::Call { tool: tool.parse().unwrap(), args, chosen_by: Chooser::Model };
        match self.give(Input::Acted { subtask, action }).effects.as_slice() {
            [Effect::Call(call)] => call.clone(),
            other => panic!("one call, not {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn rules(&mut self, call: CallId, ruling: Ruling) {
        self.give(Input::Ruled { call, ruling });
    }

    /// A tool is called, authority lets it, and this comes back.
    #[track_caller]
    pub(super) fn does(&mut self, subtask: u32, tool: &str, args: Value, outcome: Outcome) {
        let call = self.moves(subtask, tool, args);
        self.rules(call.id, Ruling::Execute);
        self.give(Input::Returned { call: call.id, outcome });
    }

    #[track_caller]
    pub(super) fn finishes(&mut self, subtask: u32, action: Action) {
        self.give(Input::Acted { subtask, action });
    }

    #[track_caller]
    pub(super) fn claims(&mut self, subtask: u32, output: &str) {
        self.finishes(subtask, Action::done(output));
    }

    /// One attempt: a search under a folder, and the claim that this was it.
    #[track_caller]
    pub(super) fn attempts(&mut self, subtask: u32, outcome: Outcome) {
        self.does(subtask, FIND, json!({ "under": format!("folder {subtask}") }), outcome);
        self.claims(subtask, &format!("out {subtask}"));
    }

    #[track_caller]
    pub(super) fn matches(&mut self, subtask: u32) {
        self.attempts(subtask, counted());
    }

    /// It gives up at once, and this is why.
    #[track_caller]
    pub(super) fn fails(&mut self, subtask: u32, tool: &str, args: Value, outcome: Outcome) {
        self.does(subtask, tool, args, outcome);
        self.finishes(subtask, Action::failed(format!("gave up on {subtask}")));
    }

    #[track_caller]
    pub(super) fn fails_logically(&mut self, subtask: u32) {
        self.fails(subtask, FIND, json!({ "under": format!("folder {subtask}") }), beside_the_point());
    }

    #[track_caller]
    pub(super) fn fails_environmentally(&mut self, subtask: u32) {
        self.fails(subtask, FIND, json!({ "under": format!("folder {subtask}") }), out_of_reach());
    }

    #[track_caller]
    pub(super) fn judges(&mut self, of: Option<u32>, judgements: Vec<Judgement>) {
        self.give(Input::Judged { of, judgements });
    }

    #[track_caller]
    pub(super) fn does_not_answer(&mut self, ask: Subject, why: Unanswered) {
        self.give(Input::Unanswered { ask, why });
    }

    /// A call that a person is asked about.
    #[track_caller]
    pub(super) fn is_reviewed(&mut self, subtask: u32, tool: &str, args: Value) -> Call {
        let call = self.moves(subtask, tool, args);
        self.rules(call.id, Ruling::Review { approval: ApprovalId::from_bits(7) });
        call
    }

    #[track_caller]
    pub(super) fn answers(&mut self, call: CallId, answer: Answer) {
        self.give(Input::Answered { call, answer });
    }

    /// The result is handed over.
    #[track_caller]
    pub(super) fn is_delivered(&mut self) {
        let call = self.delivery().id;
        self.rules(call, Ruling::Execute);
        self.give(Input::Returned { call, outcome: Ok(json!({})) });
    }
}

/// What is to be seen.
impl World {
    pub(super) fn last(&self) -> &Step {
        self.journal.last().expect("a journal has a first step")
    }

    #[track_caller]
    pub(super) fn result(&self) -> &FinalResult {
        self.task.result().expect("a result")
    }

    /// How it ended, why, and what is said of it.
    #[track_caller]
    pub(super) fn ending(&self) -> (Directive, Option<Cause>, Option<&str>) {
        let result = self.result();
        (result.directive, result.cause, result.reason.as_deref())
    }

    #[track_caller]
    pub(super) fn delivery(&self) -> Call {
        let call = self.task.pending().find_map(|effect| match effect {
            Effect::Call(call) if call.tool.as_str() == DELIVER => Some(call.clone()),
            _ => None,
        });
        call.expect("a delivery")
    }

    pub(super) fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.journal.iter().flat_map(|step| &step.effects).filter_map(|effect| match effect {
            Effect::Ask(ask) => Some(&**ask),
            _ => None,
        })
    }

    /// What was asked last.
    #[track_caller]
    pub(super) fn asked(&self) -> &Ask {
        self.asks().last().expect("an ask")
    }

    /// Which subtasks the last step asks to act.
    pub(super) fn acting(&self) -> Vec<u32> {
        let asked = self.last().effects.iter().filter_map(|effect| match effect {
            Effect::Ask(ask) => Some(ask.subject()),
            _ => None,
        });
        asked
            .filter_map(|subject| if let Subject::Act(number) = subject { Some(number) } else { None })
            .collect()
    }

    /// The correction that the last ask carries.
    #[track_caller]
    pub(super) fn correction(&self) -> &Correction {
        match &self.asked().want {
            Want::Act { correction: Some(correction), .. } => correction,
            other => panic!("a correction, not {other:?}"),
        }
    }

    /// Everything of one kind that was said, with who said it to whom.
    pub(super) fn said(&self, kind: &str) -> Vec<(Role, Role, &Value)> {
        let messages = self.journal.iter().flat_map(|step| &step.messages);
        messages.filter(|message| message.kind == kind).map(|m| (m.from, m.to, &m.body)).collect()
    }

    pub(super) fn bodies(&self, kind: &str) -> Vec<&Value> {
        self.said(kind).into_iter().map(|(_, _, body)| body).collect()
    }

    pub(super) fn directives(&self) -> Vec<PlanDirective> {
        let said = self.bodies("PlanDirective").into_iter();
        said.map(|body| serde_json::from_value(body.clone()).expect("a directive")).collect()
    }

    /// What the solver told the planner last.
    #[track_caller]
    pub(super) fn directed(&self) -> PlanDirective {
        self.directives().pop().expect("a directive")
    }

    /// What memory was told: under which words, and what kind of experience it was.
    pub(super) fn learnt(&self) -> Vec<(String, String, Macro)> {
        let of = |body: &Value, field: &str| body[field].as_str().unwrap().to_owned();
        let said = self.bodies("Megram").into_iter();
        said.map(|body| {
            let state = serde_json::from_value(body["state"].clone()).expect("a state");
            (of(body, "space"), of(body, "entity"), state)
        })
        .collect()
    }

    pub(super) fn status(&self) -> Status {
        self.task.status()
    }

    /// Which criteria the result says are not met.
    #[track_caller]
    pub(super) fn unmet(&self) -> Vec<&str> {
        self.result().unmet().map(|verdict| verdict.criterion.as_str()).collect()
    }
}
