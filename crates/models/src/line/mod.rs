//! Models in the order in which they are asked: the first that answers has answered.
//!
//! INVARIANT: what a prompt costs is never more than its quote said, since no more than [`retry::BILLED`] tries may reach a
//! bill, each with every byte counted as a token.
//!
//! Start reading at [`Line::complete`], then `Asking::endpoint`.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use domain::Clock;
use domain::ask::{Unanswered, Usage};
use domain::canonical::EXACT;
use llm::{Completing, Completion, Listen, Model, Piece, Prompt, Quote, Unheard};
use serde_json::Value;

use crate::dialect::{Counts, Form, Manner, request};
use crate::key::KeyMatcher;
use crate::listener::Listener;
use crate::retry::{self, BILLED, Next};
use crate::wire::Tried;
use crate::{Dialect, Endpoint, Trouble, Wire};

/// What servers add of their own to every request, a preamble about tools say; nobody adds this much.
const ADDED: u64 = 2048;
/// How many bytes a token has, about, for whoever does not count.
const BYTES_PER_TOKEN: u64 = 4;
/// Parameters that a server may decline one after the other.
const STEPS: u32 = 8;

/// What is given from outside.
#[derive(Clone)]
pub struct Surroundings {
    pub clock: Arc<dyn Clock>,
    /// In [0, 1).
    pub chance: Arc<dyn Fn() -> f64 + Send + Sync>,
    /// Who listens at an address of this machine.
    pub listener: Arc<dyn Fn(&str) -> Listener + Send + Sync>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Surroundings")
    }
}

#[derive(Clone)]
pub struct Line(Arc<Inner>);

struct Inner {
    endpoints: Vec<Endpoint>,
    /// What finds their keys.
    keys: Vec<KeyMatcher>,
    wire: Arc<Wire>,
    around: Surroundings,
}

impl Line {
    #[must_use]
    pub fn new(endpoints: Vec<Endpoint>, wire: Arc<Wire>, around: Surroundings) -> Self {
        let keys = endpoints.iter().filter_map(|endpoint| endpoint.key.as_ref()?.matcher()).collect();
        Self(Arc::new(Inner { endpoints, keys, wire, around }))
    }

    #[must_use]
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.0.endpoints
    }
}

impl Model for Line {
    fn name(&self) -> String {
        self.0.endpoints.first().map_or_else(|| "no model".to_owned(), Endpoint::name)
    }

    fn quote(&self, prompt: &Prompt) -> Option<Quote> {
        if self.0.endpoints.is_empty() {
            return None;
        }
        let mut quote = Quote {
            models: Vec::new(),
            outside: false,
            passed_over: Vec::new(),
            bytes: 0,
            tokens: 0,
            money: 0,
        };
        for endpoint in &self.0.endpoints {
            if let Some(why) = may_not_be_told(endpoint, prompt) {
                quote.passed_over.push((endpoint.name(), why));
                continue;
            }
            let bytes = most_bytes(endpoint, prompt);
            let (tokens_in, tokens_out) = (bytes.saturating_add(ADDED), u64::from(endpoint.tokens_out));
            let tokens = tokens_in.saturating_add(tokens_out).saturating_mul(BILLED.into());
            let money = price(endpoint, Counts { tokens_in, cached: 0, kept: tokens_in, tokens_out });
            quote.models.push(endpoint.name());
            quote.outside |= endpoint.is_outside();
            quote.bytes = quote.bytes.max(bytes);
            quote.tokens = quote.tokens.max(tokens).min(EXACT);
            quote.money = quote.money.max(money.saturating_mul(BILLED.into())).min(EXACT);
        }
        Some(quote)
    }

    fn redact(&self, value: &mut Value) {
        self.0.keys.iter().for_each(|key| key.hide_in(value));
    }

    fn complete(&self, prompt: Prompt, listen: Listen) -> Completing {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            match Asking::new(&inner, &prompt, &listen).all().await {
                (Ok(reply), usage) => Ok(Completion { usage, ..reply }),
                (Err(why), usage) => Err(Unheard { why, usage }),
            }
        })
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("endpoints", &self.0.endpoints).finish_non_exhaustive()
    }
}

/// INVARIANT (known-listener): nothing is sent to a server that was found and not chosen, unless at that moment the
/// owner of the listening socket is trusted. Between this and the connection another user may still take the port.
fn check_listener(endpoint: &Endpoint, around: &Surroundings) -> Result<(), Trouble> {
    match endpoint.detected.then(|| (around.listener)(&endpoint.url)) {
        None | Some(Listener::Trusted) => Ok(()),
        Some(Listener::Absent) => Err(Trouble::Refused),
        Some(Listener::Refused(why)) => Err(Trouble::Stranger { why }),
    }
}

/// Why an endpoint is passed over, if it is.
fn may_not_be_told(endpoint: &Endpoint, prompt: &Prompt) -> Option<String> {
    let data = endpoint.data.as_ref()?;
    let barred: Vec<&str> = prompt.classes.difference(data).map(|class| class.name()).collect();
    (!barred.is_empty()).then(|| format!("it may not be told {} data", barred.join(" and ")))
}

/// The largest request that this prompt can become there: with tools to call, and with the same in words.
fn most_bytes(endpoint: &Endpoint, prompt: &Prompt) -> u64 {
    let best = Manner { form: Form::Schema, ..Manner::of(endpoint) };
    let size = |calls: bool| request(endpoint, prompt, Manner { calls, ..best }).body.to_string().len();
    let most = if prompt.calling.is_some() { size(true).max(size(false)) } else { size(false) };
    u64::try_from(most).unwrap_or(u64::MAX)
}

/// Anthropic takes a quarter more for what it keeps.
fn price(endpoint: &Endpoint, counts: Counts) -> u64 {
    let Counts { tokens_in, cached, kept, tokens_out } = counts;
    let surcharge = if endpoint.dialect == Dialect::Anthropic { kept.div_ceil(4) } else { 0 };
    endpoint.price.of(tokens_in.saturating_add(surcharge), cached, tokens_out)
}

/// What a try that may be on the bill came to. Numbers that come with the end of a reply are missing where it had none, and
/// those that came at its beginning say nothing of what followed.
///
/// What is estimated is never more than the quote: there each byte that goes out is a token.
fn counted(endpoint: &Endpoint, tried: &Tried) -> Counts {
    let tokens = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN);
    let mut counts = tried.counts;
    let whole = tried.outcome.is_ok() && counts != Counts::default();
    if whole {
        return counts;
    }
    if counts.tokens_in == 0 {
        counts.tokens_in = tokens(tried.sent);
    }
    counts.tokens_out = counts.tokens_out.max(tokens(tried.heard).min(endpoint.tokens_out.into()));
    counts
}

/// One prompt on its way along the line.
struct Asking<'a> {
    inner: &'a Inner,
    prompt: &'a Prompt,
    listen: &'a Listen,
    /// What all tries came to.
    spent: Usage,
    /// Tries that a server may put on the bill.
    billed: u32,
    asked: bool,
}

impl<'a> Asking<'a> {
    fn new(inner: &'a Inner, prompt: &'a Prompt, listen: &'a Listen) -> Self {
        Self { inner, prompt, listen, spent: Usage::default(), billed: 0, asked: false }
    }

    async fn all(mut self) -> (Result<Completion, Unanswered>, Usage) {
        let begin = self.inner.around.clock.now();
        let reply = self.reply().await;
        let took = self.inner.around.clock.now().since(begin).as_millis();
        let usage = Usage { latency_ms: u64::try_from(took).unwrap_or(u64::MAX), ..self.spent };
        (reply, usage.clamped())
    }

    async fn reply(&mut self) -> Result<Completion, Unanswered> {
        let (mut failed, mut passed) = (Vec::new(), Vec::new());
        for endpoint in &self.inner.endpoints {
            if let Some(why) = may_not_be_told(endpoint, self.prompt) {
                passed.push(format!("`{}`: {why}", endpoint.name()));
                continue;
            }
            self.spent.model = endpoint.name();
            match self.endpoint(endpoint).await {
                Ok(completion) => return Ok(completion),
                Err(trouble) => {
                    let stop = !trouble.try_next() || self.billed >= BILLED;
                    failed.push((endpoint, trouble));
                    if stop {
                        break;
                    }
                }
            }
        }
        Err(silence(&failed, &passed))
    }

    /// Whether the endpoint may be asked is asked once, and what came of all its tries is told once: tries that wait for
    /// one another are no proof against a server, and whoever began may end.
    async fn endpoint(&mut self, endpoint: &Endpoint) -> Result<Completion, Trouble> {
        let Inner { wire, around, .. } = self.inner;
        let now = around.clock.now();
        let allowed = wire.learn(endpoint, |known| {
            let (breaker, allowed) = known.breaker.ask(now);
            known.breaker = breaker;
            allowed
        });
        if !allowed {
            return Err(Trouble::Resting);
        }
        let outcome = self.tries(endpoint).await;
        let now = around.clock.now();
        let seen = outcome.as_ref().map(|_| ());
        wire.learn(endpoint, |known| known.breaker = known.breaker.heard(seen, now));
        outcome
    }

    /// As many tries as the trouble is worth.
    async fn tries(&mut self, endpoint: &Endpoint) -> Result<Completion, Trouble> {
        let mut tried = 0;
        loop {
            if std::mem::replace(&mut self.asked, true) {
                (self.listen)(Piece::Again);
            }
            let trouble = match self.once(endpoint).await {
                Ok(completion) => return Ok(completion),
                Err(trouble) => trouble,
            };
            tried += 1;
            if self.billed >= BILLED {
                return Err(trouble);
            }
            match retry::next(tried, &trouble, (self.inner.around.chance)()) {
                Next::Wait(wait) => tokio::time::sleep(wait).await,
                Next::Stop => return Err(trouble),
            }
        }
    }

    /// One try, in the best manner that the server takes: a parameter that it does not know is left out from then on.
    async fn once(&mut self, endpoint: &Endpoint) -> Result<Completion, Trouble> {
        let Inner { wire, around, .. } = self.inner;
        let mut steps = 0;
        loop {
            check_listener(endpoint, around)?;
            let manner = wire.learn(endpoint, |known| known.manner);
            let tried = wire.ask(endpoint, self.prompt, manner, self.listen, around.clock.now()).await;
            self.count(endpoint, &tried);
            let trouble = match tried.outcome {
                Ok(completion) => return Ok(completion),
                Err(trouble) => trouble,
            };
            steps += 1;
            match lesser(manner, &trouble, &tried.told, self.prompt, endpoint.dialect) {
                Some(less) if steps < STEPS => wire.learn(endpoint, |known| known.manner = less),
                _ => return Err(trouble),
            }
        }
    }

    /// What a server counted is counted, whatever became of the reply. Where it may put a try on the bill and did not
    /// count, it is estimated: a spending limit that nothing counts against would be none.
    fn count(&mut self, endpoint: &Endpoint, tried: &Tried) {
        let heard = tried.counts != Counts::default() || tried.heard > 0;
        let billed = heard || tried.outcome.as_ref().err().is_none_or(Trouble::may_be_billed);
        self.billed += u32::from(billed);
        let counts = if billed { counted(endpoint, tried) } else { Counts::default() };
        let spent = &mut self.spent;
        spent.tokens_in = spent.tokens_in.saturating_add(counts.tokens_in);
        spent.tokens_out = spent.tokens_out.saturating_add(counts.tokens_out);
        spent.cached = spent.cached.saturating_add(counts.cached);
        spent.price = spent.price.saturating_add(price(endpoint, counts));
    }
}

/// The next manner down, where that is what the trouble is about.
fn lesser(
    manner: Manner,
    trouble: &Trouble,
    told: &str,
    prompt: &Prompt,
    dialect: Dialect,
) -> Option<Manner> {
    match trouble {
        Trouble::Rejected { .. } | Trouble::Address { .. } | Trouble::Server { status: 500 | 501, .. } => {
            manner.without(told, prompt, dialect)
        }
        _ => None,
    }
}

/// What the owner can do something about comes first; the others are counted.
fn silence(failed: &[(&Endpoint, Trouble)], passed: &[String]) -> Unanswered {
    let first = failed.iter().find(|(_, trouble)| trouble.is_for_the_owner()).or_else(|| failed.first());
    let Some((endpoint, trouble)) = first else {
        return Unanswered::unreachable(if passed.is_empty() {
            "no model is set: choose one with `regent model set hands <provider>/<model>`".to_owned()
        } else {
            format!("no model may be told this: {}", passed.join("; "))
        });
    };
    let Unanswered { kind, why } = trouble.unanswered(endpoint);
    let why = match failed.len() - 1 {
        0 => why,
        1 => format!("{why}; one other model was tried"),
        others => format!("{why}; {others} other models were tried"),
    };
    Unanswered { kind, why }
}
