//! A text that is looked for in bytes: exactly, in any case, or as a word of its own.

use std::ops::Range;

use domain::call::Failure;
use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};

use crate::text;

/// A character has at most so many bytes; so many around a match tell whether it is a word of its own.
pub(crate) const CONTEXT: usize = 4;

/// A longer text is compared as it is written: any case of it would take a program of its own.
const ANY_CASE_BYTES: usize = 4 * 1024;

#[derive(Debug)]
pub(crate) struct Needle<'a> {
    finder: Finder<'a>,
    /// No match has more bytes.
    longest: usize,
    whole_word: bool,
}

#[derive(Debug)]
enum Finder<'a> {
    Exact(Box<memmem::Finder<'a>>),
    AnyCase(Regex),
}

/// How a text is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    pub(crate) any_case: bool,
    /// Not inside a longer word: no letter, digit or `_` beside it.
    pub(crate) whole_word: bool,
}

impl<'a> Needle<'a> {
    /// `argument` is what the caller calls it.
    ///
    /// # Errors
    /// If no line can contain the text.
    pub(crate) fn new(text: &'a str, argument: &str, manner: Manner) -> Result<Self, Failure> {
        if text.is_empty() {
            return Err(Failure::logical(format!("`{argument}` is empty; there is nothing to look for")));
        }
        if text.contains(['\n', '\r']) {
            return Err(Failure::logical(format!("`{argument}` spans lines; it is looked for line by line")));
        }
        if manner.any_case && text.len() > ANY_CASE_BYTES {
            return Err(too_long(argument));
        }
        // The same letter in another case may have another length.
        let longest = if manner.any_case { text.chars().count() * CONTEXT } else { text.len() };
        let finder = if manner.any_case {
            let pattern = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build();
            Finder::AnyCase(pattern.map_err(|_large| too_long(argument))?)
        } else {
            Finder::Exact(Box::new(memmem::Finder::new(text)))
        };
        Ok(Self { finder, longest, whole_word: manner.whole_word })
    }

    /// From the beginning of a match on, so many bytes decide whether it is one.
    pub(crate) fn reach(&self) -> usize {
        self.longest + CONTEXT
    }

    /// The first match that begins at `from` or later.
    pub(crate) fn next(&self, bytes: &[u8], mut from: usize) -> Option<Range<usize>> {
        loop {
            let rest = bytes.get(from..)?;
            let found = match &self.finder {
                Finder::Exact(finder) => finder.find(rest).map(|start| start..start + finder.needle().len()),
                Finder::AnyCase(pattern) => pattern.find(rest).map(|found| found.range()),
            }?;
            let found = from + found.start..from + found.end;
            if !self.whole_word || stands_alone(bytes, &found) {
                return Some(found);
            }
            from = found.start + 1;
        }
    }

    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        self.next(bytes, 0).is_some()
    }
}

fn too_long(argument: &str) -> Failure {
    Failure::logical(format!("`{argument}` is longer than {ANY_CASE_BYTES} bytes, too long for `any_case`"))
}

fn stands_alone(bytes: &[u8], found: &Range<usize>) -> bool {
    let of_a_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = bytes.get(..found.start).and_then(text::last_char);
    let after = bytes.get(found.end..).and_then(text::first_char);
    !before.is_some_and(of_a_word) && !after.is_some_and(of_a_word)
}

#[cfg(test)]
mod tests {
    use super::{Manner, Needle};
    use domain::call::Failure;

    const EXACT: Manner = Manner { any_case: false, whole_word: false };
    const WORD: Manner = Manner { whole_word: true, ..EXACT };
    const ANY: Manner = Manner { any_case: true, ..EXACT };
    const ANY_WORD: Manner = Manner { any_case: true, whole_word: true };

    #[test]
    fn what_is_found_and_where() {
        type Case<'a> = (&'a str, Manner, &'a [u8], Option<(usize, usize)>);
        let table: [Case<'_>; 18] = [
            ("ab", EXACT, b"xabab", Some((1, 3))),
            ("ab", EXACT, b"AB", None),
            ("ab", ANY, b"xAb", Some((1, 3))),
            ("ÄB", ANY, "xäb".as_bytes(), Some((1, 4))),
            ("straße", ANY, "STRASSE".as_bytes(), None), // simple folding: one letter is one letter
            ("a.b", ANY, b"axb A.B", Some((4, 7))),
            ("\u{212a}", ANY, b"k", Some((0, 1))), // the sign for kelvin, which is longer than its letter
            ("id", WORD, b"idea id", Some((5, 7))),
            ("id", WORD, b"_id id_ 1id", None),
            ("id", WORD, b"(id)", Some((1, 3))),
            ("id", WORD, "éid".as_bytes(), None),
            ("id", WORD, "idé id".as_bytes(), Some((5, 7))),
            ("id", WORD, b"\xe9id", Some((1, 3))), // no character, so no letter
            ("-v", WORD, b"a-v b -v", Some((6, 8))),
            ("aa", WORD, b"aaa aa", Some((4, 6))),
            ("id", ANY_WORD, b"ID", Some((0, 2))),
            ("id", ANY_WORD, b"IDs", None),
            ("id", ANY_WORD, b"\xff ID", Some((2, 4))),
        ];
        for (text, manner, bytes, expected) in table {
            let found = Needle::new(text, "contains", manner).unwrap().next(bytes, 0);
            let shown = String::from_utf8_lossy(bytes);
            assert_eq!(found.map(|found| (found.start, found.end)), expected, "{text} in {shown} {manner:?}");
        }
    }

    #[test]
    fn a_text_that_no_line_can_contain_is_refused() {
        let long = "x".repeat(4 * 1024 + 1);
        let table = [
            ("", EXACT, "`contains` is empty; there is nothing to look for"),
            ("a\nb", EXACT, "`contains` spans lines; it is looked for line by line"),
            ("a\r", ANY, "`contains` spans lines; it is looked for line by line"),
            (&long, ANY, "`contains` is longer than 4096 bytes, too long for `any_case`"),
        ];
        for (text, manner, message) in table {
            assert_eq!(Needle::new(text, "contains", manner).unwrap_err(), Failure::logical(message));
        }
        assert!(Needle::new(&long, "contains", WORD).is_ok_and(|needle| needle.is_in(long.as_bytes())));
        let upper = "X".repeat(4 * 1024);
        assert!(
            Needle::new(&upper.to_lowercase(), "contains", ANY)
                .is_ok_and(|needle| needle.is_in(upper.as_bytes()))
        );
    }
}
