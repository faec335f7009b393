//! What a line adds to a bare HTTP client: `cargo bench -p models --bench overhead`. Both ask the same server on loopback for the
//! same stream; the bare client sends bytes that are ready and throws away what comes back.
//!
//! The server answers at once, which no model does and which shows all of the difference, and after 20 ms, which is quick for one;
//! and our double reads what it is asked, and checks it.
//! It prints, and judges nothing: a timed test fails on a busy machine for no fault of the code.

#![expect(clippy::disallowed_methods, reason = "a benchmark asks the clock, and is its own server")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark fails loudly and prints its table"
)]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::{Clock, Time};
use llm::{Model, Place, Prompt, Role};
use models::dialect::{Manner, request};
use models::{Dialect, Endpoint, Key, Line, Pace, Price, Surroundings, Wire};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Pieces of a reply, each in an event of its own.
const PIECES: usize = 60;
const ROUNDS: usize = 5;

struct Still;

impl Clock for Still {
    fn now(&self) -> Time {
        Time::from_micros(0)
    }
}

fn main() {
    println!("a reply of {PIECES} events, a prompt of 12 kB; median of {ROUNDS} rounds, µs per call\n");
    println!("| server | in flight | bare | line | more | ratio |\n|---|---|---|---|---|---|");
    for (name, wait) in [("at once", Duration::ZERO), ("after 20 ms", Duration::from_millis(20))] {
        let url = serve(wait);
        for (flight, calls) in
            [(1, if wait.is_zero() { 500 } else { 50 }), (32, if wait.is_zero() { 3200 } else { 1600 })]
        {
            row(name, &url, flight, calls);
        }
    }
    let words = "a word and another ".repeat(PIECES / 4);
    let double = double::Double::start(double::Script::new().otherwise(double::Said::text(words)));
    for (flight, calls) in [(1, 500), (32, 3200)] {
        row("our double of a vendor's", &format!("{}/v1", double.url), flight, calls);
    }
}

fn row(name: &str, url: &str, flight: usize, calls: usize) {
    let (bare, line) = measure(url, flight, calls);
    let more = line - bare;
    println!("| {name} | {flight} | {bare:.0} | {line:.0} | {more:.0} | {:.2} |", line / bare);
}

/// In turns, so that whatever else the machine does meets both.
fn measure(url: &str, flight: usize, calls: usize) -> (f64, f64) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let (endpoint, prompt) = (endpoint(url), prompt());
    let body: Arc<str> = request(&endpoint, &prompt, Manner::of(&endpoint)).body.to_string().into();
    let client = reqwest::Client::builder().no_proxy().http1_only().build().expect("a client");
    let wire = Arc::new(Wire::new(Pace::default()).expect("a client"));
    let around = Surroundings {
        clock: Arc::new(Still),
        chance: Arc::new(|| 0.0),
        listener: Arc::new(|_| models::listener::Listener::Trusted),
    };
    let line = Line::new(vec![endpoint], wire, around);
    let address: Arc<str> = format!("{url}/chat/completions").into();
    let (mut bares, mut lines) = (Vec::new(), Vec::new());
    for _ in 0..=ROUNDS {
        let bare = || {
            let (client, address, body) = (client.clone(), Arc::clone(&address), Arc::clone(&body));
            async move {
                let request = client
                    .post(&*address)
                    .header("content-type", "application/json")
                    .bearer_auth(double::KEY)
                    .body(body.to_string());
                let mut response = request.send().await.expect("an answer");
                while response.chunk().await.expect("a piece").is_some() {}
            }
        };
        bares.push(runtime.block_on(timed(flight, calls, bare)));
        let asked = || {
            let completing = line.complete(prompt.clone(), Arc::new(|_| ()));
            async move {
                completing.await.expect("a reply");
            }
        };
        lines.push(runtime.block_on(timed(flight, calls, asked)));
    }
    (median(bares), median(lines))
}

/// Microseconds per call; with several in flight, of the wall clock.
async fn timed<F: Future<Output = ()> + Send + 'static>(
    flight: usize,
    calls: usize,
    call: impl Fn() -> F,
) -> f64 {
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..calls {
        if tasks.len() >= flight {
            tasks.join_next().await.expect("a task").expect("no panic");
        }
        tasks.spawn(call());
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("no panic");
    }
    started.elapsed().as_secs_f64() * 1e6 / calls as f64
}

/// Without the first round, which only warms up.
fn median(mut rounds: Vec<f64>) -> f64 {
    rounds.remove(0);
    rounds.sort_by(f64::total_cmp);
    *rounds.get(rounds.len() / 2).expect("a round")
}

fn endpoint(url: &str) -> Endpoint {
    Endpoint {
        provider: "bench".into(),
        dialect: Dialect::Chat,
        url: url.into(),
        model: "double-large".into(),
        key: Some(Key::new(double::KEY.into())),
        key_from: String::new(),
        plain_http: false,
        rank: 0,
        price: Price::default(),
        tokens_out: 1000,
        data: None,
        detected: false,
    }
}

fn prompt() -> Prompt {
    Prompt {
        place: Place { role: Role::Perceiver, round: 0, subtask: None, attempt: 0, moves: 0, repair: false },
        system: "the same in every ask, ".repeat(400),
        user: "different in each, ".repeat(100),
        schema: json!({ "type": "object", "properties": { "answer": { "type": "string" } } }),
        calling: None,
        classes: BTreeSet::new(),
    }
}

/// A server on a thread of its own, until the program ends.
fn serve(wait: Duration) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    listener.set_nonblocking(true).expect("a socket");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                drop(tokio::spawn(answer(stream, wait)));
            }
        });
    });
    url
}

async fn answer(mut stream: TcpStream, wait: Duration) {
    let chunk = |data: &str| format!("{:x}\r\n{data}\r\n", data.len());
    let event = |delta: serde_json::Value, reason: Option<&str>| {
        chunk(&format!(
            "data: {}\n\n",
            json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
        ))
    };
    let mut reply =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    reply.extend((0..PIECES).map(|_| event(json!({ "content": "some words, " }), None)));
    reply += &event(json!({}), Some("stop"));
    reply += &chunk(
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3000,\"completion_tokens\":180}}\n\ndata: [DONE]\n\n",
    );
    reply += "0\r\n\r\n";
    let (mut bytes, mut read) = (Vec::new(), [0; 65536]);
    loop {
        match stream.read(&mut read).await {
            Ok(0) | Err(_) => return,
            Ok(size) => bytes.extend_from_slice(read.get(..size).unwrap_or_default()),
        }
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).to_lowercase();
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        if bytes.len() < end + 4 + length.unwrap_or(0) {
            continue;
        }
        bytes.clear();
        tokio::time::sleep(wait).await;
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}
