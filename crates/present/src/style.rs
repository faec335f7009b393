//! How text may look where it is displayed. The surface gives the colours, this crate only names their meaning.

use domain::Time;
use jiff::tz::TimeZone;

/// Puts a tone around a text: escape codes on a terminal, nothing in a file.
pub type Paint = fn(&str, Tone) -> String;

/// What one stream can display.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    pub paint: Paint,
    /// Symbols if the stream can display them, words if not.
    pub symbols: bool,
    /// Words even for what every stream can display: a screen reader says no `?`.
    pub words: bool,
}

/// The few meanings that have a colour; each has a word or a symbol too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    Attention,
    /// It waits for a person.
    Waiting,
    Command,
    Faint,
}

/// The [`Paint`] without colours.
#[must_use]
pub fn leave_plain(text: &str, _: Tone) -> String {
    text.to_owned()
}

impl Theme {
    /// Without colours, symbols and words for symbols.
    pub const PLAIN: Self = Self { paint: leave_plain, symbols: false, words: false };

    /// The same theme without its colours: for measuring a text.
    #[must_use]
    pub const fn without_colors(self) -> Self {
        Self { paint: leave_plain, ..self }
    }

    /// A symbol if it can be displayed, the word if not.
    #[must_use]
    pub const fn mark(self, symbol: &'static str, word: &'static str) -> &'static str {
        if self.symbols { symbol } else { word }
    }

    /// The mark of what waits for a person.
    #[must_use]
    pub fn mark_question(self) -> String {
        self.paint(if self.words { "question" } else { "?" }, Tone::Waiting)
    }

    /// The mark of what should be read twice.
    #[must_use]
    pub fn mark_attention(self) -> String {
        self.paint(if self.words { "attention:" } else { "!" }, Tone::Attention)
    }

    #[must_use]
    pub fn paint(self, text: &str, tone: Tone) -> String {
        (self.paint)(text, tone)
    }

    /// A command that a person can copy.
    #[must_use]
    pub fn paint_command(self, text: &str) -> String {
        self.paint(text, Tone::Command)
    }
}

/// How a page is written: the look of both streams, the width, the time and its zone.
#[derive(Clone, Copy, Debug)]
pub struct Style<'a> {
    /// The look of the result.
    pub theme: Theme,
    /// The look of the notes beside it.
    pub note_theme: Theme,
    pub zone: &'a TimeZone,
    pub now: Time,
    /// Columns.
    pub width: usize,
    pub folding: Folding,
}

/// How much of a long text is displayed. What decides is never folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folding {
    /// Its first lines; the hint says how to see the rest.
    FirstLines(&'static str),
    Whole,
}

impl Style<'_> {
    #[must_use]
    pub const fn with_folding(self, folding: Folding) -> Self {
        Self { folding, ..self }
    }
}
