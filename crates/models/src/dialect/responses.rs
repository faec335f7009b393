//! OpenAI Responses. Facts from the OpenAI API reference: "Create a model response", "Streaming events", "Structured model
//! outputs", "Function calling".

use llm::Prompt;
use serde_json::{Value, json};

use super::anthropic::set;
use super::draft::{Draft, End, Fragment, Hear};
use super::manner::{Manner, Way};
use super::{Outgoing, list, number, text};
use crate::said::Said;
use crate::{Endpoint, Key, Trouble};

pub(super) fn request(endpoint: &Endpoint, prompt: &Prompt, way: &Way<'_>, manner: Manner) -> Outgoing {
    let mut body = json!({
        "model": endpoint.model,
        "stream": true,
        "store": false,
        "max_output_tokens": endpoint.tokens_out,
        "instructions": way.system(prompt),
        "input": [{ "role": "user", "content": prompt.user }],
    });
    match way {
        Way::Calls(calling) => {
            let shape = |name: &str, description: &str, schema: Value| json!({ "type": "function", "name": name, "description": description, "parameters": schema, "strict": false });
            set(&mut body, "tools", Way::tools(calling, shape));
            set(&mut body, "tool_choice", "required".into());
            if manner.single {
                set(&mut body, "parallel_tool_calls", false.into());
            }
        }
        Way::Schema(fitted) => {
            let format =
                json!({ "type": "json_schema", "name": "reply", "strict": false, "schema": fitted.schema });
            set(&mut body, "text", json!({ "format": format }));
        }
        Way::Json => set(&mut body, "text", json!({ "format": { "type": "json_object" } })),
        Way::Words => {}
    }
    Outgoing {
        path: "/responses".into(),
        headers: Vec::new(),
        key: ("authorization", "Bearer "),
        body,
        wrapped: way.is_wrapped(),
    }
}

pub(super) fn read(
    draft: &mut Draft,
    event: &Value,
    key: Option<&Key>,
    hear: Hear<'_>,
) -> Result<(), Trouble> {
    let delta = || text(event, "delta");
    match text(event, "type") {
        "response.output_text.delta" => draft.add_text(delta(), hear),
        "response.refusal.delta" => draft.add_refusal(delta()),
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            draft.add_thought(delta(), hear)
        }
        "response.output_item.added" => match event.get("item") {
            Some(item) if text(item, "type") == "function_call" => call(draft, event, item, hear),
            _ => Ok(()),
        },
        // Again in one piece. Some servers send nothing else.
        "response.output_item.done" => match event.get("item") {
            Some(item) if text(item, "type") == "function_call" => {
                let index = number(event, &["output_index"]);
                if draft.has_call(index, text(item, "id")) { Ok(()) } else { call(draft, event, item, hear) }
            }
            _ => Ok(()),
        },
        "response.function_call_arguments.delta" => {
            let index = number(event, &["output_index"]);
            let id = if index.is_some() { "" } else { text(event, "item_id") };
            draft.add_call(Fragment { index, id, args: event.get("delta"), ..Fragment::default() }, hear)
        }
        "response.completed" => over(draft, event, End::Done, hear),
        "response.incomplete" => {
            let details = event.get("response").and_then(|response| response.get("incomplete_details"));
            let end = match details.map(|details| text(details, "reason")).unwrap_or_default() {
                "max_output_tokens" => End::Limit,
                "content_filter" => End::Filter("its content filter stopped it".to_owned()),
                other => End::Unknown(other.to_owned()),
            };
            over(draft, event, end, hear)
        }
        "response.failed" | "response.cancelled" => {
            count(draft, event);
            let failed = event.get("response").unwrap_or(event);
            let error = failed.get("error").filter(|error| error.is_object());
            Err(Said::value(error.unwrap_or(&json!({ "message": "it failed" })), key).trouble(None))
        }
        _ => Ok(()),
    }
}

fn call(draft: &mut Draft, event: &Value, item: &Value, hear: Hear<'_>) -> Result<(), Trouble> {
    let index = number(event, &["output_index"]);
    // Fragments without a number name the item, not the call.
    let id = if index.is_some() { text(item, "call_id") } else { text(item, "id") };
    draft.add_call(
        Fragment { index, id, name: text(item, "name"), args: item.get("arguments"), place: None },
        hear,
    )
}

/// The last event repeats the whole reply. It is looked at where no part of it had come before.
fn over(draft: &mut Draft, event: &Value, end: End, hear: Hear<'_>) -> Result<(), Trouble> {
    count(draft, event);
    let output = event.get("response").map(|response| list(response, "output")).unwrap_or_default();
    let (has_text, calls) = (!draft.text.is_empty(), draft.calls());
    let told = output.iter().filter(|item| text(item, "type") == "function_call").count();
    if calls > 0 && told > calls {
        return Err(Trouble::garbled(format!("it says that it made {told} calls and sent {calls}")));
    }
    for (index, item) in output.iter().enumerate() {
        match text(item, "type") {
            "function_call" if calls == 0 => {
                let place = json!({ "output_index": index });
                call(draft, &place, item, hear)?;
            }
            "message" if !has_text => {
                for part in list(item, "content") {
                    match text(part, "type") {
                        "refusal" if draft.is_willing() => draft.add_refusal(text(part, "refusal"))?,
                        "output_text" => draft.add_text(text(part, "text"), hear)?,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    draft.end = Some(end);
    draft.over = true;
    Ok(())
}

fn count(draft: &mut Draft, event: &Value) {
    let part = |path: &[&str]| number(event.get("response")?.get("usage")?, path);
    if let Some(tokens_in) = part(&["input_tokens"]) {
        draft.counts.tokens_in = tokens_in;
        draft.counts.cached = part(&["input_tokens_details", "cached_tokens"]).unwrap_or(0).min(tokens_in);
    }
    if let Some(tokens_out) = part(&["output_tokens"]) {
        draft.counts.tokens_out = tokens_out;
    }
}
