//! What is said to a server and what it says back, in each of five dialects. Pure: values in, values out.
//!
//! Start reading at [`request`] for what goes out and at [`Reader`] for what comes back.

mod anthropic;
mod chat;
mod draft;
mod fit;
mod gemini;
mod manner;
mod ollama;
mod quick;
mod responses;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

pub use draft::Counts;
pub use manner::{Form, Limit, Manner};

use draft::Draft;
use llm::{Completion, Piece, Prompt};
use manner::Way;
use serde_json::Value;

use crate::frames::{Frame, Framing};
use crate::key::{KeyMatcher, StreamRedactor};
use crate::said::{Said, clean};
use crate::{Dialect, Endpoint, Key, Trouble};

/// A request that is ready to be sent. The key is not in it: the wire puts it where `key` says.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// Appended to the endpoint's address.
    pub path: String,
    pub headers: Vec<(&'static str, &'static str)>,
    /// The header that the key goes into, and what stands before it there.
    pub key: (&'static str, &'static str),
    pub body: Value,
    /// Whether the reply is asked for inside of a wrapping, which is taken off again.
    pub wrapped: bool,
}

/// What is sent, always for a stream.
#[must_use]
pub fn request(endpoint: &Endpoint, prompt: &Prompt, manner: Manner) -> Outgoing {
    let way = Way::of(prompt, manner, endpoint.dialect);
    match endpoint.dialect {
        Dialect::Anthropic => anthropic::request(endpoint, prompt, &way),
        Dialect::Chat => chat::request(endpoint, prompt, &way, manner),
        Dialect::Responses => responses::request(endpoint, prompt, &way, manner),
        Dialect::Gemini => gemini::request(endpoint, prompt, &way),
        Dialect::Ollama => ollama::request(endpoint, prompt, &way),
    }
}

impl Dialect {
    #[must_use]
    pub const fn framing(self) -> Framing {
        match self {
            Self::Ollama => Framing::Lines,
            Self::Anthropic | Self::Chat | Self::Responses | Self::Gemini => Framing::Events,
        }
    }
}

/// Reads one reply, frame by frame.
#[derive(Debug)]
pub struct Reader {
    dialect: Dialect,
    draft: Draft,
    wrapped: bool,
    limit: u32,
    key: Option<Key>,
    /// Between what comes in and the listener.
    redactor: StreamRedactor,
}

impl Reader {
    #[must_use]
    pub fn new(endpoint: &Endpoint, outgoing: &Outgoing) -> Self {
        Self {
            dialect: endpoint.dialect,
            draft: Draft::default(),
            wrapped: outgoing.wrapped,
            limit: endpoint.tokens_out,
            key: endpoint.key.clone(),
            redactor: StreamRedactor::new(endpoint.key.as_ref()),
        }
    }

    /// The pieces in this frame are told as they are found, without the key.
    pub fn read(&mut self, frame: &Frame, hear: &dyn Fn(Piece<'_>)) -> Result<(), Trouble> {
        if self.is_over() {
            return Ok(());
        }
        self.take_in(frame, hear)?;
        if self.is_over() {
            self.redactor.end(hear);
        }
        Ok(())
    }

    fn take_in(&mut self, frame: &Frame, hear: &dyn Fn(Piece<'_>)) -> Result<(), Trouble> {
        let (key, draft) = (self.key.as_ref(), &mut self.draft);
        let redactor = RefCell::new(&mut self.redactor);
        let hear = &|piece: Piece<'_>| redactor.borrow_mut().hear(piece, hear);
        if self.dialect == Dialect::Chat && frame.data.trim() == "[DONE]" {
            draft.over = true;
            return Ok(());
        }
        if frame.event != "error"
            && let Some(text) = quick::text(self.dialect, &frame.data)
        {
            return draft.add_text(&text, hear);
        }
        let value: Value = match serde_json::from_str(&frame.data) {
            Ok(value) => value,
            // `ping` and the like may be empty.
            Err(_) if frame.data.trim().is_empty() => return Ok(()),
            Err(why) => return Err(Trouble::garbled(format!("it is not JSON ({why})"))),
        };
        // All of them say it the same way, with or without a name for the event; an empty field says nothing.
        let error = value.get("error").is_some_and(|error| !error.is_null());
        let typed = value.get("type").and_then(Value::as_str) == Some("error") || frame.event == "error";
        if error || typed {
            return Err(Said::value(&value, key).trouble(None));
        }
        match self.dialect {
            Dialect::Anthropic => anthropic::read(draft, &value, hear),
            Dialect::Chat => chat::read(draft, &value, hear),
            Dialect::Responses => responses::read(draft, &value, key, hear),
            Dialect::Gemini => gemini::read(draft, &value, hear),
            Dialect::Ollama => ollama::read(draft, &value, hear),
        }
    }

    /// Whether nothing can follow that matters. Gemini has no end marker, and older models give a reason to stop with every
    /// piece: its end is the end of the bytes.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.draft.over && !matches!(self.dialect, Dialect::Gemini)
    }

    /// Its bytes ended as they should. Some servers leave out the marker that says so, or its end: whoever said why it
    /// stopped has said everything. Where no bytes are missing, that is enough.
    pub fn end(&mut self) {
        let says_why = matches!(self.dialect, Dialect::Chat | Dialect::Anthropic);
        self.draft.over |= says_why && self.draft.end.is_some();
    }

    /// Whether it said why it stopped, in a dialect where nothing else says that it is over but the end of the bytes.
    #[must_use]
    pub const fn may_be_over(&self) -> bool {
        self.draft.over && matches!(self.dialect, Dialect::Gemini)
    }

    /// How many bytes of a reply came so far, thoughts and arguments included.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.draft.size()
    }

    /// What the server has counted so far.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.draft.counts
    }

    /// The reply, if all of it is there and it is one. Its usage is for whoever knows the price.
    pub fn finish(self) -> Result<Completion, Trouble> {
        let (wrapped, key, redactor) = (self.wrapped, self.key, self.redactor);
        match self.draft.finish(self.limit) {
            Ok(completion) => {
                let Completion { text, calls, usage } = completion;
                let text = if wrapped { fit::unwrap(text) } else { text };
                let completion = Completion { text, calls, usage };
                Ok(match redactor.matcher() {
                    Some(key) => hide(completion, key),
                    None => completion,
                })
            }
            Err(Trouble::Declined { said }) => Err(Trouble::Declined { said: clean(&said, key.as_ref()) }),
            Err(Trouble::Malformed { what }) => Err(Trouble::Malformed { what: clean(&what, key.as_ref()) }),
            other => other,
        }
    }
}

/// A reply without the key: replies are kept, shown, and sent on to others.
fn hide(completion: Completion, key: &KeyMatcher) -> Completion {
    let Completion { text, mut calls, usage } = completion;
    for call in &mut calls {
        call.tool = key.hidden(std::mem::take(&mut call.tool));
        key.hide_in(&mut call.args);
    }
    Completion { text: key.hidden(text), calls, usage }
}

/// A text in a value, or an empty one.
fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A number in a value, at a path of names.
fn number(value: &Value, path: &[&str]) -> Option<u64> {
    path.iter().try_fold(value, |value, name| value.get(name))?.as_u64()
}

/// The members of a list in a value.
fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
