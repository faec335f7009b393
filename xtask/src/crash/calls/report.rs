//! What a run of calls says in the end. Nothing of the machine stands in it.

use std::time::Duration;

use super::super::aim::Coverage;
use super::super::report::written;
use super::verdict::Outcome;

/// Below that, a kind of point without a hit says nothing.
const ENOUGH_KILLS: u64 = 200;
/// The tool of the call that is halted, and never killed.
const HALTED: &str = " hash";

/// What happened, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) rounds: u64,
    pub(super) houses: u64,
    pub(super) processes: u64,
    pub(super) kills: u64,
    /// Rounds in which several wanted the last of a budget, and rounds with a halt.
    pub(super) last: u64,
    pub(super) halts: u64,
    pub(super) calls: u64,
    pub(super) effects: u64,
    never_taken: u64,
    finished: u64,
    failed: u64,
    refused: u64,
    unknown_done: u64,
    unknown_undone: u64,
    pub(super) violations: u64,
}

impl Totals {
    pub(super) fn add(&mut self, outcomes: &[Outcome], effects: u64) {
        self.effects += effects;
        for outcome in outcomes {
            self.calls += 1;
            *match outcome {
                Outcome::NeverTaken => &mut self.never_taken,
                Outcome::Finished => &mut self.finished,
                Outcome::Failed => &mut self.failed,
                Outcome::Refused => &mut self.refused,
                Outcome::Unknown(0) => &mut self.unknown_undone,
                Outcome::Unknown(_) => &mut self.unknown_done,
            } += 1;
        }
    }

    pub(super) fn line(&self, took: Duration) -> String {
        let Self { rounds, processes, kills, calls, effects, .. } = self;
        let took = took.as_secs_f64();
        format!(
            "round {rounds}: {processes} processes, {kills} killed; {calls} calls, {effects} effects; {took:.1} s"
        )
    }
}

pub(super) fn tables(totals: &Totals, coverage: &Coverage) -> String {
    let counts = [
        ("rounds", totals.rounds),
        ("houses", totals.houses),
        ("processes", totals.processes),
        ("killed", totals.kills),
        ("of them at a random moment", coverage.moments),
        ("held until taken over, or until others came", coverage.stops),
        ("rounds for the last of a budget", totals.last),
        ("rounds with a halt", totals.halts),
        ("calls", totals.calls),
        ("effects counted", totals.effects),
        ("calls finished, one effect each", totals.finished),
        ("calls of which nobody knows, with an effect", totals.unknown_done),
        ("calls of which nobody knows, without", totals.unknown_undone),
        ("calls failed", totals.failed),
        ("calls refused, no budget left", totals.refused),
        ("calls killed before they were taken down", totals.never_taken),
        ("violations", totals.violations),
    ];
    written(coverage, &counts)
}

/// What is wrong with the run itself, though nothing was found.
pub(super) fn shortcoming(totals: &Totals, coverage: &Coverage) -> Option<String> {
    if coverage.kinds.is_empty() {
        return Some("no process told of any point: is the feature `faults` in the program?".to_owned());
    }
    if totals.effects == 0 {
        return Some("no effect was seen at all".to_owned());
    }
    let never: Vec<&str> = coverage.never_hit().into_iter().filter(|kind| !kind.ends_with(HALTED)).collect();
    let failed = totals.kills >= ENOUGH_KILLS && !never.is_empty();
    failed.then(|| format!("seen, and nobody was ever killed there: {}", never.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_add_up() {
        let mut totals = Totals::default();
        totals.add(&[Outcome::Finished, Outcome::Unknown(0), Outcome::Unknown(1), Outcome::Refused], 2);
        assert_eq!((totals.calls, totals.effects, totals.unknown_done, totals.unknown_undone), (4, 2, 1, 1));
    }

    #[test]
    fn a_run_without_effects_has_shown_nothing() {
        let mut coverage = Coverage::default();
        assert!(shortcoming(&Totals::default(), &coverage).is_some());
        coverage.hit("committed");
        assert!(shortcoming(&Totals::default(), &coverage).is_some());
        assert_eq!(shortcoming(&Totals { effects: 1, ..Totals::default() }, &coverage), None);
    }
}
