//! Reading a request word by word: what stands here, whether a phrase does, and going back where a reading fails.

use super::token::Token;
use super::why::Why;
use super::words::{self, Phrases};

#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    tokens: &'a [Token],
    at: usize,
    /// How far any reading came: the word there is the one to complain about.
    furthest: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(tokens: &'a [Token]) -> Self {
        Self { tokens, at: 0, furthest: 0 }
    }

    pub(super) fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    pub(super) fn ahead(&self, words: usize) -> Option<&'a Token> {
        self.tokens.get(self.at + words)
    }

    /// The word `ahead` words from here, in lower case.
    pub(super) fn word(&self, ahead: usize) -> Option<&'a str> {
        match self.ahead(ahead) {
            Some(Token::Word { lower, .. }) => Some(lower),
            _ => None,
        }
    }

    /// The word just read, in lower case.
    pub(super) fn before(&self) -> Option<&'a str> {
        match self.tokens.get(self.at.checked_sub(1)?) {
            Some(Token::Word { lower, .. }) => Some(lower),
            _ => None,
        }
    }

    /// Whether the word just read was a name or a text, bare and not of the grammar.
    pub(super) fn ends_with_name(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_some_and(Token::is_literal) && !words::PHRASES.iter().any(|phrases| self.is_behind(phrases))
    }

    /// Whether any phrase of the grammar begins here.
    pub(super) fn is_at_phrase(&self) -> bool {
        words::PHRASES.iter().any(|phrases| self.length(phrases) > 0)
    }

    /// Whether one of these phrases stands right before this place.
    pub(super) fn is_behind(&self, phrases: Phrases) -> bool {
        let ends = |phrase: &&str| {
            let words: Vec<_> = phrase.split(' ').collect();
            let before = self.at.checked_sub(words.len()).and_then(|start| self.tokens.get(start..self.at));
            before.is_some_and(|before| {
                before
                    .iter()
                    .zip(&words)
                    .all(|(token, word)| matches!(token, Token::Word { lower, .. } if lower == word))
            })
        };
        phrases.iter().any(ends)
    }

    pub(super) fn step(&mut self) {
        self.at += 1;
        self.furthest = self.furthest.max(self.at);
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// How many words the longest of these phrases that stands here has.
    pub(super) fn length(&self, phrases: Phrases) -> usize {
        self.length_at(phrases, 0)
    }

    /// The same, from `ahead` words on.
    pub(super) fn length_at(&self, phrases: Phrases, ahead: usize) -> usize {
        let Some(first) = self.word(ahead) else { return 0 };
        let fits = |phrase: &&&str| {
            // Most phrases begin with another letter, and this is asked for every table at every place.
            if phrase.as_bytes().first() != first.as_bytes().first() {
                return false;
            }
            let Some(rest) = phrase.strip_prefix(first) else { return false };
            rest.is_empty()
                || rest.strip_prefix(' ').is_some_and(|rest| {
                    rest.split(' ').enumerate().all(|(i, word)| self.word(ahead + 1 + i) == Some(word))
                })
        };
        let words = |phrase: &&str| phrase.split(' ').count();
        phrases.iter().filter(fits).map(words).max().unwrap_or(0)
    }

    /// Takes the longest of these phrases that stands here.
    pub(super) fn eat(&mut self, phrases: Phrases) -> bool {
        let length = self.length(phrases);
        self.at += length;
        self.furthest = self.furthest.max(self.at);
        length > 0
    }

    pub(super) fn eat_mark(&mut self, marks: &[char]) -> bool {
        let found = matches!(self.peek(), Some(Token::Mark(mark)) if marks.contains(mark));
        if found {
            self.step();
        }
        found
    }

    /// Whether it reads, from here; if not, nothing is taken.
    pub(super) fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.at;
        let result = read(self);
        if result.is_none() {
            self.at = start;
        }
        result
    }

    /// Goes back to where [`Cursor::at`] was.
    pub(super) const fn back_to(&mut self, at: usize) {
        self.at = at;
    }

    /// The words since [`Cursor::at`] was `start`, as they were written.
    pub(super) fn said_since(&self, start: usize) -> String {
        let shown = |token: &Token| match token {
            Token::Word { raw, .. } => raw.clone(),
            Token::Quoted(text) => format!("\"{text}\""),
            Token::Mark(mark) => mark.to_string(),
        };
        self.tokens.get(start..self.at).unwrap_or_default().iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    /// `10 kB`, `10kB`, `1.5 MB`, `500 bytes`. Thousands, unless the unit says 1024.
    pub(super) fn bytes(&mut self) -> Option<u64> {
        self.maybe(|cursor| {
            let word = cursor.word(0)?;
            let digits = word.split(|c: char| !(c.is_ascii_digit() || c == ',')).next().unwrap_or("");
            let mut groups = digits.split(',');
            if digits.contains(',')
                && !(groups.next().is_some_and(|first| first.len() <= 3)
                    && groups.all(|group| group.len() == 3))
            {
                return None; // `1,5 kB` is no number here
            }
            let word = word.replace(',', "");
            let digits = word.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(word.len());
            let (amount, unit) = word.split_at_checked(digits)?;
            let (amount, unit) = match (amount, unit) {
                ("", _) => (words::number(&word)?.to_string(), None),
                (amount, "") => (amount.to_owned(), None),
                (amount, unit) => (amount.to_owned(), Some(unit.to_owned())),
            };
            cursor.step();
            let unit = match unit {
                Some(unit) => unit,
                None => {
                    let unit = cursor.word(0)?.to_owned();
                    cursor.step();
                    unit
                }
            };
            let factor: u64 = match unit.as_str() {
                "byte" | "bytes" | "b" => 1,
                "kb" | "kilobyte" | "kilobytes" => 1_000,
                "mb" | "megabyte" | "megabytes" | "megs" => 1_000_000,
                "gb" | "gigabyte" | "gigabytes" => 1_000_000_000,
                "kib" => 1 << 10,
                "mib" => 1 << 20,
                "gib" => 1 << 30,
                _ => return None,
            };
            scaled(&amount, factor)
        })
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        let number = words::number(self.word(0)?)?;
        self.step();
        Some(number)
    }

    /// The word that nobody takes: the one that stands here if it is not known, else where the reading went astray.
    pub(super) fn stuck(&self) -> Why {
        let unknown = |at: usize| match self.tokens.get(at) {
            Some(Token::Word { raw, lower }) if !words::known(lower) => Some(Why::UnknownWord(raw.clone())),
            _ => None,
        };
        if let Some(why) = unknown(self.at).or_else(|| unknown(self.furthest)) {
            return why;
        }
        match self.peek() {
            None => Why::EndsTooEarly,
            Some(Token::Quoted(text)) => Why::Unplaced(text.clone()),
            Some(Token::Mark(mark)) => Why::NotHere(mark.to_string()),
            Some(Token::Word { raw, .. }) => Why::NotHere(raw.clone()),
        }
    }
}

/// `1.5` times a thousand, without rounding; nothing if it is no whole number of bytes.
fn scaled(amount: &str, factor: u64) -> Option<u64> {
    let (whole, part) = amount.split_once('.').unwrap_or((amount, ""));
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let tenths = 10_u64.checked_pow(u32::try_from(part.len()).ok()?)?;
    let part: u64 = if part.is_empty() { 0 } else { part.parse().ok()? };
    let part = part.checked_mul(factor)?;
    let more = (part % tenths == 0).then_some(part / tenths)?;
    whole.checked_mul(factor)?.checked_add(more)
}
