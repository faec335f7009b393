//! Messages, of Anthropic.
//!
//! - Messages: <https://platform.claude.com/docs/en/api/messages>
//! - Streaming messages: <https://platform.claude.com/docs/en/build-with-claude/streaming>
//! - Errors: <https://platform.claude.com/docs/en/api/errors>
//! - Versions: <https://platform.claude.com/docs/en/api/versioning>; what 2026-10-21 refuses:
//!   <https://platform.claude.com/docs/en/api/migration-2026-10-21>
//! - Structured outputs: <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>
//! - Extended thinking: <https://platform.claude.com/docs/en/build-with-claude/extended-thinking>
//! - Handling stop reasons: <https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>
//! - List models: <https://platform.claude.com/docs/en/api/models-list>

mod request;

use serde_json::{Value, json};

use super::reply::{pieces, put};
use super::{Event, Framing, Reply, Tongue};
use crate::asked::Asked;
use crate::check::Checked;
use crate::denied::Denied;
use crate::script::{Model, Script};

pub(crate) struct Anthropic;

impl Tongue for Anthropic {
    /// "Authentication": `x-api-key`, or a bearer token as the libraries since 2026-10-21 send it.
    fn admit(&self, asked: &Asked, key: &str) -> Checked<()> {
        match asked.header("x-api-key").or_else(|| asked.bearer()) {
            None => Err(Denied::NoKey),
            Some(given) if given != key => Err(Denied::WrongKey),
            Some(_) => Ok(()),
        }
    }

    fn understand(&self, asked: &mut Asked, script: &Script) -> Checked<()> {
        request::understand(asked, script)
    }

    /// "Error shapes", "HTTP errors".
    fn denied(&self, denied: &Denied, number: u64) -> (u16, Value) {
        let (status, kind, message) = match denied {
            Denied::NoJson => (
                400,
                "invalid_request_error",
                "The request body is not valid JSON: expected value".to_owned(),
            ),
            Denied::Missing(field) => (400, "invalid_request_error", format!("{field}: Field required")),
            Denied::Wrong { field, why } => (400, "invalid_request_error", format!("{field}: {why}")),
            Denied::Unknown(field) => {
                (400, "invalid_request_error", format!("{field}: Extra inputs are not permitted"))
            }
            Denied::Unsupported(field) | Denied::UnsupportedValue { field, .. } => {
                (400, "invalid_request_error", format!("`{field}` is deprecated for this model."))
            }
            Denied::UnsupportedFormat => (
                400,
                "invalid_request_error",
                "output_config.format: this model does not support structured outputs".to_owned(),
            ),
            Denied::UnsupportedTools => {
                (400, "invalid_request_error", "tools: this model does not support tool use".to_owned())
            }
            Denied::TooLong { tokens, limit } => (
                400,
                "invalid_request_error",
                format!("prompt is too long: {tokens} tokens > {limit} maximum"),
            ),
            Denied::Filtered => {
                (400, "invalid_request_error", "Output blocked by content filtering policy".to_owned())
            }
            Denied::Quota => (
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API.".to_owned(),
            ),
            Denied::NoKey => (401, "authentication_error", "x-api-key header is required".to_owned()),
            Denied::WrongKey | Denied::Unauthorized => {
                (401, "authentication_error", "invalid x-api-key".to_owned())
            }
            Denied::Payment => {
                (402, "billing_error", "There is an issue with your billing information.".to_owned())
            }
            Denied::Forbidden => (
                403,
                "permission_error",
                "Your API key does not have permission to use this resource.".to_owned(),
            ),
            Denied::NoModel(model) => (404, "not_found_error", format!("model: {model}")),
            Denied::NoPath => (404, "not_found_error", "Not found".to_owned()),
            Denied::TooLarge => (413, "request_too_large", "Request exceeds the maximum size".to_owned()),
            Denied::RateLimited(_) => {
                (429, "rate_limit_error", "This request would exceed your rate limit.".to_owned())
            }
            Denied::Internal => (500, "api_error", "Internal server error".to_owned()),
            Denied::BadGateway => (502, "api_error", "Bad gateway".to_owned()),
            Denied::Unavailable(_) => (503, "api_error", "Service unavailable".to_owned()),
            Denied::Overloaded => (529, "overloaded_error", "Overloaded".to_owned()),
        };
        let request = request_id(number);
        (status, json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": request}))
    }

    fn whole(&self, reply: &Reply<'_>) -> Checked<Value> {
        if reply.said.filtered {
            return Err(Denied::Filtered);
        }
        let blocks: Vec<Value> = blocks(reply).into_iter().map(|block| block.whole).collect();
        let mut message = message(reply, json!(blocks));
        if reply.faults.finishes() {
            put(&mut message, "stop_reason", Some(stop_reason(reply).into()));
            put(&mut message, "stop_details", stop_details(reply));
        }
        put(&mut message, "usage", Some(usage(reply, reply.said.usage.out)));
        Ok(message)
    }

    /// "Event types", "Content block delta types".
    fn events(&self, reply: &Reply<'_>) -> Checked<Vec<Event>> {
        let mut start = message(reply, json!([]));
        put(&mut start, "usage", Some(usage(reply, 1)));
        let mut events = vec![event("message_start", json!({"message": start}))];
        events.push(event("ping", json!({})));
        if reply.said.filtered {
            events.extend(self.error(&Denied::Filtered, reply));
            return Ok(events);
        }
        let (calls, others): (Vec<_>, Vec<_>) =
            blocks(reply).into_iter().enumerate().partition(|(_, block)| block.is_call);
        for (at, block) in others {
            events.extend(block.events(reply, at));
        }
        events.extend(reply.in_turn(calls.into_iter().map(|(at, block)| block.events(reply, at)).collect()));
        if reply.faults.finishes() {
            let mut delta = json!({"stop_reason": stop_reason(reply), "stop_sequence": null});
            put(&mut delta, "stop_details", stop_details(reply));
            events.push(event("message_delta", json!({"delta": delta, "usage": usage_so_far(reply)})));
        }
        if reply.faults.ends() {
            events.push(event("message_stop", json!({})));
        }
        Ok(events)
    }

    /// "Error events".
    fn error_events(&self, reply: &Reply<'_>) -> Vec<Event> {
        self.error(&Denied::Overloaded, reply)
    }

    /// "Other events": new ones may be added, and clients are to bear it.
    fn unknown_event(&self, _: &Reply<'_>) -> Event {
        event("message_weather", json!({"weather": "fair"}))
    }

    fn framing(&self, _: &Asked) -> Framing {
        Framing::Sse { crlf: false, pings: true }
    }

    fn headers(&self, number: u64) -> Vec<(&'static str, String)> {
        vec![("request-id", request_id(number))]
    }

    fn models(&self, models: &[Model]) -> Value {
        let data: Vec<Value> = models.iter().map(|model| self.model(model)).collect();
        let name = |model: Option<&Model>| model.map(|model| model.name.clone());
        json!({"data": data, "has_more": false, "first_id": name(models.first()), "last_id": name(models.last())})
    }

    fn model(&self, model: &Model) -> Value {
        json!({
            "type": "model", "id": model.name, "display_name": model.name, "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "active", "max_input_tokens": model.context, "max_tokens": model.output,
        })
    }
}

impl Anthropic {
    fn error(&self, denied: &Denied, reply: &Reply<'_>) -> Vec<Event> {
        vec![Event::named("error", self.denied(denied, reply.number).1)]
    }
}

fn request_id(number: u64) -> String {
    format!("req_double{number:08}")
}

fn event(name: &'static str, mut data: Value) -> Event {
    let mut typed = json!({"type": name});
    if let (Value::Object(typed), Value::Object(data)) = (&mut typed, &mut data) {
        typed.append(data);
    }
    Event::named(name, typed)
}

fn message(reply: &Reply<'_>, content: Value) -> Value {
    json!({
        "id": format!("msg_double{:08}", reply.number), "type": "message", "role": "assistant", "model": reply.asked.model,
        "content": content, "stop_reason": null, "stop_sequence": null,
    })
}

fn stop_reason(reply: &Reply<'_>) -> &'static str {
    match reply.said {
        said if said.refusal.is_some() => "refusal",
        said if said.cut_off => "max_tokens",
        said if !said.calls.is_empty() => "tool_use",
        _ => "end_turn",
    }
}

fn stop_details(reply: &Reply<'_>) -> Option<Value> {
    let why = reply.said.refusal.as_ref()?;
    Some(json!({"type": "refusal", "category": null, "explanation": why}))
}

/// `input_tokens` are those that did not come from the cache.
fn usage(reply: &Reply<'_>, out: u64) -> Value {
    let usage = reply.said.usage;
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": out,
        "service_tier": "standard",
    })
}

/// Counts in `message_delta` are of the whole message.
fn usage_so_far(reply: &Reply<'_>) -> Value {
    let usage = reply.said.usage;
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.out,
    })
}

/// A block of the content: as it stands in the message, as it begins in a stream, and its deltas.
struct Block {
    whole: Value,
    begins: Value,
    deltas: Vec<Value>,
    is_call: bool,
}

impl Block {
    fn events(self, reply: &Reply<'_>, at: usize) -> Vec<Event> {
        let numbered = |name, mut data: Value| {
            put(&mut data, "index", if self.is_call { reply.index(at) } else { Some(at.into()) });
            event(name, data)
        };
        let mut events = vec![numbered("content_block_start", json!({"content_block": self.begins.clone()}))];
        events
            .extend(self.deltas.iter().map(|delta| numbered("content_block_delta", json!({"delta": delta}))));
        events.push(numbered("content_block_stop", json!({})));
        events
    }
}

fn blocks(reply: &Reply<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(thought) = &reply.said.thought {
        let mut deltas: Vec<Value> = pieces(&thought.text)
            .into_iter()
            .map(|text| json!({"type": "thinking_delta", "thinking": text}))
            .collect();
        deltas.push(json!({"type": "signature_delta", "signature": thought.signature}));
        blocks.push(Block {
            whole: json!({"type": "thinking", "thinking": thought.text, "signature": thought.signature}),
            begins: json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas,
            is_call: false,
        });
    }
    if !reply.said.text.is_empty() {
        let text = &reply.said.text;
        blocks.push(Block {
            whole: json!({"type": "text", "text": text}),
            begins: json!({"type": "text", "text": ""}),
            deltas: pieces(text)
                .into_iter()
                .map(|text| json!({"type": "text_delta", "text": text}))
                .collect(),
            is_call: false,
        });
    }
    for (at, call) in reply.said.calls.iter().enumerate() {
        let with_id = |mut block: Value| {
            put(&mut block, "id", reply.call_id("toolu_double", at));
            block
        };
        let deltas = std::iter::once("".into()).chain(reply.argument_pieces(at, call));
        blocks.push(Block {
            whole: with_id(
                json!({"type": "tool_use", "name": call.name, "input": reply.arguments_object(call)}),
            ),
            begins: with_id(json!({"type": "tool_use", "name": call.name, "input": {}})),
            deltas: deltas.map(|json| json!({"type": "input_json_delta", "partial_json": json})).collect(),
            is_call: true,
        });
    }
    blocks
}
