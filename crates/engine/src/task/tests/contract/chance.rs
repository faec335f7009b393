//! Chance that can be had again: splitmix64, and what it makes up for every role.

use domain::approval::Answer;
use domain::ask::{
    Action, Ask, Claim, Judgement, NotPlanned, Opinion, Perception, Silence, Unanswered, Want,
};
use domain::call::{Chooser, Failure, FailureClass, Outcome};
use domain::criterion::{Check, Criterion};
use domain::id::ApprovalId;
use domain::recall::{Recall, Recalled};
use domain::task::{Hint, Plan, Subtask};
use serde_json::{Value, json};

use super::super::world::{DELETE, FIND, GLOB, READ, WRITE, avoid, criterion, plausible, spec, subtask};
use crate::task::{Input, Ruling};

const TOOLS: [&str; 5] = [FIND, GLOB, READ, WRITE, DELETE];
const TARGETS: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Clone, Debug)]
pub(super) struct Chance {
    state: u64,
    /// Whoever is stuck does the same again and again, and it comes to the same.
    stuck: bool,
}

impl Chance {
    pub(super) const fn new(seed: u64) -> Self {
        Self { state: seed, stuck: false }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("it is below n")
    }

    /// True this often of a hundred times.
    pub(super) fn percent(&mut self, often: usize) -> bool {
        self.below(100) < often
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// What the roles, the tools and the people say.
impl Chance {
    /// What comes of an ask: good, rubbish or nothing.
    pub(super) fn reply(&mut self, ask: &Ask) -> Input {
        if self.percent(6) {
            let kind = self.pick(&[
                Silence::Unusable,
                Silence::Unusable,
                Silence::Unreachable,
                Silence::Declined,
                Silence::Exhausted,
            ]);
            return Input::Unanswered { ask: ask.subject(), why: Unanswered::new(kind, "by chance") };
        }
        match &ask.want {
            Want::Perceive { .. } => Input::Perceived(self.perception()),
            Want::Plan { .. } if self.percent(4) => Input::NotPlanned(match self.below(2) {
                0 => NotPlanned::Clarify { question: "which?".into() },
                _ => NotPlanned::Impossible { why: "there is no way".into() },
            }),
            Want::Plan { .. } => Input::Planned(self.plan()),
            Want::Act { number, .. } => Input::Acted { subtask: *number, action: self.action() },
            Want::Judge { of, criteria, .. } => {
                let n = if self.percent(5) { self.below(4) } else { criteria.len() };
                Input::Judged { of: *of, judgements: (0..n).map(|_| self.judgement()).collect() }
            }
        }
    }

    fn perception(&mut self) -> Perception {
        match self.below(30) {
            0 => Perception::Direct { answer: "4".into() },
            1 | 2 => Perception::Clarify { question: "which?".into() },
            3 => Perception::Beyond { why: "too hard".into() },
            _ => Perception::Task(Box::new(spec())),
        }
    }

    fn plan(&mut self) -> Plan {
        let n = if self.percent(2) { 0 } else { 1 + self.below(5) };
        let grouped = self.percent(20);
        let mut subtasks: Vec<Subtask> = Vec::new();
        for number in 0..u32::try_from(n).expect("a handful") {
            let mut one = subtask(number, &[]);
            one.success_criteria = self.criteria(number);
            one.tool_hints = self.hints();
            if grouped {
                one.sequence = Some(number / 2);
            } else {
                let before: Vec<u32> = (0..number).filter(|_| self.percent(30)).collect();
                if self.percent(20) {
                    one.after = before
                } else {
                    one.depends_on = before
                }
                if self.percent(2) {
                    one.depends_on.push(number); // nobody can wait for themselves
                }
            }
            subtasks.push(one);
        }
        let task_criteria = if self.percent(30) { vec![plausible("it is kind")] } else { Vec::new() };
        Plan { subtasks, task_criteria }
    }

    fn criteria(&mut self, number: u32) -> Vec<Criterion> {
        let mut criteria = vec![criterion(number)];
        if self.percent(25) {
            criteria.push(plausible("it reads well"));
        }
        if self.percent(15) {
            let tool = self.pick(&TOOLS).parse().unwrap();
            criteria.push(Criterion::checked("it ran", Check::ToolCalled { tool }));
        }
        criteria
    }

    fn hints(&mut self) -> Vec<Hint> {
        if !self.percent(15) {
            return Vec::new();
        }
        let target = self.percent(70).then(|| self.pick(&TARGETS).to_owned());
        vec![Hint { tool: self.pick(&TOOLS).parse().unwrap(), target }]
    }

    fn action(&mut self) -> Action {
        self.stuck |= self.below(500) == 0;
        match self.below(20) {
            _ if self.stuck => {
                let args = json!({ "under": "here" });
                Action::Call { tool: FIND.parse().unwrap(), args, chosen_by: Chooser::Model }
            }
            0..11 => {
                let (tool, target) = (self.pick(&TOOLS), self.pick(&TARGETS));
                let args = json!({ "under": target, "pattern": target, "path": target });
                Action::Call { tool: tool.parse().unwrap(), args, chosen_by: Chooser::Model }
            }
            11..18 => Action::done("done"),
            18 => Action::Finish { output: "perhaps".into(), status: Claim::Uncertain },
            _ => Action::failed("gave up"),
        }
    }

    fn judgement(&mut self) -> Judgement {
        let verdict = self.pick(&[Opinion::Pass, Opinion::Pass, Opinion::Fail, Opinion::Unclear]);
        let class = self.pick(&[
            None,
            Some(FailureClass::Logical),
            Some(FailureClass::Environmental),
            Some(FailureClass::Refused),
        ]);
        Judgement { verdict, failure_class: class, evidence: "looked".into() }
    }

    pub(super) fn recalled(&mut self, recall: &Recall) -> Recalled {
        if self.percent(10) { avoid(self.pick(&recall.tags)) } else { Recalled::default() }
    }

    pub(super) fn ruling(&mut self) -> Ruling {
        match self.below(40) {
            0..5 => Ruling::Review { approval: ApprovalId::from_bits(u128::from(self.next())) },
            5 => Ruling::Refused { why: "never".into() },
            6 => Ruling::Exhausted { why: "enough".into() },
            7..10 => {
                Ruling::Denied { why: "not that".into(), instead: vec!["this".into()], violated: Vec::new() }
            }
            _ => Ruling::Execute,
        }
    }

    /// Nobody rewrites a result on its way to themselves.
    pub(super) fn answer(&mut self, delivers: bool) -> Answer {
        match self.below(6) {
            2 if delivers => Answer::Approved,
            0 => Answer::Rejected { reason: self.pick(&["", "I need it"]).into() },
            1 => Answer::Expired,
            2 => Answer::Modified { args: json!({ "path": self.pick(&TARGETS) }) },
            _ => Answer::Approved,
        }
    }

    pub(super) fn outcome(&mut self) -> Outcome {
        let n = self.below(1_000);
        match self.below(12) {
            _ if self.stuck => Ok(json!({ "count": 3 })),
            0..2 => Err(Failure::environmental(format!("out of reach {n}"))),
            2 => Err(Failure::logical(format!("is a folder {n}"))),
            3 => Err(Failure::interrupted("time ran out")),
            4 => Ok(json!({ "count": n, "truncated": true })),
            5 => Ok(json!({ "count": 0, "files": [], "complete": true })),
            6..8 => Ok(json!({ "beside": n })),
            8 => Ok(Value::Null),
            _ => Ok(json!({ "count": n, "path": self.pick(&TARGETS) })),
        }
    }

    /// How many seconds go by.
    pub(super) fn pause(&mut self) -> u64 {
        match self.below(100) {
            0 => 400,
            1..20 => 5,
            _ => 0,
        }
    }
}
