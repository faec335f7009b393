//! A task as the engine itself takes it, step by step, with the time each was taken.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "only tests are built with it")]

use std::time::Duration;

use domain::approval::Answer;
use domain::ask::{Action, Claim, Perception, Usage};
use domain::call::{Chooser, Failure, ToolCard};
use domain::criterion::{Check, Criterion};
use domain::gradient::Params;
use domain::id::{ApprovalId, CallId, EntityId, OriginId, ReasonId, TaskId, VpolId};
use domain::principal::Principal;
use domain::recall::Recalled;
use domain::source::{Source, Text};
use domain::task::{Constraints, Plan, Subtask, TaskSpec};
use domain::{Tags, Tier, Time, Trust};
use engine::task::{Effect, Input, Opening, Ruling, Step, Task};
use serde_json::{Value, json};

/// The task of every recording.
pub const TASK: TaskId = TaskId::from_bits(0x9a_u128 << 120);

/// A task, and the steps that it took.
#[derive(Debug)]
pub struct TaskRecording {
    task: Task,
    now: Time,
    pub steps: Vec<Step>,
}

fn card(id: &str, target: &str) -> ToolCard {
    ToolCard { id: id.parse().unwrap(), class: id.into(), tier: Tier::ReadOnly, target: Some(target.into()) }
}

fn opening(steering: Option<Params>) -> Opening {
    let (origin, reason, vpol) = (OriginId::from_bits(1), ReasonId::from_bits(2), VpolId::from_bits(3));
    Opening {
        task: TASK,
        agent: "main".into(),
        tags: Tags { origin, reason, vpol },
        principal: Principal::Owner { entity: EntityId::from_bits(4) },
        trust: Trust::Operator,
        tools: vec!["*".into()],
        request: Text::new("delete the copies and write to Aurora", Source::Owner),
        workspace: "/".into(),
        steering,
        cards: vec![card("find_files", "under"), card("http_fetch", "url"), card("delete_file", "path")],
        history: Vec::new(),
        assessment: None,
    }
}

/// A step of a plan, with as many checks as that; each is met when its tool was called.
pub fn plan_subtask(intent: &str, checks: usize, needs: &[u32], tool: &str) -> Subtask {
    let check = |n: usize| {
        Criterion::checked(format!("check {n}"), Check::ToolCalled { tool: tool.parse().unwrap() })
    };
    let mut subtask = Subtask::new(Text::model(intent), (0..checks).map(check).collect());
    subtask.depends_on = needs.to_vec();
    subtask
}

impl TaskRecording {
    pub fn new(steering: Option<Params>) -> Self {
        let now = Time::from_micros(0);
        let (task, step) = Task::open(opening(steering), now);
        Self { task, now, steps: vec![step] }
    }

    pub fn wait(&mut self, ms: u64) -> &mut Self {
        self.now = self.now.plus(Duration::from_millis(ms));
        self
    }

    fn give(&mut self, input: Input) -> &mut Self {
        let mut step = self.task.handle(input, self.now).expect("somebody asked for it");
        let asked = step.input.subject().is_some();
        step.usage = asked.then(|| Usage { price: 4_000, ..Usage::default() });
        self.steps.push(step);
        self
    }

    pub fn understood(&mut self) -> &mut Self {
        let spec = TaskSpec {
            task_class: "aurora".into(),
            intent: Text::model("tidy up"),
            constraints: Constraints::default(),
            raw_input: Text::new("tidy up", Source::Owner),
        };
        self.give(Input::Perceived(Perception::Task(Box::new(spec))))
    }

    pub fn planned(&mut self, parts: Vec<Subtask>) -> &mut Self {
        if self.task.pending().any(|effect| matches!(effect, Effect::Recall(_))) {
            self.give(Input::Recalled(Recalled::default()));
        }
        self.give(Input::Planned(Plan::of(parts)))
    }

    fn call(&self) -> CallId {
        let effects = self.steps.last().expect("a step").effects.iter();
        let mut calls = effects.filter_map(|effect| match effect {
            Effect::Call(call) => Some(call.id),
            Effect::Ask(_) | Effect::Recall(_) => None,
        });
        calls.next().expect("a call")
    }

    /// It is called, and runs.
    pub fn calls(&mut self, subtask: u32, tool: &str, args: Value) -> CallId {
        let action = Action::Call { tool: tool.parse().unwrap(), args, chosen_by: Chooser::Model };
        let call = self.give(Input::Acted { subtask, action }).call();
        self.give(Input::Ruled { call, ruling: Ruling::Execute });
        call
    }

    /// It is called, and a person is asked.
    pub fn asks(&mut self, subtask: u32, tool: &str, args: Value) -> CallId {
        let action = Action::Call { tool: tool.parse().unwrap(), args, chosen_by: Chooser::Model };
        let call = self.give(Input::Acted { subtask, action }).call();
        self.give(Input::Ruled { call, ruling: Ruling::Review { approval: ApprovalId::from_bits(9) } });
        call
    }

    pub fn answered(&mut self, call: CallId, answer: Answer) -> CallId {
        let call = self.give(Input::Answered { call, answer }).call();
        self.give(Input::Ruled { call, ruling: Ruling::Execute });
        call
    }

    pub fn returns(&mut self, call: CallId) -> &mut Self {
        self.give(Input::Returned { call, outcome: Ok(json!({ "count": 2 })) })
    }

    pub fn breaks(&mut self, call: CallId, why: &str) -> &mut Self {
        let failure = Failure::environmental(why);
        self.give(Input::Returned { call, outcome: Err(failure) })
    }

    pub fn finishes(&mut self, subtask: u32, status: Claim) -> &mut Self {
        let action = Action::Finish { output: "out".into(), status };
        self.give(Input::Acted { subtask, action })
    }

    pub fn taken_over(&mut self) -> &mut Self {
        self.give(Input::TakenOver)
    }

    pub fn now(&self) -> Time {
        self.now
    }
}

/// The task of the mock-ups: five steps, one of which has to look elsewhere, one that is asked about.
pub fn aurora() -> TaskRecording {
    let mut task = TaskRecording::new(Some(Params::default()));
    task.wait(400).understood().wait(600).planned(vec![
        plan_subtask("find the Aurora invoices", 1, &[], "find_files"),
        plan_subtask("compare amounts and dates", 2, &[0], "find_files"),
        plan_subtask("look up Aurora's billing address", 2, &[], "http_fetch"),
        plan_subtask("delete the duplicate copies", 2, &[1], "delete_file"),
        plan_subtask("write to Aurora's billing desk", 2, &[2, 3], "find_files"),
    ]);
    let found = task.calls(0, "find_files", json!({ "under": "invoices" }));
    task.wait(200).returns(found).finishes(0, Claim::Completed);
    let contact = task.wait(100).calls(2, "http_fetch", json!({ "url": "https://aurora.example/contact" }));
    task.wait(6_000).breaks(contact, "https://aurora.example/contact refused us (HTTP 403)");
    task.finishes(2, Claim::Failed);
    let compared = task.wait(1_000).calls(1, "find_files", json!({ "under": "docs" }));
    task.wait(31_700).returns(compared).finishes(1, Claim::Completed);
    let delete = task.wait(100).asks(3, "delete_file", json!({ "path": "invoices/copy.pdf" }));
    task.wait(10_000);
    let delete = task.answered(delete, Answer::Approved);
    task.wait(900).returns(delete).finishes(3, Claim::Completed);
    task
}

/// The second round, as far as the picture of it goes.
pub fn second_round(task: &mut TaskRecording) {
    task.wait(500).planned(vec![
        plan_subtask("look up Aurora's billing address", 2, &[], "http_fetch"),
        plan_subtask("write to Aurora's billing desk", 2, &[0], "find_files"),
    ]);
    let _open = task.wait(200).calls(0, "http_fetch", json!({ "url": "https://aurora.example/impressum" }));
    task.wait(3_000);
}
