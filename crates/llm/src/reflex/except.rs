//! Which not, and where not.

use super::clause::Clause;
use super::literal::is_pattern;
use super::names::{ending, plain_name};
use super::request::Kind;
use super::token::Token;
use super::why::Why;
use super::words;

impl Clause<'_, '_> {
    pub(super) fn outside(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        if !self.cursor.eat(words::OUTSIDE) {
            return Ok(false);
        }
        match self.folders()? {
            Some(folders) => self.said.files.outside.extend(folders),
            None => {
                self.cursor.back_to(start);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// `except main.rs`, `that are not csv files`, `excluding docs/api`, `not named x`.
    pub(super) fn except(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        // `ignoring case`, `without the header` leave out no files.
        if self.cursor.length(words::ANY_CASE) > 0 || self.cursor.length(words::NO_HEADER) > 0 {
            return Ok(false);
        }
        let except = self.cursor.eat(words::EXCEPT);
        if !except && !self.cursor.eat(words::NOT) {
            return Ok(false);
        }
        if let Some(glob) = self.left_out_part(except)? {
            self.said.files.not_names.push(glob);
            self.said.excepted = except;
            return Ok(true);
        }
        let mut found = false;
        loop {
            let all = self.cursor.eat(words::ALL) || self.cursor.eat(&["the", "those", "a", "an"]);
            if let Some(kind) = self.left_out_kind() {
                self.said.files.not_kinds.push(kind);
            } else if let Some(name) = self.left_out_name()? {
                self.said.files.not_names.push(name);
            } else if except
                && !all
                && self.cursor.peek().is_some()
                && let Some(folder) = self.folder(true)?
            {
                self.said.files.outside.push(folder);
            } else {
                break;
            }
            found = true;
            let next = self.cursor.at();
            self.cursor.eat_mark(&[',']);
            let joined =
                self.cursor.eat(words::AND) || self.cursor.eat(words::OR) || self.cursor.eat(&["nor"]);
            if !(joined || self.cursor.at() > next) {
                break;
            }
            let at = self.cursor.at();
            if self.cursor.eat(words::ALL) || self.cursor.eat(&["the", "a", "an"]) || !self.names_something()
            {
                self.cursor.back_to(at);
                if !self.names_something() {
                    self.cursor.back_to(next);
                    break;
                }
            }
        }
        if !found {
            self.cursor.back_to(start);
        }
        self.said.excepted |= found && except;
        Ok(found)
    }

    fn names_something(&mut self) -> bool {
        let at = self.cursor.at();
        let found = self.left_out_kind().is_some()
            || matches!(self.left_out_name(), Ok(Some(_)))
            || matches!(self.cursor.peek(), Some(Token::Word { raw, .. }) if raw.contains('/'));
        self.cursor.back_to(at);
        found
    }

    /// `do not end in .txt`, `except those whose name starts with a`.
    fn left_out_part(&mut self, except: bool) -> Result<Option<String>, Why> {
        let at = self.cursor.at();
        if except {
            self.cursor.eat(&["the ones", "those", "files", "the files", "the one", "any", "ones"]);
        }
        let shape: Option<fn(&str) -> String> = if self.cursor.eat(words::NAME_ENDS) {
            Some(|name| ending(name, false))
        } else if self.cursor.eat(words::NAME_STARTS) {
            Some(|name| format!("{name}*"))
        } else if self.cursor.eat(words::NAME_HAS) {
            Some(|name| format!("*{name}*"))
        } else {
            None
        };
        if let Some(shape) = shape
            && let Some(name) = self.cursor.name_part()?
        {
            plain_name(&name)?;
            return Ok(Some(shape(&name)));
        }
        self.cursor.back_to(at);
        Ok(None)
    }

    fn left_out_kind(&mut self) -> Option<Kind> {
        let at = self.cursor.at();
        let kind = self.kind()?;
        let files =
            self.cursor.eat(words::FILES) || self.cursor.eat(words::FILE) || self.cursor.eat(&["ones"]);
        // `not Markdown` and `except the Python files`, but `excluding images` may be a folder.
        if files || kind.1 || self.said.headed {
            Some(kind.0)
        } else {
            self.cursor.back_to(at);
            None
        }
    }

    fn left_out_name(&mut self) -> Result<Option<String>, Why> {
        let at = self.cursor.at();
        self.cursor.eat(&["the file", "file", "files"]);
        self.cursor.eat(words::NAMED);
        if let Some(path) = self.cursor.file_literal()? {
            return Ok(Some(path));
        }
        if let Some(pattern) = self.pattern()? {
            return Ok(Some(pattern));
        }
        self.cursor.back_to(at);
        Ok(None)
    }

    pub(super) fn pattern(&mut self) -> Result<Option<String>, Why> {
        let pattern = match self.cursor.peek() {
            Some(Token::Word { raw, .. }) if is_pattern(raw) => raw.clone(),
            Some(Token::Quoted(text)) if is_pattern(text) && !text.contains(char::is_whitespace) => {
                text.clone()
            }
            _ => return Ok(None),
        };
        let quoted = matches!(self.cursor.peek(), Some(Token::Quoted(_)));
        self.cursor.step();
        if !quoted && self.cursor.peek() == Some(&Token::Mark('?')) {
            return Err(Why::QuotePattern(pattern));
        }
        if pattern.contains(['$', '(', ')', '|', '&', '`'])
            || pattern.starts_with('/')
            || pattern.contains("..")
        {
            return Err(Why::NotAName(pattern));
        }
        Ok(Some(pattern))
    }
}
