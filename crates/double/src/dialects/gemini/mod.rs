//! generateContent, of Google.
//!
//! - Generating content: <https://ai.google.dev/api/generate-content>
//! - Function calling: <https://ai.google.dev/gemini-api/docs/function-calling>
//! - Thinking, thought signatures: <https://ai.google.dev/gemini-api/docs/thinking>, <https://ai.google.dev/gemini-api/docs/thought-signatures>
//! - Structured output: <https://ai.google.dev/gemini-api/docs/structured-output>
//! - Troubleshooting, "error codes": <https://ai.google.dev/gemini-api/docs/troubleshooting>
//! - Models: <https://ai.google.dev/api/models>
//! - The shape of an error: <https://google.aip.dev/193>
//! - API versions, `v1` and `v1beta`: <https://ai.google.dev/gemini-api/docs/api-versions>
//!
//! Names may be written as `camelCase` or as `snake_case`, because the JSON is that of protocol buffers.

mod request;

use serde_json::{Value, json};

use super::reply::{pieces, put};
use super::{Event, Framing, Reply, Tongue};
use crate::asked::Asked;
use crate::check::Checked;
use crate::denied::Denied;
use crate::script::{Model, Script};

pub(crate) struct Gemini;

impl Tongue for Gemini {
    /// "Using API keys": in a header or behind the question mark. A wrong one is a bad argument (400), none at all is 403.
    fn admit(&self, asked: &Asked, key: &str) -> Checked<()> {
        match asked.header("x-goog-api-key").or_else(|| asked.query("key")) {
            None | Some("") => Err(Denied::NoKey),
            Some(given) if given != key => Err(Denied::WrongKey),
            Some(_) => Ok(()),
        }
    }

    fn understand(&self, asked: &mut Asked, script: &Script) -> Checked<()> {
        request::understand(asked, script)
    }

    fn denied(&self, denied: &Denied, _: u64) -> (u16, Value) {
        let violation = |field: &str, message: &str| json!([{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": field, "description": message}]}]);
        let (status, word, message, details) = match denied {
            Denied::NoJson => {
                (400, "INVALID_ARGUMENT", "Invalid JSON payload received. Unexpected token.".to_owned(), None)
            }
            Denied::Missing(field) => {
                let message =
                    format!("* GenerateContentRequest.{}: is not specified\n", request::snake(field));
                (400, "INVALID_ARGUMENT", message, None)
            }
            Denied::Wrong { field, why } => {
                let field = request::snake(field);
                let message = format!("Invalid value at '{field}': {why}");
                (400, "INVALID_ARGUMENT", message.clone(), Some(violation(&field, &message)))
            }
            Denied::Unknown(field) => {
                let place = request::snake(field);
                let (at, name) =
                    place.rsplit_once('.').map_or((None, place.as_str()), |(at, name)| (Some(at), name));
                let at_place = at.map(|at| format!(" at '{at}'")).unwrap_or_default();
                let message = format!(
                    "Invalid JSON payload received. Unknown name \"{name}\"{at_place}: Cannot find field."
                );
                (400, "INVALID_ARGUMENT", message.clone(), Some(violation(at.unwrap_or_default(), &message)))
            }
            Denied::Unsupported(field) | Denied::UnsupportedValue { field, .. } => {
                (400, "INVALID_ARGUMENT", format!("{field} is not enabled for this model"), None)
            }
            Denied::UnsupportedFormat => {
                (400, "INVALID_ARGUMENT", "JSON mode is not enabled for this model".to_owned(), None)
            }
            Denied::UnsupportedTools => {
                (400, "INVALID_ARGUMENT", "Function calling is not enabled for this model".to_owned(), None)
            }
            Denied::TooLong { tokens, limit } => {
                let message = format!(
                    "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit})."
                );
                (400, "INVALID_ARGUMENT", message, None)
            }
            Denied::NoKey => {
                (403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.".to_owned(), None)
            }
            Denied::WrongKey => {
                let details = json!([{
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
                    "domain": "googleapis.com", "metadata": {"service": "generativelanguage.googleapis.com"},
                }]);
                (
                    400,
                    "INVALID_ARGUMENT",
                    "API key not valid. Please pass a valid API key.".to_owned(),
                    Some(details),
                )
            }
            Denied::Unauthorized => {
                (401, "UNAUTHENTICATED", "Request had invalid authentication credentials.".to_owned(), None)
            }
            Denied::Payment => (402, "FAILED_PRECONDITION", "Billing is not enabled.".to_owned(), None),
            Denied::Forbidden => {
                (403, "PERMISSION_DENIED", "The caller does not have permission".to_owned(), None)
            }
            Denied::NoModel(model) => {
                let message = format!(
                    "models/{model} is not found for API version v1beta, or is not supported for generateContent."
                );
                (404, "NOT_FOUND", message, None)
            }
            Denied::NoPath => (404, "NOT_FOUND", "Requested entity was not found.".to_owned(), None),
            Denied::TooLarge => {
                (413, "INVALID_ARGUMENT", "Request payload size exceeds the limit.".to_owned(), None)
            }
            Denied::RateLimited(after) => {
                // "RetryInfo" of google.rpc: a duration in seconds.
                let details = after.as_ref().and_then(|after| match after {
                    crate::RetryAfter::Seconds(seconds) => Some(json!([{
                        "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s"),
                    }])),
                    _ => None,
                });
                (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.".to_owned(), details)
            }
            Denied::Quota => (
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota, please check your plan and billing details.".to_owned(),
                None,
            ),
            Denied::Internal => (500, "INTERNAL", "An internal error has occurred.".to_owned(), None),
            Denied::BadGateway => (502, "UNAVAILABLE", "Bad gateway".to_owned(), None),
            Denied::Unavailable(_) => {
                (503, "UNAVAILABLE", "The model is overloaded. Please try again later.".to_owned(), None)
            }
            Denied::Overloaded => {
                (529, "UNAVAILABLE", "The model is overloaded. Please try again later.".to_owned(), None)
            }
            Denied::Filtered => (400, "INVALID_ARGUMENT", "The response was blocked.".to_owned(), None),
        };
        let mut error = json!({"code": status, "message": message, "status": word});
        put(&mut error, "details", details);
        (status, json!({"error": error}))
    }

    fn whole(&self, reply: &Reply<'_>) -> Checked<Value> {
        let parts: Vec<Value> = parts(reply, |text| vec![text.to_owned()]).into_iter().flatten().collect();
        Ok(response(reply, parts, reply.faults.ends()))
    }

    fn events(&self, reply: &Reply<'_>) -> Checked<Vec<Event>> {
        let chunks: Vec<Vec<Value>> = parts(reply, pieces);
        let last = chunks.len().saturating_sub(1);
        if chunks.is_empty() {
            return Ok(vec![Event::unnamed(response(reply, Vec::new(), reply.faults.ends()))]);
        }
        let finishes = |at: usize| at == last && reply.faults.ends();
        Ok(chunks
            .into_iter()
            .enumerate()
            .map(|(at, parts)| Event::unnamed(response(reply, parts, finishes(at))))
            .collect())
    }

    fn error_events(&self, _: &Reply<'_>) -> Vec<Event> {
        vec![Event::unnamed(self.denied(&Denied::Unavailable(None), 0).1)]
    }

    fn unknown_event(&self, reply: &Reply<'_>) -> Event {
        Event::unnamed(json!({"weather": "fair", "modelVersion": reply.asked.model}))
    }

    /// `alt=sse` makes events of it; without, it is one long array.
    fn framing(&self, asked: &Asked) -> Framing {
        if asked.query("alt") == Some("sse") {
            Framing::Sse { crlf: true, pings: false }
        } else {
            Framing::Array
        }
    }

    fn headers(&self, _: u64) -> Vec<(&'static str, String)> {
        vec![("server-timing", "gfet4t7; dur=1".to_owned())]
    }

    fn models(&self, models: &[Model]) -> Value {
        json!({"models": models.iter().map(|model| self.model(model)).collect::<Vec<_>>()})
    }

    fn model(&self, model: &Model) -> Value {
        json!({
            "name": format!("models/{}", model.name), "version": "001", "displayName": model.name,
            "description": "A double.", "inputTokenLimit": model.context, "outputTokenLimit": model.output,
            "supportedGenerationMethods": ["generateContent", "countTokens"], "temperature": 1, "topP": 0.95, "topK": 64,
            "maxTemperature": 2, "thinking": model.thinks,
        })
    }
}

/// The parts, in the chunks in which they are streamed. The signature is on the first call, else on the last part.
fn parts(reply: &Reply<'_>, split: impl Fn(&str) -> Vec<String>) -> Vec<Vec<Value>> {
    let said = reply.said;
    let mut chunks: Vec<Vec<Value>> = Vec::new();
    let signature = said
        .thought
        .as_ref()
        .map(|thought| thought.signature.clone())
        .filter(|signature| !signature.is_empty());
    if said.filtered || said.refusal.is_some() {
        return chunks;
    }
    if let Some(thought) = &said.thought {
        chunks.extend(
            split(&thought.text).into_iter().map(|text| vec![json!({"text": text, "thought": true})]),
        );
    }
    if !said.text.is_empty() {
        chunks.extend(split(&said.text).into_iter().map(|text| vec![json!({"text": text})]));
    }
    let calls: Vec<Value> = said
        .calls
        .iter()
        .enumerate()
        .map(|(at, call)| {
            let mut function = json!({"name": call.name, "args": reply.arguments_object(call)});
            put(&mut function, "id", reply.call_id("double", at));
            let mut part = json!({"functionCall": function});
            put(&mut part, "thoughtSignature", signature.clone().filter(|_| at == 0).map(Value::from));
            part
        })
        .collect();
    if calls.is_empty() {
        if let Some(part) = chunks.last_mut().and_then(|parts| parts.last_mut()) {
            put(part, "thoughtSignature", signature.map(Value::from));
        }
    } else if reply.faults.has(&crate::Fault::CallsInterleaved) {
        chunks.extend(calls.into_iter().map(|call| vec![call]));
    } else {
        chunks.push(calls);
    }
    chunks
}

fn response(reply: &Reply<'_>, parts: Vec<Value>, finishes: bool) -> Value {
    let said = reply.said;
    let mut response = json!({});
    if said.refusal.is_some() {
        // "promptFeedback": no candidates only if the prompt was blocked.
        put(&mut response, "promptFeedback", Some(json!({"blockReason": "PROHIBITED_CONTENT"})));
    } else {
        let mut candidate = json!({"index": 0});
        if !said.filtered {
            put(&mut candidate, "content", Some(json!({"parts": parts, "role": "model"})));
        }
        if finishes {
            let reason = match said {
                said if said.filtered => "SAFETY",
                said if said.cut_off => "MAX_TOKENS",
                _ => "STOP",
            };
            put(&mut candidate, "finishReason", Some(reason.into()));
        }
        if said.filtered {
            let rating = json!({"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": true});
            put(&mut candidate, "safetyRatings", Some(json!([rating])));
        }
        put(&mut response, "candidates", Some(json!([candidate])));
    }
    put(&mut response, "usageMetadata", Some(usage(reply)));
    put(&mut response, "modelVersion", Some(reply.asked.model.clone().into()));
    put(&mut response, "responseId", Some(format!("double{:08}", reply.number).into()));
    response
}

/// Thoughts are counted beside the candidates, not in them; what was cached is in the count of the prompt.
fn usage(reply: &Reply<'_>) -> Value {
    let used = reply.said.usage;
    let mut usage = json!({
        "promptTokenCount": used.input, "candidatesTokenCount": used.out.saturating_sub(used.thought),
        "totalTokenCount": used.input.saturating_add(used.out),
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": used.input}],
    });
    put(&mut usage, "cachedContentTokenCount", (used.cached > 0).then(|| used.cached.into()));
    put(&mut usage, "thoughtsTokenCount", (used.thought > 0).then(|| used.thought.into()));
    usage
}
