//! Several people answer one question at once: one of them wins, and the others are told who and how.

use super::super::random::Random;
use super::super::seen::{End, Seen};
use super::super::verdict::{Invariant, Violation};
use super::case::Case;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Approve,
    Reject,
    Modify,
    /// Nobody is above the owner, so it is refused.
    Escalate,
}

/// Nobody said anything in time.
const EXPIRED: &str = "expired";

const WORDS: [(Word, u64); 4] =
    [(Word::Approve, 7), (Word::Reject, 1), (Word::Modify, 2), (Word::Escalate, 1)];

impl Word {
    pub(super) fn draw(random: &mut Random) -> Self {
        random.weighted(&WORDS).copied().unwrap_or(Self::Approve)
    }

    /// The command line.
    pub(super) fn args(self, question: &str, case: &Case) -> Vec<String> {
        let (verb, more) = match self {
            Self::Approve => ("approve", None),
            Self::Reject => ("reject", Some("not today".to_owned())),
            Self::Modify => ("modify", Some(case.instead())),
            Self::Escalate => ("escalate", None),
        };
        let args = ["approvals", verb, question].map(str::to_owned);
        args.into_iter().chain(more).collect()
    }

    /// Where the question stands if this word counted; nothing if it never does.
    const fn status(self) -> Option<&'static str> {
        match self {
            Self::Approve => Some("approved"),
            Self::Reject => Some("rejected"),
            Self::Modify => Some("modified"),
            Self::Escalate => None,
        }
    }
}

/// How many won and how many were told that somebody else had, for the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Settled {
    pub(super) won: u64,
    pub(super) told: u64,
}

/// Judges everybody who answered one question, by where it stands now.
pub(super) fn judge(answered: &[(Word, Seen)], status: &str) -> (Settled, Vec<Violation>) {
    let (mut settled, mut found) = (Settled::default(), Vec::new());
    let mut wrong = |what: String| found.push(Invariant::OneAnswer.violated(what));
    for (word, seen) in answered {
        let told = match status {
            EXPIRED => " has expired".to_owned(),
            status => format!(" was {status} by owner, terminal"),
        };
        match (&seen.end, seen.code()) {
            (End::Killed(_), _) => {}
            (End::Exit(0), _) if word.status() == Some(status) => settled.won += 1,
            (End::Exit(3), Some("R3006")) if seen.stderr.contains(&told) => settled.told += 1,
            (End::Exit(2), Some("R2021")) if *word == Word::Escalate => {}
            (end, code) => wrong(format!(
                "{word:?} ended with {end:?} ({}), and the question is {status}: {}",
                code.unwrap_or("no code"),
                seen.stderr.trim_end()
            )),
        }
    }
    if settled.won > 1 {
        wrong(format!("{} answers were taken for one question", settled.won));
    }
    // Whoever was killed may have won; somebody must have.
    let by_whom = |(word, seen): &&(Word, Seen)| {
        word.status() == Some(status) && matches!(seen.end, End::Killed(_) | End::Exit(0))
    };
    if !["pending", EXPIRED].contains(&status) && !answered.iter().any(|one| by_whom(&one)) {
        wrong(format!("the question is {status}, and nobody said so"));
    }
    (settled, found)
}

#[cfg(test)]
mod tests {
    use super::super::super::seen::{Blow, Sort};
    use super::*;

    fn seen(end: End, stderr: &str) -> Seen {
        Seen {
            sort: Sort::Answer,
            args: Vec::new(),
            points: Vec::new(),
            stopped_at: None,
            end,
            stdout: String::new(),
            stderr: stderr.to_owned(),
        }
    }

    #[test]
    fn one_wins_and_the_others_are_told() {
        let told = "error R3006: a-1 was approved by owner, terminal, today";
        let won = || (Word::Approve, seen(End::Exit(0), ""));
        let killed = |word| (word, seen(End::Killed(Blow::Point), ""));
        let refused = || (Word::Escalate, seen(End::Exit(2), "error R2021: nobody is above"));
        let table = [
            (vec![won(), (Word::Reject, seen(End::Exit(3), told)), refused()], "approved", true),
            (vec![won(), won()], "approved", false),
            (vec![won()], "rejected", false),
            (vec![killed(Word::Modify)], "modified", true),
            (vec![killed(Word::Modify)], "approved", false),
            (vec![killed(Word::Approve)], "pending", true),
            (vec![won(), (Word::Modify, seen(End::Exit(3), "error R3006: no"))], "approved", false),
            (vec![refused()], "pending", true),
            (
                vec![(Word::Approve, seen(End::Exit(3), "error R3006: a-1 has expired, today"))],
                "expired",
                true,
            ),
            (vec![won()], "expired", false),
            (vec![(Word::Approve, seen(End::Exit(4), "error R4099: oh"))], "pending", false),
        ];
        for (answered, status, right) in table {
            let (_, found) = judge(&answered, status);
            assert_eq!(found.is_empty(), right, "{answered:?} {status}: {found:?}");
        }
    }
}
