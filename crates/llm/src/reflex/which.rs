//! Which: everything that narrows a set of files begins with a word that says what it is. Here: how old and how large.

use super::clause::{Clause, once};
use super::when::{Age, Period, When};
use super::why::Why;
use super::words::{self, Phrases};

impl Clause<'_, '_> {
    /// One piece that narrows, if one stands here.
    pub(super) fn narrowing(&mut self) -> Result<bool, Why> {
        // `except the csv files in docs`: the files, or those that are left out?
        let at = self.cursor.at();
        let excepted = self.said.excepted && !self.said.joined;
        let found = self.any_narrowing()?;
        if found && excepted && self.cursor.at() > at { Err(Why::ExceptWhat) } else { Ok(found) }
    }

    fn any_narrowing(&mut self) -> Result<bool, Why> {
        Ok(self.age()?
            || self.size()?
            || self.outside()?
            || self.except()?
            || self.named()?
            || self.content()?
            || self.place()?)
    }
}

/// When.
impl Clause<'_, '_> {
    /// `modified today`, `older than 30 days`, `since 1 November 2026`.
    pub(super) fn age(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        let not = self.cursor.eat(words::NOT);
        let now = self.cursor.eat(words::CHANGED);
        let changed = now || self.said.changed;
        let Some(mut age) = self.bounds(changed, now) else {
            self.cursor.back_to(start);
            return Ok(false);
        };
        if not {
            (age.from, age.before) = match (age.from, age.before) {
                (from, None) => (None, from),
                (None, before) => (before, None),
                _ => return Err(Why::NotHere("not".into())),
            };
        }
        let old = &mut self.said.files.age;
        let twice = || Why::Twice("an age");
        age.from.map_or(Ok(()), |from| once(&mut old.from, from, twice()))?;
        age.before.map_or(Ok(()), |before| once(&mut old.before, before, twice()))?;
        let words = self.cursor.said_since(start);
        let words = words.strip_prefix("that were ").unwrap_or(&words);
        old.said = if old.said.is_empty() { words.to_owned() } else { format!("{} and {words}", old.said) };
        self.said.changed = false;
        Ok(true)
    }

    fn bounds(&mut self, changed: bool, now: bool) -> Option<Age> {
        let cursor = &mut *self.cursor;
        let of = |from, before| Age { from, before, said: String::new() };
        let ago = |(n, unit)| Some(When::Ago(n, unit));
        if let Some(span) = cursor.maybe(|c| c.eat(words::OLDER).then(|| c.span()).flatten()) {
            cursor.eat(words::OLD);
            return Some(of(None, ago(span)));
        }
        if let Some(span) = cursor.maybe(|c| c.eat(words::NEWER).then(|| c.span()).flatten()) {
            cursor.eat(words::OLD);
            return Some(of(ago(span), None));
        }
        let behind = |c: &mut super::cursor::Cursor<'_>, phrases: Phrases| {
            c.maybe(|c| c.eat(phrases).then(|| c.period()).flatten())
        };
        let two = cursor.maybe(|c| {
            let from = behind(c, words::BETWEEN)?;
            c.eat(words::AND).then(|| c.period()).flatten().map(|end| (from, end))
        });
        if let Some((Period { from, .. }, Period { end, .. })) = two {
            return Some(of(Some(from), Some(end)));
        }
        if let Some(Period { from, .. }) = behind(cursor, words::BEFORE) {
            return Some(of(None, Some(from)));
        }
        if let Some(Period { end, .. }) = behind(cursor, words::AFTER) {
            return Some(of(Some(end), None));
        }
        if changed && let Some(Period { from, .. }) = behind(cursor, &["since", "on or after"]) {
            return Some(of(Some(from), None));
        }
        let relative = |c: &mut super::cursor::Cursor<'_>| {
            matches!(c.word(0), Some("today" | "yesterday" | "this" | "last"))
        };
        let from_day =
            cursor.maybe(|c| (c.eat(words::FROM_DAY) && relative(c)).then(|| c.period()).flatten());
        if let Some(Period { from, end }) = from_day {
            return Some(of(Some(from), Some(end)));
        }
        if !changed {
            return None;
        }
        // `changed in zzz October`: only what is plainly a day may stand apart from what happened on it.
        let apart = now || relative(cursor);
        let bare = if apart { cursor.period() } else { None };
        if let Some(Period { from, end }) = bare.or_else(|| behind(cursor, words::ON)) {
            return Some(of(Some(from), Some(end)));
        }
        let span = cursor.maybe(|c| {
            let bare = c.length(&["the last", "the past", "last", "past"]) == c.length(words::LAST);
            ((now || !bare) && c.eat(words::LAST))
                .then(|| c.span().or_else(|| c.unit().map(|unit| (1, unit))))
                .flatten()
        });
        span.map(|span| of(ago(span), None))
    }
}

/// How large.
impl Clause<'_, '_> {
    pub(super) fn size(&mut self) -> Result<bool, Why> {
        let bounds = self.cursor.maybe(|c| {
            const TABLE: [(Phrases, i8); 4] =
                [(words::AT_LEAST, 1), (words::AT_MOST, -1), (words::LARGER, 2), (words::SMALLER, -2)];
            if c.eat(words::BETWEEN) {
                let from = c.bytes()?;
                return c
                    .eat(words::AND)
                    .then(|| c.bytes())
                    .flatten()
                    .map(|to| (from.checked_sub(1), to.checked_add(1)));
            }
            c.eat(words::SIZED);
            let (_, which) = TABLE
                .iter()
                .map(|(p, w)| (c.length(p), *w))
                .max_by_key(|(length, _)| *length)
                .filter(|(l, _)| *l > 0)?;
            TABLE.iter().find(|(_, w)| *w == which).map(|(p, _)| c.eat(p));
            let bytes = c.bytes()?;
            Some(match which {
                2 => (Some(bytes), None),
                1 => (bytes.checked_sub(1), None),
                -1 => (None, bytes.checked_add(1)),
                _ => (None, Some(bytes)),
            })
        });
        let Some((more, less)) = bounds else { return Ok(false) };
        self.cursor.eat(&["in size", "big", "large"]);
        let (old_more, old_less) = &mut self.said.files.size;
        more.map_or(Ok(()), |more| once(old_more, more, Why::Twice("a size")))?;
        less.map_or(Ok(()), |less| once(old_less, less, Why::Twice("a size")))?;
        Ok(true)
    }
}
