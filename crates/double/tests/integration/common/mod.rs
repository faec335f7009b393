//! A client that knows nothing: it writes a request and reads bytes, so that what is on the wire is what is seen.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use double::{Dialect, KEY};
use serde_json::{Value, json};

/// After so long without a byte, nothing more comes.
const SILENCE: Duration = Duration::from_millis(200);
/// After so long, what must come will not.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long to wait for more.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waits {
    /// Until it is whole or closed.
    Long,
    /// The same until so many bytes of the body came, and not long for what follows.
    Until(usize),
    /// Not long for anything.
    Briefly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// As HTTP says: all of it was there.
    Whole,
    /// The connection was closed before that.
    Cut,
    /// Nothing more came, and the connection stayed open.
    Hung,
}

#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    /// In lower case, with the values as they are.
    pub(crate) headers: Vec<(String, String)>,
    /// The body as it came: one per chunk, or one in all where its length was told.
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) ended: Ended,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes()).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The JSON values of a stream, whatever frames them.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text();
        let lines = text.trim_start_matches('\u{feff}').lines();
        lines
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok())
            .collect()
    }
}

/// A request that is right, in its dialect.
pub(crate) fn request(dialect: Dialect, stream: bool, prompt: &str) -> (String, Value) {
    let messages = json!([{"role": "user", "content": prompt}]);
    let model = "double-large";
    match dialect {
        Dialect::Anthropic => (
            "/v1/messages".into(),
            json!({"model": model, "max_tokens": 100, "messages": messages, "stream": stream}),
        ),
        Dialect::Chat => {
            let mut body = json!({"model": model, "messages": messages, "stream": stream});
            if stream {
                body["stream_options"] = json!({"include_usage": true});
            }
            ("/v1/chat/completions".into(), body)
        }
        Dialect::Responses => {
            ("/v1/responses".into(), json!({"model": model, "input": prompt, "stream": stream}))
        }
        Dialect::Gemini => {
            let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
            let body = json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]});
            (format!("/v1beta/models/{model}:{method}"), body)
        }
        Dialect::Ollama => {
            ("/api/chat".into(), json!({"model": model, "messages": messages, "stream": stream}))
        }
    }
}

pub(crate) fn headers(dialect: Dialect) -> Vec<(&'static str, String)> {
    match dialect {
        Dialect::Anthropic => vec![("x-api-key", KEY.into()), ("anthropic-version", "2023-06-01".into())],
        Dialect::Chat | Dialect::Responses => vec![("authorization", format!("Bearer {KEY}"))],
        Dialect::Gemini => vec![("x-goog-api-key", KEY.into())],
        Dialect::Ollama => Vec::new(),
    }
}

pub(crate) fn ask(url: &str, dialect: Dialect, stream: bool, waits: Waits) -> Option<Seen> {
    let (path, body) = request(dialect, stream, "hello");
    send(url, "POST", &path, &headers(dialect), &body.to_string(), waits)
}

pub(crate) fn post(url: &str, path: &str, headers: &[(&'static str, String)], body: &Value) -> Seen {
    send(url, "POST", path, headers, &body.to_string(), Waits::Long)
        .unwrap_or_else(|| panic!("no answer to {path}"))
}

pub(crate) fn get(url: &str, path: &str, headers: &[(&'static str, String)]) -> Seen {
    send(url, "GET", path, headers, "", Waits::Long).unwrap_or_else(|| panic!("no answer to {path}"))
}

/// Nothing where not even the headers came.
pub(crate) fn send(
    url: &str,
    method: &str,
    path: &str,
    headers: &[(&'static str, String)],
    body: &str,
    waits: Waits,
) -> Option<Seen> {
    let address = url.strip_prefix("http://").expect("an address");
    let mut stream = TcpStream::connect(address).expect("a connection");
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    request.push_str(body);
    stream.write_all(request.as_bytes()).expect("a request that is taken");

    let mut read = Vec::new();
    let mut buffer = vec![0; 65_536];
    let mut open = true;
    loop {
        let so_far = parse(&read);
        let length = so_far.as_ref().map(|seen| seen.bytes().len());
        if so_far.as_ref().is_some_and(|seen| seen.ended == Ended::Whole) {
            return so_far;
        }
        let is_enough = match waits {
            Waits::Long => false,
            Waits::Until(wanted) => length.is_some_and(|length| length >= wanted),
            Waits::Briefly => true,
        };
        stream.set_read_timeout(Some(if is_enough { SILENCE } else { PATIENCE })).expect("a timeout");
        if !open {
            return parse(&read);
        }
        match stream.read(&mut buffer) {
            Ok(0) => open = false,
            Ok(length) => read.extend(&buffer[..length]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => open = false,
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                return parse(&read).map(|seen| Seen { ended: Ended::Hung, ..seen });
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn parse(read: &[u8]) -> Option<Seen> {
    let end = read.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&read[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let body = &read[end + 4..];
    let mut seen = Seen { status, headers, chunks: Vec::new(), ended: Ended::Cut };
    if let Some(length) = seen.header("content-length") {
        let length: usize = length.parse().ok()?;
        seen.chunks.push(body.to_vec());
        seen.ended = if body.len() == length { Ended::Whole } else { Ended::Cut };
        return Some(seen);
    }
    let mut rest = body;
    while let Some(at) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(&String::from_utf8_lossy(&rest[..at]), 16).ok()?;
        let Some(chunk) = rest.get(at + 2..at + 2 + size) else { break };
        if size == 0 {
            seen.ended = Ended::Whole;
            break;
        }
        seen.chunks.push(chunk.to_vec());
        rest = rest.get(at + 2 + size + 2..).unwrap_or_default();
    }
    Some(seen)
}
