//! How an answer reaches the wire: framed, in pieces that are flushed one by one, and cut or held back where a fault says so.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use futures_core::Stream;
use serde_json::Value;
use tokio::time::Sleep;

use crate::dialects::{Event, Framing};
use crate::fault::{Fault, Faults};
use crate::gzip::gzip;

/// What is neither JSON nor UTF-8 nor anything else.
const GARBAGE: &[u8] = b"\x00\xff\xfe{\"\x80]:\r\n\r\ndata\xc3\x28\x1b[0m}}}}\xf0\x9f";

/// Events as bytes, one piece per event.
pub(crate) fn frame(mut events: Vec<Event>, framing: Framing, faults: Faults<'_>) -> Vec<Vec<u8>> {
    if let Some(field) = faults.find(|fault| match fault {
        Fault::Without(field) => Some(field),
        _ => None,
    }) {
        for event in &mut events {
            if let Event::Json { data, .. } = event {
                strip(data, field);
            }
        }
    }
    if faults.has(&Fault::GarbageInStream) {
        let text = "{\"half\": \u{fffd}".to_owned();
        events.insert(events.len() / 2, Event::Raw { name: None, text });
    }
    if faults.has(&Fault::KeepAlive) {
        events = std::iter::once(Event::Comment)
            .chain(events.into_iter().flat_map(|event| [event, Event::Comment]))
            .collect();
    }
    let mut pieces: Vec<Vec<u8>> = match framing {
        Framing::Sse { crlf, pings } => {
            let crlf = crlf != faults.has(&Fault::Crlf);
            events.iter().map(|event| sse(event, if crlf { "\r\n" } else { "\n" }, pings)).collect()
        }
        Framing::Lines => {
            let end = if faults.has(&Fault::Crlf) { "\r\n" } else { "\n" };
            events.iter().map(|event| format!("{}{end}", line(event)).into_bytes()).collect()
        }
        Framing::Array => array(&events, faults),
    };
    if faults.has(&Fault::Bom)
        && let Some(first) = pieces.first_mut()
    {
        first.splice(0..0, *b"\xef\xbb\xbf");
    }
    pieces
}

/// HTML Standard, "Server-sent events": a line per field, an empty one ends the event, a colon begins a comment.
fn sse(event: &Event, end: &str, pings: bool) -> Vec<u8> {
    let named = |name: &Option<&str>| name.map(|name| format!("event: {name}{end}")).unwrap_or_default();
    match event {
        Event::Json { name, data } => format!("{}data: {data}{end}{end}", named(name)),
        Event::Raw { name, text } => format!("{}data: {text}{end}{end}", named(name)),
        Event::Comment if pings => {
            format!(": keep-alive{end}{end}event: ping{end}data: {{\"type\": \"ping\"}}{end}{end}")
        }
        Event::Comment => format!(": keep-alive{end}{end}"),
    }
    .into_bytes()
}

fn line(event: &Event) -> String {
    match event {
        Event::Json { data, .. } => data.to_string(),
        Event::Raw { text, .. } => text.clone(),
        Event::Comment => String::new(),
    }
}

fn array(events: &[Event], faults: Faults<'_>) -> Vec<Vec<u8>> {
    let mut open = "[";
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for event in events {
        if matches!(event, Event::Comment) {
            pieces.push(b"\n".to_vec());
            continue;
        }
        pieces.push(format!("{open}{}", line(event)).into_bytes());
        open = "\n,\r\n";
    }
    if faults.ends() {
        pieces.push(b"\n]\n".to_vec());
    }
    pieces
}

/// Leaves a field out, wherever it is.
fn strip(value: &mut Value, field: &str) {
    match value {
        Value::Object(map) => {
            map.shift_remove(field);
            map.values_mut().for_each(|value| strip(value, field));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| strip(value, field)),
        _ => {}
    }
}

/// A body that is not streamed.
pub(crate) fn whole(mut value: Value, faults: Faults<'_>) -> Vec<Vec<u8>> {
    if let Some(field) = faults.find(|fault| match fault {
        Fault::Without(field) => Some(field),
        _ => None,
    }) {
        strip(&mut value, field);
    }
    let bom = if faults.has(&Fault::Bom) { "\u{feff}" } else { "" };
    vec![format!("{bom}{value}").into_bytes()]
}

/// An answer, ready to be sent.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) pieces: Vec<Vec<u8>>,
    /// Whether its length is told before.
    pub(crate) sized: bool,
}

impl Answer {
    pub(crate) fn json(status: u16, value: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { status, headers, pieces: vec![value.to_string().into_bytes()], sized: true }
    }

    pub(crate) fn text(status: u16, kind: &str, text: &str) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status, headers, pieces: vec![text.as_bytes().to_vec()], sized: true }
    }

    pub(crate) fn with(mut self, name: &str, value: String) -> Self {
        self.headers.push((name.to_owned(), value));
        self
    }

    /// With the faults that are the wire's.
    pub(crate) fn send(mut self, faults: Faults<'_>) -> Response<Body> {
        if faults.has(&Fault::Garbage) {
            self.pieces = vec![GARBAGE.to_vec()];
        }
        if faults.has(&Fault::EmptyBody) {
            self.pieces.clear();
        }
        if faults.has(&Fault::Gzip) {
            self.pieces = vec![gzip(&self.pieces.concat())];
            self = self.with("content-encoding", "gzip".to_owned());
        }
        if self.sized {
            let length = self.pieces.iter().map(Vec::len).sum::<usize>();
            self = self.with("content-length", length.to_string());
        }
        let mut end = End::Closes;
        let mut pause = Duration::ZERO;
        for fault in faults.0 {
            match fault {
                Fault::Pieces(sizes) => self.pieces = resized(&self.pieces.concat(), sizes),
                Fault::CutAt(length) => {
                    self.pieces = shortened(self.pieces, *length);
                    end = End::Breaks;
                }
                Fault::HangAt(length) => {
                    self.pieces = shortened(self.pieces, *length);
                    end = End::Hangs;
                }
                Fault::HangAfterHeaders => {
                    self.pieces.clear();
                    end = End::Hangs;
                }
                Fault::Drip(millis) => pause = Duration::from_millis(*millis),
                _ => {}
            }
        }
        let pieces = self.pieces.into_iter().filter(|piece| !piece.is_empty()).map(Bytes::from).collect();
        let mut response =
            Response::new(Body::from_stream(Pieces { pieces, pause, asleep: None, flushed: false, end }));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in self.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// The same bytes in pieces of these sizes, over and over.
fn resized(bytes: &[u8], sizes: &[usize]) -> Vec<Vec<u8>> {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    for size in sizes.iter().cycle() {
        let (piece, after) = rest.split_at((*size).clamp(1, rest.len().max(1)).min(rest.len()));
        pieces.push(piece.to_vec());
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    pieces
}

fn shortened(pieces: Vec<Vec<u8>>, length: usize) -> Vec<Vec<u8>> {
    let mut room = length;
    pieces
        .into_iter()
        .map(|mut piece| {
            piece.truncate(room);
            room -= piece.len();
            piece
        })
        .collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Closes,
    Breaks,
    Hangs,
}

/// A body that pauses before each piece, so that the server flushes the headers and the piece before it.
struct Pieces {
    pieces: VecDeque<Bytes>,
    pause: Duration,
    asleep: Option<Pin<Box<Sleep>>>,
    flushed: bool,
    end: End,
}

impl Stream for Pieces {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(asleep) = &mut self.asleep {
            if asleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.asleep = None;
        }
        if !self.flushed {
            // Whoever sends this flushes when there is nothing more to send for now.
            self.flushed = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(piece) = self.pieces.pop_front() {
            self.flushed = false;
            if !self.pause.is_zero() {
                self.asleep = Some(Box::pin(tokio::time::sleep(self.pause)));
            }
            return Poll::Ready(Some(Ok(piece)));
        }
        match self.end {
            End::Closes => Poll::Ready(None),
            End::Breaks => Poll::Ready(Some(Err(io::Error::other("cut off, as the script says")))),
            End::Hangs => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{resized, shortened};

    #[test]
    fn pieces_have_the_sizes_given_and_lose_nothing() {
        assert_eq!(
            resized(b"abcdefg", &[1, 2]),
            [b"a".to_vec(), b"bc".to_vec(), b"d".to_vec(), b"ef".to_vec(), b"g".to_vec()]
        );
        assert_eq!(resized(b"", &[3]).concat(), b"");
        assert_eq!(resized(b"abc", &[0]).len(), 3);
    }

    #[test]
    fn what_is_too_much_is_left_out() {
        assert_eq!(shortened(vec![b"abc".to_vec(), b"def".to_vec()], 4).concat(), b"abcd");
        assert_eq!(shortened(vec![b"abc".to_vec()], 9).concat(), b"abc");
    }
}
