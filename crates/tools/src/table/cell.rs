//! One cell, and what it is.

use std::borrow::Cow;

use crate::calc::number::Number;

/// What is shown of the content of a cell.
const SHOWN_CHARS: usize = 60;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    Empty,
    Boolean(Cow<'a, str>),
    /// As it is written, because that is what groups are made of.
    Number(Cow<'a, str>, Number),
    Text(Cow<'a, str>),
}

impl<'a> Cell<'a> {
    /// A cell of a CSV file, where everything is text until it looks like something else.
    pub(crate) fn of_csv(text: &'a str) -> Self {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Self::Empty;
        }
        if trimmed.eq_ignore_ascii_case("true") || trimmed.eq_ignore_ascii_case("false") {
            return Self::Boolean(trimmed.into());
        }
        // One that is too large to be calculated with is not counted among the numbers either.
        match Number::parse(trimmed) {
            Ok(number) => Self::Number(trimmed.into(), number),
            Err(_) => Self::Text(text.into()),
        }
    }

    /// A value as it stands in a JSON text, which says itself what it is.
    pub(crate) fn of_json(raw: &str) -> Cell<'static> {
        let owned = || Cow::Owned(raw.to_string());
        match raw.as_bytes().first() {
            Some(b'n') => Cell::Empty,
            Some(b't' | b'f') => Cell::Boolean(owned()),
            Some(b'"') => match serde_json::from_str::<String>(raw) {
                Ok(text) if text.trim().is_empty() => Cell::Empty,
                Ok(text) => Cell::Text(text.into()),
                Err(_) => Cell::Text(owned()),
            },
            Some(b'-' | b'0'..=b'9') => Number::parse(raw)
                .map_or_else(|_| Cell::Text(owned()), |number| Cell::Number(owned(), number)),
            _ => Cell::Text(owned()), // a list or an object
        }
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Empty => "",
            Self::Boolean(text) | Self::Number(text, _) | Self::Text(text) => text,
        }
    }

    /// Its beginning, for people and models.
    pub(crate) fn shown(&self) -> String {
        shortened(self.text(), SHOWN_CHARS)
    }
}

pub(crate) fn shortened(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.into(),
    }
}
