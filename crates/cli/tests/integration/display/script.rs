//! What a model says in these tests, and how long it takes.

use serde_json::{Value, json};

/// Lines of a script.
#[derive(Debug, Default)]
pub(crate) struct Script(Vec<Value>);

/// A step of a plan that is done when this tool was called.
pub(crate) fn part(intent: &str, needs: &[u32], tool: &str) -> Value {
    let check = json!({ "text": format!("{tool} ran"), "check": { "tool_called": { "tool": tool } } });
    json!({ "intent": intent, "depends_on": needs, "success_criteria": [check] })
}

/// A step of a plan that can never be done.
pub(crate) fn hopeless(intent: &str) -> Value {
    let check =
        json!({ "text": "there are seven", "check": { "json_path": { "pointer": "/count", "equals": 7 } } });
    json!({ "intent": intent, "success_criteria": [check] })
}

impl Script {
    pub(crate) fn new() -> Self {
        let task = json!({ "task": { "task_class": "things", "intent": "do things" } });
        let mut script = Self::default();
        script.say(json!({ "role": "perceiver" }), &task, 0);
        script
    }

    fn say(&mut self, place: Value, text: &Value, after_ms: u64) {
        let mut line = place;
        line["text"] = text.to_string().into();
        line["after_ms"] = after_ms.into();
        self.0.push(line);
    }

    pub(crate) fn plans(mut self, parts: &[Value]) -> Self {
        self.say(json!({ "role": "planner" }), &json!({ "subtasks": parts }), 0);
        self
    }

    /// One step: it is thought about for so long, the tool is called, and that was it.
    pub(crate) fn does(mut self, subtask: u32, after_ms: u64, tool: &str, args: &Value) -> Self {
        let call = json!({ "tool": tool, "args": args });
        self.say(json!({ "role": "executor", "subtask": subtask, "moves": 0 }), &call, after_ms);
        let done = json!({ "output": format!("{tool} is done"), "status": "completed" });
        self.say(json!({ "role": "executor", "subtask": subtask }), &done, 0);
        self
    }

    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// Two steps that take a while, one after the other.
pub(crate) fn slow(ms: u64) -> Script {
    Script::new()
        .plans(&[part("count the docs", &[], "find_files"), part("add it up", &[0], "calc")])
        .does(0, ms, "find_files", &json!({ "under": "docs" }))
        .does(1, ms, "calc", &json!({ "expression": "2 + 3" }))
}

/// It asks whether it may delete something, while something else goes on.
pub(crate) fn asking() -> Script {
    Script::new()
        .plans(&[
            part("delete the note", &[], "delete_file"),
            part("add it up", &[], "calc"),
            part("count the docs", &[0], "find_files"),
        ])
        .does(0, 400, "delete_file", &json!({ "path": "notes.md" }))
        .does(1, 1_500, "calc", &json!({ "expression": "2 + 3" }))
        .does(2, 600, "find_files", &json!({ "under": "docs" }))
}

/// It can never be done.
pub(crate) fn vain(ms: u64) -> Script {
    Script::new()
        .plans(&[part("add it up", &[], "calc"), hopeless("count the docs")])
        .does(0, 0, "calc", &json!({ "expression": "2 + 3" }))
        .does(1, ms, "find_files", &json!({ "under": "docs" }))
}

/// Most of it is met.
pub(crate) fn enough() -> Script {
    let ran = |n: u32| json!({ "text": format!("it ran {n}"), "check": { "tool_called": { "tool": "find_files" } } });
    let seven = hopeless("")["success_criteria"][0].clone();
    let criteria = [ran(1), ran(2), ran(3), ran(4), ran(5), seven];
    let parts = [json!({ "intent": "count the docs", "success_criteria": criteria })];
    Script::new().plans(&parts).does(0, 300, "find_files", &json!({ "under": "docs" }))
}
