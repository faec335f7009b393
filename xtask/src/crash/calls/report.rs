//! What is counted of calls alone.

use super::verdict::Outcome;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::crash) struct Calls {
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
}

impl Calls {
    pub(in crate::crash) fn add(&mut self, outcomes: &[Outcome], effects: u64) {
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

    pub(super) fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("rounds for the last of a budget", self.last),
            ("rounds with a halt", self.halts),
            ("calls", self.calls),
            ("effects counted", self.effects),
            ("calls finished, one effect each", self.finished),
            ("calls of which nobody knows, with an effect", self.unknown_done),
            ("calls of which nobody knows, without", self.unknown_undone),
            ("calls failed", self.failed),
            ("calls refused, no budget left", self.refused),
            ("calls killed before they were taken down", self.never_taken),
        ]
    }

    /// For the line of the suite.
    pub(in crate::crash) const fn calls(&self) -> u64 {
        self.calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_add_up() {
        let mut calls = Calls::default();
        calls.add(&[Outcome::Finished, Outcome::Unknown(0), Outcome::Unknown(1), Outcome::Refused], 2);
        assert_eq!((calls.calls, calls.effects, calls.unknown_done, calls.unknown_undone), (4, 2, 1, 1));
    }
}
