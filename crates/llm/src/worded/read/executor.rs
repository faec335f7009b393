//! R3: the next call, or what came out. Whether there is such a tool, and whether it may be used, is the broker's to say.

use domain::ask::{Action, Claim};
use domain::call::Chooser;
use serde_json::{Value, json};

use super::{Fields, Misfit, named, only_one, top};

const ARGS: [&str; 3] = ["args", "arguments", "input"];

pub(super) fn read(value: &Value) -> Result<Action, Misfit> {
    let fields = top(value)?;
    if only_one(fields, &["tool", "output"])? == "tool" {
        let tool = fields.needed_text(&["tool"])?;
        let tool = tool.parse().map_err(|error| format!("{error}"))?;
        return Ok(Action::Call { tool, args: args(fields)?, chosen_by: Chooser::Model });
    }
    let output = match fields.any(&["output"]) {
        Some(Value::String(text)) => text.clone(),
        Some(data) => data.to_string(),
        None => String::new(),
    };
    Ok(Action::Finish { output, status: status(fields)? })
}

/// An object; one that is written into a text is taken out of it.
fn args(fields: Fields<'_>) -> Result<Value, String> {
    let wrong = |value: &Value| format!("`args` is {}, not an object", named(value));
    match fields.any(&ARGS) {
        None => Ok(json!({})),
        Some(value @ Value::Object(_)) => Ok(value.clone()),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(json!({})),
        Some(value @ Value::String(text)) => {
            let inner = serde_json::from_str(text).ok();
            inner.filter(Value::is_object).ok_or_else(|| wrong(value))
        }
        Some(value) => Err(wrong(value)),
    }
}

fn status(fields: Fields<'_>) -> Result<Claim, String> {
    match fields.text(&["status"])?.map(|status| status.to_ascii_lowercase()).as_deref() {
        None | Some("completed") => Ok(Claim::Completed),
        Some("uncertain") => Ok(Claim::Uncertain),
        Some("failed") => Ok(Claim::Failed),
        Some(other) => Err(format!("`status` is `{other}`, not completed, uncertain or failed")),
    }
}
