//! Somebody wants in, and a policy wants the owner asked: whether they are, again.
//!
//! Nobody is tired out by a sender who writes a lot: as long as a question stands, further messages join it. After a no the
//! owner is left alone for a while; about somebody whom nobody knows they are asked once.

use std::time::Duration;

use domain::Time;
use domain::approval::Status;

use crate::admit::Asked;

/// Messages that may wait behind one question.
pub const WAITING: u64 = 20;
/// How long a question stands: a person may be away for some days.
pub const OPEN_FOR: Duration = Duration::from_secs(7 * DAY);
/// How long nobody is asked again after a no, or no answer.
pub const QUIET_FOR: Duration = Duration::from_secs(DAY);

const DAY: u64 = 24 * 60 * 60;

/// Why the owner is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A policy wants to be asked each time.
    Leave,
    /// Nobody knows who this is.
    Pairing,
}

/// The newest question about the same sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    pub wanted: Wanted,
    pub status: Status,
    /// Messages that wait behind it.
    pub waiting: u64,
    /// When it was answered, or ran out; nothing as long as it stands.
    pub over: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Ask,
    /// The question that stands is about this one, too.
    Join,
    /// The owner is not asked, for this reason.
    Not(Asked),
}

#[must_use]
pub fn next(wanted: Wanted, last: Option<Last>, now: Time) -> Next {
    let Some(last) = last else { return Next::Ask };
    let Some(over) = last.over else {
        return if last.waiting < WAITING { Next::Join } else { Next::Not(Asked::TooManyWait) };
    };
    let quiet = match (last.status, last.wanted, wanted) {
        (Status::Rejected, Wanted::Pairing, Wanted::Pairing) => true,
        (Status::Rejected | Status::Expired, ..) => now.is_within(over, over.plus(QUIET_FOR)),
        (Status::Pending | Status::Escalated | Status::Approved | Status::Modified, ..) => false,
    };
    if quiet { Next::Not(Asked::NotAgain) } else { Next::Ask }
}

#[cfg(test)]
mod tests {
    use super::{Last, Next, OPEN_FOR, QUIET_FOR, WAITING, Wanted, next};
    use crate::admit::Asked;
    use domain::Time;
    use domain::approval::Status;

    #[test]
    fn the_owner_is_asked_once_and_not_again_for_a_while() {
        let at = |seconds: u64| Time::from_micros(0).plus(std::time::Duration::from_secs(seconds));
        let day = QUIET_FOR.as_secs();
        let open =
            |waiting| Some(Last { wanted: Wanted::Pairing, status: Status::Pending, waiting, over: None });
        let over =
            |wanted, status, seconds| Some(Last { wanted, status, waiting: 1, over: Some(at(seconds)) });
        let (leave, pairing) = (Wanted::Leave, Wanted::Pairing);
        let not_again = Next::Not(Asked::NotAgain);
        let table = [
            ("for the first time", pairing, None, Next::Ask),
            ("one stands", pairing, open(1), Next::Join),
            ("one stands, and many wait", pairing, open(WAITING - 1), Next::Join),
            ("one stands, and too many wait", pairing, open(WAITING), Next::Not(Asked::TooManyWait)),
            ("said no, just now", leave, over(leave, Status::Rejected, 10 * day), not_again),
            ("said no, a day ago", leave, over(leave, Status::Rejected, 9 * day), Next::Ask),
            ("said no to knowing them, long ago", pairing, over(pairing, Status::Rejected, 0), not_again),
            (
                "said no to knowing them, and knows them since",
                leave,
                over(pairing, Status::Rejected, 0),
                Next::Ask,
            ),
            ("did not answer", pairing, over(pairing, Status::Expired, 10 * day), not_again),
            ("did not answer, long ago", pairing, over(pairing, Status::Expired, 8 * day), Next::Ask),
            (
                "did not answer, by a wrong clock",
                pairing,
                over(pairing, Status::Expired, 3650 * day),
                Next::Ask,
            ),
            ("said yes, and is asked each time", leave, over(leave, Status::Approved, 10 * day), Next::Ask),
        ];
        for (name, wanted, last, expected) in table {
            assert_eq!(next(wanted, last, at(10 * day)), expected, "{name}");
        }
        assert_eq!(OPEN_FOR.as_secs(), 7 * day);
    }
}
