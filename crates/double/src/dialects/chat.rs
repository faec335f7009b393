//! Chat Completions, of OpenAI and of all who took it over.
//!
//! - Create chat completion: <https://platform.openai.com/docs/api-reference/chat/create>
//! - The chat completion object: <https://platform.openai.com/docs/api-reference/chat/object>
//! - The chunk object: <https://platform.openai.com/docs/api-reference/chat-streaming/streaming>
//! - `reasoning_content` is not OpenAI's, who shows no thoughts here: <https://api-docs.deepseek.com/guides/thinking_mode>

use serde_json::{Value, json};

use super::openai::{self, CREATED};
use super::reply::{pieces, put};
use super::{Event, Framing, Reply, Tongue, find, fits};
use crate::asked::{Asked, Tool};
use crate::check::{Checked, Fields, named, texts};
use crate::denied::Denied;
use crate::script::{Model, Script};

const FIELDS: &[&str] = &[
    "messages",
    "model",
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "modalities",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];
const ROLES: &[&str] = &["developer", "system", "user", "assistant", "tool", "function"];

pub(crate) struct Chat;

impl Tongue for Chat {
    fn admit(&self, asked: &Asked, key: &str) -> Checked<()> {
        openai::admit(asked, key)
    }

    fn understand(&self, asked: &mut Asked, script: &Script) -> Checked<()> {
        let body = asked.body.clone();
        let fields = Fields::of(&body, "")?;
        fields.known(FIELDS)?;
        asked.model = fields.need_string("model")?.to_owned();
        asked.stream = fields.boolean("stream")?.unwrap_or(false);
        if let Some(options) = fields.object("stream_options")? {
            if !asked.stream {
                return Err(Denied::wrong("stream_options", "is only allowed when 'stream' is enabled"));
            }
            options.known(&["include_usage", "include_obfuscation"])?;
            options.boolean("include_usage")?;
        }
        messages(asked, &fields)?;
        let model = find(script, asked)?;
        numbers(&fields)?;
        openai::sampling(asked, model, &["max_tokens", "top_p", "presence_penalty", "frequency_penalty"])?;
        if let Some(value) =
            fields.number("temperature")?.filter(|value| model.thinks && (value - 1.0).abs() > 0.0)
        {
            return Err(Denied::UnsupportedValue {
                field: "temperature".to_owned(),
                value: value.to_string(),
            });
        }
        // A model that does not think does not even know the word.
        if fields.get("reasoning_effort").is_some() && !model.thinks {
            return Err(Denied::Unknown("reasoning_effort".to_owned()));
        }
        tools(asked, &fields, model)?;
        format(asked, &fields, model)?;
        fits(model, asked)
    }

    fn denied(&self, denied: &Denied, _: u64) -> (u16, Value) {
        openai::denied(denied, "messages")
    }

    fn whole(&self, reply: &Reply<'_>) -> Checked<Value> {
        let said = reply.said;
        let content = if said.text.is_empty() && (said.refusal.is_some() || !said.calls.is_empty()) {
            Value::Null
        } else {
            said.text.clone().into()
        };
        let mut message =
            json!({"role": "assistant", "content": content, "refusal": said.refusal, "annotations": []});
        put(
            &mut message,
            "reasoning_content",
            said.thought.as_ref().map(|thought| thought.text.clone().into()),
        );
        if !said.calls.is_empty() {
            let calls: Vec<Value> = said
                .calls
                .iter()
                .enumerate()
                .map(|(at, call)| {
                    let function = json!({"name": call.name, "arguments": reply.arguments_value(at, call)});
                    let mut written = json!({"type": "function", "function": function});
                    put(&mut written, "id", reply.call_id("call_double", at));
                    written
                })
                .collect();
            put(&mut message, "tool_calls", Some(calls.into()));
        }
        let reason = reply.faults.finishes().then(|| finish_reason(reply));
        let mut whole = head(reply, "chat.completion");
        let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": reason});
        put(&mut whole, "choices", Some(json!([choice])));
        put(&mut whole, "usage", Some(usage(reply)));
        Ok(whole)
    }

    fn events(&self, reply: &Reply<'_>) -> Checked<Vec<Event>> {
        let said = reply.said;
        let mut deltas = vec![json!({"role": "assistant", "content": "", "refusal": null})];
        if let Some(thought) = &said.thought {
            deltas.extend(pieces(&thought.text).into_iter().map(|text| json!({"reasoning_content": text})));
        }
        deltas.extend(pieces(&said.text).into_iter().map(|text| json!({"content": text})));
        if let Some(refusal) = &said.refusal {
            deltas.extend(pieces(refusal).into_iter().map(|text| json!({"refusal": text})));
        }
        let calls = (0..said.calls.len()).map(|at| call_deltas(reply, at)).collect();
        deltas.extend(reply.in_turn(calls));
        let mut events: Vec<Event> = deltas.into_iter().map(|delta| chunk(reply, delta, None)).collect();
        if reply.faults.finishes() {
            events.push(chunk(reply, json!({}), Some(finish_reason(reply))));
        }
        if wants_usage(reply) && reply.faults.finishes() {
            let mut last = head(reply, "chat.completion.chunk");
            put(&mut last, "choices", Some(json!([])));
            put(&mut last, "usage", Some(usage(reply)));
            events.push(Event::unnamed(last));
        }
        if reply.faults.ends() {
            events.push(Event::Raw { name: None, text: "[DONE]".to_owned() });
        }
        Ok(events)
    }

    fn error_events(&self, _: &Reply<'_>) -> Vec<Event> {
        vec![Event::unnamed(self.denied(&Denied::Internal, 0).1)]
    }

    fn unknown_event(&self, reply: &Reply<'_>) -> Event {
        chunk(reply, json!({"weather": "fair"}), None)
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

fn head(reply: &Reply<'_>, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-double{:08}", reply.number), "object": object, "created": CREATED,
        "model": reply.asked.model, "service_tier": "default", "system_fingerprint": "fp_double",
    })
}

fn chunk(reply: &Reply<'_>, delta: Value, finish_reason: Option<&str>) -> Event {
    let mut chunk = head(reply, "chat.completion.chunk");
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason});
    put(&mut chunk, "choices", Some(json!([choice])));
    // "All other chunks will also include a usage field, but with a null value."
    put(&mut chunk, "usage", wants_usage(reply).then_some(Value::Null));
    Event::unnamed(chunk)
}

fn call_deltas(reply: &Reply<'_>, at: usize) -> Vec<Value> {
    let Some(call) = reply.said.calls.get(at) else { return Vec::new() };
    let delta = |mut call: Value| {
        put(&mut call, "index", reply.index(at));
        json!({"tool_calls": [call]})
    };
    let mut first = json!({"type": "function", "function": {"name": call.name, "arguments": ""}});
    put(&mut first, "id", reply.call_id("call_double", at));
    std::iter::once(delta(first))
        .chain(
            reply
                .argument_pieces(at, call)
                .into_iter()
                .map(|piece| delta(json!({"function": {"arguments": piece}}))),
        )
        .collect()
}

fn finish_reason(reply: &Reply<'_>) -> &'static str {
    match reply.said {
        said if said.filtered => "content_filter",
        said if said.cut_off => "length",
        said if !said.calls.is_empty() => "tool_calls",
        _ => "stop",
    }
}

fn wants_usage(reply: &Reply<'_>) -> bool {
    reply.asked.body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true))
}

fn usage(reply: &Reply<'_>) -> Value {
    let usage = reply.said.usage;
    json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.out, "total_tokens": usage.input.saturating_add(usage.out),
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.thought, "audio_tokens": 0, "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

fn messages(asked: &mut Asked, fields: &Fields<'_>) -> Checked<()> {
    fields.need("messages")?;
    let messages = fields.array("messages")?;
    if messages.is_empty() {
        return Err(Denied::wrong("messages", "empty array, expected an array with minimum length 1"));
    }
    for (at, message) in messages {
        let message = Fields::of(message, at)?;
        message.need_string("role")?;
        let role = message.word("role", ROLES)?.unwrap_or_default();
        if role == "tool" {
            message.need_string("tool_call_id")?;
        }
        if role != "assistant" {
            let content = message.need("content")?;
            if !content.is_string() && !content.is_array() {
                return Err(Denied::wrong(message.place("content"), "expected a string or an array"));
            }
            for text in texts(content) {
                if ["system", "developer"].contains(&role) {
                    asked.add_system(text)
                } else {
                    asked.add_user(text)
                }
            }
        }
    }
    Ok(())
}

fn numbers(fields: &Fields<'_>) -> Checked<()> {
    for name in ["max_tokens", "max_completion_tokens", "n", "seed"] {
        if fields.whole(name)? == Some(0) && name != "seed" {
            return Err(Denied::wrong(name, "integer below minimum value, expected a value >= 1"));
        }
    }
    for (name, most) in [("temperature", 2.0), ("top_p", 1.0)] {
        if fields.number(name)?.is_some_and(|value| !(0.0..=most).contains(&value)) {
            return Err(Denied::wrong(name, format!("expected a value between 0 and {most}")));
        }
    }
    if fields.get("max_tokens").is_some() && fields.get("max_completion_tokens").is_some() {
        return Err(Denied::wrong("max_tokens", "cannot be set together with 'max_completion_tokens'"));
    }
    fields.word("reasoning_effort", &["none", "minimal", "low", "medium", "high", "xhigh", "max"])?;
    Ok(())
}

fn tools(asked: &mut Asked, fields: &Fields<'_>, model: &Model) -> Checked<()> {
    let tools = fields.array("tools")?;
    if fields.get("tools").is_some() && tools.is_empty() {
        return Err(Denied::wrong("tools", "empty array, expected an array with minimum length 1"));
    }
    for (at, tool) in tools {
        let tool = Fields::of(tool, at)?;
        tool.need_string("type")?;
        tool.word("type", &["function", "custom"])?;
        let function = tool.need_object("function")?;
        function.known(&["name", "description", "parameters", "strict"])?;
        let name = function.need_string("name")?;
        named(function.place("name"), name, 64)?;
        let schema = function
            .get("parameters")
            .cloned()
            .unwrap_or_else(|| json!({"type": "object", "properties": {}}));
        if function.boolean("strict")? == Some(true) {
            openai::strict(&schema, &function.place("parameters"), name)?;
        }
        let description = function.string("description")?.unwrap_or_default().to_owned();
        asked.tools.push(Tool { name: name.to_owned(), description, schema });
    }
    if !asked.tools.is_empty() && !model.tools {
        return Err(Denied::UnsupportedTools);
    }
    if asked.tools.is_empty() {
        for needs_tools in ["tool_choice", "parallel_tool_calls"] {
            let given = fields.get(needs_tools).filter(|value| *value != "none");
            if given.is_some() {
                return Err(Denied::wrong(needs_tools, "is only allowed when 'tools' are specified"));
            }
        }
    }
    if let Some(Value::String(choice)) = fields.get("tool_choice")
        && !["none", "auto", "required"].contains(&choice.as_str())
    {
        return Err(Denied::wrong(
            "tool_choice",
            format!("got {choice:?}, expected one of none, auto, required"),
        ));
    }
    if let Some(choice @ Value::Object(_)) = fields.get("tool_choice") {
        let choice = Fields::of(choice, "tool_choice")?;
        if choice.need_string("type")? == "function" {
            let name = choice.need_object("function")?.need_string("name")?;
            if !asked.tools.iter().any(|tool| tool.name == name) {
                return Err(Denied::wrong(
                    "tool_choice",
                    format!("tool choice '{name}' not found in 'tools'"),
                ));
            }
        }
    }
    Ok(())
}

fn format(asked: &mut Asked, fields: &Fields<'_>, model: &Model) -> Checked<()> {
    let Some(format) = fields.object("response_format")? else { return Ok(()) };
    format.need_string("type")?;
    match format.word("type", &["text", "json_object", "json_schema"])? {
        Some("json_object")
            if !asked.user.to_lowercase().contains("json")
                && !asked.system.to_lowercase().contains("json") =>
        {
            Err(Denied::wrong(
                "messages",
                "must contain the word 'json' in some form, to use 'response_format' of type 'json_object'",
            ))
        }
        Some("json_schema") => {
            let given = format.need_object("json_schema")?;
            given.known(&["name", "schema", "strict", "description"])?;
            let name = given.need_string("name")?;
            named(given.place("name"), name, 64)?;
            if !model.schema {
                return Err(Denied::UnsupportedFormat);
            }
            let schema = given.get("schema").cloned().unwrap_or(Value::Null);
            if given.boolean("strict")? == Some(true) {
                openai::strict(&schema, "response_format", name)?;
            }
            asked.schema = Some(schema);
            Ok(())
        }
        _ => Ok(()),
    }
}
