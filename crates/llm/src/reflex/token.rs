//! A request as words, quoted texts and punctuation. Nothing is dropped: what the grammar does not take
//! must be there to be complained about.

use super::why::Why;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word {
        /// As written, without the punctuation behind it.
        raw: String,
        lower: String,
    },
    Quoted(String),
    Mark(char),
}

impl Token {
    fn word(raw: &str) -> Self {
        Self::Word { raw: raw.into(), lower: raw.to_lowercase().replace('’', "'") }
    }
}

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Why> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        rest = match closing(first) {
            Some(close) => marks(quoted(rest, first, close, &mut tokens)?, &mut tokens),
            None => chunk(rest, &mut tokens),
        }
        .trim_start();
    }
    Ok(tokens)
}

/// The punctuation right behind a quoted text; there, a full stop is no folder.
fn marks<'a>(text: &'a str, tokens: &mut Vec<Token>) -> &'a str {
    let rest = text.trim_start_matches([',', ';', ':', '?', '!', '.']);
    tokens.extend(text.strip_suffix(rest).unwrap_or("").chars().map(Token::Mark));
    rest
}

const fn closing(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' => Some(open),
        '“' | '„' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

/// An apostrophe inside a word does not close a text: 'don't panic' is one.
fn quoted<'a>(text: &'a str, open: char, close: char, tokens: &mut Vec<Token>) -> Result<&'a str, Why> {
    let inside = text.strip_prefix(open).unwrap_or(text);
    let ends_here = |at: usize| {
        let behind = inside.get(at + close.len_utf8()..).and_then(|behind| behind.chars().next());
        !(matches!(close, '\'' | '’') && behind.is_some_and(char::is_alphanumeric))
    };
    let end = inside.match_indices(close).map(|(at, _)| at).find(|&at| ends_here(at));
    let (content, behind) = end
        .and_then(|at| Some((inside.get(..at)?, inside.get(at + close.len_utf8()..)?)))
        .ok_or(Why::OpenQuote(open))?;
    tokens.push(Token::Quoted(content.into()));
    Ok(behind)
}

/// Up to the next space or quotation mark (an apostrophe is part of its word), then the punctuation
/// behind it.
fn chunk<'a>(text: &'a str, tokens: &mut Vec<Token>) -> &'a str {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '`' | '“' | '„');
    let (chunk, rest) = text.split_at_checked(text.find(ends).unwrap_or(text.len())).unwrap_or((text, ""));
    let word = without_punctuation(chunk);
    let lower = word.to_lowercase().replace('’', "'");
    let (stem, behind) = contraction(&lower);
    match behind {
        Some(behind) => tokens.extend([Token::word(stem), Token::word(behind)]),
        None if word.is_empty() => {}
        None => tokens.push(Token::word(word)),
    }
    tokens.extend(chunk.strip_prefix(word).unwrap_or("").chars().map(Token::Mark));
    rest
}

/// `what's` is two words, and so is `don't`.
fn contraction(lower: &str) -> (&str, Option<&'static str>) {
    if let Some(stem @ ("what" | "which" | "where" | "there")) = lower.strip_suffix("'s") {
        return (stem, Some("is"));
    }
    if lower == "whats" {
        return ("what", Some("is"));
    }
    match lower.strip_suffix("n't") {
        Some(stem @ ("are" | "is" | "was" | "were" | "do" | "does" | "did" | "have" | "has")) => {
            (stem, Some("not"))
        }
        _ => (lower, None),
    }
}

/// `README.md.` loses its full stop, but `.` and `..` are folders.
fn without_punctuation(chunk: &str) -> &str {
    let bare = chunk.trim_end_matches([',', ';', ':', '?', '!']);
    if bare.chars().all(|c| c == '.') || bare.ends_with("/.") || bare.ends_with("/..") {
        return bare;
    }
    chunk.trim_end_matches([',', ';', ':', '?', '!', '.'])
}

#[cfg(test)]
mod tests {
    use super::{Token, tokens};
    use crate::reflex::why::Why;

    /// Words as they are, quoted texts in angle brackets, marks alone.
    fn shown(text: &str) -> String {
        let show = |token: Token| match token {
            Token::Word { raw, .. } => raw,
            Token::Quoted(text) => format!("<{text}>"),
            Token::Mark(mark) => mark.to_string(),
        };
        tokens(text).unwrap().into_iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_texts_and_marks_are_told_apart() {
        let table = [
            ("", ""),
            (" How many  files?! ", "How many files ? !"),
            ("What's the newest", "what is the newest"),
            ("what’s new", "what is new"),
            ("in README.md.", "in README.md ."),
            ("in . and .. or ./.", "in . and .. or ./."),
            ("in .?", "in . ?"),
            ("list *.{rs,toml}, please", "list *.{rs,toml} , please"),
            ("for \"fn main\" in src", "for <fn main> in src"),
            ("for 'don't panic'.", "for <don't panic> ."),
            ("for “a b”, ‘c d’ and `e`", "for <a b> , <c d> and <e>"),
            ("containing:\"x\"", "containing : <x>"),
            ("say \"\"", "say <>"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn an_open_quotation_mark_is_named() {
        assert_eq!(tokens("search for \"fn main"), Err(Why::OpenQuote('"')));
        assert_eq!(tokens("search for 'tis"), Err(Why::OpenQuote('\'')));
    }
}
