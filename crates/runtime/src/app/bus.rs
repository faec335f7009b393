//! A step as the events that displays and scripts follow: a projection of the journal, never stored.

use engine::task::{Input, Step};
use serde_json::{Value, json};

/// The events of the ari seed that this step stands for, with its fields in `snake_case`.
#[must_use]
pub fn bus_events(step: &Step) -> Vec<Value> {
    let mut events = Vec::new();
    if let Input::Planned(plan) = &step.input {
        let tasks: Vec<&str> = plan.subtasks.iter().map(|subtask| subtask.intent.text.as_str()).collect();
        events.push(json!({ "seq": step.n, "v": 1, "type": "planner:task_ready", "tasks": tasks }));
    }
    for message in step.messages.iter().filter(|message| message.kind == "SubTaskOutcome") {
        events.push(
            json!({ "seq": step.n, "v": 1, "type": "executor:task_complete", "subtask": message.subtask }),
        );
    }
    events
}
