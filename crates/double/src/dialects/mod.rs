//! How things are said in each dialect: what is asked is understood, what is said is written, whole or as a stream of events.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod openai;
mod reply;
mod responses;

use serde_json::Value;

use crate::asked::{Asked, Dialect};
use crate::check::Checked;
use crate::denied::Denied;
use crate::script::{Model, Script};

pub(crate) use reply::Reply;

/// What a dialect must know.
pub(crate) trait Tongue: Sync {
    /// Whether the key is right.
    fn admit(&self, asked: &Asked, key: &str) -> Checked<()>;

    /// Fills in what was asked, and checks it as the vendor would.
    fn understand(&self, asked: &mut Asked, script: &Script) -> Checked<()>;

    /// The status and the body of a denial. `number` is that of the request.
    fn denied(&self, denied: &Denied, number: u64) -> (u16, Value);

    fn whole(&self, reply: &Reply<'_>) -> Checked<Value>;

    fn events(&self, reply: &Reply<'_>) -> Checked<Vec<Event>>;

    /// The vendor's error inside a stream.
    fn error_events(&self, reply: &Reply<'_>) -> Vec<Event>;

    /// One that is not documented yet.
    fn unknown_event(&self, reply: &Reply<'_>) -> Event;

    fn framing(&self, asked: &Asked) -> Framing;

    fn headers(&self, number: u64) -> Vec<(&'static str, String)>;

    /// The list of models.
    fn models(&self, models: &[Model]) -> Value;

    /// What is told of one.
    fn model(&self, model: &Model) -> Value;
}

pub(crate) fn tongue(dialect: Dialect) -> &'static dyn Tongue {
    match dialect {
        Dialect::Anthropic => &anthropic::Anthropic,
        Dialect::Chat => &chat::Chat,
        Dialect::Responses => &responses::Responses,
        Dialect::Gemini => &gemini::Gemini,
        Dialect::Ollama => &ollama::Ollama,
    }
}

/// One piece of a stream, before it is framed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Json {
        name: Option<&'static str>,
        data: Value,
    },
    Raw {
        name: Option<&'static str>,
        text: String,
    },
    /// Said only to keep the connection open.
    Comment,
}

impl Event {
    pub(crate) const fn unnamed(data: Value) -> Self {
        Self::Json { name: None, data }
    }

    pub(crate) const fn named(name: &'static str, data: Value) -> Self {
        Self::Json { name: Some(name), data }
    }
}

/// How the pieces of a stream are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events; lines end as said.
    Sse { crlf: bool, pings: bool },
    /// A JSON value per line.
    Lines,
    /// One long JSON array.
    Array,
}

impl Framing {
    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Self::Sse { .. } => "text/event-stream; charset=utf-8",
            Self::Lines => "application/x-ndjson",
            Self::Array => "application/json; charset=UTF-8",
        }
    }
}

/// The model, if the script knows it, can do what is asked, and has room for it.
fn find<'s>(script: &'s Script, asked: &Asked) -> Checked<&'s Model> {
    script.model(&asked.model).ok_or_else(|| Denied::NoModel(asked.model.clone()))
}

fn fits(model: &Model, asked: &Asked) -> Checked<()> {
    let tokens = asked.tokens();
    if tokens > model.context { Err(Denied::TooLong { tokens, limit: model.context }) } else { Ok(()) }
}
