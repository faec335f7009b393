//! The server: on a free port of loopback, in a thread of its own, gone when it is dropped.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::Response;
use axum::serve::ListenerExt as _;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::asked::{Asked, Dialect};
use crate::denied::Denied;
use crate::dialects::{Reply, Tongue, tongue};
use crate::fault::{Fault, Faults};
use crate::script::{Reaction, Script};
use crate::wire::{self, Answer};

/// "Maximum request size" of the Messages API: <https://platform.claude.com/docs/en/api/errors>. Taken for all.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// What Ollama says it is.
const VERSION: &str = "0.40.12";
const HTML: &str = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n";

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Double {
    /// `http://127.0.0.1:PORT`, without a slash at its end.
    pub url: String,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    asked: Vec<Asked>,
    /// How many of the answers in order were given.
    given: usize,
    /// How many requests there were.
    number: u64,
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Double {
    /// Starts one.
    ///
    /// # Panics
    /// Where there is no free port or no thread to be had: a test cannot go on then.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "a tool for tests: it listens on loopback, in a thread of its own"
    )]
    #[expect(clippy::expect_used, reason = "a tool for tests: without a server there is no test")]
    pub fn start(script: Script) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a listener that does not block");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let shared = Arc::new(Shared { script, seen: Mutex::default() });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (stop, stopped) = oneshot::channel();
        let app = Router::new().fallback(answer).with_state(shared.clone());
        let thread = std::thread::spawn(move || {
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                // Small pieces are to leave at once. That they may not is nothing to fail for.
                let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
                let serving = IntoFuture::into_future(axum::serve(listener, app));
                tokio::select! {
                    _ = serving => {}
                    _ = stopped => {}
                }
            });
            // Whoever hangs is not waited for.
            runtime.shutdown_background();
        });
        Self { url, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// All requests so far, in their order.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.seen().asked.clone()
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // That it panicked was said already, by whoever panics.
            drop(thread.join());
        }
    }
}

/// What a path is for.
#[derive(Debug, PartialEq, Eq)]
enum What {
    Complete,
    Models,
    Model(String),
    Version,
    Show,
    Alive,
    /// Not a vendor's: what was asked, for tests in other languages.
    Asked,
    Nothing,
}

fn route(asked: &Asked) -> (Dialect, What) {
    let path = asked.path.split('?').next().unwrap_or_default();
    // Three vendors have their models there; by their headers they are told apart.
    let whose = match &asked.headers {
        headers if headers.contains_key("anthropic-version") => Dialect::Anthropic,
        headers if headers.contains_key("x-goog-api-key") => Dialect::Gemini,
        _ => Dialect::Chat,
    };
    let last = || path.rsplit('/').next().unwrap_or_default().to_owned();
    match (asked.method.as_str(), path) {
        ("POST", "/v1/messages") => (Dialect::Anthropic, What::Complete),
        ("POST", "/v1/chat/completions") => (Dialect::Chat, What::Complete),
        ("POST", "/v1/responses") => (Dialect::Responses, What::Complete),
        ("POST", "/api/chat") => (Dialect::Ollama, What::Complete),
        ("POST", "/api/show") => (Dialect::Ollama, What::Show),
        ("GET", "/v1/models") => (whose, What::Models),
        ("GET", "/v1beta/models") => (Dialect::Gemini, What::Models),
        ("GET", "/api/tags") => (Dialect::Ollama, What::Models),
        ("GET", "/api/version") => (Dialect::Ollama, What::Version),
        ("GET" | "HEAD", "/") => (Dialect::Ollama, What::Alive),
        ("GET", "/double/asked") => (Dialect::Ollama, What::Asked),
        ("GET", path) if path.starts_with("/v1/models/") => (whose, What::Model(last())),
        ("GET", path) if path.starts_with("/v1beta/models/") => (Dialect::Gemini, What::Model(last())),
        ("POST", path) if path.starts_with("/v1beta/models/") || path.starts_with("/v1/models/") => {
            (Dialect::Gemini, What::Complete)
        }
        (_, "/v1/responses") => (Dialect::Responses, What::Nothing),
        (_, path) if path.starts_with("/v1beta/") => (Dialect::Gemini, What::Nothing),
        (_, path) if path.starts_with("/api/") => (Dialect::Ollama, What::Nothing),
        _ => (whose, What::Nothing),
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let text = |value: &axum::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: BTreeMap<String, String> =
        parts.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
    let body = to_bytes(body, MOST_BYTES).await;
    let mut asked = Asked {
        dialect: Dialect::Chat,
        method: parts.method.to_string(),
        path: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        model: String::new(),
        system: String::new(),
        user: String::new(),
        tools: Vec::new(),
        schema: None,
        stream: false,
        headers,
        body: body.as_ref().ok().and_then(|body| serde_json::from_slice(body).ok()).unwrap_or_default(),
        denied: None,
    };
    let (dialect, what) = route(&asked);
    if what == What::Asked {
        return Answer::json(200, &json!(shared.seen().asked)).send(Faults(&[]));
    }
    asked.dialect = dialect;
    let tongue = tongue(dialect);
    let understood = if body.is_err() {
        Err(Denied::TooLarge)
    } else {
        understand(&mut asked, &what, tongue, &shared.script)
    };
    let (number, told) = record(&shared, asked.clone(), &what, understood);
    match told {
        Told::Denied(denied) => deny(tongue, &denied, number).send(Faults(&[])),
        Told::Fact(value) => told_fact(tongue, &value, number).send(Faults(&[])),
        Told::React(reaction) => react(tongue, &asked, reaction, number).await,
    }
}

enum Told {
    Denied(Denied),
    Fact(Value),
    React(Reaction),
}

/// What is asked for, if it is not an answer of the model.
fn understand(
    asked: &mut Asked,
    what: &What,
    tongue: &dyn Tongue,
    script: &Script,
) -> Result<Option<Value>, Denied> {
    let models = script.models.as_slice();
    if *what == What::Nothing {
        return Err(Denied::NoPath);
    }
    if let Some(key) = &script.key {
        tongue.admit(asked, key)?;
    }
    let found = |name: &str| script.model(name).ok_or_else(|| Denied::NoModel(name.to_owned()));
    Ok(match what {
        What::Models => Some(tongue.models(models)),
        What::Model(name) => Some(tongue.model(found(name)?)),
        What::Show => {
            let name = asked.body.get("model").and_then(Value::as_str).unwrap_or_default();
            Some(tongue.model(found(name.trim_end_matches(":latest"))?))
        }
        What::Version => Some(json!({"version": VERSION})),
        What::Alive => Some("Ollama is running".into()),
        _ => {
            if asked.body.is_null() {
                return Err(Denied::NoJson);
            }
            tongue.understand(asked, script)?;
            None
        }
    })
}

/// Notes the request and finds the answer, in one go: requests at the same time have an order, too.
fn record(
    shared: &Shared,
    mut asked: Asked,
    what: &What,
    understood: Result<Option<Value>, Denied>,
) -> (u64, Told) {
    let mut seen = shared.seen();
    seen.number += 1;
    let (number, given) = (seen.number, seen.given);
    let told = match understood {
        Err(denied) => {
            asked.denied = Some(denied.clone());
            Told::Denied(denied)
        }
        Ok(Some(value)) => Told::Fact(value),
        Ok(None) => {
            debug_assert_eq!(*what, What::Complete);
            drop(seen);
            // A function of the script may ask the double what it was asked: nothing is locked meanwhile.
            let (reaction, in_order) = shared.script.react(&asked, given);
            seen = shared.seen();
            seen.given += usize::from(in_order);
            Told::React(reaction)
        }
    };
    seen.asked.push(asked);
    (number, told)
}

fn with_headers(answer: Answer, tongue: &dyn Tongue, number: u64) -> Answer {
    tongue.headers(number).into_iter().fold(answer, |answer, (name, value)| answer.with(name, value))
}

fn told_fact(tongue: &dyn Tongue, value: &Value, number: u64) -> Answer {
    match value {
        Value::String(text) => Answer::text(200, "text/plain; charset=utf-8", text),
        value => with_headers(Answer::json(200, value), tongue, number),
    }
}

fn deny(tongue: &dyn Tongue, denied: &Denied, number: u64) -> Answer {
    if *denied == Denied::BadGateway {
        return Answer::text(502, "text/html", HTML);
    }
    let (status, body) = tongue.denied(denied, number);
    let answer = with_headers(Answer::json(status, &body), tongue, number);
    match denied.retry_after().map(crate::RetryAfter::header) {
        Some((name, value)) => answer.with(name, value),
        None => answer,
    }
}

async fn react(tongue: &dyn Tongue, asked: &Asked, reaction: Reaction, number: u64) -> Response<Body> {
    let Reaction { mut said, faults } = reaction;
    let faults = Faults(&faults);
    if faults.has(&Fault::HangBeforeHeaders) {
        std::future::pending::<()>().await;
    }
    for fault in faults.0 {
        match fault {
            Fault::Deny(denied) => return deny(tongue, denied, number).send(faults),
            Fault::Redirect(to) => {
                return Answer::text(307, "text/plain", "").with("location", to.clone()).send(faults);
            }
            Fault::Large(bytes) => said.text = "lorem ipsum ".chars().cycle().take(*bytes).collect(),
            _ => {}
        }
    }
    let reply = Reply { asked, said: &said, faults, number };
    let answer = if asked.stream { streamed(tongue, &reply) } else { unstreamed(tongue, &reply) };
    match answer {
        Ok(answer) => with_headers(answer, tongue, number).send(faults),
        Err(denied) => deny(tongue, &denied, number).send(faults),
    }
}

fn unstreamed(tongue: &dyn Tongue, reply: &Reply<'_>) -> Result<Answer, Denied> {
    if reply.faults.has(&Fault::ErrorInStream) {
        return Err(Denied::Internal);
    }
    let pieces = wire::whole(tongue.whole(reply)?, reply.faults);
    Ok(Answer { pieces, ..Answer::json(200, &Value::Null) })
}

fn streamed(tongue: &dyn Tongue, reply: &Reply<'_>) -> Result<Answer, Denied> {
    let framing = tongue.framing(reply.asked);
    let mut events = tongue.events(reply)?;
    if reply.faults.has(&Fault::UnknownEvents) {
        events.insert(events.len().min(1), tongue.unknown_event(reply));
    }
    if reply.faults.has(&Fault::ErrorInStream) {
        events.truncate(events.len() / 2);
        events.extend(tongue.error_events(reply));
    }
    let headers = vec![("content-type".to_owned(), framing.content_type().to_owned())];
    Ok(Answer { status: 200, headers, pieces: wire::frame(events, framing, reply.faults), sized: false })
}
