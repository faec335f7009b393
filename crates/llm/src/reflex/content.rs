//! What is in the files, or in their lines.

use super::clause::{Clause, once};
use super::request::{Matching, Needle};
use super::said::Noun;
use super::why::Why;
use super::words::{self, Phrases};

impl Clause<'_, '_> {
    pub(super) fn content(&mut self) -> Result<bool, Why> {
        const TABLE: [(Phrases, bool, bool); 4] = [
            (words::LACKING, true, false),
            (words::LACKING_WITH, true, true),
            (words::CONTAINING, false, false),
            (words::WITH, false, true),
        ];
        let start = self.cursor.at();
        let longest =
            TABLE.iter().map(|row| (self.cursor.length(row.0), row)).max_by_key(|(length, _)| *length);
        let Some((_, &(phrases, lacking, plain))) = longest.filter(|(length, _)| *length > 0) else {
            return Ok(false);
        };
        // `how many lines in the logs contain it`: not the files that contain it, as `that` would say.
        let main_verb = self.cursor.length(&[
            "contain",
            "contains",
            "mention",
            "mentions",
            "do not contain",
            "do not mention",
        ]) > 0;
        self.cursor.eat(phrases);
        // `lines with x` are lines; what a file `has` may be anything.
        let lines =
            self.said.noun == Some(Noun::Lines) && matches!(self.cursor.before(), Some("with" | "without"));
        let Some(needle) = self.needle(plain && !lines)? else {
            self.cursor.back_to(start);
            return Ok(false);
        };
        // `without README.md` is about a file.
        if self.cursor.before().is_some() && super::literal::is_file_name(&needle.text) {
            self.cursor.back_to(start);
            return Ok(false);
        }
        self.cursor.eat(words::INSIDE);
        self.attach(needle, lacking, main_verb)?;
        Ok(true)
    }

    /// A text with what is said about it. `plain`: a common word counts only if it is marked or quoted.
    pub(super) fn needle(&mut self, plain: bool) -> Result<Option<Needle>, Why> {
        let whole_word = self.cursor.length(words::WHOLE_WORD) > 0
            && self.cursor.length(words::WHOLE_WORD) == self.cursor.length(words::TEXT);
        let any = self.cursor.eat(&["a", "an", "any"]);
        let marked = self.cursor.eat(words::TEXT);
        // `a TODO` is one, `a test` may be anything.
        let text = self.cursor.text(marked, plain || any)?;
        Ok(text.map(|text| Needle { text, any_case: false, whole_word }))
    }

    /// To the lines, if lines are spoken of, else to the files.
    fn attach(&mut self, needle: Needle, lacking: bool, main_verb: bool) -> Result<(), Why> {
        let said = &mut self.said;
        let lines = said.noun == Some(Noun::Lines);
        if lines && said.headed && said.plural == Some(true) && said.lines_first && !main_verb {
            return Err(Why::LinesOrFiles(needle.text));
        }
        let again = || Why::Twice("a text");
        if lines || (said.noun == Some(Noun::Times) && !lacking) {
            once(&mut said.text, Matching { needle, lacking }, again())
        } else if lacking {
            once(&mut said.files.lacks, needle, again())
        } else {
            once(&mut said.files.contains, needle, again())
        }
    }
}
