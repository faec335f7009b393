//! A call that the owner asks for by name: no model, no reflex, only the door.

use domain::Digest;
use domain::ask::{Action, Ask, Perception, Reply};
use domain::call::{Chooser, Evidence, ToolId};
use domain::criterion::{Check, Criterion};
use domain::source::Text;
use domain::task::{Constraints, Plan, Subtask, TaskSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Provider;

/// What stands in the request of a direct call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectCall {
    pub tool: ToolId,
    pub args: Value,
    /// Whether the owner has said yes to exactly this.
    #[serde(default)]
    pub confirmed: bool,
    /// What was known of the tool when they asked: a yes is to that, and to nothing else of the same name.
    #[serde(default)]
    pub spec: Option<Digest>,
}

/// Answers from the request alone: one subtask, one call, and what it returned is the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct {
    /// What is known of the tool now.
    pub spec: Option<Digest>,
}

impl Provider for Direct {
    fn answer(&self, ask: &Ask) -> Reply {
        match ask {
            Ask::Perceive { request, .. } => Reply::Perceived(perceive(request)),
            Ask::Plan { spec } => Reply::Planned(plan(spec)),
            Ask::Act { spec, evidence, .. } => Reply::Acted(self.act(spec, evidence)),
        }
    }
}

fn read(text: &str) -> Result<DirectCall, String> {
    serde_json::from_str(text).map_err(|error| format!("this is no call: {error}"))
}

fn perceive(request: &Text) -> Perception {
    match read(&request.text) {
        Err(why) => Perception::Beyond { why },
        Ok(call) => Perception::Task(Box::new(TaskSpec {
            task_class: format!("call_{}", call.tool),
            intent: Text::model(format!("call {}", call.tool)),
            constraints: Constraints::default(),
            raw_input: request.clone(),
        })),
    }
}

fn plan(spec: &TaskSpec) -> Plan {
    let criteria = read(&spec.raw_input.text).into_iter().map(|DirectCall { tool, .. }| {
        Criterion::checked(format!("{tool} did what it was asked"), Check::ToolCalled { tool })
    });
    Plan {
        subtasks: vec![Subtask {
            intent: spec.intent.clone(),
            context: Vec::new(),
            success_criteria: criteria.collect(),
            depends_on: Vec::new(),
        }],
    }
}

impl Direct {
    fn act(self, spec: &TaskSpec, evidence: &[Evidence]) -> Action {
        match (evidence.last().map(|last| &last.outcome), read(&spec.raw_input.text)) {
            (None, Ok(DirectCall { tool, args, confirmed, spec })) => {
                let same = spec.is_some() && spec == self.spec;
                Action::Call { tool, args, chosen_by: Chooser::Owner { confirmed: confirmed && same } }
            }
            (None, Err(why)) => Action::Finish { output: why },
            (Some(Ok(record)), _) => Action::Finish {
                output: serde_json::to_string_pretty(record).unwrap_or_else(|_| record.to_string()),
            },
            (Some(Err(failure)), _) => Action::Finish { output: failure.message.clone() },
        }
    }
}
