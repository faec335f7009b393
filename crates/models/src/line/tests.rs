//! A line against servers on loopback that behave, and that do not.

mod ends;
mod falls_back;
mod faults;
mod learns;
mod server;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::ask::{Unanswered, Usage};
use domain::{Clock, DataClass, Time};
use llm::{Completion, Listen, Model, Piece, Prompt, Quote};
use serde_json::{Value, json};

use super::{Line, Surroundings};
use crate::dialect::samples;
use crate::listener::Listener;
use crate::{Dialect, Endpoint, Pace, Price, Wire};
use server::{Act, Seen};

/// A clock that is turned by hand.
#[derive(Default)]
struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> Time {
        Time::from_micros(self.0.load(Ordering::SeqCst))
    }
}

impl Hand {
    fn turn(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }
}

struct World {
    wire: Arc<Wire>,
    clock: Arc<Hand>,
    heard: Arc<Mutex<Vec<String>>>,
}

/// Fast enough for tests that wait for a time-out, slow enough for a busy machine.
fn pace() -> Pace {
    let (long, short) = (Duration::from_secs(20), Duration::from_millis(300));
    Pace { connect: long, first_byte: short, first_byte_here: short, between_bytes: short, whole: long }
}

fn patient() -> Pace {
    let long = Duration::from_secs(20);
    Pace { connect: long, first_byte: long, first_byte_here: long, between_bytes: long, whole: long }
}

impl World {
    fn new(pace: Pace) -> Self {
        Self { wire: Arc::new(Wire::new(pace).unwrap()), clock: Arc::default(), heard: Arc::default() }
    }

    fn line(&self, endpoints: Vec<Endpoint>) -> Line {
        let clock: Arc<dyn Clock> = self.clock.clone();
        Line::new(
            endpoints,
            Arc::clone(&self.wire),
            Surroundings { clock, chance: Arc::new(|| 0.0), listener: Arc::new(|_| Listener::Trusted) },
        )
    }

    fn listen(&self) -> Listen {
        let heard = Arc::clone(&self.heard);
        Arc::new(move |piece| {
            heard.lock().unwrap().push(match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Thought(_) => "(thought)".into(),
                Piece::Call(_) => "(call)".into(),
                Piece::Again => "(again)".into(),
            });
        })
    }

    async fn ask(&self, endpoints: Vec<Endpoint>, prompt: Prompt) -> Result<Completion, Unanswered> {
        self.line(endpoints).complete(prompt, self.listen()).await.map_err(|unheard| unheard.why)
    }

    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut self.heard.lock().unwrap())
    }
}

fn at(dialect: Dialect, url: &str) -> Endpoint {
    Endpoint { url: url.to_owned(), ..samples::endpoint(dialect) }
}

/// A second one, so that it is seen who answered.
fn other(dialect: Dialect, url: &str) -> Endpoint {
    Endpoint { provider: "other".into(), ..at(dialect, url) }
}

async fn play(script: Vec<Vec<Act>>) -> (String, Seen) {
    server::start(script).await
}

const SAID: &str = "{\"answer\":\"vier, 四 🌍\"}";

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[tokio::test]
async fn every_dialect_is_asked_answers_and_is_paid() {
    for dialect in Dialect::ALL {
        let (url, seen) =
            play(vec![server::stream(&samples::says(dialect)), server::stream(&samples::calls(dialect))])
                .await;
        let world = World::new(patient());
        let said = world.ask(vec![at(dialect, &url)], samples::prompt(false)).await.unwrap();
        // 100 tokens in, 70 of them cached; Anthropic kept 20 and takes a quarter more for those.
        let (cached, price) = match dialect {
            Dialect::Anthropic => (70, 35 * 3 + 21 + 15 * 15),
            Dialect::Ollama => (0, 100 * 3 + 15 * 15),
            _ => (70, 30 * 3 + 21 + 15 * 15),
        };
        let usage = Usage {
            model: format!("{}/m-1", dialect.name()),
            tokens_in: 100,
            tokens_out: 15,
            cached,
            latency_ms: 0,
            price,
        };
        assert_eq!(said, Completion { text: SAID.into(), calls: Vec::new(), usage }, "{dialect:?}");
        assert_eq!(world.heard().concat(), format!("(thought){SAID}"));
        let called = world.ask(vec![at(dialect, &url)], samples::prompt(true)).await.unwrap();
        assert_eq!(called.calls.len(), 1, "{dialect:?}");
        let requests = seen.all();
        let (header, before) = match dialect {
            Dialect::Anthropic => ("x-api-key", ""),
            Dialect::Gemini => ("x-goog-api-key", ""),
            _ => ("authorization", "Bearer "),
        };
        let key = format!("\r\n{header}: {before}{}\r\n", samples::KEY);
        assert!(
            requests
                .iter()
                .all(|request| request.matches(samples::KEY).count() == 1 && request.contains(&key))
        );
        assert_eq!(seen.connections.load(Ordering::SeqCst), 1, "{dialect:?}: a connection is used again");
    }
}

#[tokio::test]
async fn a_server_without_a_key_is_sent_none() {
    let (url, seen) = play(vec![server::stream(&samples::says(Dialect::Chat))]).await;
    let endpoint = Endpoint { key: None, ..at(Dialect::Chat, &format!("{url}/v1/")) };
    World::new(patient()).ask(vec![endpoint], samples::prompt(false)).await.unwrap();
    let request = seen.all().remove(0);
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(!request.contains("authorization"), "{request}");
}

#[tokio::test]
async fn the_first_piece_is_heard_before_the_rest_is_there() {
    let stream = samples::says(Dialect::Chat);
    let half = stream.find("vier").and_then(|at| Some(at + stream.get(at..)?.find("\n\n")? + 2)).unwrap();
    let (one, _) = stream.as_bytes().split_at(half);
    let (url, seen) = play(vec![server::begin(&[one], Act::Hang)]).await;
    let world = World::new(patient());
    let line = world.line(vec![at(Dialect::Chat, &url)]);
    let came = Arc::new(tokio::sync::Notify::new());
    let told = Arc::clone(&came);
    let listen: Listen = Arc::new(move |piece| {
        if matches!(piece, Piece::Text(_)) {
            told.notify_one();
        }
    });
    let asking = line.complete(samples::prompt(false), listen);
    tokio::select! {
        reply = asking => panic!("the server hangs: {reply:?}"),
        () = came.notified() => {}
    }
    // The future is gone: the server sees its connection closed.
    tokio::time::timeout(Duration::from_secs(20), seen.closed.notified()).await.unwrap();
}

#[tokio::test]
async fn nothing_is_sent_before_it_is_polled() {
    let (url, seen) = play(vec![]).await;
    let world = World::new(patient());
    drop(world.line(vec![at(Dialect::Chat, &url)]).complete(samples::prompt(false), world.listen()));
    tokio::task::yield_now().await;
    assert_eq!(seen.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_quote_is_never_less_than_what_it_comes_to() {
    let world = World::new(patient());
    let cheap = Endpoint { price: Price::default(), ..at(Dialect::Ollama, "http://127.0.0.1:1") };
    let dear = at(Dialect::Anthropic, "https://api.example");
    let barred = Endpoint {
        data: Some([DataClass::Logistics].into()),
        ..other(Dialect::Chat, "https://other.example")
    };
    let classes = [DataClass::Pii, DataClass::Finance].into();
    let prompt = Prompt { classes, ..samples::prompt(true) };
    let line = world.line(vec![cheap.clone(), dear.clone(), barred]);
    let quote = line.quote(&prompt).unwrap();
    let bytes = super::most_bytes(&cheap, &prompt).max(super::most_bytes(&dear, &prompt));
    let tokens_in = super::most_bytes(&dear, &prompt) + super::ADDED;
    let expected = Quote {
        models: vec!["ollama/m-1".into(), "anthropic/m-1".into()],
        outside: true,
        passed_over: vec![("other/m-1".into(), "it may not be told finance and pii data".into())],
        bytes,
        tokens: 2 * (bytes + super::ADDED + 1000),
        money: 2 * (3 * (tokens_in + tokens_in.div_ceil(4)) + 15_000),
    };
    assert_eq!(quote, expected);
    let here = world.line(vec![cheap]).quote(&prompt).unwrap();
    assert_eq!((here.outside, here.money), (false, 0));
    assert_eq!(world.line(Vec::new()).quote(&prompt), None);
}

#[tokio::test]
async fn whoever_may_not_be_told_is_not_asked() {
    let (url, seen) = play(vec![server::stream(&samples::says(Dialect::Chat))]).await;
    let world = World::new(patient());
    let barred = Endpoint { data: Some([DataClass::Logistics].into()), ..at(Dialect::Chat, &url) };
    let prompt = Prompt { classes: [DataClass::Pii].into(), ..samples::prompt(false) };
    let silence = world.ask(vec![barred.clone()], prompt.clone()).await.unwrap_err();
    assert_eq!(silence.why, "no model may be told this: `chat/m-1`: it may not be told pii data");
    assert_eq!(seen.connections.load(Ordering::SeqCst), 0);
    let reply = world.ask(vec![barred, other(Dialect::Chat, &url)], prompt).await.unwrap();
    assert_eq!(reply.usage.model, "other/m-1");
    let nobody = world.ask(Vec::new(), samples::prompt(false)).await.unwrap_err();
    assert_eq!(nobody.why, "no model is set: choose one with `regent model set hands <provider>/<model>`");
}

#[tokio::test]
async fn who_does_not_count_is_estimated() {
    let stream = samples::says(Dialect::Chat).replace("\"usage\":{", "\"nothing\":{");
    let (url, seen) = play(vec![server::stream(&stream)]).await;
    let usage =
        World::new(patient()).ask(vec![at(Dialect::Chat, &url)], samples::prompt(false)).await.unwrap().usage;
    let sent = body(&seen.all().remove(0)).to_string().len() as u64;
    let heard = (SAID.len() + "hm".len()) as u64;
    let (tokens_in, tokens_out) = (sent.div_ceil(4), heard.div_ceil(4));
    assert_eq!((usage.tokens_in, usage.tokens_out), (tokens_in, tokens_out));
    assert_eq!(usage.price, tokens_in * 3 + tokens_out * 15);
    assert_ne!(json!(usage), Value::Null);
}

/// Whose server it is may change between the choice and an ask.
#[tokio::test]
async fn a_detected_server_is_sent_nothing_once_another_user_listens_there() {
    #[expect(clippy::disallowed_methods, reason = "a server of the test, on loopback")]
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let world = World::new(pace());
    let asked = async |detected, listener: Listener| {
        let (clock, chance): (Arc<dyn Clock>, _) = (world.clock.clone(), Arc::new(|| 0.0));
        let around = Surroundings { clock, chance, listener: Arc::new(move |_| listener.clone()) };
        let endpoint = Endpoint { detected, ..at(Dialect::Chat, &url) };
        let line = Line::new(vec![endpoint], Arc::clone(&world.wire), around);
        let reply = line.complete(samples::prompt(false), world.listen()).await;
        (reply.unwrap_err().why.why, server.accept().is_ok())
    };
    let others = || Listener::Refused("port 1 belongs to user 1001, not to you".into());
    let (why, reached) = asked(true, others()).await;
    assert!(!reached && why.contains("belongs to user 1001, not to you: if you trust it, choose"), "{why}");
    assert!(!asked(true, Listener::Absent).await.1);
    assert!(asked(true, Listener::Trusted).await.1, "it is asked where it is ours");
    assert!(asked(false, others()).await.1, "and where the owner has chosen it");
}
