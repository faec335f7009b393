//! The reflex as the engine sees it: asked, and answered at once. What is inside may be cut otherwise without a change here.

mod accepted;
mod accepted_files;
mod ages;
mod answers;
mod changes;
mod days;
mod plans;
mod properties;
mod records;
mod refused;
mod steps;
mod wordings;

use domain::Text;
use domain::ask::{Action, Ask, Claim, Perception, Reply, Want};
use domain::call::{Chooser, Evidence, Outcome};
use domain::id::CallId;
use domain::recall::Recalled;
use domain::source::Source;
use domain::task::{Plan, Subtask, TaskSpec};
use jiff::tz::TimeZone;
use serde_json::Value;

use super::Reflex;
use crate::{Answer, Provider as _};

/// A Tuesday.
const NOW: &str = "2026-11-17T12:00:00Z";

/// Where and when it is asked.
struct Asked {
    zone: TimeZone,
    now: &'static str,
}

impl Asked {
    const UTC: Self = Self { zone: TimeZone::UTC, now: NOW };

    fn at(zone: &str, now: &'static str) -> Self {
        Self { zone: TimeZone::get(zone).unwrap(), now }
    }

    /// It asks nobody, so it answers at once.
    fn answered(&self, want: Want) -> Reply {
        let ask =
            Ask { want, round: 0, now: self.now.parse().unwrap(), workspace: "/w".to_owned(), repair: None };
        match Reflex::new(self.zone.clone()).ask(&ask) {
            Answer::Now(reply) => reply,
            Answer::Later(_) | Answer::Quoted(..) => panic!("it asks somebody"),
        }
    }

    fn perceived(&self, request: &str) -> Perception {
        let request = Text::new(request, Source::Owner);
        match self.answered(Want::Perceive { request, history: vec![], clarified: None }) {
            Reply::Perceived(perception) => perception,
            other => panic!("perceived as {other:?}"),
        }
    }

    fn understood(&self, request: &str) -> TaskSpec {
        match self.perceived(request) {
            Perception::Task(spec) => *spec,
            Perception::Beyond { why } => panic!("`{request}` is beyond it: {why}"),
            other => panic!("`{request}` is taken for {other:?}"),
        }
    }

    fn planned(&self, spec: &TaskSpec) -> Plan {
        let recalled = Recalled::default();
        match self.answered(Want::Plan { spec: spec.clone(), clarified: None, recalled, replan: None }) {
            Reply::Planned(plan) => plan,
            other => panic!("planned as {other:?}"),
        }
    }

    fn moved(&self, spec: &TaskSpec, number: u32, subtask: Subtask, evidence: Vec<Evidence>) -> Action {
        let spec = spec.clone();
        match self.answered(Want::Act { spec, number, subtask, evidence, attempt: 0, correction: None }) {
            Reply::Acted(action) => action,
            other => panic!("acted as {other:?}"),
        }
    }

    /// The calls of subtask `number`, each answered by the next of the outcomes, and what it ends with. It has to stop
    /// when they are used up, and not before.
    fn worked(&self, request: &str, number: u32, outcomes: &[Outcome]) -> (Vec<(String, Value)>, End) {
        let spec = self.understood(request);
        let subtask = self.planned(&spec).subtasks.remove(usize::try_from(number).unwrap());
        let (mut calls, mut evidence) = (vec![], vec![]);
        for outcome in outcomes {
            match self.moved(&spec, number, subtask.clone(), evidence.clone()) {
                Action::Call { tool, args, chosen_by } => {
                    assert_eq!(chosen_by, Chooser::Rule, "{request}");
                    calls.push((tool.to_string(), args.clone()));
                    let (call, outcome) = (CallId::from_bits(1), outcome.clone());
                    evidence.push(Evidence { call, tool, args, outcome, took_ms: None });
                }
                Action::Finish { output, .. } => panic!("`{request}` ends too early: {output}"),
            }
        }
        let end = match self.moved(&spec, number, subtask, evidence) {
            Action::Call { tool, args, .. } => {
                calls.push((tool.to_string(), args));
                End::Open
            }
            Action::Finish { output, status: Claim::Completed } => End::Done(output),
            Action::Finish { output, status: Claim::Failed } => End::Failed(output),
            Action::Finish { output, .. } => panic!("`{request}` is not sure: {output}"),
        };
        (calls, end)
    }
}

/// How the last ask ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    /// With one more call.
    Open,
    Done(String),
    Failed(String),
}

fn done(output: &str) -> End {
    End::Done(output.into())
}

fn failed(output: &str) -> End {
    End::Failed(output.into())
}

/// What it comes to in one line: an intent, an answer or a reason.
fn taken(request: &str) -> Result<String, String> {
    match Asked::UTC.perceived(request) {
        Perception::Task(spec) => Ok(spec.intent.text),
        Perception::Direct { answer } => Ok(answer),
        Perception::Beyond { why } => Err(why),
        Perception::Clarify { question } => panic!("it never asks back: {question}"),
    }
}
