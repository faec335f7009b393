//! What ran, counted by somebody who survives: each call, and the moments that excuse one run more.

use std::collections::BTreeMap;

use super::seen::{Point, Seen};
use super::verdict::{Invariant, Violation};

/// How often a call ran, and how many of these runs were cut off before anything about them was durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) ran: u64,
    pub(crate) excused: u64,
}

/// Calls by tool and id, over all processes of a house.
#[derive(Debug, Default)]
pub(crate) struct Account {
    calls: BTreeMap<String, Tally>,
}

impl Account {
    pub(crate) fn add(&mut self, seen: &Seen) {
        for (call, open) in windows(&seen.points) {
            let tally = self.calls.entry(call.to_owned()).or_default();
            tally.ran += 1;
            // A command that has answered gives its duties a moment, and cuts them off itself.
            tally.excused += u64::from(open && (seen.was_interrupted() || call.starts_with("duty:")));
        }
    }

    pub(crate) fn of(&self, call: &str) -> Tally {
        self.calls.get(call).copied().unwrap_or_default()
    }

    pub(crate) fn runs(&self) -> u64 {
        self.calls.values().map(|tally| tally.ran).sum()
    }

    /// Nothing runs again unless it was cut off before its end was durable; a duty not for the same time.
    pub(crate) fn check(&self) -> Vec<Violation> {
        let twice = self.calls.iter().filter(|(_, tally)| tally.ran > 1 + tally.excused);
        twice
            .map(|(call, tally)| {
                let which = if call.starts_with("duty:") { Invariant::Duties } else { Invariant::Once };
                let Tally { ran, excused } = tally;
                which.violated(format!("`{call}` ran {ran} times, and only {excused} of them were cut off"))
            })
            .collect()
    }
}

/// The calls that one process ran, in order, and whether the window of each was still open at the end: it opens when the
/// call may run and closes with the next commit.
pub(crate) fn windows(points: &[Point]) -> Vec<(&str, bool)> {
    let mut calls: Vec<(&str, bool)> = Vec::new();
    for point in points {
        if point.is_commit() {
            calls.iter_mut().for_each(|(_, open)| *open = false);
        } else if let Some(call) = point.running().filter(|_| point.went) {
            calls.push((call, true));
        }
    }
    calls
}

/// INVARIANT (durable-first), seen from outside: nothing runs in a process that has made nothing durable.
pub(crate) fn begins_with_a_commit(seen: &Seen) -> Option<Violation> {
    let first = seen.points.iter().find(|point| point.is_commit() || point.running().is_some())?;
    let call = first.running()?;
    Some(Invariant::Once.violated(format!("`{call}` was about to run before anything was committed")))
}

#[cfg(test)]
mod tests {
    use super::super::seen::{Blow, End, Sort};
    use super::*;

    /// A line that ends with `!` was not answered.
    fn seen(lines: &[&str], end: End) -> Seen {
        let point =
            |line: &&str| Point { line: line.trim_end_matches('!').to_owned(), went: !line.ends_with('!') };
        Seen {
            sort: Sort::Run,
            args: Vec::new(),
            points: lines.iter().map(point).collect(),
            stopped_at: None,
            end,
            stdout: String::new(),
            stderr: String::new(),
        }
    }

    #[test]
    fn a_window_opens_when_a_call_may_run_and_closes_with_the_next_commit() {
        type Row<'a> = (&'a [&'a str], &'a [(&'a str, bool)]);
        let table: [Row<'_>; 6] = [
            (&["committed", "running find c1", "ran find c1", "committed"], &[("find c1", false)]),
            (&["committed", "running find c1!"], &[]),
            (&["committed", "running find c1", "ran find c1!"], &[("find c1", true)]),
            (&["committed", "running find c1", "committing!"], &[("find c1", true)]),
            (
                &["committed", "running a c1", "running b c2", "committed", "running c c3"],
                &[("a c1", false), ("b c2", false), ("c c3", true)],
            ),
            (&["committing", "committed!"], &[]),
        ];
        for (lines, expected) in table {
            assert_eq!(windows(&seen(lines, End::Exit(0)).points), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_call_may_run_once_more_for_every_time_it_was_cut_off() {
        let cut = seen(&["committed", "running find c1", "ran find c1!"], End::Killed(Blow::Point));
        let whole = seen(&["committed", "running find c1", "ran find c1", "committed"], End::Exit(0));
        let after =
            seen(&["committed", "running find c1", "ran find c1", "committed!"], End::Killed(Blow::Point));
        for (processes, right) in [
            (vec![&whole], true),
            (vec![&cut, &whole], true),
            (vec![&cut, &cut, &whole], true),
            (vec![&whole, &whole], false),
            (vec![&after, &whole], false),
            (vec![&cut, &whole, &whole], false),
        ] {
            let mut account = Account::default();
            processes.iter().for_each(|seen| account.add(seen));
            assert_eq!(account.check().is_empty(), right, "{processes:?}");
        }
    }

    #[test]
    fn a_stop_excuses_as_a_kill_does() {
        let stopped = Seen {
            stopped_at: Some(2),
            ..seen(&["committed", "running find c1", "ran find c1", "committing"], End::Exit(4))
        };
        let mut account = Account::default();
        account.add(&stopped);
        assert_eq!(account.of("find c1"), Tally { ran: 1, excused: 1 });
    }

    #[test]
    fn nothing_runs_before_a_commit() {
        let check = |lines| begins_with_a_commit(&seen(lines, End::Exit(0))).is_none();
        assert!(check(&["committing", "committed", "running find c1"]));
        assert!(check(&["committing"]));
        assert!(!check(&["committing", "running find c1", "committed"]));
    }
}
