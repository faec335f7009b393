//! A step as the events that displays and scripts follow: a projection of the journal, never stored.

use engine::task::{Input, Ruling, Step};
use serde_json::{Value, json};

use super::App;
use crate::bus::{Display, Tap};
use crate::problem::Problem;

/// The events of the ari seed that this step stands for, with its fields in `snake_case`.
#[must_use]
pub fn bus_events(step: &Step) -> Vec<Value> {
    let mut events = Vec::new();
    if let Input::Planned(plan) = &step.input {
        let tasks: Vec<&str> = plan.subtasks.iter().map(|subtask| subtask.intent.text.as_str()).collect();
        events.push(json!({ "seq": step.n, "v": 1, "type": "planner:task_ready", "tasks": tasks }));
    }
    if let Input::Ruled { call, ruling: Ruling::Denied { violated, .. } } = &step.input {
        events.extend(violated.iter().map(|rule| {
            json!({
                "seq": step.n, "v": 1, "type": "governance:rule_violated", "rule": rule.number(),
                "name": rule.name(), "action": call,
            })
        }));
    }
    for message in step.messages.iter().filter(|message| message.kind == "SubTaskOutcome") {
        events.push(
            json!({ "seq": step.n, "v": 1, "type": "executor:task_complete", "subtask": message.subtask }),
        );
    }
    events
}

impl App {
    /// For whoever must miss nothing: every step of every process, from after this sequence number on; nothing: from
    /// now on.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn tap(&self, after: Option<i64>) -> Result<Tap, Problem> {
        let ledger = self.ledger().await?;
        let after = match after {
            Some(after) => after,
            None => ledger.newest_step().await?,
        };
        Ok(self.bus.tap(std::sync::Arc::clone(ledger), after))
    }

    /// For whoever looks on: the steps of this process as they become durable; whoever is slow misses some.
    #[must_use]
    pub fn display(&self) -> Display {
        self.bus.display()
    }
}
