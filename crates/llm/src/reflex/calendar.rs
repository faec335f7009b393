//! Questions about days: which weekday, how many days, which date. Answered directly.

use jiff::civil::{Date, Weekday};
use jiff::{Span, Zoned};

use super::cursor::Cursor;
use super::token::Token;
use super::when::Unit;
use super::why::Why;
use super::words::Phrases;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Weekday,
    Date,
    /// How many of them.
    Units(Unit),
    Time,
}

/// A day, as it is said: with its year, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Day {
    Sure(Date),
    /// Month and day; the next one, or the last one, as the question has it.
    Yearly(i8, i8),
    Next(Weekday),
    Last(Weekday),
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one word that was said or not")]
struct Question {
    asked: Option<Asked>,
    days: Vec<Day>,
    /// Before this day or after it.
    span: Option<(i32, Unit)>,
    back: bool,
    forth: bool,
    since: bool,
    until: bool,
    /// It was, it is not to come.
    past: bool,
}

const ABOUT_WEEKDAY: Phrases = &[
    "day of the week",
    "weekday",
    "what day",
    "which day",
    "day of week",
    "the day of the week",
    "what day of the week",
    "which weekday",
    "what weekday",
    "which day of the week",
    "the weekday",
];
const ABOUT_DATE: Phrases = &[
    "date",
    "the date",
    "what date",
    "which date",
    "what day of the month",
    "calendar date",
    "current date",
    "today's date",
    "todays date",
    "the current date",
    "date of today",
];
const ABOUT_TIME: Phrases = &["what time", "the time", "current time", "the current time", "time"];
const FILLER: Phrases = &[
    "what",
    "which",
    "is",
    "was",
    "will",
    "be",
    "it",
    "on",
    "does",
    "do",
    "did",
    "fall",
    "falls",
    "fell",
    "are",
    "there",
    "how many",
    "the",
    "of",
    "have",
    "has",
    "had",
    "passed",
    "been",
    "to go",
    "go",
    "left",
    "still",
    "that",
    "come",
    "comes",
    "would",
    "please",
    "tell me",
    "can you tell me",
    "could you tell me",
    "can you",
    "could you",
    "give me",
    "a",
    "how long",
    "in days",
    "number of",
    "exactly",
    "remaining",
    "remain",
    "for me",
    "lie",
    "lies",
    "we have",
    "do we have",
    "elapsed",
    "gone by",
    "show",
    "count",
    "calculate",
    "compute",
    "i",
    "need",
    "want",
    "to know",
    "i'd like to know",
    "i would like to know",
    "it's",
    "today is",
    "as of today",
    "counting from today",
    "starting today",
    "many",
    "the number of",
    "be the",
    "kindly",
    "i need to know",
    "i want to know",
    "now",
    "currently",
    "right now",
    "here",
    "and",
];

/// Nothing if it is no question about days.
///
/// # Errors
/// If it is one, and there is no such day.
pub(super) fn reply(tokens: &[Token], now: &Zoned) -> Result<Option<String>, Why> {
    let mut cursor = Cursor::new(tokens);
    // `is today a weekday` wants a yes or a no.
    if matches!(cursor.word(0), Some("is" | "have" | "has" | "was" | "are" | "do" | "does" | "did")) {
        return Ok(None);
    }
    let past = |token: &Token| matches!(token, Token::Word { lower, .. } if matches!(lower.as_str(), "was" | "were" | "did" | "fell" | "ago"));
    let mut question = Question { past: tokens.iter().any(past), ..Question::default() };
    while cursor.peek().is_some() {
        if cursor.eat_mark(&['?', '.', '!', ',', ':'])
            || question.piece(&mut cursor, now.date())?
            || cursor.eat(FILLER)
        {
            continue;
        }
        return Ok(None);
    }
    question.answer(now)
}

impl Question {
    fn piece(&mut self, cursor: &mut Cursor<'_>, today: Date) -> Result<bool, Why> {
        if let Some(day) = day(cursor, today)? {
            self.days.push(day);
            return Ok(true);
        }
        if let Some(span) = cursor.span() {
            if self.span.replace(span).is_some() {
                return Err(Why::NoSuchDay);
            }
            return Ok(true);
        }
        if cursor.eat(&["ago", "before", "earlier than", "prior to", "earlier"]) {
            // `days before Christmas` are days until it.
            (self.back, self.until) = (true, true);
        } else if cursor.eat(&["from now", "from today", "hence"]) {
            self.forth = true;
        } else if cursor.eat(&["after", "later than", "later", "following"]) {
            (self.forth, self.since) = (true, true);
        } else if cursor.length(&["in", "within"]) > 0 && self.span.is_none() {
            cursor.eat(&["in", "within"]);
            self.forth = true;
        } else if cursor.eat(&["until", "till", "to", "up to", "til"]) {
            self.until = true;
        } else if cursor.eat(&["since", "from"]) {
            self.since = true;
        } else if cursor.eat(&["between"]) {
        } else if let Some(asked) = asked(cursor) {
            if self.asked.is_some_and(|before| before != asked)
                && !matches!(
                    (self.asked, asked),
                    (Some(Asked::Units(_)), Asked::Date)
                        | (Some(Asked::Date), Asked::Weekday)
                        | (Some(Asked::Weekday), Asked::Date)
                )
            {
                return Err(Why::NoSuchDay);
            }
            self.asked = self.asked.or(Some(asked));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn answer(self, now: &Zoned) -> Result<Option<String>, Why> {
        let today = now.date();
        let next = |day: &Day| day.resolve(today, !self.past).ok_or(Why::NoSuchDay);
        let last = |day: &Day| day.resolve(today, false).ok_or(Why::NoSuchDay);
        let shown = |date: Date| format!("{date}, a {}", name(date.weekday()));
        Ok(match (self.asked, self.days.as_slice(), self.span) {
            (Some(Asked::Time), [], None) => Some(format!("It is {}.", now.strftime("%H:%M"))),
            (Some(Asked::Weekday), [], None) => Some(format!("Today is {}, {today}.", name(today.weekday()))),
            (Some(Asked::Date), [], None) => Some(format!("Today is {}.", shown(today))),
            (Some(Asked::Weekday | Asked::Date), [day], None) if !self.until && !self.since => {
                let date = next(day)?;
                let verb = if date < today { "was" } else { "is" };
                Some(format!("{date} {verb} a {}.", name(date.weekday())))
            }
            (Some(Asked::Date | Asked::Weekday) | None, days @ ([] | [_]), Some((n, unit)))
                if self.back != self.forth =>
            {
                let from = days.first().map_or(Ok(today), next)?;
                let span = unit.span(n).ok_or(Why::NoSuchDay)?;
                if matches!(unit, Unit::Hours | Unit::Minutes) || self.asked.is_none() && days.is_empty() {
                    return Ok(None);
                }
                let date = if self.back { from.checked_sub(span) } else { from.checked_add(span) };
                Some(format!("{}.", shown(date.map_err(|_beyond| Why::NoSuchDay)?)))
            }
            (Some(Asked::Units(unit)), [day], None) if self.until != self.since => {
                let past = self.since || self.past;
                let (from, to) = if past { (last(day)?, today) } else { (today, next(day)?) };
                Some(apart(unit, from, to, today)?)
            }
            (Some(Asked::Units(unit)), [one, other], None) => {
                Some(apart(unit, next(one)?, next(other)?, today)?)
            }
            _ => None,
        })
    }
}

fn asked(cursor: &mut Cursor<'_>) -> Option<Asked> {
    if cursor.eat(ABOUT_WEEKDAY) {
        return Some(Asked::Weekday);
    }
    if cursor.eat(ABOUT_DATE) {
        return Some(Asked::Date);
    }
    if cursor.length(ABOUT_TIME) > 1 {
        cursor.eat(ABOUT_TIME);
        return Some(Asked::Time);
    }
    cursor.eat(&["how many", "number of", "the number of"]);
    match cursor.word(0)? {
        "days" | "day" => (cursor.step(), Some(Asked::Units(Unit::Days))).1,
        "weeks" => (cursor.step(), Some(Asked::Units(Unit::Weeks))).1,
        _ => None,
    }
}

fn day(cursor: &mut Cursor<'_>, today: Date) -> Result<Option<Day>, Why> {
    let moved = |days: i32| today.checked_add(Span::new().days(days)).ok();
    for (phrases, days) in [
        (&["today", "today's"] as Phrases, 0),
        (&["tomorrow"], 1),
        (&["yesterday"], -1),
        (&["the day after tomorrow"], 2),
        (&["the day before yesterday"], -2),
    ] {
        // `30 days from today` and `what day is it today` count from it anyway.
        if cursor.eat(phrases) {
            return Ok(moved(days).map(Day::Sure));
        }
    }
    const NAMED: [(Phrases, i8, i8); 5] = [
        (&["christmas", "christmas day"], 12, 25),
        (&["christmas eve"], 12, 24),
        (&["new year's eve", "new years eve"], 12, 31),
        (&["new year", "new year's day", "new years day", "new year's"], 1, 1),
        (&["halloween"], 10, 31),
    ];
    let longest = NAMED.iter().max_by_key(|(phrases, ..)| cursor.length(phrases));
    if let Some((phrases, month, day)) = longest.filter(|(phrases, ..)| cursor.length(phrases) > 0) {
        cursor.eat(phrases);
        return Ok(Some(Day::Yearly(*month, *day)));
    }
    if let Some(date) = cursor.date() {
        return Ok(Some(Day::Sure(date)));
    }
    if let Some((month, day)) = cursor.day_and_month() {
        cursor.eat_mark(&[',']);
        if cursor.year().is_some() || Date::new(2024, month, day).is_err() {
            return Err(Why::NoSuchDay); // with its year it would have been a date
        }
        return Ok(Some(Day::Yearly(month, day)));
    }
    let next = cursor.eat(&["next"]);
    let last = !next && cursor.eat(&["last"]);
    Ok(cursor.weekday().map(|weekday| if last { Day::Last(weekday) } else { Day::Next(weekday) }))
}

impl Day {
    /// The one to come (today included), or the last one.
    fn resolve(self, today: Date, coming: bool) -> Option<Date> {
        match self {
            Self::Sure(date) => Some(date),
            Self::Yearly(month, day) => {
                let years = if coming { [0, 1, 2, 3, 4] } else { [0, -1, -2, -3, -4] };
                let dates =
                    years.into_iter().filter_map(|year| Date::new(today.year() + year, month, day).ok());
                dates.into_iter().find(|&date| if coming { date >= today } else { date <= today })
            }
            Self::Next(weekday) => weekday_from(today, weekday, if coming { 1 } else { -1 }),
            Self::Last(weekday) => weekday_from(today, weekday, -1),
        }
    }
}

fn weekday_from(today: Date, weekday: Weekday, way: i32) -> Option<Date> {
    (1..=7)
        .filter_map(|days| today.checked_add(Span::new().days(days * way)).ok())
        .find(|date| date.weekday() == weekday)
}

fn apart(unit: Unit, from: Date, to: Date, today: Date) -> Result<String, Why> {
    let days = from.until(to).map_err(|_beyond| Why::NoSuchDay)?.get_days();
    let shown = |n: i32, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let many = days.abs();
    let amount = match unit {
        Unit::Weeks if many % 7 == 0 => shown(many / 7, "week"),
        Unit::Weeks => format!("{} and {}", shown(many / 7, "week"), shown(many % 7, "day")),
        _ => shown(many, "day"),
    };
    Ok(match () {
        () if from == today && days >= 0 => format!("{amount} until {to}."),
        () if to == today && days >= 0 => format!("{amount} since {from}."),
        () if from == today => format!("{to} was {amount} ago."),
        () => format!("{amount} between {from} and {to}."),
    })
}

const fn name(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}
