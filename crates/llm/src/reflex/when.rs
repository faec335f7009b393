//! Days and ages, as they are said and as moments. What is said is kept as it was said (`today`), and becomes a moment
//! only with the time of the ask.

use domain::Time;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use super::cursor::Cursor;
use super::words::Phrases;

/// When a file was last changed: from (inclusive), before (exclusive).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Age {
    pub from: Option<When>,
    pub before: Option<When>,
    /// As it was said: `modified today`.
    pub said: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// The beginning of a day, counted from today.
    Day(i32),
    /// The Monday of a week, counted from this one.
    Week(i32),
    Month(i32),
    Year(i32),
    Date(Date),
    /// The last one that has begun, plus so many days.
    Weekday(Weekday, i32),
    /// The last first of this month that has begun, plus so many months.
    MonthOf(i8, i32),
    /// The last such day that has begun, plus so many days.
    DayOf(i8, i8, i32),
    /// So long before the moment of asking.
    Ago(i32, Unit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Minutes,
    Hours,
    Days,
    Weeks,
    Months,
    Years,
}

/// A stretch of time: from, and the first moment behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub from: When,
    pub end: When,
}

/// The time of an ask, where the owner is.
pub(super) fn local(now: Time, zone: &TimeZone) -> Option<Zoned> {
    let stamp = Timestamp::from_microsecond(now.micros()).ok()?;
    Some(stamp.to_zoned(zone.clone()))
}

impl When {
    /// Nothing if it lies beyond all calendars.
    pub(super) fn resolve(self, now: &Zoned) -> Option<Time> {
        let today = now.date();
        let date = match self {
            Self::Day(days) => today.checked_add(Span::new().try_days(days).ok()?).ok()?,
            Self::Week(weeks) => {
                let monday =
                    today.checked_sub(Span::new().days(today.weekday().to_monday_zero_offset())).ok()?;
                monday.checked_add(Span::new().try_weeks(weeks).ok()?).ok()?
            }
            Self::Month(months) => {
                today.first_of_month().checked_add(Span::new().try_months(months).ok()?).ok()?
            }
            Self::Year(years) => {
                today.first_of_year().checked_add(Span::new().try_years(years).ok()?).ok()?
            }
            Self::Date(date) => date,
            Self::Weekday(weekday, days) => {
                let back =
                    (today.weekday().to_monday_zero_offset() - weekday.to_monday_zero_offset()).rem_euclid(7);
                let day = today.checked_sub(Span::new().days(back)).ok()?;
                day.checked_add(Span::new().try_days(days).ok()?).ok()?
            }
            Self::MonthOf(month, more) => {
                let first = last_begun(today, month, 1)?;
                first.checked_add(Span::new().try_months(more).ok()?).ok()?
            }
            Self::DayOf(month, day, more) => {
                last_begun(today, month, day)?.checked_add(Span::new().try_days(more).ok()?).ok()?
            }
            Self::Ago(n, unit) => {
                let then = now.checked_sub(unit.span(n)?).ok()?;
                return Some(Time::from_micros(then.timestamp().as_microsecond()));
            }
        };
        let start = date.to_zoned(now.time_zone().clone()).ok()?;
        Some(Time::from_micros(start.timestamp().as_microsecond()))
    }
}

fn last_begun(today: Date, month: i8, day: i8) -> Option<Date> {
    let this = Date::new(today.year(), month, day).ok();
    match this {
        Some(date) if date <= today => Some(date),
        _ => Date::new(today.year() - 1, month, day).ok(),
    }
}

impl Unit {
    pub(super) fn span(self, n: i32) -> Option<Span> {
        let span = Span::new();
        match self {
            Self::Minutes => span.try_minutes(n),
            Self::Hours => span.try_hours(n),
            Self::Days => span.try_days(n),
            Self::Weeks => span.try_weeks(n),
            Self::Months => span.try_months(n),
            Self::Years => span.try_years(n),
        }
        .ok()
    }
}

/// Reading.
impl Cursor<'_> {
    pub(super) fn unit(&mut self) -> Option<Unit> {
        let unit = match self.word(0)? {
            "minute" | "minutes" | "min" | "mins" => Unit::Minutes,
            "hour" | "hours" | "h" => Unit::Hours,
            "day" | "days" | "d" => Unit::Days,
            "week" | "weeks" => Unit::Weeks,
            "month" | "months" => Unit::Months,
            "year" | "years" => Unit::Years,
            _ => return None,
        };
        self.step();
        Some(unit)
    }

    /// `7 days`, `a year`.
    pub(super) fn span(&mut self) -> Option<(i32, Unit)> {
        self.maybe(|cursor| {
            let n = match cursor.number() {
                Some(n) => i32::try_from(n).ok().filter(|&n| n <= 100_000)?,
                None if cursor.eat(&["a", "an"]) => 1,
                None => return None,
            };
            Some((n, cursor.unit()?))
        })
    }

    pub(super) fn period(&mut self) -> Option<Period> {
        const RELATIVE: &[(Phrases, When, When)] = &[
            (&["today"], When::Day(0), When::Day(1)),
            (&["yesterday"], When::Day(-1), When::Day(0)),
            (&["tomorrow"], When::Day(1), When::Day(2)),
            (&["this week", "the current week"], When::Week(0), When::Week(1)),
            (&["last week", "the previous week"], When::Week(-1), When::Week(0)),
            (&["this month", "the current month"], When::Month(0), When::Month(1)),
            (&["last month", "the previous month"], When::Month(-1), When::Month(0)),
            (&["this year", "the current year"], When::Year(0), When::Year(1)),
            (&["last year", "the previous year"], When::Year(-1), When::Year(0)),
        ];
        for &(phrases, from, end) in RELATIVE {
            if self.eat(phrases) {
                return Some(Period { from, end });
            }
        }
        self.maybe(|cursor| cursor.dated())
    }

    /// `2026-11-01`, `1 November 2026`, `November 2026`, `2026`, `November`, `Monday`.
    fn dated(&mut self) -> Option<Period> {
        if let Some(date) = self.date() {
            return Some(Period { from: When::Date(date), end: When::Date(date.tomorrow().ok()?) });
        }
        if let Some((month, day)) = self.maybe(|cursor| cursor.day_and_month()) {
            return Some(Period { from: When::DayOf(month, day, 0), end: When::DayOf(month, day, 1) });
        }
        if let Some(month) = self.month() {
            self.eat(&["of"]);
            return Some(match self.year() {
                Some(year) => {
                    let first = Date::new(year, month, 1).ok()?;
                    let next = first.checked_add(Span::new().months(1)).ok()?;
                    Period { from: When::Date(first), end: When::Date(next) }
                }
                None => Period { from: When::MonthOf(month, 0), end: When::MonthOf(month, 1) },
            });
        }
        if let Some(weekday) = self.weekday() {
            return Some(Period { from: When::Weekday(weekday, 0), end: When::Weekday(weekday, 1) });
        }
        let year = self.year()?;
        let of = |year| Date::new(year, 1, 1).ok().map(When::Date);
        Some(Period { from: of(year)?, end: of(year + 1)? })
    }

    /// A whole date with its year.
    pub(super) fn date(&mut self) -> Option<Date> {
        self.maybe(|cursor| {
            if let Some(date) = cursor.word(0).and_then(iso) {
                cursor.step();
                return Some(date);
            }
            cursor.eat(&["the"]);
            let (month, day) = cursor.day_and_month()?;
            cursor.eat_mark(&[',']);
            Date::new(cursor.year()?, month, day).ok()
        })
    }

    /// `24 December`, `December 24th`, `1st of May`: month, day.
    pub(super) fn day_and_month(&mut self) -> Option<(i8, i8)> {
        self.maybe(|cursor| {
            if let Some(month) = cursor.month() {
                cursor.eat(&["the"]);
                return Some((month, cursor.day()?));
            }
            let day = cursor.day()?;
            cursor.eat(&["of"]);
            Some((cursor.month()?, day))
        })
    }

    fn day(&mut self) -> Option<i8> {
        let word = self.word(0)?;
        let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        let day = digits.parse::<i8>().ok().filter(|day| (1..=31).contains(day))?;
        self.step();
        Some(day)
    }

    pub(super) fn year(&mut self) -> Option<i16> {
        let word = self.word(0).filter(|word| word.len() == 4)?;
        let year = word.parse::<i16>().ok().filter(|year| (1900..=2999).contains(year))?;
        self.step();
        Some(year)
    }

    pub(super) fn month(&mut self) -> Option<i8> {
        const MONTHS: [&str; 12] = [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ];
        let word = self.word(0)?;
        let found = |name: &&str| {
            *name == word
                || (word.len() == 3 && name.starts_with(word))
                || (word == "sept" && *name == "september")
        };
        let month = MONTHS.iter().position(found)?;
        self.step();
        i8::try_from(month + 1).ok()
    }

    pub(super) fn weekday(&mut self) -> Option<Weekday> {
        let weekday = match self.word(0)? {
            "monday" => Weekday::Monday,
            "tuesday" => Weekday::Tuesday,
            "wednesday" => Weekday::Wednesday,
            "thursday" => Weekday::Thursday,
            "friday" => Weekday::Friday,
            "saturday" => Weekday::Saturday,
            "sunday" => Weekday::Sunday,
            _ => return None,
        };
        self.step();
        Some(weekday)
    }
}

fn iso(word: &str) -> Option<Date> {
    let shaped = word.len() == 10
        && word.bytes().enumerate().all(|(i, byte)| match i {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    shaped.then(|| word.parse().ok()).flatten()
}
