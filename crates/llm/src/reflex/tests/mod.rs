mod answers;
mod properties;
mod walk;
mod wordings;

use domain::Text;
use domain::ask::{Action, Ask, Perception, Reply};
use domain::call::{Evidence, Outcome};
use domain::id::CallId;
use domain::source::Source;
use domain::task::{Plan, TaskSpec};
use domain::time::Time;

use super::Reflex;
use crate::Provider as _;

fn perceived(request: &str) -> Perception {
    let request = Text::new(request, Source::Owner);
    match Reflex.answer(&Ask::Perceive { request, now: Time::from_micros(0) }) {
        Reply::Perceived(perception) => perception,
        other => panic!("perceived as {other:?}"),
    }
}

fn understood(request: &str) -> TaskSpec {
    match perceived(request) {
        Perception::Task(spec) => *spec,
        Perception::Beyond { why } => panic!("`{request}` is beyond it: {why}"),
    }
}

fn planned(spec: &TaskSpec) -> Plan {
    match Reflex.answer(&Ask::Plan { spec: spec.clone() }) {
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
    };
    let evidence = outcomes.iter().map(evidence).collect();
    match Reflex.answer(&Ask::Act { spec: spec.clone(), number, subtask, evidence }) {
        Reply::Acted(action) => action,
        other => panic!("acted as {other:?}"),
    }
}

fn output(spec: &TaskSpec, number: u32, outcome: Outcome) -> String {
    match acted(spec, number, &[outcome]) {
        Action::Finish { output } => output,
        Action::Call { tool, .. } => panic!("calls {tool} again"),
    }
}
