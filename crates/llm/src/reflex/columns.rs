//! Columns of tables: which one, of which rows, added up or counted by value.

use super::clause::{Clause, once};
use super::request::Only;
use super::said::Key;
use super::token::Token;
use super::why::Why;
use super::words;

impl Clause<'_, '_> {
    /// `average price`, `sum of the quantity column`, `largest amount`.
    pub(super) fn statistic(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        if let Some(column) = self.column(false) {
            once(&mut self.said.column, column, Why::Twice("a column"))?;
            return Ok(true);
        }
        self.cursor.back_to(start);
        let Some(function) = self.function() else { return Ok(false) };
        let ranks = [words::LARGEST, words::SMALLEST]
            .iter()
            .any(|words| words.contains(&self.cursor.before().unwrap_or("")));
        let column_at = self.cursor.at();
        self.cursor.eat(&["value", "values", "number"]);
        self.cursor.eat(&["of all", "of", "for", "in", "from", "over", "across"]);
        self.cursor.eat(&[
            "the",
            "all",
            "all the",
            "values in",
            "values of",
            "the values in",
            "the values of",
        ]);
        let column = self.column(true);
        if column.is_none() {
            self.cursor.back_to(column_at);
            let open = self.said.column.is_some() || self.cursor.length(words::AND) > 0;
            if ranks || (self.said.headed && self.said.paths.is_empty()) || !(open || self.table_follows()) {
                self.cursor.back_to(start);
                return Ok(false);
            }
        }
        column.map_or(Ok(()), |column| once(&mut self.said.column, column, Why::Twice("a column")))?;
        self.said.functions.push(function);
        Ok(true)
    }

    /// A function without its column is one only where a table or a column is still to come.
    fn table_follows(&self) -> bool {
        let rest = (0..12).map_while(|ahead| self.cursor.ahead(ahead));
        let table = |token: &Token| matches!(token, Token::Word { lower, .. } if lower == "column" || lower.ends_with(".csv") || lower.ends_with(".json"));
        rest.into_iter().any(table)
            || self.said.paths.iter().any(|path| path.ends_with(".csv") || path.ends_with(".json"))
    }

    /// `column price`, `the price column`, and, right behind a function, `price`.
    fn column(&mut self, expected: bool) -> Option<String> {
        self.cursor.maybe(|c| {
            c.eat(&["the"]);
            if c.length(words::COLUMNS) > 0 {
                return None;
            }
            if c.eat(words::COLUMN) {
                c.eat(words::NAMED);
                return c.any_cell();
            }
            let behind = matches!(c.word(1), Some("column" | "field" | "values"));
            if behind {
                let cell = c.any_cell()?;
                c.step();
                return Some(cell);
            }
            if expected { c.cell() } else { None }
        })
    }

    /// `where region is North`.
    pub(super) fn condition(&mut self) -> Result<bool, Why> {
        let found = self.cursor.maybe(|c| {
            if !c.eat(words::WHERE) {
                return None;
            }
            c.eat(&["the"]);
            let column = if c.eat(words::COLUMN) { c.any_cell()? } else { c.cell()? };
            c.eat(words::COLUMN);
            if !c.eat(words::EQUALS) {
                return None;
            }
            let equals = match c.peek()? {
                Token::Quoted(text) => text.clone(),
                Token::Word { raw, .. } if !raw.starts_with(|c: char| c.is_alphanumeric()) => return None,
                Token::Word { raw, lower }
                    if !matches!(
                        lower.as_str(),
                        "not"
                            | "blank"
                            | "missing"
                            | "null"
                            | "none"
                            | "positive"
                            | "negative"
                            | "odd"
                            | "even"
                            | "unknown"
                            | "today"
                            | "yesterday"
                            | "the"
                            | "a"
                            | "an"
                            | "above"
                            | "below"
                            | "over"
                            | "under"
                            | "more"
                            | "less"
                            | "larger"
                            | "smaller"
                            | "greater"
                            | "at"
                            | "between"
                            | "empty"
                            | "one"
                            | "longer"
                            | "older"
                            | "newer"
                    ) =>
                {
                    raw.clone()
                }
                _ => return None,
            };
            c.step();
            Some(Only { column, equals })
        });
        let Some(only) = found else { return Ok(false) };
        once(&mut self.said.only, only, Why::Twice("a condition"))?;
        Ok(true)
    }

    /// `per region`, `by type`, `for each folder`, `and how many of each`.
    pub(super) fn group(&mut self) -> Result<bool, Why> {
        if self.said.by.is_some() && self.cursor.eat(words::OF_EACH) {
            return Ok(true);
        }
        let start = self.cursor.at();
        let grouped = self.cursor.eat(words::GROUP);
        if !self.cursor.eat(words::PER) {
            self.cursor.eat(words::THEM);
            if grouped {
                self.said.count = true;
                return Ok(true);
            }
            self.cursor.back_to(start);
            return Ok(false);
        }
        self.cursor.eat(&["the"]);
        let key = if self.cursor.eat(words::EXTENSION) {
            self.cursor.before().map(|word| Key::Extension(word.to_owned()))
        } else if self.cursor.eat(words::FOLDER) {
            Some(Key::Folder)
        } else {
            let column = self.column(false).or_else(|| self.cursor.cell());
            column.map(Key::Column)
        };
        let Some(key) = key else {
            self.cursor.back_to(start);
            return Ok(false);
        };
        once(&mut self.said.by, key, Why::Twice("a grouping"))?;
        Ok(true)
    }

    /// `how many tickets`: an open word right behind a count is taken for rows, if the table turns out to be called so.
    pub(super) fn of_rows(&mut self) -> bool {
        let open = self.said.count || (self.said.column.is_some() && !self.said.functions.is_empty());
        if !open
            || self.plain_length() > 0
            || self.said.headed
            || self.said.noun.is_some()
            || self.said.thing.is_some()
        {
            return false;
        }
        let thing = self.cursor.maybe(|c| c.cell());
        self.said.thing = thing;
        self.said.thing.is_some()
    }
}
