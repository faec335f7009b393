//! Responses, of OpenAI.
//!
//! - Create a model response: <https://platform.openai.com/docs/api-reference/responses/create>
//! - The response object: <https://platform.openai.com/docs/api-reference/responses/object>
//! - Streaming events: <https://platform.openai.com/docs/api-reference/responses-streaming>
//! - Function calling: <https://platform.openai.com/docs/guides/function-calling>

use serde_json::{Value, json};

use super::openai::{self, CREATED};
use super::reply::{pieces, put};
use super::{Event, Framing, Reply, Tongue, find, fits};
use crate::asked::{Asked, Tool};
use crate::check::{Checked, Fields, named, texts};
use crate::denied::Denied;
use crate::script::{Model, Script};

const FIELDS: &[&str] = &[
    "access_programs",
    "background",
    "context_management",
    "conversation",
    "image",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "moderation",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

pub(crate) struct Responses;

impl Tongue for Responses {
    fn admit(&self, asked: &Asked, key: &str) -> Checked<()> {
        openai::admit(asked, key)
    }

    fn understand(&self, asked: &mut Asked, script: &Script) -> Checked<()> {
        let body = asked.body.clone();
        let fields = Fields::of(&body, "")?;
        fields.known(FIELDS)?;
        asked.model = fields.need_string("model")?.to_owned();
        asked.stream = fields.boolean("stream")?.unwrap_or(false);
        input(asked, &fields)?;
        if let Some(instructions) = fields.string("instructions")? {
            asked.system = if asked.system.is_empty() {
                instructions.to_owned()
            } else {
                format!("{instructions}\n{}", asked.system)
            };
        }
        let model = find(script, asked)?;
        if fields.whole("max_output_tokens")?.is_some_and(|most| most < 16) {
            return Err(Denied::wrong(
                "max_output_tokens",
                "integer below minimum value, expected a value >= 16",
            ));
        }
        for (name, most) in [("temperature", 2.0), ("top_p", 1.0)] {
            if fields.number(name)?.is_some_and(|value| !(0.0..=most).contains(&value)) {
                return Err(Denied::wrong(name, format!("expected a value between 0 and {most}")));
            }
        }
        openai::sampling(asked, model, &["temperature", "top_p"])?;
        if let Some(reasoning) = fields.object("reasoning")? {
            reasoning.known(&["effort", "summary", "generate_summary", "context", "mode"])?;
            reasoning.word("effort", &["none", "minimal", "low", "medium", "high", "xhigh", "max"])?;
            reasoning.word("summary", &["auto", "concise", "detailed"])?;
            if !model.thinks && reasoning.get("effort").is_some() {
                return Err(Denied::Unsupported("reasoning.effort".to_owned()));
            }
        }
        tools(asked, &fields, model)?;
        format(asked, &fields, model)?;
        fits(model, asked)
    }

    fn denied(&self, denied: &Denied, _: u64) -> (u16, Value) {
        openai::denied(denied, "input")
    }

    fn whole(&self, reply: &Reply<'_>) -> Checked<Value> {
        let output: Vec<Value> = items(reply).into_iter().map(|item| item.whole).collect();
        let status = if reply.faults.finishes() { ending(reply).1 } else { "in_progress" };
        Ok(response(reply, status, output))
    }

    fn events(&self, reply: &Reply<'_>) -> Checked<Vec<Event>> {
        let begun = response(reply, "in_progress", Vec::new());
        let mut events = vec![
            ("response.created", json!({"response": begun.clone()})),
            ("response.in_progress", json!({"response": begun})),
        ];
        let items = items(reply);
        let output: Vec<Value> = items.iter().map(|item| item.whole.clone()).collect();
        let (calls, others): (Vec<_>, Vec<_>) =
            items.into_iter().enumerate().partition(|(_, item)| item.is_call);
        for (at, item) in others {
            events.extend(item.events(Some(at.into())));
        }
        let calls = calls.into_iter().map(|(at, item)| item.events(reply.index(at))).collect();
        events.extend(reply.in_turn(calls));
        let (last, status) = ending(reply);
        if reply.faults.ends() {
            events.push((last, json!({"response": response(reply, status, output)})));
        }
        Ok(numbered(events, 0))
    }

    /// `error`, and the response as it failed.
    fn error_events(&self, reply: &Reply<'_>) -> Vec<Event> {
        let message = "The server had an error while processing your request.";
        let mut failed = response(reply, "failed", Vec::new());
        put(&mut failed, "error", Some(json!({"code": "server_error", "message": message})));
        put(&mut failed, "usage", Some(Value::Null));
        let events = vec![
            ("error", json!({"code": "server_error", "message": message, "param": null})),
            ("response.failed", json!({"response": failed})),
        ];
        numbered(events, 1_000)
    }

    fn unknown_event(&self, _: &Reply<'_>) -> Event {
        Event::named(
            "response.weather",
            json!({"type": "response.weather", "sequence_number": 0, "weather": "fair"}),
        )
    }

    fn framing(&self, _: &Asked) -> Framing {
        Framing::Sse { crlf: false, pings: false }
    }

    fn headers(&self, number: u64) -> Vec<(&'static str, String)> {
        openai::headers(number)
    }

    fn models(&self, models: &[Model]) -> Value {
        openai::models(models)
    }

    fn model(&self, model: &Model) -> Value {
        openai::model(model)
    }
}

type Named = (&'static str, Value);

/// Each event says its type and its number in the stream.
fn numbered(events: Vec<Named>, from: u64) -> Vec<Event> {
    (from..)
        .zip(events)
        .map(|(number, (name, mut data))| {
            let mut written = json!({"type": name, "sequence_number": number});
            if let (Value::Object(written), Value::Object(data)) = (&mut written, &mut data) {
                written.append(data);
            }
            Event::named(name, written)
        })
        .collect()
}

/// The last event, and the status of the response.
fn ending(reply: &Reply<'_>) -> (&'static str, &'static str) {
    if reply.said.cut_off || reply.said.filtered {
        ("response.incomplete", "incomplete")
    } else {
        ("response.completed", "completed")
    }
}

fn response(reply: &Reply<'_>, status: &str, output: Vec<Value>) -> Value {
    let said = reply.said;
    let why = match said {
        _ if status != "incomplete" => Value::Null,
        said if said.filtered => json!({"reason": "content_filter"}),
        _ => json!({"reason": "max_output_tokens"}),
    };
    let body = &reply.asked.body;
    let asked = |name: &str, otherwise: Value| body.get(name).cloned().unwrap_or(otherwise);
    let used = said.usage;
    let usage = json!({
        "input_tokens": used.input, "input_tokens_details": {"cached_tokens": used.cached, "cache_write_tokens": 0},
        "output_tokens": used.out, "output_tokens_details": {"reasoning_tokens": used.thought},
        "total_tokens": used.input.saturating_add(used.out),
    });
    json!({
        "id": format!("resp_double{:08}", reply.number), "object": "response", "created_at": CREATED, "status": status,
        "background": false, "error": null, "incomplete_details": why,
        "instructions": asked("instructions", Value::Null), "max_output_tokens": asked("max_output_tokens", Value::Null),
        "model": reply.asked.model, "output": output,
        "parallel_tool_calls": asked("parallel_tool_calls", true.into()), "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null}, "service_tier": "default",
        "store": asked("store", true.into()), "temperature": asked("temperature", 1.0.into()),
        "text": asked("text", json!({"format": {"type": "text"}})), "tool_choice": asked("tool_choice", "auto".into()),
        "tools": asked("tools", json!([])), "top_p": asked("top_p", 1.0.into()), "truncation": "disabled",
        "usage": if status == "in_progress" { Value::Null } else { usage }, "user": null, "metadata": {},
    })
}

/// An item of the output: as it stands in the response, as it begins in a stream, and what comes between.
struct Item {
    id: Option<Value>,
    whole: Value,
    begins: Value,
    between: Vec<Named>,
    is_call: bool,
}

impl Item {
    fn events(self, at: Option<Value>) -> Vec<Named> {
        let placed = |mut data: Value| {
            put(&mut data, "output_index", at.clone());
            data
        };
        let mut events = vec![("response.output_item.added", placed(json!({"item": self.begins})))];
        for (name, mut data) in self.between {
            put(&mut data, "item_id", self.id.clone());
            events.push((name, placed(data)));
        }
        events.push(("response.output_item.done", placed(json!({"item": self.whole}))));
        events
    }
}

fn items(reply: &Reply<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    items.extend(
        reply.said.thought.as_ref().map(|thought| reasoning(reply, &thought.text, &thought.signature)),
    );
    let said_nothing =
        reply.said.calls.is_empty() && reply.said.thought.is_none() && reply.said.refusal.is_none();
    if let Some(refusal) = &reply.said.refusal {
        items.push(message(reply, refusal, Part::Refusal));
    } else if !reply.said.text.is_empty() || (said_nothing && reply.said.filtered) {
        items.push(message(reply, &reply.said.text, Part::Text));
    }
    items.extend((0..reply.said.calls.len()).filter_map(|at| call(reply, at)));
    items
}

fn reasoning(reply: &Reply<'_>, text: &str, signature: &str) -> Item {
    let id = format!("rs_double{:08}", reply.number);
    let included = reply.asked.body.get("include").and_then(Value::as_array);
    let encrypted =
        included.is_some_and(|names| names.iter().any(|name| name == "reasoning.encrypted_content"));
    let mut whole =
        json!({"id": id, "type": "reasoning", "summary": [{"type": "summary_text", "text": text}]});
    put(&mut whole, "encrypted_content", encrypted.then(|| signature.into()));
    let part = |text: &str| json!({"summary_index": 0, "part": {"type": "summary_text", "text": text}});
    let mut between = vec![("response.reasoning_summary_part.added", part(""))];
    between.extend(
        pieces(text).into_iter().map(|text| {
            ("response.reasoning_summary_text.delta", json!({"summary_index": 0, "delta": text}))
        }),
    );
    between.push(("response.reasoning_summary_text.done", json!({"summary_index": 0, "text": text})));
    between.push(("response.reasoning_summary_part.done", part(text)));
    let begins = json!({"id": id, "type": "reasoning", "summary": []});
    Item { id: Some(id.into()), whole, begins, between, is_call: false }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Text,
    Refusal,
}

fn message(reply: &Reply<'_>, text: &str, part: Part) -> Item {
    let id = format!("msg_double{:08}", reply.number);
    let written = |text: &str| match part {
        Part::Text => json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text}),
        Part::Refusal => json!({"type": "refusal", "refusal": text}),
    };
    let (delta, done) = match part {
        Part::Text => ("response.output_text.delta", "response.output_text.done"),
        Part::Refusal => ("response.refusal.delta", "response.refusal.done"),
    };
    let placed = |field: &str, value: Value| {
        let mut data = json!({"content_index": 0});
        put(&mut data, field, Some(value));
        if part == Part::Text && field != "part" {
            put(&mut data, "logprobs", Some(json!([])));
        }
        data
    };
    let mut between = vec![("response.content_part.added", placed("part", written("")))];
    between.extend(pieces(text).into_iter().map(|text| (delta, placed("delta", text.into()))));
    between.push((done, placed(if part == Part::Text { "text" } else { "refusal" }, text.into())));
    between.push(("response.content_part.done", placed("part", written(text))));
    let item = |status: &str, content: Value| json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": content});
    let (_, status) = ending(reply);
    Item {
        id: Some(id.clone().into()),
        whole: item(status, json!([written(text)])),
        begins: item("in_progress", json!([])),
        between,
        is_call: false,
    }
}

fn call(reply: &Reply<'_>, at: usize) -> Option<Item> {
    let call = reply.said.calls.get(at)?;
    let id = reply.call_id("fc_double", at);
    let item = |status: &str, arguments: Value| {
        let mut item =
            json!({"type": "function_call", "status": status, "name": call.name, "arguments": arguments});
        put(&mut item, "id", id.clone());
        put(&mut item, "call_id", reply.call_id("call_double", at));
        item
    };
    let arguments = reply.arguments_value(at, call);
    let mut between: Vec<Named> = reply
        .argument_pieces(at, call)
        .into_iter()
        .map(|piece| ("response.function_call_arguments.delta", json!({"delta": piece})))
        .collect();
    between
        .push(("response.function_call_arguments.done", json!({"arguments": arguments, "name": call.name})));
    let (_, status) = ending(reply);
    Some(Item {
        id: id.clone(),
        whole: item(status, arguments),
        begins: item("in_progress", "".into()),
        between,
        is_call: true,
    })
}

/// A string, or a list of items: messages, calls, their outputs, thoughts.
fn input(asked: &mut Asked, fields: &Fields<'_>) -> Checked<()> {
    match fields.need("input")? {
        Value::String(text) => asked.add_user(text),
        Value::Array(_) => {
            for (at, item) in fields.array("input")? {
                let item = Fields::of(item, at)?;
                match item.string("type")?.unwrap_or("message") {
                    "message" => {
                        item.need_string("role")?;
                        let role = item
                            .word("role", &["user", "assistant", "system", "developer"])?
                            .unwrap_or_default();
                        for text in texts(item.need("content")?) {
                            match role {
                                "user" => asked.add_user(text),
                                "system" | "developer" => asked.add_system(text),
                                _ => {}
                            }
                        }
                        for (at, part) in item.array("content").unwrap_or_default() {
                            let part = Fields::of(part, at)?;
                            part.need_string("type")?;
                            part.word(
                                "type",
                                &["input_text", "input_image", "input_file", "output_text", "refusal"],
                            )?;
                        }
                    }
                    "function_call_output" => {
                        item.need_string("call_id")?;
                        texts(item.need("output")?).into_iter().for_each(|text| asked.add_user(text));
                    }
                    "function_call" => {
                        item.need_string("call_id")?;
                        item.need_string("name")?;
                        item.need_string("arguments")?;
                    }
                    _ => {}
                }
            }
        }
        _ => return Err(Denied::wrong("input", "expected a string or an array of input items")),
    }
    Ok(())
}

/// Flat: name and parameters stand beside the type, not under `function`.
fn tools(asked: &mut Asked, fields: &Fields<'_>, model: &Model) -> Checked<()> {
    for (at, tool) in fields.array("tools")? {
        let tool = Fields::of(tool, at)?;
        if tool.need_string("type")? != "function" {
            continue;
        }
        let name = tool.need_string("name")?;
        named(tool.place("name"), name, 64)?;
        tool.known(&["type", "name", "description", "parameters", "strict", "defer_loading"])?;
        let schema = tool.need("parameters")?;
        if tool.boolean("strict")? == Some(true) {
            openai::strict(schema, &tool.place("parameters"), name)?;
        }
        let description = tool.string("description")?.unwrap_or_default().to_owned();
        asked.tools.push(Tool { name: name.to_owned(), description, schema: schema.clone() });
    }
    if !asked.tools.is_empty() && !model.tools {
        return Err(Denied::UnsupportedTools);
    }
    match fields.get("tool_choice") {
        Some(Value::String(choice)) if !["none", "auto", "required"].contains(&choice.as_str()) => {
            Err(Denied::wrong("tool_choice", format!("got {choice:?}, expected one of none, auto, required")))
        }
        Some(choice @ Value::Object(_)) => {
            let choice = Fields::of(choice, "tool_choice")?;
            if choice.need_string("type")? == "function" {
                let name = choice.need_string("name")?;
                if !asked.tools.iter().any(|tool| tool.name == name) {
                    return Err(Denied::wrong(
                        "tool_choice",
                        format!("tool choice '{name}' not found in 'tools'"),
                    ));
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// `text.format`, where Chat Completions has `response_format`.
fn format(asked: &mut Asked, fields: &Fields<'_>, model: &Model) -> Checked<()> {
    let Some(text) = fields.object("text")? else { return Ok(()) };
    text.known(&["format", "verbosity"])?;
    let Some(format) = text.object("format")? else { return Ok(()) };
    format.need_string("type")?;
    if format.word("type", &["text", "json_object", "json_schema"])? != Some("json_schema") {
        return Ok(());
    }
    format.known(&["type", "name", "schema", "strict", "description"])?;
    let name = format.need_string("name")?;
    named(format.place("name"), name, 64)?;
    let schema = format.need("schema")?;
    if !model.schema {
        return Err(Denied::UnsupportedFormat);
    }
    if format.boolean("strict")? == Some(true) {
        openai::strict(schema, "text.format.schema", name)?;
    }
    asked.schema = Some(schema.clone());
    Ok(())
}
