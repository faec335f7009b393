//! What a run of approvals says in the end. Nothing of the machine stands in it.

use std::time::Duration;

use super::super::aim::Coverage;
use super::super::report::written;
use super::verdict::Outcome;

/// Below that, a kind of point without a hit says nothing.
const ENOUGH_KILLS: u64 = 200;

/// What became of the cases of one house.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) never_taken: u64,
    pub(super) cases: u64,
    /// Answers that were given, those that counted, and those that came too late and were told so.
    pub(super) answers: u64,
    pub(super) won: u64,
    pub(super) told: u64,
    /// Second questions that were answered.
    pub(super) asked_again: u64,
    pub(super) effects: u64,
    used: u64,
    voided: u64,
    unknown: u64,
    rejected: u64,
    left_open: u64,
}

impl Tally {
    pub(super) const NONE: Self = Self {
        never_taken: 0,
        cases: 0,
        answers: 0,
        won: 0,
        told: 0,
        asked_again: 0,
        effects: 0,
        used: 0,
        voided: 0,
        unknown: 0,
        rejected: 0,
        left_open: 0,
    };

    pub(super) fn add(&mut self, outcome: &Outcome) {
        let first = outcome.asked.first().map_or("", |asked| asked.status.as_str());
        self.cases += 1;
        self.effects += outcome.effects();
        self.used += outcome.used();
        self.voided += outcome.voided();
        self.unknown += outcome.unknown();
        self.rejected += u64::from(first == "rejected");
        self.left_open += u64::from(first == "pending");
    }
}

/// What happened, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) rounds: u64,
    pub(super) houses: u64,
    pub(super) processes: u64,
    pub(super) kills: u64,
    pub(super) tally: Tally,
    pub(super) violations: u64,
}

impl Totals {
    pub(super) fn add(&mut self, of_house: Tally) {
        let Tally {
            never_taken,
            cases,
            answers,
            won,
            told,
            asked_again,
            effects,
            used,
            voided,
            unknown,
            rejected,
            left_open,
        } = of_house;
        self.tally.never_taken += never_taken;
        self.tally.cases += cases;
        self.tally.answers += answers;
        self.tally.won += won;
        self.tally.told += told;
        self.tally.asked_again += asked_again;
        self.tally.effects += effects;
        self.tally.used += used;
        self.tally.voided += voided;
        self.tally.unknown += unknown;
        self.tally.rejected += rejected;
        self.tally.left_open += left_open;
    }

    pub(super) fn line(&self, took: Duration) -> String {
        let Self { rounds, processes, kills, tally, .. } = self;
        let Tally { used, voided, effects, .. } = tally;
        let took = took.as_secs_f64();
        format!(
            "round {rounds}: {processes} processes, {kills} killed; {used} used, {voided} void, {effects} effects; {took:.1} s"
        )
    }
}

pub(super) fn tables(totals: &Totals, coverage: &Coverage) -> String {
    let Totals { rounds, houses, processes, kills, tally, violations } = *totals;
    let counts = [
        ("rounds", rounds),
        ("houses", houses),
        ("processes", processes),
        ("killed", kills),
        ("of them at a random moment", coverage.moments),
        ("held until taken over, or until others came", coverage.stops),
        ("calls killed before they were taken down", tally.never_taken),
        ("calls that asked", tally.cases),
        ("answers given", tally.answers),
        ("of them taken", tally.won),
        ("of them too late, and told so", tally.told),
        ("yeses used", tally.used),
        ("yeses void", tally.voided),
        ("second questions that were answered", tally.asked_again),
        ("first answers no", tally.rejected),
        ("first questions left open", tally.left_open),
        ("effects counted", tally.effects),
        ("calls of which nobody knows", tally.unknown),
        ("violations", violations),
    ];
    written(coverage, &counts)
}

/// What is wrong with the run itself, though nothing was found.
pub(super) fn shortcoming(totals: &Totals, coverage: &Coverage) -> Option<String> {
    if coverage.kinds.is_empty() {
        return Some("no process told of any point: is the feature `faults` in the program?".to_owned());
    }
    if totals.tally.effects == 0 {
        return Some("no effect was seen at all".to_owned());
    }
    let never = coverage.never_hit();
    let failed = totals.kills >= ENOUGH_KILLS && !never.is_empty();
    failed.then(|| format!("seen, and nobody was ever killed there: {}", never.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn houses_add_up_and_a_run_without_effects_has_shown_nothing() {
        let mut totals = Totals::default();
        let mut coverage = Coverage::default();
        coverage.hit("committed");
        assert!(shortcoming(&totals, &coverage).is_some());
        let house = Tally { effects: 1, won: 2, ..Tally::NONE };
        totals.add(house);
        totals.add(house);
        assert_eq!(totals.tally, Tally { effects: 2, won: 4, ..Tally::NONE });
        assert_eq!(shortcoming(&totals, &coverage), None);
    }
}
