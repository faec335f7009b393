//! R7, as far as it goes without replanning: accept, good enough, or stop.

use domain::task::Directive;

/// δ: a result at most this far from the criteria is good enough, and says what is unmet.
pub const SUCCESS_DISTANCE: f64 = 0.3;

/// What one subtask came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub criteria: usize,
    pub failed: usize,
    pub matched: bool,
}

/// D: the share of criteria that are not met; no criteria at all give 0.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a plan has at most a few thousand criteria")]
pub fn distance(outcomes: &[Outcome]) -> f64 {
    let criteria: usize = outcomes.iter().map(|outcome| outcome.criteria).sum();
    let failed: usize = outcomes.iter().map(|outcome| outcome.failed).sum();
    if criteria == 0 { 0.0 } else { failed as f64 / criteria as f64 }
}

/// Accept first. There is no replanning yet, so what is not good enough is stopped; nothing that failed is
/// called good enough if nothing came out.
pub(super) fn steer(outcomes: &[Outcome]) -> Directive {
    if outcomes.iter().all(|outcome| outcome.matched) {
        Directive::Accept
    } else if distance(outcomes) <= SUCCESS_DISTANCE + 1e-9 {
        Directive::Success
    } else {
        Directive::Abandon
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, distance, steer};
    use domain::task::Directive;

    fn outcome(criteria: usize, failed: usize) -> Outcome {
        Outcome { criteria, failed, matched: failed == 0 }
    }

    #[test]
    fn the_distance_is_the_share_of_unmet_criteria() {
        let table = [(vec![], 0.0), (vec![outcome(4, 1)], 0.25), (vec![outcome(4, 0), outcome(1, 1)], 0.2)];
        for (outcomes, expected) in table {
            assert!((distance(&outcomes) - expected).abs() < 1e-12, "{outcomes:?}");
        }
    }

    #[test]
    fn accept_first_then_good_enough_then_stop() {
        assert_eq!(steer(&[outcome(4, 0)]), Directive::Accept);
        assert_eq!(steer(&[outcome(10, 3)]), Directive::Success);
        assert_eq!(steer(&[outcome(3, 1)]), Directive::Abandon);
    }
}
