//! An error: what failed, what was tried, what is safe, what to do.

use domain::problem::{Code, Problem};

use crate::{Theme, Tone, inline};

/// The lines of an error, which go beside the result.
#[must_use]
pub fn render_problem(problem: &Problem, theme: Theme) -> String {
    let head = theme.paint(&format!("error {}", problem.code), Tone::Bad);
    // Mistakes in settings and policies are lines of ours, each with its place; what else ends a line came from outside.
    let lines: Vec<&str> = match problem.code {
        Code::SETTINGS | Code::BAD_POLICY | Code::BAD_PRICES => problem.what.split('\n').collect(),
        _ => vec![&problem.what],
    };
    let lines: Vec<String> = lines.into_iter().map(inline).collect();
    let mut text = format!("{head}: {}", lines.join("\n"));
    let mut row = |label: &str, value: &str| text.push_str(&format!("\n  {label:<8} {value}"));
    if let Some(tried) = &problem.tried {
        row("tried", &inline(tried));
    }
    if let Some(safe) = &problem.safe {
        row("safe", &inline(safe));
    }
    for (i, command) in problem.remedy.iter().enumerate() {
        row(if i == 0 { "do" } else { "or" }, &theme.paint(&inline(command), Tone::Command));
    }
    let explains = format!("regent explain {}", problem.code);
    if !problem.remedy.contains(&explains) {
        row("more", &theme.paint(&explains, Tone::Command));
    }
    text
}
