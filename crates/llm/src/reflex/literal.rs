//! Words that mean themselves: paths, names, texts. A word of the grammar is one only where it can be nothing else.

use super::cursor::Cursor;
use super::token::Token;
use super::why::Why;
use super::words;

impl Cursor<'_> {
    /// A quoted text or a bare word that names something, as it is written.
    pub(super) fn text(&mut self, marked: bool, plain: bool) -> Result<Option<String>, Why> {
        let text = match self.peek() {
            Some(Token::Quoted(text)) => text.clone(),
            Some(Token::Word { raw, lower }) => {
                let names = if marked {
                    !words::is_glue(lower) && !words::is_of_files(lower)
                } else {
                    words::names(lower)
                };
                let plainly = !plain || raw.chars().any(|c| !c.is_lowercase());
                if !names || !(plainly || marked) {
                    return Ok(None);
                }
                raw.clone()
            }
            Some(Token::Mark(_)) | None => return Ok(None),
        };
        let bare = matches!(self.peek(), Some(Token::Word { .. }));
        self.step();
        if text.is_empty() {
            return Err(Why::NoText);
        }
        // `println!` or `println`, and an exclamation?
        if bare && matches!(self.peek(), Some(Token::Mark('!'))) {
            return Err(Why::QuoteText(text));
        }
        if text.contains(['\n', '\r']) {
            return Err(Why::TextOfManyLines);
        }
        Ok(Some(text))
    }

    /// A part of a name: `report`, `2025`, `_test`, but no `digits` and no `spaces`.
    pub(super) fn name_part(&mut self) -> Result<Option<String>, Why> {
        let names = match self.peek() {
            Some(Token::Word { raw, lower }) => {
                words::places(lower)
                    || raw.chars().any(|c| !c.is_alphabetic())
                    || words::kind(lower).is_some()
            }
            Some(Token::Quoted(_)) => true,
            _ => false,
        };
        if names { self.text(true, false) } else { Ok(None) }
    }

    /// The name of a column or the value of a cell.
    pub(super) fn cell(&mut self) -> Option<String> {
        let text = match self.peek()? {
            Token::Quoted(text) if !text.is_empty() => text.clone(),
            Token::Word { raw, lower } if words::names(lower) && !is_file_name(raw) && !is_pattern(raw) => {
                raw.clone()
            }
            _ => return None,
        };
        self.step();
        Some(text)
    }

    /// The same where it can be nothing else.
    pub(super) fn any_cell(&mut self) -> Option<String> {
        let text = match self.peek()? {
            Token::Quoted(text) if !text.is_empty() => text.clone(),
            Token::Word { raw, lower } if !matches!(lower.as_str(), "the" | "of" | "in" | "a" | "and") => {
                raw.clone()
            }
            _ => return None,
        };
        self.step();
        Some(text)
    }

    /// `README.md`, `src/main.rs`, `"my notes.txt"`: something that is plainly a file.
    pub(super) fn file_literal(&mut self) -> Result<Option<String>, Why> {
        let path = match self.peek() {
            Some(Token::Quoted(text)) if is_file_name(text) => text.clone(),
            Some(Token::Word { raw, .. })
                if is_file_name(raw) && !is_pattern(raw) && !raw.starts_with('.') =>
            {
                raw.clone()
            }
            _ => return Ok(None),
        };
        self.step();
        inside(path).map(Some)
    }

    /// A folder: `src`, `docs/api`, `"my docs"`.
    pub(super) fn folder_literal(&mut self) -> Result<Option<String>, Why> {
        let path = match self.peek() {
            Some(Token::Quoted(text)) if !text.is_empty() => text.clone(),
            Some(Token::Word { raw, lower }) => {
                let plainly = raw.contains('/') || raw == "." || raw == "..";
                if is_pattern(raw)
                    || (is_file_name(raw) && !raw.ends_with('/'))
                    || !(plainly || words::places(lower) || raw.starts_with('~'))
                {
                    return Ok(None);
                }
                raw.clone()
            }
            _ => return Ok(None),
        };
        self.step();
        inside(path).map(|path| Some(tidy(&path)))
    }

    /// Where something is to go: any name that is no pattern.
    pub(super) fn target_literal(&mut self) -> Result<Option<String>, Why> {
        let path = match self.peek() {
            Some(Token::Quoted(text)) if !text.is_empty() => text.clone(),
            Some(Token::Word { raw, lower }) if !is_pattern(raw) => {
                let plainly = raw.contains(['/', '.', '-', '_']) || raw.starts_with('~');
                if !(plainly || words::places(lower)) {
                    return Ok(None);
                }
                raw.clone()
            }
            _ => return Ok(None),
        };
        self.step();
        inside(path).map(Some)
    }
}

impl Token {
    /// Whether it is a name or a text and no word of the grammar.
    pub(super) fn is_literal(&self) -> bool {
        match self {
            Self::Quoted(_) => true,
            Self::Word { raw, lower } => {
                words::names(lower) || raw.contains('/') || is_file_name(raw) || is_pattern(raw)
            }
            Self::Mark(_) => false,
        }
    }
}

/// INVARIANT (confined) is kept by the tools; to refuse what leads out before anything is tried is only honest.
fn inside(path: String) -> Result<String, Why> {
    let out = path.starts_with(['/', '~', '$']) || path.split('/').any(|part| part == "..");
    if out { Err(Why::Outside(path)) } else { Ok(path) }
}

/// `./src/` is `src`, and `./` is the workspace.
fn tidy(path: &str) -> String {
    let inner = path.strip_prefix("./").unwrap_or(path).trim_end_matches("/.").trim_end_matches('/');
    if inner.is_empty() { ".".into() } else { inner.into() }
}

/// `README.md` and `docs/a.txt`, but neither `.github` nor `v1.2` nor `site.d/`.
pub(super) fn is_file_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}
