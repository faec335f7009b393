//! An error as it is printed: what, tried, safe, do.

use runtime::Problem;

use super::{Screen, Tone, escaped};

/// The lines for standard error.
pub(crate) fn problem(screen: &Screen, problem: &Problem) -> String {
    let head = screen.note_tinted(&format!("error {}", problem.code), Tone::Bad);
    let mut text = format!("{head}: {}", escaped(&problem.what));
    let mut row = |label: &str, value: &str| text.push_str(&format!("\n  {label:<8} {value}"));
    if let Some(tried) = &problem.tried {
        row("tried", &escaped(tried));
    }
    if let Some(safe) = &problem.safe {
        row("safe", &escaped(safe));
    }
    for (i, command) in problem.remedy.iter().enumerate() {
        row(if i == 0 { "do" } else { "or" }, &screen.note_tinted(&escaped(command), Tone::Command));
    }
    let explains = format!("regent explain {}", problem.code);
    if !problem.remedy.contains(&explains) {
        row("more", &screen.note_tinted(&explains, Tone::Command));
    }
    text
}
