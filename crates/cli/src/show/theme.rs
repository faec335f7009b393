//! What a stream can show: colours or none, symbols or words.

/// How text may look on one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    pub(crate) color: bool,
    /// Symbols where the terminal can show them, words elsewhere.
    pub(crate) symbols: bool,
    /// Words even for what everybody can show: whoever listens hears no `?`.
    pub(crate) words: bool,
}

/// The few meanings that have a colour; each has a word or a symbol too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    Attention,
    /// It waits for a person.
    Waiting,
    Command,
    Faint,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Bad => "1;31",
            Self::Attention => "1;33",
            Self::Waiting => "33",
            Self::Command => "36",
            Self::Faint => "2",
        }
    }
}

impl Theme {
    /// A symbol where it can be shown, the word elsewhere.
    pub(crate) const fn mark(self, symbol: &'static str, word: &'static str) -> &'static str {
        if self.symbols { symbol } else { word }
    }

    /// It waits for a person.
    pub(crate) fn question(self) -> String {
        self.tinted(if self.words { "question" } else { "?" }, Tone::Waiting)
    }

    /// It should be read twice.
    pub(crate) fn attention(self) -> String {
        self.tinted(if self.words { "attention:" } else { "!" }, Tone::Attention)
    }

    pub(crate) fn tinted(self, text: &str, tone: Tone) -> String {
        if self.color { format!("\x1b[{}m{text}\x1b[0m", tone.code()) } else { text.to_owned() }
    }
}
