//! In which order and how many, and which part of a file.

use super::clause::Clause;
use super::request::Rank;
use super::said::Piece;
use super::words::{self, Phrases};

/// In which order, and how many.
impl Clause<'_, '_> {
    pub(super) fn ranking(&mut self) -> bool {
        const TABLE: [(Phrases, Rank); 8] = [
            (words::LARGEST, Rank::Largest),
            (words::SMALLEST, Rank::Smallest),
            (words::NEWEST, Rank::Newest),
            (words::OLDEST, Rank::Oldest),
            (words::MOST_LINES, Rank::MostLines),
            (words::FEWEST_LINES, Rank::FewestLines),
            (words::MOST_WORDS, Rank::MostWords),
            (words::MOST_MATCHES, Rank::MostMatches),
        ];
        let start = self.cursor.at();
        let single = self.cursor.is_behind(&["is the", "is", "one is the", "was the"]);
        let of_top = self.cursor.is_behind(&["which of the", "which of", "many of the", "many of"]);
        let top = self.cursor.eat(words::TOP);
        let starting =
            self.said.rank.is_some() && self.cursor.eat(&["starting with the", "beginning with the"]);
        let before = self.cursor.number();
        let (length, found) = TABLE.iter().fold((0, None), |best, (phrases, rank)| {
            let length = self.cursor.length(phrases);
            if length > best.0 { (length, Some((phrases, *rank))) } else { best }
        });
        let rank = found.filter(|_| length >= self.plain_length());
        let Some((phrases, rank)) = rank else { return self.order_by() || self.bare_top(start, top, before) };
        if self.said.rank.is_some_and(|old| old != rank) || (self.said.rank.is_some() && before.is_some()) {
            self.cursor.back_to(start);
            return false;
        }
        self.cursor.eat(phrases);
        if starting {
            return true;
        }
        if before.is_none() && !top && self.cursor.eat(words::FIRST_IN_ORDER) {
            (self.said.rank, self.said.ordered) = (Some(rank), true);
            return true;
        }
        if before.is_none() && !top && self.cursor.eat(&["one"]) {
            (self.said.rank, self.said.single) = (Some(rank), true);
            return true;
        }
        let after = if before.is_none() { self.cursor.number() } else { None };
        if (before.is_some()
            && self.cursor.length(&["one", "two", "three"]) == 0
            && self.cursor.word(0).and_then(words::number).is_some())
            || (self.said.number.is_some() && (before.or(after)).is_some())
        {
            self.cursor.back_to(start);
            return false;
        }
        self.said.rank = Some(rank);
        self.said.number = self.said.number.or(before).or(after);
        self.said.single |= single;
        self.said.of_top |= of_top;
        true
    }

    fn order_by(&mut self) -> bool {
        let start = self.cursor.at();
        self.cursor.eat(&[
            "sorted",
            "ordered",
            "ranked",
            "sort",
            "sort them",
            "order",
            "order them",
            "sort the list",
        ]);
        let rank = if self.cursor.eat(words::BY_SIZE) {
            Rank::Largest
        } else if self.cursor.eat(words::BY_AGE) {
            Rank::Newest
        } else {
            self.cursor.back_to(start);
            return false;
        };
        self.said.ordered |= self.said.number.is_none() && self.said.rank.is_none();
        self.said.rank = self.said.rank.or(Some(rank));
        true
    }

    /// `top 3`: what they are ranked by is said elsewhere.
    fn bare_top(&mut self, start: usize, top: bool, number: Option<u32>) -> bool {
        match number {
            Some(number) if top && self.said.number.is_none() && self.cursor.length(words::LINES) == 0 => {
                self.said.number = Some(number);
                true
            }
            _ => {
                self.cursor.back_to(start);
                false
            }
        }
    }
}

/// Which part of a file.
impl Clause<'_, '_> {
    /// `the first 3 lines`, `last line`, `lines 3 to 7`, `tail`.
    pub(super) fn part(&mut self) -> bool {
        let said = &mut self.said;
        if let (Some(Piece::First(n @ None) | Piece::Last(n @ None)), true) = (&mut said.part, true) {
            let lines = self.cursor.maybe(|c| c.number().filter(|_| c.eat(&["lines", "line"])));
            if let Some(lines) = lines {
                *n = Some(lines);
                return true;
            }
        }
        let found = self.cursor.maybe(|c| {
            let first = c.eat(words::FIRST);
            if first || c.eat(words::FINAL) {
                let n = c.number();
                let one = c.length(&["line"]) > 0;
                if !c.eat(&["lines", "line", "lines of text", "rows of text"]) {
                    return None;
                }
                let n = n.or_else(|| one.then_some(1))?;
                return Some(if first { Piece::First(Some(n)) } else { Piece::Last(Some(n)) });
            }
            if c.eat(&["lines", "line"]) {
                let from = c.number()?;
                let to = if c.eat(&["to", "through", "until", "-"]) { c.number()? } else { from };
                return Some(Piece::Between(from, to));
            }
            let head = c.eat(words::HEAD);
            if !head && !c.eat(words::TAIL) {
                return None;
            }
            let n = c.number().filter(|_| c.eat(&["lines", "line"]));
            let of = n.is_some()
                || c.length(&["of"]) > 0
                || c.file_literal().is_ok_and(|file| file.is_some()).then(|| c.back_to(c.at() - 1)).is_some();
            of.then_some(if head { Piece::First(n) } else { Piece::Last(n) })
        });
        match (self.said.part, found) {
            (_, None) => return false,
            // `beginning of x, first 3 lines`.
            (None, _)
            | (Some(Piece::First(None)), Some(Piece::First(_)))
            | (Some(Piece::Last(None)), Some(Piece::Last(_))) => {}
            (Some(_), Some(_)) => return false,
        }
        self.said.part = found;
        true
    }
}
