//! The one place that speaks HTTP: a request goes out, a reply comes in piece by piece, and nothing takes for ever.
//!
//! - A key goes to the host that the owner wrote down and to no other: redirects are not followed, proxies from the
//!   environment are not used, and an address without encryption is spoken to on this machine only, unless the endpoint says
//!   that it may be.
//! - Whoever drops a future here calls the request off: its connection is closed.
//! - Connections are kept and used again (HTTP/1.1); nothing is sent twice behind our back.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::Time;
use llm::{Completion, Listen, Prompt};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url};
use tokio::time::{Instant, timeout, timeout_at};

use crate::breaker::Breaker;
use crate::dialect::{Counts, Manner, Outgoing, Reader, request};
use crate::frames::{Frames, Framing};
use crate::said::{Said, clean};
use crate::trouble::Stage;
use crate::{Endpoint, Trouble, retry};

/// How long anything may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Until there is a connection.
    pub connect: Duration,
    /// From there until the first byte of a reply, its headers included, and from there once more until the model is heard:
    /// one that reasons says nothing for minutes, before the headers or after them, as its server likes it.
    pub first_byte: Duration,
    /// The same on this machine, where a model may have to be loaded, and read a prompt without a graphics card.
    pub first_byte_here: Duration,
    /// Once it was heard.
    pub between_bytes: Duration,
    /// One try, from its beginning to its end.
    pub whole: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(180),
            first_byte_here: Duration::from_secs(300),
            between_bytes: Duration::from_secs(60),
            whole: Duration::from_secs(900),
        }
    }
}

/// How long is waited, once a reply is complete, for the server to end the connection's turn: only then can it be used again.
const AFTERGLOW: Duration = Duration::from_millis(100);
/// How long is waited for more once Gemini said why it stopped: it has no other marker, and its bytes may not end.
const ENOUGH: Duration = Duration::from_secs(5);
/// What is read of an error.
const ERROR_BYTES: usize = 64 * 1024;

#[derive(Debug, thiserror::Error)]
#[error("no HTTP client can be made: {0}")]
pub struct NoClient(#[source] reqwest::Error);

/// Shared by everybody who speaks to models: connections, and what was learnt about each endpoint.
#[derive(Debug)]
pub struct Wire {
    client: Client,
    pace: Pace,
    known: Mutex<BTreeMap<String, Known>>,
}

/// What was learnt about an endpoint since the program was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) manner: Manner,
    pub(crate) breaker: Breaker,
}

/// What came of one try.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) outcome: Result<Completion, Trouble>,
    /// Also of one that failed.
    pub(crate) counts: Counts,
    /// Bytes that went out and that came in.
    pub(crate) sent: usize,
    pub(crate) heard: usize,
    /// What a server said that did not take the request, at more length than is shown.
    pub(crate) told: String,
}

impl Wire {
    /// Installs the process's TLS provider if nobody has.
    pub fn new(pace: Pace) -> Result<Self, NoClient> {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Somebody else may have been faster; then there is one, which is all that is wanted.
            drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
        }
        let client = Client::builder()
            .connect_timeout(pace.connect)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .http1_only()
            .referer(false)
            .tcp_nodelay(true)
            .pool_idle_timeout(Duration::from_secs(60))
            .user_agent(concat!("regent/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(NoClient)?;
        Ok(Self { client, pace, known: Mutex::new(BTreeMap::new()) })
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of an endpoint, changed by whoever learnt something.
    pub(crate) fn learn<T>(&self, endpoint: &Endpoint, change: impl FnOnce(&mut Known) -> T) -> T {
        let mut known = self.known();
        let new = || Known { manner: Manner::of(endpoint), breaker: Breaker::NEW };
        change(known.entry(format!("{} {}", endpoint.name(), endpoint.url)).or_insert_with(new))
    }

    /// One try.
    pub(crate) async fn ask(
        &self,
        endpoint: &Endpoint,
        prompt: &Prompt,
        manner: Manner,
        listen: &Listen,
        now: Time,
    ) -> Tried {
        let outgoing = request(endpoint, prompt, manner);
        let mut reader = Reader::new(endpoint, &outgoing);
        let body = outgoing.body.to_string().into_bytes();
        let (sent, mut told) = (body.len(), String::new());
        let speaking = self.speak(endpoint, &outgoing, body, &mut reader, &mut told, listen, now);
        let spoken = timeout(self.pace.whole, speaking).await;
        let (counts, heard) = (reader.counts(), reader.size());
        let outcome = match spoken {
            Ok(Ok(())) => reader.finish(),
            Ok(Err(Trouble::Cut { .. })) => Err(Trouble::Cut { begun: heard > 0 }),
            Ok(Err(trouble)) => Err(trouble),
            Err(_) => Err(Trouble::Slow { at: Stage::Whole, after: self.pace.whole }),
        };
        Tried { outcome, counts, sent, heard, told }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the two ends of one conversation, put together in one place"
    )]
    async fn speak(
        &self,
        endpoint: &Endpoint,
        outgoing: &Outgoing,
        body: Vec<u8>,
        reader: &mut Reader,
        told: &mut String,
        listen: &Listen,
        now: Time,
    ) -> Result<(), Trouble> {
        let (url, headers) = (address(endpoint, &outgoing.path)?, headers(endpoint, outgoing)?);
        let first_byte = if endpoint.is_outside() { self.pace.first_byte } else { self.pace.first_byte_here };
        let begin = async {
            let request = self.client.post(url).headers(headers).body(body);
            let mut response = request.send().await.map_err(|error| self.unreached(&error, endpoint))?;
            let first = response.chunk().await.map_err(|_cut| Trouble::Cut { begun: false })?;
            Ok((response, first))
        };
        let slow = |_| Trouble::Slow { at: Stage::FirstByte, after: first_byte };
        let (response, first) = timeout(first_byte, begin).await.map_err(slow)??;
        let mut incoming = Incoming { response, first: first.map(Into::into) };
        let framing = endpoint.dialect.framing();
        if let Some(trouble) = self.not_a_stream(endpoint, &mut incoming, framing, told, now).await {
            return Err(trouble);
        }
        self.listen(&mut incoming, framing, reader, listen, first_byte).await
    }

    async fn listen(
        &self,
        incoming: &mut Incoming,
        framing: Framing,
        reader: &mut Reader,
        listen: &Listen,
        first_byte: Duration,
    ) -> Result<(), Trouble> {
        let mut frames = Frames::new(framing);
        // When it was last heard of, and how much of it there was: whoever has said everything is not waited for because of
        // what follows it.
        let (mut heard_at, mut heard) = (Instant::now(), (false, false, 0));
        loop {
            let (over, maybe, silent) =
                (reader.is_over(), reader.may_be_over() && frames.is_between(), reader.size() == 0);
            if heard != (over, maybe, reader.size()) {
                (heard_at, heard) = (Instant::now(), (over, maybe, reader.size()));
            }
            let since = heard_at.elapsed();
            let (at, patience) = match self.pace.between_bytes {
                between if over => (Stage::BetweenBytes, AFTERGLOW.min(between).saturating_sub(since)),
                between if maybe => (Stage::BetweenBytes, ENOUGH.min(between).saturating_sub(since)),
                _ if silent => (Stage::FirstByte, first_byte),
                between => (Stage::BetweenBytes, between),
            };
            match timeout(patience, incoming.chunk()).await {
                // It is ready as long as there are bytes, whatever the time.
                Ok(Ok(Some(_))) if (over || maybe) && patience.is_zero() => return Ok(()),
                Ok(Ok(Some(bytes))) => {
                    frames.feed(&bytes, &mut |frame| reader.read(&frame, &**listen))?;
                }
                Ok(Ok(None)) => break,
                Ok(Err(_)) if over => return Ok(()),
                Err(_) if over || maybe => return Ok(()),
                Ok(Err(_)) => return Err(Trouble::Cut { begun: true }),
                Err(_) => return Err(Trouble::Slow { at, after: patience }),
            }
        }
        if let Some(frame) = frames.end()? {
            reader.read(&frame, &**listen)?;
        }
        reader.end();
        Ok(())
    }

    /// A status that is no success, or a whole document where a stream was asked for.
    async fn not_a_stream(
        &self,
        endpoint: &Endpoint,
        incoming: &mut Incoming,
        framing: Framing,
        told: &mut String,
        now: Time,
    ) -> Option<Trouble> {
        let (status, headers) = (incoming.response.status(), incoming.response.headers());
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let document = header(CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with("application/json"));
        // Not asked for, and nobody here could read it.
        if let Some(encoding) = header("content-encoding").filter(|encoding| *encoding != "identity") {
            let encoding = clean(encoding, endpoint.key.as_ref());
            return Some(Trouble::garbled(format!("it is compressed with `{encoding}`")));
        }
        if status.is_success() && !(document && framing == Framing::Events) {
            return None;
        }
        if status.is_redirection() {
            let to = header(LOCATION.as_str()).unwrap_or_default();
            return Some(Trouble::Moved { to: clean(to, endpoint.key.as_ref()) });
        }
        let after = retry::after(header("retry-after-ms"), header("retry-after"), now);
        let body = self.error_body(incoming).await;
        let mut said = Said::body(status.as_u16(), &body, endpoint.key.as_ref());
        if status.is_success() {
            if !body.contains("\"error\"") {
                return Some(Trouble::garbled("it does not stream, and was asked to"));
            }
            said.status = None;
        }
        said.message.clone_into(told);
        Some(said.trouble(after))
    }

    /// As much of it as comes soon, and is worth reading.
    async fn error_body(&self, incoming: &mut Incoming) -> String {
        let mut body = Vec::new();
        let until = Instant::now() + self.pace.between_bytes.min(self.pace.connect);
        while body.len() < ERROR_BYTES
            && let Ok(Ok(Some(bytes))) = timeout_at(until, incoming.chunk()).await
        {
            body.extend_from_slice(&bytes);
        }
        body.truncate(ERROR_BYTES);
        String::from_utf8_lossy(&body).into_owned()
    }

    /// Why there is no answer at all.
    fn unreached(&self, error: &reqwest::Error, endpoint: &Endpoint) -> Trouble {
        if error.is_connect() && error.is_timeout() {
            return Trouble::Slow { at: Stage::Connect, after: self.pace.connect };
        }
        if error.is_dns() {
            return Trouble::Unresolved;
        }
        let (mut why, mut cause) = (String::new(), error.source());
        while let Some(found) = cause {
            why = clean(&found.to_string(), endpoint.key.as_ref());
            let is_refusal = |io: &io::Error| io.kind() == io::ErrorKind::ConnectionRefused;
            if holds(found, &|inner| inner.downcast_ref().is_some_and(is_refusal)) {
                return Trouble::Refused;
            }
            if holds(found, &|inner| inner.is::<rustls::Error>()) {
                return Trouble::Untrusted { why };
            }
            cause = found.source();
        }
        if error.is_connect() { Trouble::Unconnected { why } } else { Trouble::Cut { begun: false } }
    }
}

type Cause<'a> = &'a (dyn std::error::Error + 'static);

/// An I/O error keeps what it wraps to itself, several times over: the chain of causes jumps over it.
fn holds(error: Cause<'_>, wanted: &dyn Fn(Cause<'_>) -> bool) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    wanted(error) || inner.is_some_and(|inner| holds(inner, wanted))
}

/// A reply whose first bytes are there.
struct Incoming {
    response: Response,
    first: Option<Vec<u8>>,
}

impl Incoming {
    async fn chunk(&mut self) -> reqwest::Result<Option<Vec<u8>>> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => Ok(self.response.chunk().await?.map(Into::into)),
        }
    }
}

/// Where the request goes, if a key may go there.
fn address(endpoint: &Endpoint, path: &str) -> Result<Url, Trouble> {
    let base = endpoint.url.trim().trim_end_matches('/');
    if base.contains(['?', '#', '\\']) {
        return Err(Trouble::NoAddress);
    }
    // `https://api.anthropic.com/v1` is what other programs want to be told.
    let base = ["/v1", "/v1beta"]
        .iter()
        .find_map(|version| base.strip_suffix(version).filter(|_| path.starts_with(&format!("{version}/"))))
        .unwrap_or(base);
    let url = Url::parse(&format!("{base}{path}")).map_err(|_no_url| Trouble::NoAddress)?;
    let here = match url.host_str() {
        Some(host) => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => return Err(Trouble::NoAddress),
    };
    let named = !url.username().is_empty() || url.password().is_some();
    // What was quoted as staying on this machine must stay here.
    if named || !here && !endpoint.is_outside() {
        return Err(Trouble::NoAddress);
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if here || endpoint.plain_http => Ok(url),
        "http" => Err(Trouble::Open),
        _ => Err(Trouble::NoAddress),
    }
}

fn headers(endpoint: &Endpoint, outgoing: &Outgoing) -> Result<HeaderMap, Trouble> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in &outgoing.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = &endpoint.key {
        let (name, before) = outgoing.key;
        let value = zeroize::Zeroizing::new(format!("{before}{}", key.expose()));
        let mut value = HeaderValue::from_str(&value).map_err(|_odd| Trouble::Key { said: String::new() })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(headers)
}
