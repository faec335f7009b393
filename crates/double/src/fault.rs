//! What may go wrong with an answer. Each fault exists in every dialect, streamed or not, as far as it means anything there.

use serde::{Deserialize, Serialize};

use crate::denied::Denied;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// No answer but the vendor's refusal to give one.
    Deny(Denied),

    // The calls.
    /// Without the number that says which call a piece belongs to.
    CallsWithoutIndex,
    CallsWithoutIds,
    CallsWithSameIds,
    /// All arguments in one piece.
    ArgumentsWhole,
    /// In pieces of so many characters.
    ArgumentsInPieces(usize),
    /// An object where a string with JSON in it belongs.
    ArgumentsAsObject,
    /// A string with JSON in it where an object belongs.
    ArgumentsAsString,
    /// The pieces of calls side by side take turns.
    CallsInterleaved,

    // The stream.
    /// The last word is missing: `[DONE]`, `message_stop`, `response.completed`, `"done":true`, `finishReason`.
    NoEnd,
    /// That, and why it ended is never said.
    NoFinish,
    /// The vendor's error in the middle of it. Not streamed, it is a 500.
    ErrorInStream,
    /// An event in the middle that is no JSON.
    GarbageInStream,
    /// Events that nobody documented yet: vendors ask to pass over them.
    UnknownEvents,
    /// Pings and comments between the events.
    KeepAlive,
    /// A field of this name is left out, wherever it is.
    Without(String),
    /// The mark of a byte order before everything.
    Bom,
    /// Lines end with CR LF. Where they do anyhow, with LF.
    Crlf,
    /// So many bytes of text instead of what was said.
    Large(usize),

    // The wire.
    /// So many bytes of the body; then the connection is closed.
    CutAt(usize),
    /// So many bytes of the body; then nothing more, and the connection stays open.
    HangAt(usize),
    HangBeforeHeaders,
    HangAfterHeaders,
    /// Written in pieces of these sizes, over and over, each flushed.
    Pieces(Vec<usize>),
    /// So many milliseconds between the pieces.
    Drip(u64),
    /// To this address.
    Redirect(String),
    /// Bytes that are neither JSON nor text.
    Garbage,
    /// Nothing at all, with 200.
    EmptyBody,
    /// Compressed, whether that was asked for or not.
    Gzip,
}

/// The faults of one answer, asked one by one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults<'a>(pub(crate) &'a [Fault]);

impl<'a> Faults<'a> {
    pub(crate) fn has(&self, fault: &Fault) -> bool {
        self.0.contains(fault)
    }

    pub(crate) fn find<T>(&self, of: impl Fn(&'a Fault) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(of)
    }

    /// Whether why it ended is said.
    pub(crate) fn finishes(&self) -> bool {
        !self.has(&Fault::NoFinish)
    }

    /// Whether the last word comes.
    pub(crate) fn ends(&self) -> bool {
        self.finishes() && !self.has(&Fault::NoEnd)
    }
}
