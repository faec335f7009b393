//! Anthropic Messages. Facts from the Claude Docs: "Create a Message", "Streaming messages", "Structured outputs", "Tool use",
//! "Prompt caching", "Handling stop reasons".

use llm::Prompt;
use serde_json::{Value, json};

use super::draft::{Draft, End, Fragment, Hear};
use super::manner::Way;
use super::{Outgoing, number, text};
use crate::{Endpoint, Trouble};

pub(super) fn request(endpoint: &Endpoint, prompt: &Prompt, way: &Way<'_>) -> Outgoing {
    // What is the same in every ask of a role ends here: tools and system, which are kept together.
    let kept = json!({ "type": "ephemeral" });
    let mut body = json!({
        "model": endpoint.model,
        "max_tokens": endpoint.tokens_out,
        "stream": true,
        "system": [{ "type": "text", "text": way.system(prompt), "cache_control": kept }],
        "messages": [{ "role": "user", "content": prompt.user }],
    });
    match way {
        Way::Calls(calling) => {
            let shape = |name: &str, description: &str, schema: Value| json!({ "name": name, "description": description, "input_schema": schema });
            set(&mut body, "tools", Way::tools(calling, shape));
            set(&mut body, "tool_choice", json!({ "type": "any", "disable_parallel_tool_use": true }));
        }
        Way::Schema(fitted) => {
            let format = json!({ "type": "json_schema", "schema": fitted.schema });
            set(&mut body, "output_config", json!({ "format": format }));
        }
        Way::Json | Way::Words => {}
    }
    Outgoing {
        path: "/v1/messages".into(),
        headers: vec![("anthropic-version", "2023-06-01")],
        key: ("x-api-key", ""),
        body,
        wrapped: way.is_wrapped(),
    }
}

pub(super) fn set(body: &mut Value, name: &str, value: Value) {
    if let Some(fields) = body.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

pub(super) fn read(draft: &mut Draft, event: &Value, hear: Hear<'_>) -> Result<(), Trouble> {
    let index = number(event, &["index"]);
    match text(event, "type") {
        "message_start" => {
            if let Some(message) = event.get("message") {
                count(draft, message);
            }
            Ok(())
        }
        "content_block_start" => {
            let Some(block) = event.get("content_block") else { return Ok(()) };
            match text(block, "type") {
                "text" => draft.add_text(text(block, "text"), hear),
                "thinking" => draft.add_thought(text(block, "thinking"), hear),
                "tool_use" => {
                    let (id, name, args) = (text(block, "id"), text(block, "name"), block.get("input"));
                    draft.add_call(Fragment { index, id, name, args, place: None }, hear)
                }
                _ => Ok(()),
            }
        }
        "content_block_delta" => {
            let Some(delta) = event.get("delta") else { return Ok(()) };
            match text(delta, "type") {
                "text_delta" => draft.add_text(text(delta, "text"), hear),
                "thinking_delta" => draft.add_thought(text(delta, "thinking"), hear),
                "input_json_delta" => {
                    let args = delta.get("partial_json");
                    draft.add_call(Fragment { index, args, ..Fragment::default() }, hear)
                }
                // Signatures of thoughts only matter to who sends the thoughts back.
                _ => Ok(()),
            }
        }
        "message_delta" => {
            count(draft, event);
            if let Some(delta) = event.get("delta")
                && let Some(reason) = delta.get("stop_reason").and_then(Value::as_str)
            {
                let said = delta.get("stop_details").map(|details| text(details, "explanation"));
                draft.end = Some(end(reason, said.unwrap_or_default(), &draft.text));
            }
            Ok(())
        }
        "message_stop" => {
            draft.over = true;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn end(reason: &str, said: &str, written: &str) -> End {
    match reason {
        "end_turn" | "stop_sequence" => End::Done,
        "tool_use" => End::Calls,
        "max_tokens" => End::Limit,
        "model_context_window_exceeded" => End::Full,
        "refusal" if said.is_empty() => End::Filter(written.to_owned()),
        "refusal" => End::Filter(said.to_owned()),
        other => End::Unknown(other.to_owned()),
    }
}

/// What went in is counted in three parts. The last numbers are the ones that hold.
fn count(draft: &mut Draft, holder: &Value) {
    let part = |name: &str| number(holder, &["usage", name]);
    if let Some(fresh) = part("input_tokens") {
        let cached = part("cache_read_input_tokens").unwrap_or(0);
        let kept = part("cache_creation_input_tokens").unwrap_or(0);
        let tokens_in = fresh.saturating_add(cached).saturating_add(kept);
        // The last event may count only what came out.
        if tokens_in > 0 {
            (draft.counts.tokens_in, draft.counts.cached, draft.counts.kept) = (tokens_in, cached, kept);
        }
    }
    if let Some(tokens_out) = part("output_tokens") {
        draft.counts.tokens_out = tokens_out;
    }
}
