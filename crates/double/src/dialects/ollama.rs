//! The chat of Ollama's own API.
//!
//! - Generate a chat message: <https://docs.ollama.com/api/chat>
//! - Errors: <https://docs.ollama.com/api/errors>
//! - Streaming: <https://docs.ollama.com/api/streaming>
//! - Usage: <https://docs.ollama.com/api/usage>
//! - Tool calling, thinking, structured outputs: <https://docs.ollama.com/capabilities/tool-calling>,
//!   <https://docs.ollama.com/capabilities/thinking>, <https://docs.ollama.com/capabilities/structured-outputs>
//! - List models, show model details: <https://docs.ollama.com/api/tags>, <https://docs.ollama.com/api-reference/show-model-details>
//!
//! It asks for no key, passes over fields that it does not know, and streams unless told not to. A prompt that is too long is
//! cut, not refused. It knows neither refusals nor filters: the one is plain text, the other an empty reply.

use serde_json::{Value, json};

use super::reply::{pieces, put};
use super::{Event, Framing, Reply, Tongue};
use crate::asked::{Asked, Tool};
use crate::check::{Checked, Fields, texts};
use crate::denied::Denied;
use crate::script::{Model, Script};

const CREATED_AT: &str = "2026-01-01T00:00:00.000000Z";

pub(crate) struct Ollama;

impl Tongue for Ollama {
    fn admit(&self, _: &Asked, _: &str) -> Checked<()> {
        Ok(())
    }

    fn understand(&self, asked: &mut Asked, script: &Script) -> Checked<()> {
        let body = asked.body.clone();
        let fields = Fields::of(&body, "")?;
        let given = fields.string("model")?.unwrap_or_default();
        if given.is_empty() {
            return Err(Denied::Missing("model".to_owned()));
        }
        // "Model names": the tag is `latest` if none is given.
        asked.model = given.trim_end_matches(":latest").to_owned();
        asked.stream = fields.boolean("stream")?.unwrap_or(true);
        for (at, message) in fields.array("messages")? {
            let message = Fields::of(message, at)?;
            let role = message.string("role")?.unwrap_or_default();
            if !["system", "user", "assistant", "tool"].contains(&role) {
                return Err(Denied::wrong("role", format!("invalid role: {role:?}")));
            }
            if message.get("content").is_some_and(|content| !content.is_string()) {
                return Err(Denied::wrong(message.place("content"), "expected a string"));
            }
            for text in message.get("content").map(texts).unwrap_or_default() {
                match role {
                    "system" => asked.add_system(text),
                    "user" | "tool" => asked.add_user(text),
                    _ => {}
                }
            }
        }
        let model = script.model(&asked.model).ok_or_else(|| Denied::NoModel(given.to_owned()))?;
        tools(asked, &fields)?;
        if !asked.tools.is_empty() && !model.tools {
            return Err(Denied::UnsupportedTools);
        }
        match fields.get("format") {
            None => {}
            Some(Value::String(format)) if format.is_empty() || format == "json" => {}
            Some(Value::Object(_)) if !model.schema => return Err(Denied::UnsupportedFormat),
            Some(schema @ Value::Object(_)) => asked.schema = Some(schema.clone()),
            Some(other) => {
                return Err(Denied::wrong(
                    "format",
                    format!("invalid format: {other}; expected \"json\" or a valid JSON Schema object"),
                ));
            }
        }
        let thinks = fields.get("think").is_some_and(|think| *think != Value::Bool(false));
        if thinks && !model.thinks {
            return Err(Denied::Unsupported(format!("{given:?} does not support thinking")));
        }
        if let Some(options) = fields.object("options")? {
            for name in ["temperature", "top_p", "num_ctx", "num_predict", "seed", "top_k"] {
                options.number(name)?;
            }
        }
        let tokens = asked.tokens();
        if fields.boolean("truncate")? == Some(false) && tokens > model.context {
            return Err(Denied::TooLong { tokens, limit: model.context });
        }
        Ok(())
    }

    /// One field, always: `error`.
    fn denied(&self, denied: &Denied, _: u64) -> (u16, Value) {
        let message = match denied {
            Denied::NoJson => "invalid character looking for beginning of value".to_owned(),
            Denied::Missing(field) => format!("{field} is required"),
            Denied::Wrong { why, .. } if why.starts_with("invalid") => why.clone(),
            Denied::Wrong { field, why } => {
                format!("json: cannot unmarshal into Go struct field ChatRequest.{field}: {why}")
            }
            Denied::Unknown(field) => format!("unknown field {field}"),
            Denied::Unsupported(what) | Denied::UnsupportedValue { field: what, .. } => what.clone(),
            Denied::UnsupportedFormat => "the model does not support structured outputs".to_owned(),
            Denied::UnsupportedTools => {
                "registry.ollama.ai/library/double:latest does not support tools".to_owned()
            }
            Denied::TooLong { .. } => "the input length exceeds the context length".to_owned(),
            Denied::NoKey | Denied::WrongKey | Denied::Unauthorized => "unauthorized".to_owned(),
            Denied::Payment | Denied::Quota => {
                "you have reached your usage limit, please upgrade to continue".to_owned()
            }
            Denied::Forbidden => "forbidden".to_owned(),
            Denied::NoModel(model) => format!("model '{model}' not found"),
            Denied::NoPath => "not found".to_owned(),
            Denied::TooLarge => "request body too large".to_owned(),
            Denied::RateLimited(_) => "too many requests".to_owned(),
            Denied::Internal => "the model failed to generate a response".to_owned(),
            Denied::BadGateway => "bad gateway".to_owned(),
            Denied::Unavailable(_) | Denied::Overloaded => {
                "server busy, please try again. maximum pending requests exceeded".to_owned()
            }
            Denied::Filtered => "the response was blocked".to_owned(),
        };
        (denied.status(), json!({"error": message}))
    }

    fn whole(&self, reply: &Reply<'_>) -> Checked<Value> {
        let mut message = json!({"role": "assistant", "content": text(reply)});
        put(&mut message, "thinking", reply.said.thought.as_ref().map(|thought| thought.text.clone().into()));
        put(
            &mut message,
            "tool_calls",
            Some(calls(reply)).filter(|calls| !calls.is_empty()).map(Value::from),
        );
        Ok(if reply.faults.ends() { last(reply, message) } else { chunk(reply, message) })
    }

    fn events(&self, reply: &Reply<'_>) -> Checked<Vec<Event>> {
        let mut messages: Vec<Value> = Vec::new();
        if let Some(thought) = &reply.said.thought {
            let thoughts = pieces(&thought.text).into_iter();
            messages
                .extend(thoughts.map(|text| json!({"role": "assistant", "content": "", "thinking": text})));
        }
        let texts = pieces(&text(reply)).into_iter();
        messages.extend(texts.map(|text| json!({"role": "assistant", "content": text})));
        let calls = calls(reply);
        let apart = reply.faults.has(&crate::Fault::CallsInterleaved);
        let groups: Vec<Vec<Value>> =
            if apart { calls.into_iter().map(|call| vec![call]).collect() } else { vec![calls] };
        for group in groups.into_iter().filter(|group| !group.is_empty()) {
            messages.push(json!({"role": "assistant", "content": "", "tool_calls": group}));
        }
        let mut events: Vec<Event> =
            messages.into_iter().map(|message| Event::unnamed(chunk(reply, message))).collect();
        if reply.faults.ends() {
            events.push(Event::unnamed(last(reply, json!({"role": "assistant", "content": ""}))));
        }
        Ok(events)
    }

    /// "Errors that occur while streaming": a line with nothing but the error.
    fn error_events(&self, _: &Reply<'_>) -> Vec<Event> {
        vec![Event::unnamed(json!({"error": "an error was encountered while running the model"}))]
    }

    fn unknown_event(&self, reply: &Reply<'_>) -> Event {
        let mut chunk = chunk(reply, json!({"role": "assistant", "content": "", "weather": "fair"}));
        put(&mut chunk, "weather", Some("fair".into()));
        Event::unnamed(chunk)
    }

    fn framing(&self, _: &Asked) -> Framing {
        Framing::Lines
    }

    fn headers(&self, _: u64) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn models(&self, models: &[Model]) -> Value {
        let listed: Vec<Value> = models
            .iter()
            .map(|model| {
                let name = format!("{}:latest", model.name);
                json!({
                    "name": name, "model": name, "modified_at": CREATED_AT, "size": 3_338_801_804_u64,
                    "digest": "a2af6cc3eb7fa8be8504abaf9b04e88f17a119ec3f04a3addf55f92841195f5a", "details": details(),
                })
            })
            .collect();
        json!({"models": listed})
    }

    /// What `/api/show` tells.
    fn model(&self, model: &Model) -> Value {
        let mut capabilities = vec!["completion"];
        capabilities.extend(model.tools.then_some("tools"));
        capabilities.extend(model.thinks.then_some("thinking"));
        json!({
            "modelfile": "FROM double", "parameters": "temperature 1", "template": "{{ .Prompt }}", "license": "none",
            "details": details(),
            "model_info": {"general.architecture": "double", "double.context_length": model.context},
            "capabilities": capabilities, "modified_at": CREATED_AT,
        })
    }
}

fn details() -> Value {
    json!({
        "parent_model": "", "format": "gguf", "family": "double", "families": ["double"], "parameter_size": "4.3B",
        "quantization_level": "Q4_K_M",
    })
}

fn text(reply: &Reply<'_>) -> String {
    match &reply.said.refusal {
        _ if reply.said.filtered || is_load(reply) => String::new(),
        Some(refusal) => refusal.clone(),
        None => reply.said.text.clone(),
    }
}

/// Arguments are an object here.
fn calls(reply: &Reply<'_>) -> Vec<Value> {
    let calls = reply.said.calls.iter().enumerate();
    calls
        .map(|(at, call)| {
            let mut function = json!({"name": call.name, "arguments": reply.arguments_object(call)});
            put(&mut function, "index", reply.index(at));
            let mut written = json!({"function": function});
            put(&mut written, "id", reply.call_id("call_double", at));
            written
        })
        .collect()
}

fn chunk(reply: &Reply<'_>, message: Value) -> Value {
    json!({"model": reply.asked.model, "created_at": CREATED_AT, "message": message, "done": false})
}

/// Durations are in nanoseconds.
fn last(reply: &Reply<'_>, message: Value) -> Value {
    let used = reply.said.usage;
    json!({
        "model": reply.asked.model, "created_at": CREATED_AT, "message": message, "done": true,
        "done_reason": done_reason(reply),
        "total_duration": 174_560_334, "load_duration": 101_397_084,
        "prompt_eval_count": used.input, "prompt_eval_duration": 13_074_791,
        "eval_count": used.out, "eval_duration": 52_479_709,
    })
}

/// Without messages, a model is only loaded.
fn done_reason(reply: &Reply<'_>) -> &'static str {
    if is_load(reply) {
        "load"
    } else if reply.said.cut_off {
        "length"
    } else {
        "stop"
    }
}

fn is_load(reply: &Reply<'_>) -> bool {
    reply.asked.body.get("messages").and_then(Value::as_array).is_none_or(Vec::is_empty)
}

fn tools(asked: &mut Asked, fields: &Fields<'_>) -> Checked<()> {
    for (at, tool) in fields.array("tools")? {
        let tool = Fields::of(tool, at)?;
        let function = tool.need_object("function")?;
        let name = function.need_string("name")?.to_owned();
        let description = function.string("description")?.unwrap_or_default().to_owned();
        let schema = function.get("parameters").cloned().unwrap_or_else(|| json!({"type": "object"}));
        asked.tools.push(Tool { name, description, schema });
    }
    Ok(())
}
