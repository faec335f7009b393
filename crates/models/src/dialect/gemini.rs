//! Gemini. Facts from the Gemini API reference: "Generating content", "Structured outputs", "Function calling", "Thinking",
//! "Safety settings".

use llm::Prompt;
use serde_json::{Value, json};

use super::anthropic::set;
use super::draft::{Draft, End, Fragment, Hear};
use super::manner::Way;
use super::{Outgoing, list, number, text};
use crate::{Endpoint, Trouble};

pub(super) fn request(endpoint: &Endpoint, prompt: &Prompt, way: &Way<'_>) -> Outgoing {
    let mut config = json!({ "maxOutputTokens": endpoint.tokens_out });
    match way {
        Way::Schema(fitted) => {
            set(&mut config, "responseMimeType", "application/json".into());
            set(&mut config, "responseJsonSchema", fitted.schema.clone());
        }
        Way::Json => set(&mut config, "responseMimeType", "application/json".into()),
        Way::Calls(_) | Way::Words => {}
    }
    let mut body = json!({
        "systemInstruction": { "parts": [{ "text": way.system(prompt) }] },
        "contents": [{ "role": "user", "parts": [{ "text": prompt.user }] }],
        "generationConfig": config,
    });
    if let Way::Calls(calling) = way {
        let shape = |name: &str, description: &str, schema: Value| json!({ "name": name, "description": description, "parametersJsonSchema": schema });
        set(&mut body, "tools", json!([{ "functionDeclarations": Way::tools(calling, shape) }]));
        set(&mut body, "toolConfig", json!({ "functionCallingConfig": { "mode": "ANY" } }));
    }
    let model = endpoint.model.strip_prefix("models/").unwrap_or(&endpoint.model);
    let path = format!("/v1beta/models/{}:streamGenerateContent?alt=sse", encode(model));
    Outgoing { path, headers: Vec::new(), key: ("x-goog-api-key", ""), body, wrapped: way.is_wrapped() }
}

/// For a part of a path: a model's name is whatever the owner wrote.
fn encode(name: &str) -> String {
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

pub(super) fn read(draft: &mut Draft, chunk: &Value, hear: Hear<'_>) -> Result<(), Trouble> {
    count(draft, chunk);
    if let Some(feedback) = chunk.get("promptFeedback")
        && let Some(reason) = feedback.get("blockReason").and_then(Value::as_str)
    {
        let said = text(feedback, "blockReasonMessage");
        let said =
            if said.is_empty() { format!("the prompt was blocked: {reason}") } else { said.to_owned() };
        draft.end = Some(End::Filter(said));
        draft.over = true;
        return Ok(());
    }
    let Some(candidate) = list(chunk, "candidates").first() else { return Ok(()) };
    for part in candidate.get("content").map(|content| list(content, "parts")).unwrap_or_default() {
        if let Some(call) = part.get("functionCall") {
            // Each is whole, and its number is its own: the server's ids are made up, or missing.
            let index = Some(draft.next_index());
            let nothing = json!({});
            let args = call.get("args").filter(|args| !args.is_null()).unwrap_or(&nothing);
            draft.add_call(
                Fragment { index, name: text(call, "name"), args: Some(args), ..Fragment::default() },
                hear,
            )?;
        } else if part.get("thought").and_then(Value::as_bool) == Some(true) {
            draft.add_thought(text(part, "text"), hear)?;
        } else {
            draft.add_text(text(part, "text"), hear)?;
        }
    }
    if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
        let said = text(candidate, "finishMessage");
        draft.end = Some(end(reason, said));
        draft.over = true;
    }
    Ok(())
}

fn end(reason: &str, said: &str) -> End {
    match reason {
        "STOP" => End::Done,
        "MAX_TOKENS" => End::Limit,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
        | "IMAGE_SAFETY" => {
            End::Filter(if said.is_empty() { format!("it was stopped: {reason}") } else { said.to_owned() })
        }
        _ if said.is_empty() => End::Unknown(reason.to_owned()),
        _ => End::Unknown(format!("{reason}: {said}")),
    }
}

/// What it says to itself is counted apart, and paid for like what it says.
fn count(draft: &mut Draft, chunk: &Value) {
    let part = |name: &str| number(chunk, &["usageMetadata", name]);
    if let Some(prompt) = part("promptTokenCount") {
        draft.counts.tokens_in = prompt.saturating_add(part("toolUsePromptTokenCount").unwrap_or(0));
        draft.counts.cached = part("cachedContentTokenCount").unwrap_or(0).min(prompt);
        let written = part("candidatesTokenCount").unwrap_or(0);
        draft.counts.tokens_out = written.saturating_add(part("thoughtsTokenCount").unwrap_or(0));
    }
}
