//! Servers that do not know every parameter.

use serde_json::{Value, json};

use super::{World, at, body, patient, play, server};
use crate::Dialect;
use crate::dialect::samples;

fn rejects(message: &str) -> Vec<server::Act> {
    let body = json!({ "error": { "message": message, "type": "invalid_request_error" } }).to_string();
    server::status(400, "content-type: application/json\r\n", &body)
}

#[tokio::test]
async fn a_parameter_that_is_not_known_is_left_out_from_then_on() {
    let good = || server::stream(&samples::says(Dialect::Chat));
    let script = vec![
        rejects("Unrecognized request argument supplied: stream_options"),
        rejects(
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model",
        ),
        rejects("response_format is not supported"),
        good(),
        good(),
    ];
    let (url, seen) = play(script).await;
    let world = World::new(patient());
    for _ in 0..2 {
        world.ask(vec![at(Dialect::Chat, &url)], samples::prompt(false)).await.unwrap();
    }
    assert_eq!(world.heard().iter().filter(|piece| *piece == "(again)").count(), 0, "nothing had been said");
    let sent: Vec<(bool, Value)> = seen
        .all()
        .iter()
        .map(|request| body(request))
        .map(|body| (body.get("stream_options").is_some(), body["response_format"]["type"].clone()))
        .collect();
    let schema = json!("json_schema");
    let expected = [
        (true, schema.clone()),
        (false, schema),
        (false, json!("json_object")),
        (false, Value::Null),
        (false, Value::Null),
    ];
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn whoever_cannot_call_is_asked_in_words() {
    for (dialect, message) in [
        (Dialect::Ollama, "registry.ollama.ai/library/m-1 does not support tools"),
        (
            Dialect::Chat,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ),
        (Dialect::Anthropic, "tools: Extra inputs are not permitted"),
        (Dialect::Gemini, "Function calling is not enabled for models/m-1"),
        (Dialect::Responses, "Unsupported parameter: 'tools'"),
    ] {
        let good = server::stream(&samples::says(dialect));
        let (url, seen) = play(vec![rejects(message), good]).await;
        let world = World::new(patient());
        world.ask(vec![at(dialect, &url)], samples::prompt(true)).await.unwrap();
        let tools: Vec<bool> =
            seen.all().iter().map(|request| body(request).get("tools").is_some()).collect();
        assert_eq!(tools, [true, false], "{dialect:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_left_out_is_said() {
    let (url, seen) = play(vec![rejects("messages: must not be empty")]).await;
    let world = World::new(patient());
    let silence = world.ask(vec![at(Dialect::Chat, &url)], samples::prompt(false)).await.unwrap_err();
    assert_eq!(
        silence.why,
        "`chat/m-1` does not take the request (status 400) (\"messages: must not be empty\"): choose another model with `regent model set`, or check its settings"
    );
    assert_eq!(seen.count(), 1);
}
