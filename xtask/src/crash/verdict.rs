//! What must hold, whatever was killed and when, and how each is judged.

use std::collections::BTreeMap;
use std::fmt;

use super::account::Account;
use super::book::{Book, Errand};
use super::seen::{End, Seen, Sort};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Invariant {
    Acknowledged,
    Chain,
    Once,
    Finished,
    NoInternalError,
    Stale,
    Duties,
    Reported,
    Budget,
    Halted,
    Approved,
    OneAnswer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) invariant: Invariant,
    pub(crate) what: String,
}

/// One line of `regent events list --json`, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) key: String,
    pub(crate) id: String,
    /// What was sent to whoever asked; nothing for what came in.
    pub(crate) answer: Option<String>,
}

impl Invariant {
    pub(crate) fn violated(self, what: impl Into<String>) -> Violation {
        Violation { invariant: self, what: what.into() }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Acknowledged => "acknowledged",
            Self::Chain => "chain",
            Self::Once => "once",
            Self::Finished => "finished",
            Self::NoInternalError => "no internal error",
            Self::Stale => "stale",
            Self::Duties => "duties",
            Self::Reported => "reported",
            Self::Budget => "budget",
            Self::Halted => "halted",
            Self::Approved => "approved",
            Self::OneAnswer => "one answer",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant `{}`: {}", self.invariant.name(), self.what)
    }
}

/// Whether others are at work on the same tasks, which explains that one finds nothing to do or is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    Alone,
    InALoad,
}

/// How a process may end: as we wanted it, well, or with a refusal that the round explains.
pub(crate) fn ended_well(seen: &Seen, company: Company) -> Option<Violation> {
    let wrong = |what: String| Some(Invariant::NoInternalError.violated(what));
    if seen.stderr.contains("panicked at") {
        return wrong(format!("`{}` panicked", seen.sort));
    }
    match (&seen.end, seen.code()) {
        (End::Killed(_) | End::Exit(0), _) => None,
        (End::Exit(4), Some("R4011")) if seen.stopped_at.is_some() => None,
        (End::Exit(2), Some("R2007")) | (End::Exit(4), Some("R4011"))
            if seen.sort == Sort::Resume && company == Company::InALoad =>
        {
            None
        }
        (End::Exit(code), problem) => {
            wrong(format!("`{}` ended with {code} ({})", seen.sort, problem.unwrap_or("no code")))
        }
        (End::Foreign(signal), _) => wrong(format!("`{}` was ended by signal {signal}, not ours", seen.sort)),
        (End::Hung, _) => wrong(format!("`{}` did not end", seen.sort)),
    }
}

/// A driver that was taken over from writes nothing more and starts nothing more.
pub(crate) fn stayed_silent(seen: &Seen) -> Vec<Violation> {
    let mut found = Vec::new();
    if seen.end != End::Exit(4) || seen.code() != Some("R4011") {
        let what = format!("it ended with {:?} ({})", seen.end, seen.code().unwrap_or("no code"));
        found.push(Invariant::Stale.violated(what));
    }
    let after = seen.points.iter().skip(seen.stopped_at.map_or(usize::MAX, |place| place + 1));
    let active = after.filter(|point| point.is_commit() || point.running().is_some());
    found
        .extend(active.map(|point| Invariant::Stale.violated(format!("it still went on: `{}`", point.line))));
    found
}

/// What was acknowledged is there once, under the id that was named, and nothing is there twice.
pub(crate) fn acknowledged(book: &Book, listed: &[Listed]) -> Vec<Violation> {
    let mut by_key: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for event in listed {
        by_key.entry(&event.key).or_default().push(&event.id);
    }
    let twice = by_key.iter().filter(|(_, ids)| ids.len() > 1);
    let twice = twice.map(|(key, ids)| format!("`{key}` is there {} times", ids.len()));
    let lost = book.acks().filter_map(|(key, ack)| match by_key.get(key) {
        None => Some(format!("`{key}` was acknowledged and is not there")),
        Some(ids) if !ids.contains(&ack.id.as_str()) => {
            Some(format!("`{key}` was acknowledged as {} and is {}", ack.id, ids.join(", ")))
        }
        Some(_) => None,
    });
    twice.chain(lost).map(|what| Invariant::Acknowledged.violated(what)).collect()
}

/// Every request that became durable has exactly one answer on record, the right one, and it was shown.
pub(crate) fn finished(book: &Book, account: &Account, listed: &[Listed]) -> Vec<Violation> {
    let mut found = Vec::new();
    for event in listed.iter().filter(|event| event.answer.is_some()) {
        if !book.errands().any(|errand| event.answer.as_deref() == Some(errand.answer.trim_end())) {
            found.push(format!("an answer that nobody asked for: {:?}", event.answer));
        }
    }
    for errand in book.errands() {
        let answers = listed.iter().filter(|event| event.answer.as_deref() == Some(errand.answer.trim_end()));
        match answers.collect::<Vec<_>>().as_slice() {
            [] if errand.begun => found.push(format!("request {} was never answered", errand.number)),
            [] => {}
            [answer] => found.extend(shown(errand, account, answer)),
            several => {
                found.push(format!("request {} has {} answers on record", errand.number, several.len()));
            }
        }
    }
    found.into_iter().map(|what| Invariant::Finished.violated(what)).collect()
}

/// At least once, and once more only where a showing was cut off before it was written down.
fn shown(errand: &Errand, account: &Account, answer: &Listed) -> Option<String> {
    let call = answer.key.rsplit(':').next().unwrap_or_default();
    let most = 1 + account.of(&format!("deliver {call}")).excused;
    let Errand { number, shown, .. } = errand;
    match *shown {
        0 => Some(format!("request {number} was answered on record and never shown")),
        shown if shown > most => Some(format!("request {number} was shown {shown} times, at most {most}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::seen::{Blow, Point};
    use super::*;

    fn ended(sort: Sort, end: End, stderr: &str) -> Seen {
        Seen {
            sort,
            args: Vec::new(),
            points: Vec::new(),
            stopped_at: None,
            end,
            stdout: String::new(),
            stderr: stderr.to_owned(),
        }
    }

    #[test]
    fn only_what_the_round_explains_is_accepted() {
        let (busy, alone) = (Company::InALoad, Company::Alone);
        let elsewhere = "error R4011: it is being worked on";
        let nothing = "error R2007: nothing is unfinished";
        let table = [
            (Sort::Run, End::Exit(0), "", alone, true),
            (Sort::Run, End::Killed(Blow::Moment), "", alone, true),
            (Sort::Resume, End::Exit(4), elsewhere, busy, true),
            (Sort::Resume, End::Exit(4), elsewhere, alone, false),
            (Sort::Resume, End::Exit(2), nothing, busy, true),
            (Sort::Resume, End::Exit(2), nothing, alone, false),
            (Sort::Run, End::Exit(4), elsewhere, busy, false),
            (Sort::Run, End::Exit(4), "error R4099: this should not happen", busy, false),
            (Sort::Ingest, End::Exit(101), "thread 'main' panicked at x", busy, false),
            (Sort::Run, End::Foreign(11), "", busy, false),
            (Sort::Run, End::Hung, "", busy, false),
        ];
        for (sort, end, stderr, company, right) in table {
            let seen = ended(sort, end, stderr);
            assert_eq!(ended_well(&seen, company).is_none(), right, "{seen:?}");
        }
    }

    #[test]
    fn a_stale_driver_writes_and_starts_nothing() {
        let stopped = |lines: &[&str], code: i32, stderr: &str| Seen {
            points: lines.iter().map(|line| Point::new(line)).collect(),
            stopped_at: Some(1),
            ..ended(Sort::Run, End::Exit(code), stderr)
        };
        let refused = "error R4011: taken over";
        assert_eq!(stayed_silent(&stopped(&["committed", "running a c1", "ran a c1"], 4, refused)), []);
        assert_eq!(stayed_silent(&stopped(&["committed", "ran a c1", "committed"], 4, refused)).len(), 1);
        assert_eq!(stayed_silent(&stopped(&["committed", "ran a c1", "running b c2"], 4, refused)).len(), 1);
        assert_eq!(stayed_silent(&stopped(&["committed", "ran a c1"], 0, "")).len(), 1);
    }
}
