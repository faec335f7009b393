//! What goes out, as whole values.

use serde_json::{Value, json};

use super::super::{Form, Limit, Manner, Outgoing, request};
use crate::Dialect;
use crate::dialect::samples;

const BEST: Manner =
    Manner { calls: true, form: Form::Schema, single: true, counted: true, limit: Limit::Tokens };

fn sent(dialect: Dialect, calling: bool, manner: Manner) -> Outgoing {
    request(&samples::endpoint(dialect), &samples::prompt(calling), manner)
}

fn arguments() -> Value {
    json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] })
}

fn wrapped() -> Value {
    let schema = samples::prompt(false).schema;
    json!({ "type": "object", "properties": { "reply": schema }, "required": ["reply"], "additionalProperties": false })
}

/// "Create a Message", "Structured outputs", "Prompt caching" (Claude Docs).
#[test]
fn anthropic() {
    let system =
        |text: &str| json!([{ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } }]);
    let user = json!([{ "role": "user", "content": "what is two and two?" }]);
    let tool = |name: &str| json!({ "name": name, "description": format!("does {name}"), "input_schema": arguments() });
    let said = json!({ "model": "m-1", "max_tokens": 1000, "stream": true, "system": system("rules"), "messages": user,
        "output_config": { "format": { "type": "json_schema", "schema": wrapped() } } });
    let called = json!({ "model": "m-1", "max_tokens": 1000, "stream": true, "system": system("call"), "messages": user,
        "tools": [tool("read_file"), tool("finish")], "tool_choice": { "type": "any", "disable_parallel_tool_use": true } });
    let outgoing = sent(Dialect::Anthropic, false, BEST);
    assert_eq!((outgoing.path.as_str(), outgoing.key), ("/v1/messages", ("x-api-key", "")));
    assert_eq!(outgoing.headers, [("anthropic-version", "2023-06-01")]);
    assert_eq!(outgoing.body, said);
    assert_eq!(sent(Dialect::Anthropic, true, BEST).body, called);
}

/// "Create chat completion" (OpenAI API reference).
#[test]
fn chat() {
    let messages = |system: &str| json!([{ "role": "system", "content": system }, { "role": "user", "content": "what is two and two?" }]);
    let tool = |name: &str| json!({ "type": "function", "function": { "name": name, "description": format!("does {name}"), "parameters": arguments() } });
    let said = json!({ "model": "m-1", "stream": true, "messages": messages("rules"), "max_tokens": 1000, "stream_options": { "include_usage": true },
        "response_format": { "type": "json_schema", "json_schema": { "name": "reply", "strict": false, "schema": wrapped() } } });
    let called = json!({ "model": "m-1", "stream": true, "messages": messages("call"), "max_tokens": 1000, "stream_options": { "include_usage": true },
        "tools": [tool("read_file"), tool("finish")], "tool_choice": "required", "parallel_tool_calls": false });
    let least =
        Manner { calls: false, form: Form::Words, single: false, counted: false, limit: Limit::Completion };
    let words = json!({ "model": "m-1", "stream": true, "messages": messages("rules"), "max_completion_tokens": 1000 });
    let outgoing = sent(Dialect::Chat, false, BEST);
    assert_eq!((outgoing.path.as_str(), outgoing.key), ("/chat/completions", ("authorization", "Bearer ")));
    assert_eq!(outgoing.body, said);
    assert_eq!(sent(Dialect::Chat, true, BEST).body, called);
    assert_eq!(
        sent(Dialect::Chat, true, least).body,
        words,
        "whoever cannot call is told the tools in words"
    );
    let json_mode = sent(Dialect::Chat, false, Manner { form: Form::Json, ..BEST }).body;
    assert_eq!(json_mode["response_format"], json!({ "type": "json_object" }));
}

/// "Create a model response" (OpenAI API reference).
#[test]
fn responses() {
    let tool = |name: &str| json!({ "type": "function", "name": name, "description": format!("does {name}"), "parameters": arguments(), "strict": false });
    let body = |system: &str| {
        json!({ "model": "m-1", "stream": true, "store": false, "max_output_tokens": 1000, "instructions": system,
            "input": [{ "role": "user", "content": "what is two and two?" }] })
    };
    let with = |mut body: Value, more: Value| {
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let said = with(
        body("rules"),
        json!({ "text": { "format": { "type": "json_schema", "name": "reply", "strict": false, "schema": wrapped() } } }),
    );
    let called = with(
        body("call"),
        json!({ "tools": [tool("read_file"), tool("finish")], "tool_choice": "required", "parallel_tool_calls": false }),
    );
    let outgoing = sent(Dialect::Responses, false, BEST);
    assert_eq!((outgoing.path.as_str(), outgoing.key), ("/responses", ("authorization", "Bearer ")));
    assert_eq!(outgoing.body, said);
    assert_eq!(sent(Dialect::Responses, true, BEST).body, called);
}

/// "Generating content", "Function calling" (Gemini API reference).
#[test]
fn gemini() {
    let tool = |name: &str| json!({ "name": name, "description": format!("does {name}"), "parametersJsonSchema": arguments() });
    let contents = json!([{ "role": "user", "parts": [{ "text": "what is two and two?" }] }]);
    let said = json!({ "systemInstruction": { "parts": [{ "text": "rules" }] }, "contents": contents,
        "generationConfig": { "maxOutputTokens": 1000, "responseMimeType": "application/json", "responseJsonSchema": wrapped() } });
    let called = json!({ "systemInstruction": { "parts": [{ "text": "call" }] }, "contents": contents, "generationConfig": { "maxOutputTokens": 1000 },
        "tools": [{ "functionDeclarations": [tool("read_file"), tool("finish")] }], "toolConfig": { "functionCallingConfig": { "mode": "ANY" } } });
    let outgoing = sent(Dialect::Gemini, false, BEST);
    assert_eq!(
        (outgoing.path.as_str(), outgoing.key),
        ("/v1beta/models/m-1:streamGenerateContent?alt=sse", ("x-goog-api-key", ""))
    );
    assert_eq!(outgoing.body, said);
    assert_eq!(sent(Dialect::Gemini, true, BEST).body, called);
    let odd = crate::Endpoint { model: "models/a?b/c d".into(), ..samples::endpoint(Dialect::Gemini) };
    assert_eq!(
        request(&odd, &samples::prompt(false), BEST).path,
        "/v1beta/models/a%3Fb%2Fc%20d:streamGenerateContent?alt=sse"
    );
}

/// "Generate a chat completion" (Ollama API).
#[test]
fn ollama() {
    let messages = |system: &str| json!([{ "role": "system", "content": system }, { "role": "user", "content": "what is two and two?" }]);
    let tool = |name: &str| json!({ "type": "function", "function": { "name": name, "description": format!("does {name}"), "parameters": arguments() } });
    let options = json!({ "num_predict": 1000, "num_ctx": 8192 });
    let said = json!({ "model": "m-1", "stream": true, "messages": messages("rules"), "format": samples::prompt(false).schema,
        "options": options, "truncate": false, "shift": false });
    let called = json!({ "model": "m-1", "stream": true, "messages": messages("call"), "tools": [tool("read_file"), tool("finish")],
        "options": options, "truncate": false, "shift": false });
    let outgoing = sent(Dialect::Ollama, false, BEST);
    assert_eq!(outgoing.path, "/api/chat");
    assert_eq!(outgoing.body, said);
    assert_eq!(sent(Dialect::Ollama, true, BEST).body, called);
    let long = llm::Prompt { user: "x".repeat(20_000), ..samples::prompt(false) };
    let body = request(&samples::endpoint(Dialect::Ollama), &long, BEST).body;
    assert_eq!(body["options"]["num_ctx"], 16_384, "room for what is sent");
}

#[test]
fn no_key_is_in_a_request() {
    for dialect in Dialect::ALL {
        let shown = format!("{:?}", sent(dialect, true, BEST));
        assert!(!shown.contains(samples::KEY), "{shown}");
        assert!(!format!("{:?}", samples::endpoint(dialect)).contains(samples::KEY));
    }
}

/// The same ask gives the same bytes, or a provider could not keep the beginning.
#[test]
fn the_same_prompt_gives_the_same_bytes() {
    for dialect in Dialect::ALL {
        let bytes = || sent(dialect, true, BEST).body.to_string();
        assert_eq!(bytes(), bytes());
    }
}
