//! Texts that stand by themselves, where something goes, and what may still follow a comma.

use super::clause::Clause;
use super::literal::is_file_name;
use super::request::{Matching, Needle};
use super::said::{Act, Noun, Piece, Target};
use super::why::Why;
use super::words::{self, Phrases};

/// What goes before the name of a new file.
const CALLED: Phrases = &["called", "named", "as", "under the name", "with the name", "with the new name"];

impl Clause<'_, '_> {
    /// `search for TODO`, `ERROR lines`, `does timeout occur`.
    pub(super) fn told(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        if self.said.search && self.said.text.is_none() {
            let for_it = self.cursor.eat(&["for"]) || matches!(self.cursor.before(), Some("for" | "grep"));
            if let Some(needle) = self.needle(false)?.filter(|_| for_it)
                && !(is_file_name(&needle.text)
                    && self.cursor.before().is_some_and(|word| word.contains('/')))
            {
                self.said.text = Some(Matching { needle, lacking: false });
                return Ok(true);
            }
            self.cursor.back_to(start);
        }
        // `how many matches for TODO`, `occurrences of TODO`.
        if self.said.noun == Some(Noun::Times) && self.said.text.is_none() {
            self.cursor.eat(&["for", "of", "does", "do", "is"]);
            if let Some(needle) = self.needle(false)? {
                self.cursor.eat(words::OCCURS);
                self.said.text = Some(Matching { needle, lacking: false });
                return Ok(true);
            }
            self.cursor.back_to(start);
        }
        self.cursor.eat(&["the"]);
        let lines = self.cursor.maybe(|c| {
            let text = c.text(false, true).ok()??;
            let lines = c.eat(&["lines", "line", "entries", "messages"]);
            (lines || c.eat(&["matches", "hits", "occurrences", "mentions"])).then_some((text, lines))
        });
        if let Some((text, lines)) = lines.filter(|_| self.said.text.is_none()) {
            self.said.noun = Some(if lines { Noun::Lines } else { Noun::Times });
            self.said.text = Some(Matching { needle: Needle { text, ..Needle::default() }, lacking: false });
            return Ok(true);
        }
        self.cursor.back_to(start);
        self.occurring()
    }

    /// `in which files does X occur`, `is the word X used`, `find the word X`.
    fn occurring(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        let marked = self.cursor.length(words::TEXT) > 0;
        let needle = self.needle(false)?;
        let occurs = needle.is_some() && {
            self.cursor.eat(&["is", "are", "was", "get", "gets", "ever"]);
            self.cursor.eat(words::OCCURS)
        };
        let free = self.said.text.is_none() && self.said.files.contains.is_none();
        let searched = marked
            && (self.said.list || self.said.search || self.said.act == Some(Act::Exists))
            && !self.said.headed;
        match needle {
            Some(needle) if free && (occurs || searched) => {
                self.said.search |= !self.said.headed && !occurs;
                match self.said.headed && self.said.noun.is_none() {
                    true => self.said.files.contains = Some(needle),
                    false => self.said.text = Some(Matching { needle, lacking: false }),
                }
                Ok(true)
            }
            _ => {
                self.cursor.back_to(start);
                Ok(false)
            }
        }
    }

    pub(super) const fn wants_target(&self) -> bool {
        self.said.save || matches!(self.said.act, Some(Act::Copy | Act::Move))
    }

    /// `to backup/`, `into a folder called photos`, `as todo.bak`.
    pub(super) fn goal(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        if !self.wants_target() || self.said.to.is_some() {
            return Ok(false);
        }
        let into = self.cursor.length(&["into"]) > 0;
        let inside = self.cursor.length(words::SAVE_TO) > 0;
        if !(self.cursor.eat(words::TO) || self.said.save && self.cursor.eat(words::SAVE_TO)) {
            return Ok(false);
        }
        let called = self.cursor.is_behind(CALLED);
        // `save the sum of x in sales.csv to total.txt`: `in` says where it goes only if nothing else does.
        let later = (0..24)
            .map_while(|ahead| self.cursor.word(ahead))
            .any(|word| matches!(word, "to" | "into" | "as"));
        let of_many = called && !self.said.save && self.said.paths.len() != 1;
        if (inside || called) && later || of_many {
            self.cursor.back_to(start);
            return Ok(false);
        }
        self.cursor.eat(&["the"]);
        let file = self.cursor.eat(words::A_FILE) || called;
        let folder =
            self.cursor.eat(words::A_FOLDER) || self.cursor.eat(&["a"]) && self.cursor.eat(words::A_FOLDER);
        self.cursor.eat(words::NAMED);
        let Some(path) = self.cursor.target_literal()? else {
            self.cursor.back_to(start);
            return Ok(false);
        };
        let behind = self.cursor.eat(words::FOLDER);
        if self.said.save && !(file || is_file_name(&path)) {
            self.cursor.back_to(start);
            return Ok(false);
        }
        let folder = folder || behind || (into && !self.said.save && !is_file_name(&path));
        self.said.to = Some(Target { path, folder, file });
        Ok(true)
    }

    /// What may still follow a comma: `tail of x, 4 lines`; `and how many of each`; `biggest first`; `to b.txt`.
    pub(super) fn more(&mut self) -> Result<bool, Why> {
        let open = matches!(self.said.part, Some(Piece::First(None) | Piece::Last(None)));
        if open && self.part() {
            return Ok(true);
        }
        if self.said.by.is_some() && self.cursor.eat(words::OF_EACH) {
            return Ok(true);
        }
        if self.said.act == Some(Act::Size) && self.cursor.eat(&["in bytes"]) {
            return Ok(true);
        }
        if self.cursor.eat(&[
            "count only",
            "only the count",
            "just the count",
            "only the number",
            "just the number",
        ]) {
            self.said.count = true;
            return Ok(true);
        }
        let (at, before) = (self.cursor.at(), self.said.clone());
        if self.wants_target()
            && self.said.to.is_none()
            && self.cursor.eat(&[
                "call it",
                "name it",
                "call the copy",
                "name the copy",
                "call the new file",
                "give it the name",
            ])
        {
            if let Some(path) = self.cursor.target_literal()? {
                self.said.to = Some(Target { path, folder: false, file: true });
                return Ok(true);
            }
            self.cursor.back_to(at);
        }
        if self.said.headed && self.ranking() && self.said.ordered {
            return Ok(true);
        }
        self.cursor.back_to(at);
        self.said = before;
        if self.cursor.eat(words::NO_HEADER)
            || self.cursor.eat(words::DEEP)
            || self.cursor.eat(words::ANY_CASE)
        {
            self.cursor.back_to(at);
            return Ok(true);
        }
        if self.said.headed
            && self.cursor.eat(&["count them", "how many there are"])
            && self.said.by.is_some()
        {
            return Ok(true);
        }
        Ok(false)
    }
}
