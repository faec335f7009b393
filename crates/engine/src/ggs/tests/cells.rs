//! The decision table of the seed, cell by cell, and what happens on the lines between the cells.

use domain::gradient::Macro::{Abandon, BreakSymmetry, ChangeApproach, ChangePath, Refine, Success};
use domain::gradient::{Loss, Macro, Params};

use super::{play, share};
use crate::ggs::{Trend, cascade};

fn says(grad_l: f64, d: f64, p: f64, omega: f64) -> Macro {
    cascade(&Params::default(), grad_l, &Loss { d, p, omega, l: 0.0 })
}

#[test]
fn all_24_cells_of_the_seed() {
    const DOWN: f64 = -0.2;
    const FLAT: f64 = 0.0;
    const UP: f64 = 0.2;
    // Close and far, the world and the approach, budget and none.
    let (near, far, world, approach, some, none) = (0.2, 0.9, 0.4, 0.9, 0.5, 0.9);
    let table = [
        (1, DOWN, near, world, some, Success),
        (2, DOWN, near, approach, some, Success),
        (3, DOWN, near, world, none, Abandon),
        (4, DOWN, near, approach, none, Abandon),
        (5, DOWN, far, world, some, Refine),
        (6, DOWN, far, approach, some, ChangeApproach),
        (7, DOWN, far, world, none, Abandon),
        (8, DOWN, far, approach, none, Abandon),
        (9, FLAT, near, world, some, Success),
        (10, FLAT, near, approach, some, Success),
        (11, FLAT, near, world, none, Abandon),
        (12, FLAT, near, approach, none, Abandon),
        (13, FLAT, far, world, some, ChangePath),
        (14, FLAT, far, approach, some, BreakSymmetry),
        (15, FLAT, far, world, none, Abandon),
        (16, FLAT, far, approach, none, Abandon),
        (17, UP, near, world, some, Success),
        (18, UP, near, approach, some, Success),
        (19, UP, near, world, none, Abandon),
        (20, UP, near, approach, none, Abandon),
        (21, UP, far, world, some, Refine),
        (22, UP, far, approach, some, ChangeApproach),
        (23, UP, far, world, none, Abandon),
        (24, UP, far, approach, none, Abandon),
    ];
    for (cell, grad_l, d, p, omega, expected) in table {
        assert_eq!(says(grad_l, d, p, omega), expected, "cell {cell}");
    }
}

#[test]
fn the_action_grid() {
    let grid = [0.0, 0.1].map(|grad_l| [0.5, 0.6].map(|p| says(grad_l, 0.31, p, 0.79)));
    assert_eq!(grid, [[ChangePath, BreakSymmetry], [Refine, ChangeApproach]]);
}

/// Each threshold, a millionth around it, and nearer to it than anything but rounding gets.
#[test]
fn a_threshold_is_where_it_is_said_to_be() {
    let (coarse, fine) = (1e-6, 1e-12);
    let at = |threshold: f64| [-coarse, -fine, 0.0, fine, coarse].map(|off| threshold + off);
    assert_eq!(
        at(0.8).map(|omega| says(0.0, 0.9, 0.0, omega)),
        [ChangePath, Abandon, Abandon, Abandon, Abandon]
    );
    assert_eq!(at(0.3).map(|d| says(0.0, d, 0.0, 0.5)), [Success, Success, Success, Success, ChangePath]);
    let stuck = [ChangePath, ChangePath, ChangePath, ChangePath, BreakSymmetry];
    assert_eq!(at(0.5).map(|p| says(0.0, 0.9, p, 0.5)), stuck);
    let moved = [ChangePath, Refine, Refine, Refine, Refine];
    assert_eq!(at(0.1).map(|grad_l| says(grad_l, 0.9, 0.0, 0.5)), moved);
    assert_eq!(at(0.1).map(|grad_l| says(-grad_l, 0.9, 0.0, 0.5)), moved);

    let trend = |grad_l| Trend::of(&Params::default(), grad_l);
    let level = [Trend::Level; 4];
    assert_eq!(at(0.1).map(trend), [&level[..], &[Trend::Worsening]].concat()[..]);
    assert_eq!(at(-0.1).map(trend), [&[Trend::Improving], &level[..]].concat()[..]);
}

/// In floating point 0.6·4/3 and sums like it miss 0.8 by a hair, on either side.
#[test]
fn the_fourth_replan_uses_the_budget_up_without_any_time() {
    let rounds = vec![(0.0, share(1, 2, None)); 4];
    let said: Vec<Macro> = play(&rounds).iter().map(|solution| solution.directive).collect();
    assert_eq!(said, [ChangePath, ChangePath, ChangePath, Abandon]);

    // 0.6·3/3 + 0.4·150/300 = 0.8, and 0.6·2/3 + 0.4·300/300 = 0.8; a tenth of a second before, it is not.
    for (replans, elapsed_ms) in [(3_usize, 150_000.0), (2, 300_000.0)] {
        let last = |elapsed_ms| {
            let mut rounds = vec![(0.0, share(1, 2, None)); replans];
            rounds[replans - 1].0 = elapsed_ms;
            play(&rounds)[replans - 1].directive
        };
        assert_eq!(last(elapsed_ms), Abandon);
        assert_ne!(last(elapsed_ms - 100.0), Abandon);
    }
}
