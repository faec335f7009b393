//! When a condition holds, in local time.
//!
//! One entry is days, a window, or both with a blank between them, and holds where all it says does; of a list any entry
//! may hold.
//!
//! - days: `weekdays`, `weekends`, `mon` … `sun` or their whole names, `mon-fri`, several with commas: `mon,wed,fri`
//! - window: `23:00-08:00`, from its first minute on, up to but without its last. One that ends before it begins goes over
//!   midnight and belongs to the day on which it began: `fri 23:00-08:00` ends on Saturday morning. `24:00` is an end.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::case::Moment;

/// Minutes of a day.
pub(super) const DAY: u16 = 24 * 60;
/// Minutes of a week.
pub(super) const WEEK: u16 = 7 * DAY;

pub(super) const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// What people are told about.
pub(super) const DAY_WORDS: [&str; 9] =
    ["weekdays", "weekends", "mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// How few letters of a day's name are enough.
const SHORT: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotATime {
    #[error("it says neither a day nor a window")]
    Empty,
    #[error("`{0}` is no day")]
    NotADay(String),
    #[error("`{0}` is no window like `23:00-08:00`")]
    NotAWindow(String),
    #[error("`{0}` is no time of day between `00:00` and `24:00`")]
    NotAClock(String),
    #[error("`{0}` has two windows: make it two entries of a list")]
    Two(String),
    #[error("`{0}` begins and ends at once: the whole day is `00:00-24:00`")]
    NoLength(String),
}

/// Kept as it was written; the spans follow from that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct When {
    written: Vec<String>,
    /// Minutes of the week; none goes over its end.
    spans: Vec<Span>,
}

type Span = (u16, u16);

impl When {
    /// # Errors
    /// The first entry that is no time, and why.
    pub fn new(written: Vec<String>) -> Result<Self, NotATime> {
        let mut spans = Vec::new();
        for entry in &written {
            spans.extend(parse(entry)?);
        }
        if spans.is_empty() { Err(NotATime::Empty) } else { Ok(Self { written, spans }) }
    }

    #[must_use]
    pub fn holds(&self, minute_of_week: u16) -> bool {
        self.spans.iter().any(|&(from, to)| (from..to).contains(&minute_of_week))
    }

    /// When it begins to hold the next time, seen from a moment at which it does not.
    #[must_use]
    pub fn opens(&self, after: Moment) -> Option<Moment> {
        let waits = |&(from, _): &Span| (from + WEEK - after.minute_of_week()) % WEEK;
        let from = self.spans.iter().min_by_key(|span| waits(span)).map(|(from, _)| *from)?;
        Moment::try_from(from).ok()
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written.join(" or "))
    }
}

impl TryFrom<Vec<String>> for When {
    type Error = NotATime;

    fn try_from(written: Vec<String>) -> Result<Self, NotATime> {
        Self::new(written)
    }
}

impl From<When> for Vec<String> {
    fn from(when: When) -> Self {
        when.written
    }
}

/// The spans of one entry.
pub(super) fn parse(entry: &str) -> Result<Vec<Span>, NotATime> {
    let words = || entry.split([' ', ',']).filter(|word| !word.is_empty());
    let is_window = |word: &&str| word.contains(':');
    let mut windows = words().filter(is_window);
    let window = windows.next().map(window).transpose()?;
    if windows.next().is_some() {
        return Err(NotATime::Two(entry.to_owned()));
    }
    let mut days = [false; 7];
    for word in words().filter(|word| !is_window(word)) {
        let named = named_days(word)?;
        days.iter_mut().zip(named).for_each(|(day, named)| *day |= named);
    }
    if !days.contains(&true) {
        if window.is_none() {
            return Err(NotATime::Empty);
        }
        days = [true; 7];
    }
    let (from, length) = window.unwrap_or((0, DAY));
    let begins = (0..7).zip(days).filter(|(_, on)| *on).map(|(day, _)| day * DAY + from);
    Ok(begins.flat_map(|begin| within_the_week(begin, length)).collect())
}

/// Sunday's night goes on at the beginning of the week.
fn within_the_week(begin: u16, length: u16) -> impl Iterator<Item = Span> {
    let end = begin + length;
    let over = (end > WEEK).then(|| (0, end - WEEK));
    [(begin, end.min(WEEK))].into_iter().chain(over)
}

fn named_days(word: &str) -> Result<[bool; 7], NotATime> {
    let lower = word.to_ascii_lowercase();
    match lower.as_str() {
        "weekdays" => return Ok([true, true, true, true, true, false, false]),
        "weekends" => return Ok([false, false, false, false, false, true, true]),
        _ => {}
    }
    let wrong = || NotATime::NotADay(word.to_owned());
    let day = |name: &str| {
        let fits = |day: &str| day == name || (name.len() == SHORT && day.starts_with(name));
        DAYS.iter().position(|day| fits(day)).ok_or_else(wrong)
    };
    let (first, last) = match lower.split_once('-') {
        Some((first, last)) => (day(first)?, day(last)?),
        None => (day(&lower)?, day(&lower)?),
    };
    // `fri-mon` goes over the end of the week.
    let far = (last + 7 - first) % 7;
    Ok(std::array::from_fn(|at| (at + 7 - first) % 7 <= far))
}

/// Its first minute, and how long it is.
fn window(word: &str) -> Result<(u16, u16), NotATime> {
    let (from, to) = word.split_once('-').ok_or_else(|| NotATime::NotAWindow(word.to_owned()))?;
    let (from, to) = (clock(from)?, clock(to)?);
    if from % DAY == to % DAY && (from, to) != (0, DAY) {
        return Err(NotATime::NoLength(word.to_owned()));
    }
    if from == DAY {
        return Err(NotATime::NotAClock("24:00".to_owned()));
    }
    Ok((from, if to > from { to - from } else { DAY - from + to }))
}

fn clock(text: &str) -> Result<u16, NotATime> {
    let wrong = || NotATime::NotAClock(text.to_owned());
    let number = |digits: &str| {
        let plain = (1..=2).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit());
        plain.then(|| digits.parse::<u16>().ok()).flatten()
    };
    let (hour, minute) = text.split_once(':').ok_or_else(wrong)?;
    let minute = Some(minute).filter(|minute| minute.len() == 2).and_then(number).ok_or_else(wrong)?;
    let at = number(hour).ok_or_else(wrong)? * 60 + minute;
    if minute < 60 && at <= DAY { Ok(at) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests;
