//! A moment, to the microsecond (what both databases keep), and where it comes from.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::CLOCK_TOLERANCE;

/// Given, never fetched: a test turns it by hand.
pub trait Clock: Send + Sync {
    fn now(&self) -> Time;
}

/// Microseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this is; nothing if the clock went backwards.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Whether this moment, now, lies between the two. What begins further in the future than its own length was dated by a
    /// wrong clock and counts as over: nothing lasts longer than twice its length, whether the clock was wrong then or is
    /// wrong now, and a clock that is corrected by less than that length ends nothing.
    #[must_use]
    pub fn is_within(self, since: Self, until: Self) -> bool {
        self < until && since <= self.plus(until.since(since).max(CLOCK_TOLERANCE))
    }

    /// The same for what may not last longer than its length at all: whatever begins in the future counts as over.
    #[must_use]
    pub fn is_strictly_within(self, since: Self, until: Self) -> bool {
        self < until && !since.is_after(self)
    }

    /// Whether this is later than `now` by more than clocks may differ.
    #[must_use]
    pub fn is_after(self, now: Self) -> bool {
        self > now.plus(CLOCK_TOLERANCE)
    }

    fn stamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }

    /// What clock and calendar show in the given zone.
    #[must_use]
    pub fn local(self, zone: &jiff::tz::TimeZone) -> jiff::civil::DateTime {
        self.stamp().to_zoned(zone.clone()).datetime()
    }

    /// With its zone, for whoever has no clock: `Sunday 15 Nov 2026 08:30:00 (Europe/Berlin, +01:00)`.
    #[must_use]
    pub fn spoken(self, zone: &jiff::tz::TimeZone) -> String {
        let there = self.stamp().to_zoned(zone.clone());
        let name = zone.iana_name().map(|name| format!("{name}, ")).unwrap_or_default();
        format!("{} ({name}{})", there.strftime("%A %-d %b %Y %H:%M:%S"), there.strftime("%:z"))
    }

    /// `14:21:07`, in the given zone.
    #[must_use]
    pub fn clock_time(self, zone: &jiff::tz::TimeZone) -> String {
        self.stamp().to_zoned(zone.clone()).strftime("%H:%M:%S").to_string()
    }

    /// `2026-11-03`, in the given zone.
    #[must_use]
    pub fn date(self, zone: &jiff::tz::TimeZone) -> String {
        self.stamp().to_zoned(zone.clone()).strftime("%Y-%m-%d").to_string()
    }

    /// `3 Nov 2026 14:21:07`, in the given zone.
    #[must_use]
    pub fn date_time(self, zone: &jiff::tz::TimeZone) -> String {
        self.stamp().to_zoned(zone.clone()).strftime("%-d %b %Y %H:%M:%S").to_string()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}", self.stamp())
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a moment; write it like 2026-11-15T08:30:00Z")]
pub struct NotATime(String);

impl FromStr for Time {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        let stamp: Result<jiff::Timestamp, _> = text.parse();
        stamp.map(|stamp| Self(stamp.as_microsecond())).map_err(|_unreadable| NotATime(text.into()))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Time;
    use std::time::Duration;

    #[test]
    fn it_prints_six_decimals_and_reads_any_offset() {
        let time: Time = "2026-11-15T10:30:00.5+02:00".parse().unwrap();
        assert_eq!(time.to_string(), "2026-11-15T08:30:00.500000Z");
        assert_eq!(time.to_string().parse(), Ok(time));
    }

    #[test]
    fn a_clock_that_goes_back_measures_nothing() {
        let (early, late) = (Time::from_micros(5), Time::from_micros(9));
        assert_eq!(late.since(early), Duration::from_micros(4));
        assert_eq!(early.since(late), Duration::ZERO);
    }

    #[test]
    fn nothing_lasts_longer_than_twice_its_length_whatever_the_clock_says() {
        let at = |seconds: i64| Time::from_micros(seconds * 1_000_000);
        let years = 10 * 365 * 24 * 3600;
        for (now, expected, strictly, name) in [
            (0, true, true, "at its beginning"),
            (99, true, true, "before its end"),
            (100, false, false, "at its end"),
            (years, false, false, "long after it"),
            (-60, true, true, "a clock that was corrected a little"),
            (-61, true, false, "a clock that was corrected by more"),
            (-100, true, false, "a clock that was corrected by its length"),
            (-101, false, false, "a clock that was corrected by more than its length"),
            (-years, false, false, "a clock that is years behind"),
        ] {
            assert_eq!(at(now).is_within(at(0), at(100)), expected, "{name}");
            assert_eq!(at(now).is_strictly_within(at(0), at(100)), strictly, "{name}, strictly");
        }
        assert!(at(-60).is_within(at(0), at(1)), "what is short bears what clocks may differ");
        assert!(!at(-61).is_within(at(0), at(1)));
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        let error = "yesterday".parse::<Time>().unwrap_err();
        assert_eq!(error.to_string(), "`yesterday` is not a moment; write it like 2026-11-15T08:30:00Z");
    }

    #[test]
    fn a_moment_is_spoken_with_its_zone() {
        let at = Time::from_micros(1_794_987_000_000_000);
        let zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap();
        assert_eq!(at.spoken(&zone), "Wednesday 18 Nov 2026 08:30:00 (Europe/Berlin, +01:00)");
        let fixed = jiff::tz::TimeZone::fixed(jiff::tz::offset(-3));
        assert_eq!(at.spoken(&fixed), "Wednesday 18 Nov 2026 04:30:00 (-03:00)");
    }
}
