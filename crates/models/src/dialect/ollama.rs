//! Ollama's own. Facts from the Ollama API documentation: "Generate a chat completion", "Structured outputs", "Tool calling",
//! "Thinking", "Context length".

use llm::Prompt;
use serde_json::{Value, json};

use super::anthropic::set;
use super::draft::{Draft, End, Fragment, Hear};
use super::manner::Way;
use super::{Outgoing, list, number, text};
use crate::{Endpoint, Trouble};

/// What Ollama gives a model unless told, 4096, is less than a planner's prompt.
const SMALLEST_CONTEXT: u64 = 8192;

pub(super) fn request(endpoint: &Endpoint, prompt: &Prompt, way: &Way<'_>) -> Outgoing {
    let mut body = json!({
        "model": endpoint.model,
        "stream": true,
        "messages": [
            { "role": "system", "content": way.system(prompt) },
            { "role": "user", "content": prompt.user },
        ],
    });
    match way {
        Way::Calls(calling) => {
            let shape = |name: &str, description: &str, schema: Value| {
                let function = json!({ "name": name, "description": description, "parameters": schema });
                json!({ "type": "function", "function": function })
            };
            set(&mut body, "tools", Way::tools(calling, shape));
        }
        Way::Schema(fitted) => set(&mut body, "format", fitted.schema.clone()),
        Way::Json => set(&mut body, "format", "json".into()),
        Way::Words => {}
    }
    let context = context(&body, endpoint.tokens_out);
    set(&mut body, "options", json!({ "num_predict": endpoint.tokens_out, "num_ctx": context }));
    // Left to itself it drops the beginning of what does not fit and says nothing.
    set(&mut body, "truncate", false.into());
    set(&mut body, "shift", false.into());
    Outgoing {
        path: "/api/chat".into(),
        headers: Vec::new(),
        key: ("authorization", "Bearer "),
        body,
        wrapped: way.is_wrapped(),
    }
}

/// Room for the prompt, at no less than two bytes a token, and for the reply. In powers of two: another size makes Ollama load
/// the model anew.
fn context(body: &Value, tokens_out: u32) -> u64 {
    let bytes = u64::try_from(body.to_string().len()).unwrap_or(u64::MAX);
    let room = (bytes / 2).saturating_add(tokens_out.into());
    room.checked_next_power_of_two().unwrap_or(room).max(SMALLEST_CONTEXT)
}

pub(super) fn read(draft: &mut Draft, line: &Value, hear: Hear<'_>) -> Result<(), Trouble> {
    if let Some(message) = line.get("message") {
        draft.add_thought(text(message, "thinking"), hear)?;
        draft.add_text(text(message, "content"), hear)?;
        for call in list(message, "tool_calls") {
            // Each is whole; numbers, where there are any, begin anew in every line.
            let index = Some(draft.next_index());
            let function = call.get("function").unwrap_or(call);
            let (name, args) = (text(function, "name"), function.get("arguments"));
            draft.add_call(Fragment { index, name, args, ..Fragment::default() }, hear)?;
        }
    }
    if line.get("done").and_then(Value::as_bool) == Some(true) {
        draft.counts.tokens_in = number(line, &["prompt_eval_count"]).unwrap_or(0);
        draft.counts.tokens_out = number(line, &["eval_count"]).unwrap_or(0);
        draft.end = Some(match text(line, "done_reason") {
            // Older servers give no reason.
            "" | "stop" => End::Done,
            "tool_calls" => End::Calls,
            "length" => End::Limit,
            other => End::Unknown(other.to_owned()),
        });
        draft.over = true;
    }
    Ok(())
}
