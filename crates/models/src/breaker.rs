//! A breaker per endpoint: a server that failed five asks in a row, each with all its tries, is left alone for half a minute,
//! then one trial decides.

use std::time::Duration;

use domain::Time;

use crate::Trouble;

/// Asks in a row that failed and open it.
pub const FAILURES_TO_OPEN: u8 = 5;
/// How long it stays open before one trial is let through, and how long a trial may keep the others waiting: one that was
/// called off never reports.
pub const COOL_DOWN: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaker {
    Closed {
        failures: u8,
    },
    Open {
        since: Time,
    },
    /// One trial is out; everybody else goes elsewhere.
    Trial {
        since: Time,
    },
}

impl Breaker {
    pub const NEW: Self = Self::Closed { failures: 0 };

    /// May the endpoint be asked now?
    #[must_use]
    pub fn ask(self, now: Time) -> (Self, bool) {
        match self {
            Self::Closed { .. } => (self, true),
            Self::Open { since } | Self::Trial { since } if !now.is_within(since, since.plus(COOL_DOWN)) => {
                (Self::Trial { since: now }, true)
            }
            Self::Open { .. } | Self::Trial { .. } => (self, false),
        }
    }

    /// What came of it. A trouble that says nothing about the server, a refused key say, proves that it is there.
    #[must_use]
    pub fn heard(self, outcome: Result<(), &Trouble>, now: Time) -> Self {
        match (self, outcome.err().filter(|trouble| trouble.blames_server())) {
            // A late answer says nothing about the server now.
            (Self::Open { .. }, _) => self,
            (Self::Closed { .. } | Self::Trial { .. }, None) => Self::NEW,
            (Self::Closed { failures }, Some(_)) if failures + 1 < FAILURES_TO_OPEN => {
                Self::Closed { failures: failures + 1 }
            }
            (Self::Closed { .. } | Self::Trial { .. }, Some(_)) => Self::Open { since: now },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Breaker;
    use crate::Trouble;
    use domain::Time;

    #[derive(Clone, Copy)]
    enum Input {
        Ask,
        Good,
        Bad,
        OurFault,
    }
    use Input::{Ask, Bad, Good, OurFault};

    type Case = (&'static str, Vec<(i64, Input)>, Vec<bool>);

    fn play(script: &[(i64, Input)]) -> Vec<bool> {
        let (mut breaker, mut allowed) = (Breaker::NEW, Vec::new());
        for &(second, input) in script {
            let now = Time::from_micros(second * 1_000_000);
            let key = Trouble::Key { said: String::new() };
            match input {
                Ask => {
                    let (next, may) = breaker.ask(now);
                    breaker = next;
                    allowed.push(may);
                }
                Good => breaker = breaker.heard(Ok(()), now),
                Bad => breaker = breaker.heard(Err(&Trouble::Refused), now),
                OurFault => breaker = breaker.heard(Err(&key), now),
            }
        }
        allowed
    }

    #[test]
    fn five_failures_in_a_row_open_it_and_one_trial_decides() {
        let five = [(0, Bad); 5];
        let cases: [Case; 10] = [
            ("four do not", [&[(0, Bad); 4][..], &[(0, Ask)]].concat(), vec![true]),
            ("five do", [&five[..], &[(0, Ask), (29, Ask)]].concat(), vec![false, false]),
            (
                "a success in between starts anew",
                vec![(0, Bad), (0, Bad), (0, Bad), (0, Bad), (0, Good), (0, Bad), (0, Ask)],
                vec![true],
            ),
            ("what is our fault is none", [&[(0, OurFault); 9][..], &[(0, Ask)]].concat(), vec![true]),
            ("one trial", [&five[..], &[(30, Ask), (30, Ask)]].concat(), vec![true, false]),
            (
                "the trial works",
                [&five[..], &[(30, Ask), (31, Good), (31, Ask), (31, Ask)]].concat(),
                vec![true, true, true],
            ),
            (
                "the trial fails",
                [&five[..], &[(30, Ask), (31, Bad), (32, Ask), (61, Ask)]].concat(),
                vec![true, false, true],
            ),
            (
                "the trial never reports",
                [&five[..], &[(30, Ask), (59, Ask), (60, Ask)]].concat(),
                vec![true, false, true],
            ),
            (
                "a clock that goes back does not keep it open",
                [&[(9_999, Bad); 5][..], &[(9_999, Ask), (0, Ask)]].concat(),
                vec![false, true],
            ),
            ("a late answer changes nothing", [&five[..], &[(1, Good), (1, Ask)]].concat(), vec![false]),
        ];
        for (name, script, expected) in cases {
            assert_eq!(play(&script), expected, "{name}");
        }
    }
}
