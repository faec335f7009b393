//! A reply as it comes in, without the key: what may be the beginning of one waits for what follows.

use llm::Piece;

use super::Key;
use super::matcher::{HIDDEN, KeyMatcher};

/// What may wait. A text that is longer and still may be the beginning of a key is made of invisible characters, and is not shown.
const HELD_BYTES: usize = 16 * 1024;

/// All kinds of pieces are one text: that is how they are shown.
pub(crate) struct StreamRedactor {
    /// Nothing where there is no key to hide.
    matcher: Option<KeyMatcher>,
    held: String,
}

impl StreamRedactor {
    pub(crate) fn new(key: Option<&Key>) -> Self {
        Self { matcher: key.and_then(Key::matcher), held: String::new() }
    }

    pub(crate) const fn matcher(&self) -> Option<&KeyMatcher> {
        self.matcher.as_ref()
    }

    pub(crate) fn hear(&mut self, piece: Piece<'_>, hear: &dyn Fn(Piece<'_>)) {
        let Some(matcher) = &self.matcher else { return hear(piece) };
        let (text, kind): (&str, fn(&str) -> Piece<'_>) = match piece {
            Piece::Text(text) => (text, |text| Piece::Text(text)),
            Piece::Thought(text) => (text, |text| Piece::Thought(text)),
            Piece::Call(text) => (text, |text| Piece::Call(text)),
            Piece::Again => {
                self.held.clear();
                return hear(piece);
            }
        };
        self.held.push_str(text);
        let (found, from) = matcher.find_so_far(&self.held);
        let rest = self.held.split_off(from);
        let shown = super::without(&self.held, &found);
        if !shown.is_empty() {
            hear(kind(&shown));
        }
        self.held = rest;
        if self.held.len() > HELD_BYTES {
            self.held.clear();
            hear(kind(HIDDEN));
        }
    }

    /// Nothing follows: what waited was no key.
    pub(crate) fn end(&mut self, hear: &dyn Fn(Piece<'_>)) {
        let Some(matcher) = &self.matcher else { return };
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            hear(Piece::Text(&super::without(&held, &matcher.find(&held))));
        }
    }
}

impl std::fmt::Debug for StreamRedactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StreamRedactor")
    }
}
