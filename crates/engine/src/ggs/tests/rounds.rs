//! Whole tasks, round by round, with numbers worked out by hand.

use std::collections::BTreeMap;

use domain::gradient::Macro::{Abandon, Accept, ChangeApproach, ChangePath, Refine, Success};
use domain::gradient::{Blame, Macro, Params};

use super::{assert_near, doubtful, failed, outcome, passed, play, share};
use crate::ggs::{Class, NoOutcomes, Outcome, Round, Solution, State, Status, solve};

const LOGICAL: Class = Class::Logical;
const ENVIRONMENTAL: Class = Class::Environmental;

#[test]
fn four_rounds_worked_out_by_hand() {
    let env = Some(ENVIRONMENTAL);
    let solved = play(&[
        // The only subtask failed and nothing says why: D = 1/1, P = 0.
        (0.0, vec![outcome("a", Status::Failed, Vec::new())]),
        // D = (1 + 1/2 + 1/2)/5, P = 2/3.
        (
            30_000.0,
            vec![
                outcome("a", Status::Failed, vec![failed("a1", Some(LOGICAL)), passed("a2")]),
                outcome(
                    "b",
                    Status::Matched,
                    vec![
                        doubtful("b1", LOGICAL, &[true, false]),
                        doubtful("b2", ENVIRONMENTAL, &[false, true, true, false]),
                        passed("b3"),
                    ],
                ),
            ],
        ),
        // D = 2/3, P = 0: what is skipped is missing, and has no class.
        (
            45_000.0,
            vec![
                outcome("a", Status::Failed, vec![failed("a1", env)]),
                outcome("b", Status::Skipped, vec![passed("b1")]),
                outcome("task", Status::Matched, vec![passed("t1")]),
            ],
        ),
        (50_000.0, share(2, 3, env)),
    ]);
    // Ω                                L = 0.6·D + 0.3·(1 − Ω)·P + 0.4·Ω                         gap = L − 0.4·Ω
    // 0.6·1/3 + 0.4·0/300  = 0.2       0.6         + 0                 + 0.08  = 0.68            0.6
    // 0.6·2/3 + 0.4·30/300 = 0.44      0.6·0.4     + 0.3·0.56·2/3      + 0.176 = 0.528           0.352
    // 0.6·3/3 + 0.4·45/300 = 0.66      0.6·2/3     + 0                 + 0.264 = 0.664           0.4
    // 0.6·4/3 + 0.4·50/300 = 13/15     0.6·2/3     + 0                 + 26/75 = 56/75           0.4
    let table = [
        (1.0, 0.0, 0.2, 0.68, 0.0, 0.0, ChangePath, "init", 0),
        (0.4, 2.0 / 3.0, 0.44, 0.528, -0.152, -0.248, ChangeApproach, "change_path", 0),
        (2.0 / 3.0, 0.0, 0.66, 0.664, 0.136, 0.048, Refine, "change_approach", 1),
        (2.0 / 3.0, 0.0, 13.0 / 15.0, 56.0 / 75.0, 56.0 / 75.0 - 0.664, 0.0, Abandon, "refine", 0),
    ];
    assert_eq!(solved.len(), table.len());
    for (solution, row) in solved.iter().zip(table) {
        let Solution { loss, grad_l, grad_gap, directive, prev_directive, worsening, law2, .. } = solution;
        let found = [loss.d, loss.p, loss.omega, loss.l, *grad_l, *grad_gap];
        let (d, p, omega, l, by_l, by_gap, said, before, worse) = row;
        for (found, expected) in found.into_iter().zip([d, p, omega, l, by_l, by_gap]) {
            assert_near(found, expected);
        }
        assert_eq!((*directive, prev_directive.as_str(), *worsening, *law2), (said, before, worse, false));
    }
    let rounds: Vec<u32> = solved.iter().map(|solution| solution.round).collect();
    assert_eq!(rounds, [1, 2, 3, 4]);
    let blamed: Vec<(&str, Blame)> =
        solved.iter().map(|solution| (solution.failed_criterion.as_str(), solution.blame)).collect();
    assert_eq!(
        blamed,
        [
            ("subtask `a` succeeds", Blame::Environmental),
            ("a1", Blame::Mixed),
            ("a1", Blame::Environmental),
            ("c0", Blame::Environmental),
        ]
    );
    assert_eq!(
        solved[1].rationale,
        "round 2: D 0.400, P 0.667, Ω 0.440, L 0.528 (-0.152): the approach is wrong and something moves, so another \
         one is tried; it gets better, but nothing failed in every attempt to single out"
    );
}

#[test]
fn what_is_finished_is_accepted_whatever_it_cost_and_is_no_replan() {
    let done = || vec![outcome("a", Status::Matched, vec![passed("a1")])];
    let solved = play(&[(0.0, done())]);
    assert_eq!((solved[0].directive, solved[0].loss.omega, solved[0].loss.l), (Accept, 0.0, 0.0));

    let late = play(&[(1.0, share(1, 1, None)), (9e9, done())]);
    assert_eq!((late[1].directive, late[1].loss.omega), (Accept, 1.0));
    assert_eq!(late[1].prev_directive, "change_path");

    let third = play(&[(0.0, share(1, 1, None)), (0.0, share(1, 1, None)), (0.0, done())]);
    assert_near(third[2].loss.omega, 0.4);
}

#[test]
fn something_failed_or_skipped_is_not_accepted() {
    let table: [(Outcome, Macro, f64); 5] = [
        (outcome("a", Status::Failed, vec![passed("a1")]), ChangePath, 0.5),
        (outcome("a", Status::Skipped, Vec::new()), Success, 0.0),
        (outcome("a", Status::Skipped, vec![passed("a1"), passed("a2")]), ChangePath, 1.0),
        (outcome("a", Status::Matched, vec![failed("a1", None)]), ChangePath, 1.0),
        // Judged failed in the end although every attempt passed: it weighs nothing, and still it is not met.
        (outcome("a", Status::Matched, vec![doubtful("a1", ENVIRONMENTAL, &[true])]), Success, 0.0),
    ];
    for (outcome, directive, d) in table {
        let solved = play(&[(0.0, vec![outcome.clone()])]);
        assert_eq!((solved[0].directive, solved[0].loss.d), (directive, d), "{outcome:?}");
    }
}

#[test]
fn two_worsening_rounds_in_a_row_end_a_task() {
    // D rises by 0.1 and Ω by 0.2 each time: 0.06 + 0.08 = 0.14.
    let rising = |from: usize| [from, from + 1, from + 2].map(|failures| (0.0, share(failures, 10, None)));
    let solved = play(&rising(4));
    assert_near(solved[2].grad_l, 0.14);
    let said: Vec<_> = solved.iter().map(|s| (s.directive, s.worsening, s.law2)).collect();
    assert_eq!(said, [(ChangePath, 0, false), (Refine, 1, false), (Abandon, 2, true)]);
    assert!(
        solved[2].rationale.ends_with("it got worse 2 rounds in a row, so Law 2 ends it instead of refine")
    );

    let close = play(&rising(1));
    let said: Vec<_> = close.iter().map(|s| (s.directive, s.worsening, s.law2)).collect();
    assert_eq!(said, [(Success, 0, false), (Success, 1, false), (Success, 2, false)]);
}

#[test]
fn a_round_that_does_not_worsen_starts_the_count_again() {
    let rounds = [4, 6, 6, 8].map(|failures| (0.0, share(failures, 10, None)));
    let params = Params { max_replans: 30, ..Params::default() };
    let solved = super::play_with(&params, &BTreeMap::new(), &rounds);
    let counted: Vec<_> = solved.iter().map(|s| (s.worsening, s.law2)).collect();
    assert_eq!(counted, [(0, false), (1, false), (0, false), (1, false)]);
}

/// The price of time is part of the loss: 0.4·(0.6/3 + 0.4·Δt/300 s) a round while nothing else changes, as long as
/// P is 0. What the approach is to blame for counts less and less, and slows it down by 0.3·P·ΔΩ.
#[test]
fn a_task_that_is_merely_slow_drifts_upward_and_its_gap_does_not() {
    let every = 30_000.0;
    let rounds = |class| [1.0, 2.0, 3.0].map(|n| (n * every, share(1, 2, class)));
    for solution in &play(&rounds(Some(ENVIRONMENTAL)))[1..] {
        assert_near(solution.grad_l, 0.08 + 0.16 * every / 300_000.0);
        assert_near(solution.grad_gap, 0.0);
    }
    for solution in &play(&rounds(Some(LOGICAL)))[1..] {
        assert_near(solution.grad_l, (0.4 - 0.3) * 0.24);
        assert_near(solution.grad_gap, -0.3 * 0.24);
    }
}

#[test]
fn nothing_tried_and_no_budget_at_all_are_answered_too() {
    let classes = BTreeMap::new();
    let round = Round { elapsed_ms: 0.0, outcomes: &[], classes: &classes };
    assert_eq!(solve(&Params::default(), &State::default(), &round), Err(NoOutcomes));

    let params = Params { max_replans: 0, time_budget_ms: 0, ..Params::default() };
    let rounds = [(0.0, share(1, 1, None))];
    assert_eq!(super::play_with(&params, &classes, &rounds)[0].loss.omega, 1.0);
    for (elapsed_ms, omega) in [(f64::NAN, 0.2), (-5.0, 0.2), (f64::INFINITY, 1.0)] {
        assert_near(play(&[(elapsed_ms, share(1, 1, None))])[0].loss.omega, omega);
    }
}
