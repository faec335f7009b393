mod answers;
mod properties;
mod walk;
mod wordings;

use domain::Text;
use domain::ask::{Action, Ask, Perception, Reply, Want};
use domain::call::{Evidence, Outcome};
use domain::id::CallId;
use domain::recall::Recalled;
use domain::source::Source;
use domain::task::{Plan, Subtask, TaskSpec};
use domain::time::Time;

use super::Reflex;
use crate::{Answer, Provider as _};

/// What it says to this. It asks nobody, so it answers at once.
fn answered(want: Want) -> Reply {
    let (now, workspace) = (Time::from_micros(0), "/w".to_owned());
    match Reflex.ask(&Ask { want, round: 0, now, workspace, repair: None }) {
        Answer::Now(reply) => reply,
        Answer::Later(_) => panic!("it asks somebody"),
    }
}

fn perceived(request: &str) -> Perception {
    let request = Text::new(request, Source::Owner);
    match answered(Want::Perceive { request, history: vec![], clarified: None }) {
        Reply::Perceived(perception) => perception,
        other => panic!("perceived as {other:?}"),
    }
}

fn understood(request: &str) -> TaskSpec {
    match perceived(request) {
        Perception::Task(spec) => *spec,
        Perception::Beyond { why } => panic!("`{request}` is beyond it: {why}"),
        other => panic!("`{request}` is taken for {other:?}"),
    }
}

fn planned(spec: &TaskSpec) -> Plan {
    let recalled = Recalled::default();
    match answered(Want::Plan { spec: spec.clone(), clarified: None, recalled, replan: None }) {
        Reply::Planned(plan) => plan,
        other => panic!("planned as {other:?}"),
    }
}

/// The next move for subtask `number`, with the outcomes of its calls so far.
fn acted(spec: &TaskSpec, number: u32, outcomes: &[Outcome]) -> Action {
    let subtask = planned(spec).subtasks.remove(usize::try_from(number).unwrap());
    let evidence = |outcome: &Outcome| Evidence {
        call: CallId::from_bits(1),
        tool: "find_files".parse().unwrap(),
        args: serde_json::Value::Null,
        outcome: outcome.clone(),
        took_ms: None,
    };
    moved(spec.clone(), number, subtask, outcomes.iter().map(evidence).collect())
}

fn moved(spec: TaskSpec, number: u32, subtask: Subtask, evidence: Vec<Evidence>) -> Action {
    match answered(Want::Act { spec, number, subtask, evidence, attempt: 0, correction: None }) {
        Reply::Acted(action) => action,
        other => panic!("acted as {other:?}"),
    }
}

fn output(spec: &TaskSpec, number: u32, outcome: Outcome) -> String {
    match acted(spec, number, &[outcome]) {
        Action::Finish { output, .. } => output,
        Action::Call { tool, .. } => panic!("calls {tool} again"),
    }
}
