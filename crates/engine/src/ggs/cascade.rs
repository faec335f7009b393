//! The decision table: 24 cells, six macro-states. First whether there is budget left, then whether it is close enough,
//! then what kind of change is needed.

use domain::gradient::{Loss, Macro, Params};

/// Sums of tenths are not tenths: 0.6·4/3 must not slip under 0.8.
const TOLERANCE: f64 = 1e-9;

fn ge(a: f64, b: f64) -> bool {
    a >= b - TOLERANCE
}

fn gt(a: f64, b: f64) -> bool {
    a > b + TOLERANCE
}

fn le(a: f64, b: f64) -> bool {
    a <= b + TOLERANCE
}

fn lt(a: f64, b: f64) -> bool {
    a < b - TOLERANCE
}

/// What is to be done, if something failed. The sign of the gradient has no say in it: a loss that falls while the
/// approach is wrong (cell 6) may be a criterion that is being gamed.
#[must_use]
pub fn cascade(params: &Params, grad_l: f64, loss: &Loss) -> Macro {
    if ge(loss.omega, params.theta) {
        return Macro::Abandon;
    }
    if le(loss.d, params.delta) {
        return Macro::Success;
    }
    let moves = ge(grad_l.abs(), params.epsilon);
    let wrong = gt(loss.p, params.rho);
    match (moves, wrong) {
        (false, true) => Macro::BreakSymmetry,
        (true, true) => Macro::ChangeApproach,
        (false, false) => Macro::ChangePath,
        (true, false) => Macro::Refine,
    }
}

/// Where the loss is going. It decides nothing by itself; it says how hard a directive is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    Improving,
    Level,
    Worsening,
}

impl Trend {
    #[must_use]
    pub fn of(params: &Params, grad_l: f64) -> Self {
        if lt(grad_l, -params.epsilon) {
            Self::Improving
        } else if gt(grad_l, params.epsilon) {
            Self::Worsening
        } else {
            Self::Level
        }
    }
}
