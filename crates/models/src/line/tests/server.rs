//! A server on loopback that plays a script, for tests: what it answers to the first request, to the second, and so on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

#[derive(Clone, Debug)]
pub(super) enum Act {
    Send(Vec<u8>),
    /// Says no more and keeps the connection, until the other side closes it.
    Hang,
    Pause(std::time::Duration),
    Close,
}

#[derive(Clone, Default)]
pub(super) struct Seen {
    /// Head and body of every request.
    pub(super) requests: Arc<Mutex<Vec<String>>>,
    pub(super) connections: Arc<AtomicUsize>,
    /// Told when the other side closed a connection that hangs.
    pub(super) closed: Arc<Notify>,
}

impl Seen {
    pub(super) fn all(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(super) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

/// A stream that ends as it should.
pub(super) fn stream(body: &str) -> Vec<Act> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    vec![Act::Send([head.as_bytes(), &chunk(body.as_bytes()), b"0\r\n\r\n"].concat())]
}

/// The beginning of one, in pieces that are sent one by one.
pub(super) fn begin(pieces: &[&[u8]], end: Act) -> Vec<Act> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut acts = vec![Act::Send(head.into())];
    acts.extend(pieces.iter().map(|piece| Act::Send(chunk(piece))));
    acts.push(end);
    acts
}

/// A part of one that was begun.
pub(super) fn part(body: &str) -> Act {
    Act::Send(chunk(body.as_bytes()))
}

/// The end of one that was begun.
pub(super) fn rest(body: &str) -> Vec<Act> {
    vec![Act::Send([chunk(body.as_bytes()).as_slice(), b"0\r\n\r\n"].concat())]
}

pub(super) fn status(status: u16, headers: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    vec![Act::Send(format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n{body}").into())]
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// Its address, and what it sees. It ends with the test.
#[expect(clippy::disallowed_methods, reason = "the other side of a test, on loopback")]
pub(super) async fn start(script: Vec<Vec<Act>>) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (seen, script) = (Seen::default(), Arc::new(Mutex::new(script.into_iter())));
    let watched = seen.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            watched.connections.fetch_add(1, Ordering::SeqCst);
            let (watched, script) = (watched.clone(), Arc::clone(&script));
            tokio::spawn(async move {
                let next =
                    || script.lock().unwrap().next().unwrap_or_else(|| status(418, "", "the script is over"));
                drop(serve(stream, &watched, next).await);
            });
        }
    });
    (url, seen)
}

async fn serve(mut stream: TcpStream, seen: &Seen, next: impl Fn() -> Vec<Act>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some(request) = request(&mut stream).await? {
        seen.requests.lock().unwrap().push(request);
        for act in next() {
            match act {
                Act::Send(bytes) => {
                    stream.write_all(&bytes).await?;
                    stream.flush().await?;
                    tokio::task::yield_now().await;
                }
                Act::Hang => {
                    let mut rest = [0; 64];
                    while stream.read(&mut rest).await.is_ok_and(|size| size > 0) {}
                    seen.closed.notify_one();
                    return Ok(());
                }
                Act::Pause(time) => tokio::time::sleep(time).await,
                Act::Close => return Ok(()),
            }
        }
    }
    Ok(())
}

async fn request(stream: &mut TcpStream) -> std::io::Result<Option<String>> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // The beginning of TLS, which it does not speak: it answers as it would anybody.
        if bytes.first() == Some(&0x16) {
            return Ok(Some(text));
        }
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
            let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
            if bytes.len() >= head.len() + 4 + length {
                return Ok(Some(text));
            }
        }
        let mut more = [0; 8192];
        match stream.read(&mut more).await? {
            0 => return Ok(None),
            size => bytes.extend_from_slice(more.get(..size).unwrap()),
        }
    }
}
