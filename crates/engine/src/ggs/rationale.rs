//! A solution in one sentence, for whoever reads the journal.

use domain::gradient::Macro;

use super::Solution;
use super::block::Urgency;

/// `found` is what the cascade said before Law 2, `urgency` how tools were blocked, if they were.
pub(super) fn tell(solution: &Solution, found: Macro, urgency: Urgency) -> String {
    let Solution { round, loss, grad_l, worsening, .. } = solution;
    let moved = if *round > 1 { format!(" ({:+.3})", rounded(*grad_l)) } else { String::new() };
    let why = match found {
        _ if !solution.law2 => because(found).to_owned(),
        Macro::Abandon => format!("{}, and it got worse {worsening} rounds in a row (Law 2)", because(found)),
        _ => format!("it got worse {worsening} rounds in a row, so Law 2 ends it instead of {found}"),
    };
    format!(
        "round {round}: D {:.3}, P {:.3}, Ω {:.3}, L {:.3}{moved}: {why}{}",
        loss.d,
        loss.p,
        loss.omega,
        loss.l,
        urged(urgency)
    )
}

/// Without a minus before what is shown as nothing.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0 + 0.0
}

const fn because(found: Macro) -> &'static str {
    match found {
        Macro::Accept => "everything is met",
        Macro::Success => "close enough to deliver",
        Macro::Abandon => "the budget is used up",
        Macro::Refine => "the approach holds and something moves, so it is refined",
        Macro::ChangePath => "the approach holds and nothing moves, so another target is tried",
        Macro::ChangeApproach => "the approach is wrong and something moves, so another one is tried",
        Macro::BreakSymmetry => "the approach is wrong and nothing moves, so another kind of tool is tried",
    }
}

/// How the trend changed which tools are blocked.
const fn urged(urgency: Urgency) -> &'static str {
    match urgency {
        Urgency::Plain => "",
        Urgency::Relaxed => "; it gets better, so only tools of what failed in every attempt are blocked",
        Urgency::NothingToRelax => "; it gets better, but nothing failed in every attempt to single out",
        Urgency::Tightened => "; it gets worse, so the whole classes of the failing tools are blocked",
    }
}
