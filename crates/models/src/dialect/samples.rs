//! Prompts, endpoints and streams for tests. The streams have the shapes and fields of the vendors' documentation (Claude Docs
//! "Streaming messages"; OpenAI API reference "Chat completion chunk object" and "Streaming events"; Gemini API reference
//! "Generating content"; Ollama API "Generate a chat completion"); what they say is ours.

use std::collections::BTreeSet;

use llm::{Callable, Calling, Place, Prompt, Role};
use serde_json::{Value, json};

use crate::{Dialect, Endpoint, Key, Price};

pub(crate) const KEY: &str = "sk-canary-5f1d";

pub(crate) fn endpoint(dialect: Dialect) -> Endpoint {
    Endpoint {
        provider: dialect.name().into(),
        dialect,
        url: "https://models.example".into(),
        model: "m-1".into(),
        key: Some(Key::new(KEY.into())),
        key_from: "SAMPLE_API_KEY".into(),
        plain_http: false,
        rank: 1,
        price: Price { input: 3_000_000, cached: 300_000, output: 15_000_000 },
        tokens_out: 1000,
        data: None,
        detected: false,
    }
}

pub(crate) fn prompt(calling: bool) -> Prompt {
    let arguments =
        json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    let tool = |name: &str| Callable {
        name: name.into(),
        description: format!("does {name}"),
        schema: arguments.clone(),
    };
    let calling =
        calling.then(|| Calling { system: "call".into(), tools: vec![tool("read_file"), tool("finish")] });
    let choice = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name], "additionalProperties": false });
    Prompt {
        place: Place { role: Role::Perceiver, round: 0, subtask: None, attempt: 0, moves: 0, repair: false },
        system: "rules".into(),
        user: "what is two and two?".into(),
        schema: json!({ "anyOf": [choice("answer"), choice("question")] }),
        calling,
        classes: BTreeSet::new(),
    }
}

pub(crate) fn events(values: &[Value]) -> String {
    values.iter().map(|value| format!("data: {value}\n\n")).collect()
}

pub(crate) fn named_events(values: &[Value]) -> String {
    values
        .iter()
        .map(|value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()))
        .collect()
}

pub(crate) fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// Says `{"answer":"vier, 四 🌍"}` after a thought, in several pieces.
pub(crate) fn says(dialect: Dialect) -> String {
    match dialect {
        Dialect::Anthropic => named_events(&[
            json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": [],
                "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 70, "output_tokens": 1 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "", "signature": "" } }),
            json!({ "type": "ping" }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "hm" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": "EqQB" } }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": "{\"answer\":\"vier" } }),
            json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": ", 四 🌍\"}" } }),
            json!({ "type": "content_block_stop", "index": 1 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null }, "usage": { "output_tokens": 15 } }),
            json!({ "type": "message_stop" }),
        ]),
        Dialect::Chat => {
            let chunk = |delta: Value, reason: Value| {
                json!({ "id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1",
                    "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }], "usage": null })
            };
            events(&[
                chunk(json!({ "role": "assistant", "content": "", "refusal": null }), Value::Null),
                chunk(json!({ "reasoning_content": "hm", "content": null }), Value::Null),
                chunk(json!({ "content": "{\"answer\":\"vier" }), Value::Null),
                chunk(json!({ "content": ", 四 🌍\"}" }), Value::Null),
                chunk(json!({}), "stop".into()),
                json!({ "id": "c-1", "object": "chat.completion.chunk", "choices": [],
                    "usage": { "prompt_tokens": 100, "completion_tokens": 15, "total_tokens": 115, "prompt_tokens_details": { "cached_tokens": 70 } } }),
            ]) + "data: [DONE]\n\n"
        }
        Dialect::Responses => named_events(&[
            json!({ "type": "response.created", "sequence_number": 0, "response": { "id": "r-1", "status": "in_progress", "error": null, "output": [] } }),
            json!({ "type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "output_index": 0, "summary_index": 0, "delta": "hm" }),
            json!({ "type": "response.output_item.added", "output_index": 1, "item": { "id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": [] } }),
            json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 1, "content_index": 0, "delta": "{\"answer\":\"vier" }),
            json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 1, "content_index": 0, "delta": ", 四 🌍\"}" }),
            json!({ "type": "response.output_text.done", "item_id": "msg_1", "output_index": 1, "content_index": 0, "text": "{\"answer\":\"vier, 四 🌍\"}" }),
            json!({ "type": "response.completed", "response": { "id": "r-1", "status": "completed", "error": null,
                "output": [{ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "{\"answer\":\"vier, 四 🌍\"}", "annotations": [] }] }],
                "usage": { "input_tokens": 100, "input_tokens_details": { "cached_tokens": 70 }, "output_tokens": 15, "output_tokens_details": { "reasoning_tokens": 2 }, "total_tokens": 115 } } }),
        ]),
        Dialect::Gemini => {
            let chunk = |parts: Value| json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }], "modelVersion": "m-1", "responseId": "x" });
            events(&[
                chunk(json!([{ "text": "hm", "thought": true }])),
                chunk(json!([{ "text": "{\"answer\":\"vier" }])),
                json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": ", 四 🌍\"}", "thoughtSignature": "c2ln" }] }, "finishReason": "STOP", "index": 0 }],
                    "usageMetadata": { "promptTokenCount": 100, "cachedContentTokenCount": 70, "candidatesTokenCount": 10, "thoughtsTokenCount": 5, "totalTokenCount": 115 } }),
            ])
        }
        Dialect::Ollama => {
            let line = |message: Value| json!({ "model": "m-1", "created_at": "2026-11-01T08:00:00Z", "message": message, "done": false });
            lines(&[
                line(json!({ "role": "assistant", "content": "", "thinking": "hm" })),
                line(json!({ "role": "assistant", "content": "{\"answer\":\"vier" })),
                line(json!({ "role": "assistant", "content": ", 四 🌍\"}" })),
                json!({ "model": "m-1", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop",
                    "total_duration": 5, "prompt_eval_count": 100, "eval_count": 15 }),
            ])
        }
    }
}

/// Calls `read_file` with `{"path":"ü.txt"}`, after a word.
pub(crate) fn calls(dialect: Dialect) -> String {
    match dialect {
        Dialect::Anthropic => named_events(&[
            json!({ "type": "message_start", "message": { "content": [], "usage": { "input_tokens": 100, "output_tokens": 1 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "so" } }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {} } }),
            json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "" } }),
            json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "{\"path\": \"ü" } }),
            json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": ".txt\"}" } }),
            json!({ "type": "content_block_stop", "index": 1 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use", "stop_sequence": null }, "usage": { "output_tokens": 15 } }),
            json!({ "type": "message_stop" }),
        ]),
        Dialect::Chat => {
            let chunk = |delta: Value, reason: Value| json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] });
            let call = |call: Value| json!({ "tool_calls": [call] });
            events(&[
                chunk(json!({ "role": "assistant", "content": "so" }), Value::Null),
                chunk(
                    call(
                        json!({ "index": 0, "id": "call_1", "type": "function", "function": { "name": "read_file", "arguments": "" } }),
                    ),
                    Value::Null,
                ),
                chunk(
                    call(json!({ "index": 0, "function": { "arguments": "{\"path\": \"ü" } })),
                    Value::Null,
                ),
                chunk(call(json!({ "index": 0, "function": { "arguments": ".txt\"}" } })), Value::Null),
                chunk(json!({}), "tool_calls".into()),
                json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 15 } }),
            ]) + "data: [DONE]\n\n"
        }
        Dialect::Responses => {
            let item = |arguments: &str| json!({ "id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": arguments });
            named_events(&[
                json!({ "type": "response.created", "response": { "id": "r-1", "error": null } }),
                json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "so" }),
                json!({ "type": "response.output_item.added", "output_index": 1, "item": item("") }),
                json!({ "type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1, "delta": "{\"path\": \"ü" }),
                json!({ "type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1, "delta": ".txt\"}" }),
                json!({ "type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 1, "arguments": "{\"path\": \"ü.txt\"}" }),
                json!({ "type": "response.output_item.done", "output_index": 1, "item": item("{\"path\": \"ü.txt\"}") }),
                json!({ "type": "response.completed", "response": { "status": "completed", "error": null, "output": [item("{\"path\": \"ü.txt\"}")],
                    "usage": { "input_tokens": 100, "output_tokens": 15 } } }),
            ])
        }
        Dialect::Gemini => events(&[
            json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "so" }] }, "index": 0 }] }),
            json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "functionCall": { "name": "read_file", "args": { "path": "ü.txt" } }, "thoughtSignature": "c2ln" }] },
                "finishReason": "STOP", "index": 0 }], "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 15, "totalTokenCount": 115 } }),
        ]),
        Dialect::Ollama => lines(&[
            json!({ "message": { "role": "assistant", "content": "so" }, "done": false }),
            json!({ "message": { "role": "assistant", "content": "", "tool_calls": [{ "function": { "name": "read_file", "arguments": { "path": "ü.txt" } } }] }, "done": false }),
            json!({ "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop", "prompt_eval_count": 100, "eval_count": 15 }),
        ]),
    }
}
