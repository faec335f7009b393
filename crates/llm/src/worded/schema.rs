//! The replies as JSON schemas, for providers that can be held to one.

use serde_json::{Value, json};

use super::ToolText;
use crate::model::Role;

pub(super) fn of(role: Role, tools: &[ToolText]) -> Value {
    match role {
        Role::Perceiver => perceiver(),
        Role::Planner => planner(),
        Role::Executor => executor(tools),
        Role::Validator | Role::MetaValidator => judge(),
    }
}

/// An object with these fields, all of which are needed, and those, which are not.
fn object(needed: &[(&str, Value)], others: &[(&str, Value)]) -> Value {
    let properties: serde_json::Map<String, Value> =
        needed.iter().chain(others).map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let required: Vec<&str> = needed.iter().map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn list_of(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn perceiver() -> Value {
    let task = object(
        &[("task_class", text()), ("intent", text())],
        &[
            ("scope", json!({ "type": ["string", "null"] })),
            ("deadline", json!({ "type": ["string", "null"] })),
        ],
    );
    json!({ "anyOf": [
        object(&[("task", task)], &[]), object(&[("answer", text())], &[]), object(&[("question", text())], &[]),
    ] })
}

fn planner() -> Value {
    let criterion = object(
        &[("text", text())],
        &[
            ("mode", json!({ "enum": ["verifiable", "plausible"] })),
            ("check", json!({ "type": ["object", "null"] })),
        ],
    );
    let hint = object(&[("tool", text())], &[("target", json!({ "type": ["string", "null"] }))]);
    let number = json!({ "type": "integer", "minimum": 0 });
    let subtask = object(
        &[("intent", text()), ("success_criteria", list_of(&criterion))],
        &[
            ("context", list_of(&text())),
            ("depends_on", list_of(&number)),
            ("sequence", number.clone()),
            ("tool_hints", list_of(&hint)),
        ],
    );
    json!({ "anyOf": [
        object(&[("subtasks", list_of(&subtask))], &[("task_criteria", list_of(&criterion))]),
        object(&[("question", text())], &[]),
        object(&[("impossible", text())], &[]),
    ] })
}

fn executor(tools: &[ToolText]) -> Value {
    let ids: Vec<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
    let finish = finish();
    if ids.is_empty() {
        return finish;
    }
    let call = object(&[("tool", json!({ "enum": ids })), ("args", json!({ "type": "object" }))], &[]);
    json!({ "anyOf": [call, finish] })
}

/// What an executor says when it is done.
pub(super) fn finish() -> Value {
    let status = json!({ "enum": ["completed", "uncertain", "failed"] });
    object(&[("output", text())], &[("status", status)])
}

fn judge() -> Value {
    let verdict = object(
        &[("verdict", json!({ "enum": ["pass", "fail", "unclear"] })), ("evidence", text())],
        &[("failure_class", json!({ "enum": ["logical", "environmental", null] }))],
    );
    object(&[("verdicts", list_of(&verdict))], &[])
}
