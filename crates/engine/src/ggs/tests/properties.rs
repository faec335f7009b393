//! What holds for every round, whatever happened in it: a million of them, drawn from one number.

use std::collections::BTreeMap;

use domain::criterion::Mode;
use domain::gradient::{Macro, Params};

use crate::ggs::{Class, Judged, Outcome, Round, Solution, State, Status, ToolCall, Verdict, solve};

const INPUTS: u32 = 1_000_000;
const NAMES: [&str; 5] = ["", "a", "b", "ä", "z"];

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn one_of<T: Copy, const N: usize>(&mut self, of: [T; N]) -> T {
        of[self.below(N)]
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.throw() % end as u64).expect("small")
    }

    fn some<T>(&mut self, most: usize, mut of: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| of(self)).collect()
    }

    fn name(&mut self) -> String {
        self.one_of(NAMES).to_owned()
    }

    fn shuffle<T>(&mut self, things: &mut [T]) {
        for end in (1..things.len()).rev() {
            things.swap(end, self.below(end + 1));
        }
    }

    fn judged(&mut self) -> Judged {
        Judged {
            text: self.name(),
            mode: self.one_of([Mode::Verifiable, Mode::Plausible]),
            verdict: self.one_of([Verdict::Pass, Verdict::Fail]),
            failure_class: self.one_of([None, Some(Class::Logical), Some(Class::Environmental)]),
            attempts: self.some(7, |dice| dice.one_of([true, false])),
        }
    }

    fn call(&mut self) -> ToolCall {
        ToolCall {
            tool: self.name(),
            target: self.one_of([None, Some(())]).map(|()| self.name()),
            class: self.one_of([None, Some(())]).map(|()| self.name()),
            ok: self.one_of([None, Some(true), Some(false)]),
        }
    }

    fn outcome(&mut self) -> Outcome {
        Outcome {
            subtask: self.name(),
            status: self.one_of([Status::Matched, Status::Failed, Status::Skipped]),
            tool_calls: self.some(2, Self::call),
            criteria: self.some(3, Self::judged),
        }
    }

    fn elapsed_ms(&mut self) -> f64 {
        match self.below(8) {
            0 => self.one_of([0.0, -0.0, f64::MAX, f64::INFINITY, f64::NAN, -1.0, f64::MIN_POSITIVE]),
            _ => f64::from(u32::try_from(self.below(400_000)).expect("small")),
        }
    }
}

fn check(solution: &Solution) {
    let Solution { loss, grad_l, grad_gap, directive, .. } = solution;
    let within = |part: &f64| part.is_sign_positive() && *part <= 1.0;
    assert!([loss.d, loss.p, loss.omega].iter().all(within), "{solution:?}");
    assert!([loss.l, *grad_l, *grad_gap].iter().all(|number| number.is_finite()), "{solution:?}");
    assert!(solution.round > 1 || (*grad_l == 0.0 && *grad_gap == 0.0), "{solution:?}");
    assert!(!solution.law2 || *directive == Macro::Abandon, "{solution:?}");
    let blames_tools = matches!(directive, Macro::BreakSymmetry | Macro::ChangeApproach);
    assert!(blames_tools || solution.blocked_tools.is_empty(), "{solution:?}");
    let blames_targets = matches!(directive, Macro::ChangePath | Macro::Refine);
    assert!(blames_targets || solution.newly_blocked.is_empty(), "{solution:?}");
}

fn bits(solution: &Solution) -> [u64; 6] {
    let Solution { loss, grad_l, grad_gap, .. } = solution;
    [loss.d, loss.p, loss.omega, loss.l, *grad_l, *grad_gap].map(f64::to_bits)
}

#[test]
fn every_round_is_answered_within_bounds_and_the_same_in_any_order() {
    let (params, classes) = (Params::default(), BTreeMap::new());
    let mut dice = Dice(7);
    let mut state = State::default();
    let mut said: BTreeMap<Macro, u32> = BTreeMap::new();
    for _ in 0..INPUTS {
        let mut outcomes = dice.some(3, Dice::outcome);
        let elapsed_ms = dice.elapsed_ms();
        let solved = solve(&params, &state, &Round { elapsed_ms, outcomes: &outcomes, classes: &classes });
        dice.shuffle(&mut outcomes);
        for outcome in &mut outcomes {
            dice.shuffle(&mut outcome.criteria);
            dice.shuffle(&mut outcome.tool_calls);
        }
        let again = solve(&params, &state, &Round { elapsed_ms, outcomes: &outcomes, classes: &classes });
        assert_eq!(solved, again);
        let (Ok((next, solution)), Ok((_, again))) = (solved, again) else {
            assert!(outcomes.is_empty());
            continue;
        };
        assert_eq!(bits(&solution), bits(&again));
        check(&solution);
        *said.entry(solution.directive).or_default() += 1;
        // A task goes on for a few rounds, also past its end: nobody has to stop asking.
        state = if dice.below(5) == 0 { State::default() } else { next };
    }
    assert_eq!(said.len(), Macro::ALL.len(), "not everything was said: {said:?}");
}
