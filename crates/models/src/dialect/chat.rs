//! OpenAI Chat Completions, and the many servers that speak like it. Facts from the OpenAI API reference: "Create chat
//! completion", "Chat completion chunk object", "Structured model outputs", "Function calling"; reasoning fields from the
//! documentation of DeepSeek, vLLM and OpenRouter.

use llm::Prompt;
use serde_json::{Value, json};

use super::anthropic::set;
use super::draft::{Draft, End, Fragment, Hear};
use super::manner::{Limit, Manner, Way};
use super::{Outgoing, list, number, text};
use crate::{Endpoint, Trouble};

pub(super) fn request(endpoint: &Endpoint, prompt: &Prompt, way: &Way<'_>, manner: Manner) -> Outgoing {
    let mut body = json!({
        "model": endpoint.model,
        "stream": true,
        "messages": [
            { "role": "system", "content": way.system(prompt) },
            { "role": "user", "content": prompt.user },
        ],
    });
    let limit = match manner.limit {
        Limit::Tokens => "max_tokens",
        Limit::Completion => "max_completion_tokens",
    };
    set(&mut body, limit, endpoint.tokens_out.into());
    if manner.counted {
        set(&mut body, "stream_options", json!({ "include_usage": true }));
    }
    match way {
        Way::Calls(calling) => {
            let shape = |name: &str, description: &str, schema: Value| {
                let function = json!({ "name": name, "description": description, "parameters": schema });
                json!({ "type": "function", "function": function })
            };
            set(&mut body, "tools", Way::tools(calling, shape));
            set(&mut body, "tool_choice", "required".into());
            if manner.single {
                set(&mut body, "parallel_tool_calls", false.into());
            }
        }
        Way::Schema(fitted) => {
            let schema = json!({ "name": "reply", "strict": false, "schema": fitted.schema });
            set(&mut body, "response_format", json!({ "type": "json_schema", "json_schema": schema }));
        }
        Way::Json => set(&mut body, "response_format", json!({ "type": "json_object" })),
        Way::Words => {}
    }
    Outgoing {
        path: "/chat/completions".into(),
        headers: Vec::new(),
        key: ("authorization", "Bearer "),
        body,
        wrapped: way.is_wrapped(),
    }
}

pub(super) fn read(draft: &mut Draft, chunk: &Value, hear: Hear<'_>) -> Result<(), Trouble> {
    count(draft, chunk);
    let Some(choice) = list(chunk, "choices").first() else { return Ok(()) };
    let said = [choice.get("delta"), choice.get("message")];
    if let Some(delta) = said.into_iter().flatten().find(|said| said.is_object()) {
        let thought = delta.get("reasoning_content").or_else(|| delta.get("reasoning"));
        draft.add_thought(thought.and_then(Value::as_str).unwrap_or_default(), hear)?;
        content(draft, delta.get("content"), hear)?;
        draft.add_refusal(text(delta, "refusal"))?;
        let calls = list(delta, "tool_calls");
        for (place, call) in calls.iter().enumerate() {
            let function = call.get("function").unwrap_or(call);
            let fragment = Fragment {
                index: number(call, &["index"]),
                id: text(call, "id"),
                name: text(function, "name"),
                args: function.get("arguments"),
                place: (calls.len() > 1).then_some(place),
            };
            draft.add_call(fragment, hear)?;
        }
        // What calls were before they were tools; some servers still answer so.
        if let Some(function) = delta.get("function_call").filter(|call| call.is_object()) {
            let (name, args) = (text(function, "name"), function.get("arguments"));
            draft.add_call(Fragment { name, args, ..Fragment::default() }, hear)?;
        }
    }
    if let Some(reason) =
        choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty())
    {
        draft.end = Some(match reason {
            "stop" | "eos" | "end_turn" => End::Done,
            "tool_calls" | "function_call" => End::Calls,
            "length" => End::Limit,
            "content_filter" => End::Filter("its content filter stopped it".to_owned()),
            other => End::Unknown(other.to_owned()),
        });
    }
    Ok(())
}

/// A text, or a list of parts of which some are thoughts.
fn content(draft: &mut Draft, content: Option<&Value>, hear: Hear<'_>) -> Result<(), Trouble> {
    match content {
        Some(Value::String(text)) => draft.add_text(text, hear),
        Some(Value::Array(parts)) => parts.iter().try_for_each(|part| match text(part, "type") {
            "thinking" => {
                list(part, "thinking").iter().try_for_each(|part| draft.add_thought(text(part, "text"), hear))
            }
            "refusal" => draft.add_refusal(text(part, "refusal")),
            _ => draft.add_text(text(part, "text"), hear),
        }),
        _ => Ok(()),
    }
}

fn count(draft: &mut Draft, chunk: &Value) {
    if let Some(tokens_in) = number(chunk, &["usage", "prompt_tokens"]) {
        draft.counts.tokens_in = tokens_in;
        draft.counts.cached = number(chunk, &["usage", "prompt_tokens_details", "cached_tokens"])
            .or_else(|| number(chunk, &["usage", "prompt_cache_hit_tokens"]))
            .unwrap_or(0)
            .min(tokens_in);
    }
    // Some count what the model says to itself in the total alone.
    let total = number(chunk, &["usage", "total_tokens"]).unwrap_or(0);
    if let Some(tokens_out) = number(chunk, &["usage", "completion_tokens"]) {
        draft.counts.tokens_out = tokens_out.max(total.saturating_sub(draft.counts.tokens_in));
    }
}
