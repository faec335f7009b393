//! Lines for two streams, in the order in which a person reads them.

/// Where a line belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageLine {
    /// A part of the result.
    Result(String),
    /// A text from outside that is the result itself: a program gets it as it is, a terminal sees it escaped.
    Text(String),
    /// A line beside the result: a warning, a hint, the next command.
    Note(String),
}

/// A text with notes beside it. The surface writes the lines in this order, each to its stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub lines: Vec<PageLine>,
}

impl Page {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&mut self, line: impl Into<String>) {
        self.lines.push(PageLine::Result(line.into()));
    }

    pub fn add_note(&mut self, line: impl Into<String>) {
        self.lines.push(PageLine::Note(line.into()));
    }

    /// Adds a text from outside; nothing if it is empty.
    pub fn add_text(&mut self, text: String) {
        if !text.is_empty() {
            self.lines.push(PageLine::Text(text));
        }
    }

    pub fn add_all(&mut self, lines: impl IntoIterator<Item = String>) {
        self.lines.extend(lines.into_iter().map(PageLine::Result));
    }

    pub fn append(&mut self, mut other: Self) {
        self.lines.append(&mut other.lines);
    }
}
