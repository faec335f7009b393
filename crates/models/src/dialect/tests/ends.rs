//! How replies end when they do not end well.

use llm::Called;
use serde_json::{Value, json};

use super::reply;
use crate::dialect::samples::{self, events, lines, named_events};
use crate::{Dialect, Trouble};

fn declined(said: &str) -> Trouble {
    Trouble::Declined { said: said.into() }
}

fn chat(delta: &Value, reason: &str) -> String {
    events(&[json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })])
        + "data: [DONE]\n\n"
}

fn anthropic(text: &str, delta: &Value) -> String {
    named_events(&[
        json!({ "type": "message_start", "message": { "usage": { "input_tokens": 1, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } }),
        json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 2 } }),
        json!({ "type": "message_stop" }),
    ])
}

fn gemini(candidate: &Value) -> String {
    events(&[json!({ "candidates": [candidate] })])
}

fn responses(kind: &str, response: &Value) -> String {
    named_events(&[json!({ "type": kind, "response": response })])
}

/// "Handling stop reasons" (Claude Docs), "Refusals" under "Structured model outputs" (OpenAI), "FinishReason" and "BlockReason"
/// (Gemini API reference).
#[test]
fn refusals_and_filters_are_declined_in_the_providers_words() {
    let refusal = |text: &str| json!({ "type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": text });
    let cases = [
        (Dialect::Anthropic, anthropic("I will not", &json!({ "stop_reason": "refusal" })), "I will not"),
        (
            Dialect::Anthropic,
            anthropic(
                "",
                &json!({ "stop_reason": "refusal", "stop_details": { "type": "refusal", "explanation": "not this" } }),
            ),
            "not this",
        ),
        (Dialect::Chat, chat(&json!({ "refusal": "I will not" }), "stop"), "I will not"),
        (
            Dialect::Chat,
            chat(&json!({ "content": "half" }), "content_filter"),
            "its content filter stopped it",
        ),
        (
            Dialect::Responses,
            named_events(&[
                refusal("I will"),
                refusal(" not"),
                json!({ "type": "response.completed", "response": { "output": [] } }),
            ]),
            "I will not",
        ),
        (
            Dialect::Responses,
            responses(
                "response.completed",
                &json!({ "output": [{ "type": "message", "content": [{ "type": "refusal", "refusal": "I will not" }] }] }),
            ),
            "I will not",
        ),
        (
            Dialect::Responses,
            responses(
                "response.incomplete",
                &json!({ "incomplete_details": { "reason": "content_filter" } }),
            ),
            "its content filter stopped it",
        ),
        (Dialect::Gemini, gemini(&json!({ "finishReason": "SAFETY" })), "it was stopped: SAFETY"),
        (
            Dialect::Gemini,
            gemini(&json!({ "finishReason": "RECITATION", "finishMessage": "that is a song" })),
            "that is a song",
        ),
        (
            Dialect::Gemini,
            events(&[json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" } })]),
            "the prompt was blocked: PROHIBITED_CONTENT",
        ),
    ];
    for (dialect, stream, said) in cases {
        assert_eq!(reply(dialect, false, &stream), Err(declined(said)), "{stream}");
    }
}

#[test]
fn a_reply_cut_by_its_limit_says_so() {
    let cases = [
        (Dialect::Anthropic, anthropic("{\"ans", &json!({ "stop_reason": "max_tokens" }))),
        (Dialect::Chat, chat(&json!({ "content": "{\"ans" }), "length")),
        (
            Dialect::Responses,
            responses(
                "response.incomplete",
                &json!({ "incomplete_details": { "reason": "max_output_tokens" } }),
            ),
        ),
        (
            Dialect::Gemini,
            gemini(&json!({ "content": { "parts": [{ "text": "{\"ans" }] }, "finishReason": "MAX_TOKENS" })),
        ),
        (
            Dialect::Ollama,
            lines(&[json!({ "message": { "content": "{\"ans" }, "done": true, "done_reason": "length" })]),
        ),
    ];
    for (dialect, stream) in cases {
        assert_eq!(reply(dialect, false, &stream), Err(Trouble::Truncated { tokens: 1000 }), "{stream}");
    }
}

/// "Handling stop reasons" (Claude Docs).
#[test]
fn a_reply_that_filled_the_context_says_that_it_is_full() {
    let stream = anthropic("{\"ans", &json!({ "stop_reason": "model_context_window_exceeded" }));
    assert_eq!(reply(Dialect::Anthropic, false, &stream), Err(Trouble::Full { said: String::new() }));
}

#[test]
fn thoughts_that_only_the_total_counts_are_counted() {
    let cases = [
        (json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 40 }), 30),
        (json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 }), 5),
        (json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 0 }), 5),
        (json!({ "prompt_tokens": 10, "completion_tokens": 5 }), 5),
    ];
    for (usage, expected) in cases {
        let last = events(&[json!({ "choices": [], "usage": usage })]);
        let stream =
            chat(&json!({ "content": "so" }), "stop").replace("data: [DONE]", &format!("{last}data: [DONE]"));
        let (_, _, counts) = super::read(Dialect::Chat, false, &[stream.as_bytes()]);
        assert_eq!((counts.tokens_in, counts.tokens_out), (10, expected), "{usage}");
    }
}

/// Nobody is to read it in a reply either: replies are kept, shown, and sent on.
#[test]
fn a_key_that_a_reply_repeats_is_taken_out() {
    let key = samples::KEY;
    let (one, two) = key.split_at(6);
    let said = |text: &str| json!({ "choices": [{ "delta": { "content": text, "reasoning": text } }] });
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
    let stream = events(&[said(&format!("so {key}, ")), said(one), said(two), end]);
    let (heard, reply, _) = super::read(Dialect::Chat, false, &[stream.as_bytes()]);
    assert_eq!(reply.unwrap().text, "so (key), (key)");
    assert!(heard.iter().all(|piece| !piece.contains(key)), "{heard:?}");
    assert_eq!(heard.iter().filter(|piece| piece.contains("so (key), ")).count(), 2, "{heard:?}");

    let fragment = |text: &str| json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "read_file", "arguments": text } }] } }] });
    let args = json!({ "path": ["x", { "deep": format!("a{key}b") }], key: true }).to_string();
    let (one, two) = args.split_at(args.find(key).unwrap() + 3);
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] });
    let stream = events(&[fragment(one), fragment(two), end]);
    let calls = reply_calls(&stream);
    assert_eq!(
        calls,
        [Called {
            tool: "read_file".into(),
            args: json!({ "path": ["x", { "deep": "a(key)b" }], "(key)": true })
        }]
    );
}

fn reply_calls(stream: &str) -> Vec<Called> {
    reply(Dialect::Chat, true, stream).unwrap().calls
}

#[test]
fn what_ends_without_sense_is_an_error_that_says_so() {
    let cases = [
        (Dialect::Anthropic, anthropic("so", &json!({ "stop_reason": "tool_use" })), "called none"),
        (Dialect::Anthropic, anthropic("so", &json!({ "stop_reason": "pause_turn" })), "`pause_turn`"),
        (Dialect::Anthropic, anthropic(" ", &json!({ "stop_reason": "end_turn" })), "said nothing"),
        (Dialect::Chat, chat(&json!({}), "tool_calls"), "called none"),
        (Dialect::Chat, chat(&json!({ "content": "so" }), ""), "without saying why"),
        (Dialect::Chat, chat(&json!({ "content": "so" }), "abort"), "`abort`"),
        (Dialect::Chat, "data: {\"choices\": [\n\n".into(), "not JSON"),
        (
            Dialect::Gemini,
            gemini(&json!({ "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "odd" })),
            "`MALFORMED_FUNCTION_CALL: odd`",
        ),
        (Dialect::Gemini, gemini(&json!({ "finishReason": "STOP" })), "said nothing"),
        (Dialect::Ollama, "{\"message\"\n".into(), "not JSON"),
    ];
    for (dialect, stream, expected) in cases {
        match reply(dialect, true, &stream) {
            Err(Trouble::Malformed { what } | Trouble::Garbled { what }) => {
                assert!(what.contains(expected), "{what}")
            }
            other => panic!("{stream}: {other:?}"),
        }
    }
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_understood() {
    let busy = |said: &str| Trouble::Busy { after: None, said: said.into() };
    let failed = |said: &str| Trouble::Server { status: 500, after: None, said: said.into() };
    let limited = |said: &str| Trouble::Limited { after: None, said: said.into() };
    let cases = [
        (
            Dialect::Anthropic,
            named_events(&[
                json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
            ]),
            busy("Overloaded"),
        ),
        (
            Dialect::Chat,
            events(&[json!({ "error": { "message": "it broke", "type": "server_error" } })]),
            failed("it broke"),
        ),
        (
            Dialect::Chat,
            events(&[
                json!({ "error": { "message": "slow", "code": 429 }, "choices": [{ "delta": {}, "finish_reason": "error" }] }),
            ]),
            limited("slow"),
        ),
        (
            Dialect::Responses,
            named_events(&[
                json!({ "type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": null }),
            ]),
            limited("slow"),
        ),
        (
            Dialect::Responses,
            responses(
                "response.failed",
                &json!({ "error": { "code": "server_error", "message": "it broke" } }),
            ),
            failed("it broke"),
        ),
        (
            Dialect::Gemini,
            events(&[json!({ "error": { "code": 503, "message": "later", "status": "UNAVAILABLE" } })]),
            busy("later"),
        ),
        (
            Dialect::Ollama,
            lines(&[
                json!({ "message": { "content": "so" }, "done": false }),
                json!({ "error": "it broke" }),
            ]),
            failed("it broke"),
        ),
    ];
    for (dialect, stream, expected) in cases {
        assert_eq!(reply(dialect, false, &stream), Err(expected), "{stream}");
    }
}

/// A server that repeats what it was sent must not get the key into a record.
#[test]
fn no_key_comes_back_out_of_a_stream() {
    let key = samples::KEY;
    let streams = [
        (Dialect::Chat, events(&[json!({ "error": { "message": format!("bad key {key}") } })])),
        (Dialect::Chat, chat(&json!({ "refusal": format!("your key {key}") }), "stop")),
        (Dialect::Chat, chat(&json!({ "content": "so" }), key)),
        (Dialect::Anthropic, anthropic(key, &json!({ "stop_reason": "refusal" }))),
        (Dialect::Gemini, events(&[json!({ "error": { "code": 400, "message": key } })])),
        (Dialect::Responses, responses("response.failed", &json!({ "error": { "message": key } }))),
        (Dialect::Ollama, lines(&[json!({ "error": key })])),
    ];
    for (dialect, stream) in streams {
        let trouble = reply(dialect, false, &stream).unwrap_err();
        let shown = format!("{trouble} {trouble:?} {}", trouble.sentence(&samples::endpoint(dialect)));
        assert!(!shown.contains(key), "{shown}");
    }
}

#[test]
fn several_calls_of_any_dialect_stay_apart() {
    let call = |index: u64, path: &str| {
        [
            json!({ "type": "content_block_start", "index": index, "content_block": { "type": "tool_use", "id": "same", "name": "read_file", "input": {} } }),
            json!({ "type": "content_block_delta", "index": index, "delta": { "type": "input_json_delta", "partial_json": json!({ "path": path }).to_string() } }),
        ]
    };
    let end = [
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
        json!({ "type": "message_stop" }),
    ];
    let function = |path: &str| json!({ "name": "read_file", "arguments": { "path": path } });
    let item = |path: &str| json!({ "type": "function_call", "call_id": "c", "name": "read_file", "arguments": json!({ "path": path }).to_string() });
    let part = |path: &str| json!({ "functionCall": { "name": "read_file", "args": { "path": path } } });
    let streams = [
        (Dialect::Anthropic, named_events(&[call(0, "a"), call(1, "b"), end].concat())),
        (
            Dialect::Chat,
            chat(
                &json!({ "tool_calls": [{ "function": function("a") }, { "function": function("b") }] }),
                "tool_calls",
            ),
        ),
        (Dialect::Responses, responses("response.completed", &json!({ "output": [item("a"), item("b")] }))),
        (
            Dialect::Gemini,
            gemini(&json!({ "content": { "parts": [part("a"), part("b")] }, "finishReason": "STOP" })),
        ),
        (
            Dialect::Ollama,
            lines(&[
                json!({ "message": { "tool_calls": [{ "function": function("a") }] }, "done": false }),
                json!({ "message": { "tool_calls": [{ "function": function("b") }] }, "done": false }),
                json!({ "done": true, "done_reason": "stop" }),
            ]),
        ),
    ];
    let called = |path: &str| Called { tool: "read_file".into(), args: json!({ "path": path }) };
    for (dialect, stream) in streams {
        let calls = reply(dialect, true, &stream).map(|completion| completion.calls);
        assert_eq!(calls, Ok(vec![called("a"), called("b")]), "{dialect:?}");
    }
}

#[test]
fn a_call_that_comes_only_at_the_end_of_its_item_is_not_lost() {
    let item = |arguments: &str| json!({ "id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": arguments });
    let whole = json!({ "path": "ü.txt" }).to_string();
    let text = json!({ "type": "response.output_text.delta", "output_index": 0, "delta": "so" });
    let end = json!({ "type": "response.completed", "response": { "output": [] } });
    let added = json!({ "type": "response.output_item.added", "output_index": 1, "item": item("") });
    let done = json!({ "type": "response.output_item.done", "output_index": 1, "item": item(&whole) });
    let unnumbered = json!({ "type": "response.output_item.done", "item": item(&whole) });
    for events in [
        vec![&text, &done, &end],
        vec![&text, &added, &done, &end],
        vec![&text, &unnumbered, &end],
        vec![&text, &added, &done, &done, &end],
    ] {
        let stream = named_events(&events.into_iter().cloned().collect::<Vec<_>>());
        assert_eq!(reply(Dialect::Responses, true, &stream), Ok(super::called()), "{stream}");
    }
    let more =
        json!({ "type": "response.completed", "response": { "output": [item(&whole), item(&whole)] } });
    let lost = reply(Dialect::Responses, true, &named_events(&[done, more]));
    assert_eq!(lost, Err(Trouble::garbled("it says that it made 2 calls and sent 1")));
}

/// Older models of Gemini gave a reason to stop with every piece.
#[test]
fn gemini_is_over_when_its_bytes_are() {
    let part = |text: &str| json!({ "candidates": [{ "content": { "parts": [{ "text": text }] }, "finishReason": "STOP" }] });
    let text = reply(Dialect::Gemini, false, &events(&[part("one "), part("two")]))
        .map(|completion| completion.text);
    assert_eq!(text, Ok("one two".into()));
}

#[test]
fn servers_that_only_speak_like_openai_are_understood() {
    let call = json!({ "path": "ü.txt" }).to_string();
    let cases = [
        (
            "the old form of a call",
            chat(
                &json!({ "content": "so", "function_call": { "name": "read_file", "arguments": call } }),
                "function_call",
            ),
        ),
        (
            "stop after a call",
            chat(
                &json!({ "content": "so", "tool_calls": [{ "function": { "name": "read_file", "arguments": call } }] }),
                "stop",
            ),
        ),
        (
            "content in parts",
            chat(
                &json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "hm" }] }, { "type": "text", "text": "so" }], "tool_calls": [{ "index": 0, "id": "", "function": { "name": "read_file", "arguments": call } }] }),
                "tool_calls",
            ),
        ),
        (
            "a message instead of a delta",
            events(&[
                json!({ "choices": [{ "message": { "content": "so", "tool_calls": [{ "function": { "name": "read_file", "arguments": call } }] }, "finish_reason": "tool_calls" }] }),
            ]) + "data: [DONE]\n\n",
        ),
    ];
    for (name, stream) in cases {
        assert_eq!(reply(Dialect::Chat, true, &stream), Ok(super::called()), "{name}");
    }
}
