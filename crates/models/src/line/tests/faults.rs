//! One server that misbehaves: a clear error, soon.

use domain::ask::Silence;

use super::server::{self, Act};
use super::{World, at, pace, patient, play};
use crate::dialect::samples::{self, KEY};
use crate::{Dialect, Endpoint};

async fn why(endpoint: Endpoint, pace: crate::Pace) -> (Silence, String) {
    let world = World::new(pace);
    let silence = world.ask(vec![endpoint], samples::prompt(false)).await.unwrap_err();
    (silence.kind, silence.why)
}

async fn why_of(dialect: Dialect, script: Vec<Vec<Act>>) -> (Silence, String) {
    let (url, _) = play(script).await;
    why(at(dialect, &url), pace()).await
}

#[tokio::test]
async fn a_wrong_key_an_unknown_model_and_a_full_context_each_say_what_to_do() {
    let anthropic = |kind: &str, message: &str| {
        format!("{{\"type\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"{message}\"}}}}")
    };
    let openai = |code: &str, message: &str| {
        format!("{{\"error\":{{\"code\":\"{code}\",\"message\":\"{message}\"}}}}")
    };
    let gemini = |code: u16, message: &str| {
        format!("{{\"error\":{{\"code\":{code},\"message\":\"{message}\",\"status\":\"X\"}}}}")
    };
    let ollama = |message: &str| format!("{{\"error\":\"{message}\"}}");
    let key = |provider: &str| {
        format!(
            "`{provider}` refuses the key: put a valid one into SAMPLE_API_KEY, or choose another with `regent model set`"
        )
    };
    let model = |provider: &str| {
        format!(
            "`{provider}` knows no model `m-1`: look up its name in the documentation of `{provider}`, and choose it with `regent model set <tier> {provider}/<model>`"
        )
    };
    let full = |name: &str, said: &str| {
        format!(
            "this is more than `{name}/m-1` can hold (\"{said}\"): choose a model with a larger context with `regent model set`, or ask about less at once"
        )
    };
    let long = "prompt is too long: 9 tokens > 8 maximum";
    let cases = [
        (Dialect::Anthropic, 401, anthropic("authentication_error", "invalid x-api-key"), key("anthropic")),
        (Dialect::Anthropic, 404, anthropic("not_found_error", "model: m-1"), model("anthropic")),
        (Dialect::Anthropic, 400, anthropic("invalid_request_error", long), full("anthropic", long)),
        (Dialect::Chat, 401, openai("invalid_api_key", "bad key"), key("chat")),
        (Dialect::Chat, 404, openai("model_not_found", "no"), model("chat")),
        (Dialect::Chat, 400, openai("context_length_exceeded", "too long"), full("chat", "too long")),
        (Dialect::Responses, 401, openai("invalid_api_key", "bad key"), key("responses")),
        (Dialect::Responses, 400, openai("model_not_found", "no"), model("responses")),
        (Dialect::Responses, 400, openai("context_length_exceeded", "too long"), full("responses", "too long")),
        (Dialect::Gemini, 400, gemini(400, "API key not valid."), key("gemini")),
        (Dialect::Gemini, 404, gemini(404, "models/m-1 is not found"), model("gemini")),
        (Dialect::Gemini, 400, gemini(400, "The input token count (9) exceeds the maximum"), full("gemini", "The input token count (9) exceeds the maximum")),
        (
            Dialect::Ollama,
            404,
            ollama("model 'm-1' not found"),
            "`ollama` knows no model `m-1`: fetch it with `ollama pull m-1`, or choose one that `ollama list` shows with `regent model set <tier> ollama/<model>`".into(),
        ),
        (
            Dialect::Ollama,
            400,
            ollama("the input length exceeds the context length"),
            "this is more than `ollama/m-1` can hold (\"the input length exceeds the context length\"): start Ollama with a larger OLLAMA_CONTEXT_LENGTH, choose a model with a larger context, or ask about less at once".into(),
        ),
    ];
    for (dialect, status, body, expected) in cases {
        let (_, why) =
            why_of(dialect, vec![server::status(status, "content-type: application/json\r\n", &body)]).await;
        assert_eq!(why, expected, "{dialect:?} {status}");
    }
}

#[tokio::test]
async fn nobody_there_is_said_in_a_moment() {
    // A port that was just free is as closed as a port can be.
    #[expect(clippy::disallowed_methods, reason = "a port on loopback, for a moment")]
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}");
    let (kind, said) = why(at(Dialect::Ollama, &url), patient()).await;
    let expected = format!(
        "no model answered, 127.0.0.1:{port} refused the connection: start it with `ollama serve`, or choose another with `regent model set hands <provider>/<model>`"
    );
    assert_eq!((kind, said), (Silence::Unreachable, expected));
}

#[tokio::test]
async fn a_server_that_hangs_is_left() {
    let silent = vec![vec![Act::Hang]];
    let headers = vec![server::begin(&[], Act::Hang)];
    let begun = server::begin(&[b"data: {\"choices\":[{\"delta\":{\"content\":\"so\"}}]}\n\n"], Act::Hang);
    let nothing = "`chat/m-1` said nothing for 0.3 s: try again, or choose a faster model";
    let middle = "`chat/m-1` fell silent for 0.3 s in the middle of its reply: try again";
    for (script, expected) in [(silent, nothing), (headers, nothing), (vec![begun.clone(), begun], middle)] {
        assert_eq!(why_of(Dialect::Chat, script).await, (Silence::Unreachable, expected.into()));
    }
}

#[tokio::test]
async fn a_reply_that_never_ends_does() {
    let whole = crate::Pace { whole: std::time::Duration::from_millis(300), ..patient() };
    let (url, _) = play(vec![server::begin(&[b": still here\n\n"], Act::Hang)]).await;
    let (_, said) = why(at(Dialect::Chat, &url), whole).await;
    assert_eq!(said, "`chat/m-1` was not done after 0.3 s: ask for less at once, or choose a faster model");
    let huge = "x".repeat(crate::frames::FRAME_BYTES + 1);
    let (kind, said) = why_of(Dialect::Chat, vec![server::stream(&format!("data: {huge}\n\n"))]).await;
    assert_eq!(
        (kind, said.as_str()),
        (Silence::Unusable, "`chat/m-1` sends more than 4194304 bytes without an end")
    );
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirect() {
    let (elsewhere, seen) = play(vec![]).await;
    for status in [301, 302, 307, 308] {
        let script = vec![server::status(status, &format!("location: {elsewhere}/{KEY}\r\n"), "")];
        let (url, _) = play(script).await;
        let (_, said) = why(at(Dialect::Anthropic, &url), patient()).await;
        let expected = format!(
            "`anthropic` redirects from `{url}` to `{elsewhere}/(key)`, and no key follows a redirect: put the right `url` into the settings"
        );
        assert_eq!(said, expected);
    }
    assert_eq!(seen.count(), 0);
}

#[tokio::test]
async fn an_address_is_encrypted_or_on_this_machine() {
    let open = |url: &str| {
        format!(
            "`{url}` is not encrypted and leads off this machine: use https, or set provider.chat.plain to `yes`"
        )
    };
    let none = |named: &str| {
        format!(
            "the `url` of `chat`{named} is no address: correct it in the settings, like `https://host/path`, without a name, a password or a `?` in it"
        )
    };
    let cases = [
        ("http://models.example/v1", open("http://models.example/v1")),
        ("http://10.0.0.7:8080", open("http://10.0.0.7:8080")),
        ("ftp://127.0.0.1", none(" (of 127.0.0.1)")),
        ("localhost:8080", none(" (of localhost:8080)")),
        ("", none("")),
        ("http://me:secret@127.0.0.1", none(" (of 127.0.0.1)")),
        ("http://evil.example\\@localhost", none(" (of localhost)")),
        ("https://models.example/v1?x=1", none(" (of models.example)")),
    ];
    for (url, expected) in cases {
        assert_eq!(why(at(Dialect::Chat, url), patient()).await, (Silence::Unreachable, expected), "{url}");
    }
}

#[tokio::test]
async fn encryption_that_is_none_is_not_trusted() {
    let (url, _) = play(vec![]).await;
    let (kind, said) = why(at(Dialect::Chat, &url.replace("http", "https")), patient()).await;
    assert_eq!(kind, Silence::Unreachable);
    assert!(said.starts_with("no safe connection to 127.0.0.1:"), "{said}");
}

#[tokio::test]
async fn what_is_no_stream_is_said() {
    let json = "content-type: application/json\r\n";
    let cases = [
        (
            server::status(200, json, "{\"choices\":[]}"),
            "what `chat/m-1` sends cannot be read, it does not stream, and was asked to: check the dialect",
        ),
        (
            server::status(200, json, "{\"error\":{\"message\":\"it broke\"}}"),
            "failed with status 500 (\"it broke\")",
        ),
        (
            server::status(200, "content-type: text/html\r\n", "<html>hello</html>"),
            "hung up before it answered",
        ),
        (server::status(200, "content-encoding: gzip\r\n", "data: {}\n\n"), "it is compressed with `gzip`"),
        (server::status(204, "", ""), "hung up before it answered"),
    ];
    for (answer, expected) in cases {
        let (_, said) = why_of(Dialect::Chat, vec![answer; 4]).await;
        assert!(said.contains(expected), "{said}");
    }
}

/// Whatever a server does with it, the key stays out of what is said.
#[tokio::test]
async fn no_key_in_anything_that_is_said() {
    let echo = format!("{{\"error\":{{\"message\":\"you sent {KEY}\",\"type\":\"{KEY}\"}}}}");
    for dialect in Dialect::ALL {
        for status in [400, 401, 403, 404, 413, 418, 422, 429, 500, 503, 529] {
            let (url, _) = play(vec![server::status(status, "retry-after: 100\r\n", &echo); 8]).await;
            let world = World::new(patient());
            let line = world.line(vec![at(dialect, &url)]);
            let silence =
                llm::Model::complete(&line, samples::prompt(true), world.listen()).await.unwrap_err();
            let shown = format!("{} {silence:?} {line:?} {:?}", silence.why, world.wire);
            assert!(!shown.contains(KEY), "{shown}");
        }
    }
}

/// A key with a line break in it cannot be sent, and is not shown either.
#[tokio::test]
async fn a_key_that_fits_no_header_is_no_key() {
    let endpoint =
        Endpoint { key: Some(crate::Key::new("sk-\nodd".into())), ..at(Dialect::Chat, "http://127.0.0.1:9") };
    let (_, said) = why(endpoint, patient()).await;
    assert_eq!(
        said,
        "`chat` refuses the key: put a valid one into SAMPLE_API_KEY, or choose another with `regent model set`"
    );
}
