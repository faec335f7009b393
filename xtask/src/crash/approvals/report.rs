//! What is counted of approvals alone.

use super::verdict::Outcome;

/// What became of the cases of one house, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::crash) struct Approvals {
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

impl Approvals {
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

    pub(super) fn add_house(&mut self, house: &Self) {
        let sums = [
            (&mut self.never_taken, house.never_taken),
            (&mut self.cases, house.cases),
            (&mut self.answers, house.answers),
            (&mut self.won, house.won),
            (&mut self.told, house.told),
            (&mut self.asked_again, house.asked_again),
            (&mut self.effects, house.effects),
            (&mut self.used, house.used),
            (&mut self.voided, house.voided),
            (&mut self.unknown, house.unknown),
            (&mut self.rejected, house.rejected),
            (&mut self.left_open, house.left_open),
        ];
        for (sum, more) in sums {
            *sum += more;
        }
    }

    pub(super) fn line(&self) -> String {
        let Self { used, voided, effects, .. } = self;
        format!("{used} used, {voided} void, {effects} effects")
    }

    pub(super) const fn counts(&self) -> [(&'static str, u64); 12] {
        [
            ("calls killed before they were taken down", self.never_taken),
            ("calls that asked", self.cases),
            ("answers given", self.answers),
            ("of them taken", self.won),
            ("of them too late, and told so", self.told),
            ("yeses used", self.used),
            ("yeses void", self.voided),
            ("second questions that were answered", self.asked_again),
            ("first answers no", self.rejected),
            ("first questions left open", self.left_open),
            ("effects counted", self.effects),
            ("calls of which nobody knows", self.unknown),
        ]
    }

    /// For the line of the suite.
    pub(in crate::crash) const fn cases(&self) -> u64 {
        self.cases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn houses_add_up() {
        let one = Approvals { effects: 1, won: 2, left_open: 3, ..Approvals::default() };
        let mut both = one;
        both.add_house(&one);
        assert_eq!(both, Approvals { effects: 2, won: 4, left_open: 6, ..Approvals::default() });
    }
}
