//! What the files are called.

use super::clause::{Clause, once};
use super::request::Kind;
use super::token::Token;
use super::why::Why;
use super::words;

impl Clause<'_, '_> {
    pub(super) fn named(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        let found = if self.cursor.eat(words::HAS_EXTENSION) {
            self.extension_named()
        } else if self.cursor.eat(words::NAME_HAS) {
            self.part_of_name(|name| format!("*{name}*"))?
        } else if self.cursor.eat(words::NAME_STARTS) {
            self.part_of_name(|name| format!("{name}*"))?
        } else if self.cursor.eat(words::NAME_ENDS) {
            self.cursor.eat(&["the"]);
            let kind = !self.said.files.kinds.is_empty();
            self.part_of_name(|name| ending(name, kind))?
        } else if self.cursor.eat(words::MATCHING) {
            match self.pattern()? {
                Some(pattern) => self.glob(pattern).map(|()| true)?,
                None => false,
            }
        } else if self.said.to.is_none() && self.wants_target() {
            false // `copy a.txt, called b.txt` says where it goes
        } else if self.said.to.is_some() && self.said.changes() && self.cursor.length(words::NAMED) > 0 {
            return Err(Why::Twice("where it goes"));
        } else if self.cursor.eat(words::NAMED) {
            self.whole_name()?
        } else {
            self.in_name()?
        };
        if !found {
            self.cursor.back_to(start);
        }
        Ok(found)
    }

    /// `with the extension txt`, `.txt` or `"txt"`.
    fn extension_named(&mut self) -> bool {
        let word = match self.cursor.peek() {
            Some(Token::Word { raw, .. }) => raw,
            Some(Token::Quoted(text)) => text,
            _ => return false,
        };
        let extension = word.trim_start_matches('*').trim_start_matches('.');
        if extension.is_empty() || !extension.chars().all(char::is_alphanumeric) {
            return false;
        }
        self.said
            .files
            .kinds
            .push(Kind { label: format!(".{extension}"), extensions: vec![extension.into()] });
        self.cursor.step();
        true
    }

    fn part_of_name(&mut self, glob: impl Fn(&str) -> String) -> Result<bool, Why> {
        let Some(name) = self.cursor.name_part()? else { return Ok(false) };
        plain_name(&name)?;
        self.said.files.names.push(glob(&name));
        self.twice_named()
    }

    /// A name may have stars; in brackets and braces a glob would read more than a name says.
    fn whole_name(&mut self) -> Result<bool, Why> {
        if let Some(pattern) = self.pattern()? {
            plain_name(&pattern)?;
            self.said.files.names.push(pattern);
            return self.twice_named();
        }
        if let Some(path) = self.cursor.file_literal()? {
            self.said.paths.push(path);
            return Ok(true);
        }
        let Some(name) = self.cursor.text(false, false)? else { return Ok(false) };
        plain_name(&name)?;
        if name.contains('/') {
            return Err(Why::NotAName(name));
        }
        self.said.files.names.push(name);
        self.twice_named()
    }

    /// `with config in the name`, `have 2025 in their name`.
    fn in_name(&mut self) -> Result<bool, Why> {
        if !self.cursor.eat(words::WITH) {
            return Ok(false);
        }
        self.cursor.eat(words::TEXT);
        let Some(name) = self.cursor.name_part()? else { return Ok(false) };
        if !self.cursor.eat(words::IN_NAME) {
            return Ok(false);
        }
        plain_name(&name)?;
        self.said.files.names.push(format!("*{name}*"));
        self.twice_named()
    }

    /// Globs are alternatives, so two names would widen what each of them narrows.
    fn twice_named(&self) -> Result<bool, Why> {
        if self.said.files.names.len() > 1 { Err(Why::Twice("a name")) } else { Ok(true) }
    }

    pub(super) fn glob(&mut self, pattern: String) -> Result<(), Why> {
        if pattern.contains('/') {
            once(&mut self.said.files.pattern, pattern, Why::Twice("a pattern"))
        } else {
            self.said.files.names.push(pattern);
            self.twice_named().map(drop)
        }
    }
}

/// What a name ends in: `.rs` and `md` with what is behind the dot, `_test` before it, too; and what is said of Rust files
/// can only be about what stands before.
pub(super) fn ending(name: &str, of_kind: bool) -> String {
    match (name.contains('.'), of_kind, name.chars().all(char::is_alphanumeric)) {
        (true, ..) | (false, false, true) => format!("*{name}"),
        (false, true, _) => format!("*{name}.*"),
        (false, false, false) => format!("{{*{name},*{name}.*}}"),
    }
}

pub(super) fn plain_name(name: &str) -> Result<(), Why> {
    let odd = name.contains(['\\', '[', ']', '{', '}', '$', '(', ')', '|', '&', ';', '`']);
    if odd { Err(Why::NotAName(name.into())) } else { Ok(()) }
}
