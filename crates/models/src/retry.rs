//! When to try again, and when to stop. Time and chance are given.

use std::time::Duration;

use domain::Time;

use crate::Trouble;
use crate::trouble::Again;

/// Tries at one endpoint.
pub const TRIES: u32 = 4;
/// Tries of one ask, at all endpoints together, that a server may put on the bill.
pub const BILLED: u32 = 2;

const BASE: Duration = Duration::from_millis(500);
const CAP: Duration = Duration::from_secs(20);
/// A server that wants to be left alone for longer is.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a try that failed leads to, at the same endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Wait(Duration),
    Stop,
}

/// After try number `tried` (from 1) of one endpoint; `chance` is in [0, 1).
#[must_use]
pub fn next(tried: u32, trouble: &Trouble, chance: f64) -> Next {
    let tries = match trouble.again() {
        Again::Never => 1,
        Again::Once => 2,
        Again::Often => TRIES,
    };
    match trouble.after() {
        _ if tried >= tries => Next::Stop,
        Some(after) if after > PATIENCE => Next::Stop,
        // Everybody who was turned away comes back at that moment: a little later is kinder.
        Some(after) => Next::Wait(after + BASE.mul_f64(chance.clamp(0.0, 1.0))),
        None => {
            let most = BASE.saturating_mul(2_u32.saturating_pow(tried.saturating_sub(1))).min(CAP);
            Next::Wait(most.mul_f64(chance.clamp(0.0, 1.0)))
        }
    }
}

/// What the headers say about another try: `retry-after-ms`, else `retry-after` in seconds or as a date.
#[must_use]
pub fn after(milliseconds: Option<&str>, seconds_or_date: Option<&str>, now: Time) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| *number >= 0.0);
    if let Some(wait) = milliseconds.and_then(number) {
        return Duration::try_from_secs_f64(wait / 1000.0).ok();
    }
    let text = seconds_or_date?;
    if let Some(wait) = number(text) {
        return Duration::try_from_secs_f64(wait).ok();
    }
    let date = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    Some(Time::from_micros(date.timestamp().as_microsecond()).since(now))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Next, after, next};
    use crate::Trouble;
    use crate::trouble::Stage;
    use domain::Time;

    fn limited(after: Option<u64>) -> Trouble {
        Trouble::Limited { after: after.map(Duration::from_secs), said: String::new() }
    }

    #[test]
    fn waits_grow_and_chance_spreads_them() {
        let wait = |tried, chance| next(tried, &limited(None), chance);
        let ms = |ms| Next::Wait(Duration::from_millis(ms));
        assert_eq!(
            [wait(1, 0.0), wait(1, 0.5), wait(2, 0.5), wait(3, 0.5)],
            [ms(0), ms(250), ms(500), ms(1000)]
        );
        assert_eq!(wait(4, 0.5), Next::Stop, "four tries");
    }

    #[test]
    fn a_server_is_left_alone_as_long_as_it_says_unless_that_is_too_long() {
        let cases = [
            (Some(0), Next::Wait(Duration::ZERO)),
            (Some(7), Next::Wait(Duration::from_secs(7))),
            (Some(60), Next::Wait(Duration::from_secs(60))),
            (Some(61), Next::Stop),
        ];
        for (seconds, expected) in cases {
            assert_eq!(next(1, &limited(seconds), 0.0), expected, "{seconds:?}");
        }
    }

    #[test]
    fn how_often_depends_on_what_went_wrong() {
        let slow = |at| Trouble::Slow { at, after: Duration::from_secs(5) };
        let server = Trouble::Server { status: 500, after: None, said: String::new() };
        let cases = [
            (server, 4),
            (Trouble::Refused, 2),
            (Trouble::Cut { begun: true }, 2),
            (slow(Stage::BetweenBytes), 2),
            (slow(Stage::Connect), 1),
            (slow(Stage::FirstByte), 1),
            (Trouble::Key { said: String::new() }, 1),
            (Trouble::Declined { said: String::new() }, 1),
        ];
        for (trouble, tries) in cases {
            let stop = (1..9).find(|tried| next(*tried, &trouble, 0.0) == Next::Stop);
            assert_eq!(stop, Some(tries), "{trouble:?}");
        }
    }

    /// The date is the example of RFC 9110, "Retry-After".
    #[test]
    fn headers_are_read_in_every_form() {
        let now = Time::from_micros(946_684_740_000_000); // Fri, 31 Dec 1999 23:59:00 GMT
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let cases = [
            (None, Some("120"), seconds(120)),
            (None, Some(" 2.5 "), Some(Duration::from_millis(2500))),
            (Some("1500"), Some("120"), Some(Duration::from_millis(1500))),
            (None, Some("Fri, 31 Dec 1999 23:59:59 GMT"), seconds(59)),
            (None, Some("Fri, 31 Dec 1999 23:00:00 GMT"), seconds(0)),
            (None, Some("-5"), None),
            (None, Some("soon"), None),
            (None, Some("1e999"), None),
            (None, None, None),
        ];
        for (milliseconds, text, expected) in cases {
            assert_eq!(after(milliseconds, text, now), expected, "{milliseconds:?} {text:?}");
        }
    }
}
