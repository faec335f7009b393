//! The permanent lines, written once: with symbols and columns if a terminal can display them, in words everywhere else. Both
//! have the same content.

use domain::gradient::Macro;

use super::state::{PersonAnswer, SubtaskRow, SubtaskState};
use super::words;
use crate::{TextRow, Theme, Tone, fit, inline, pluralize};

/// How much of a reason is said; `regent why` has the rest.
const REASON: usize = 160;
/// From here on there is room for columns.
const WIDE: usize = 80;
/// Where the checks begin, and where the time ends.
const CHECKS: usize = 42;
const END: usize = 78;

/// A permanent line: what happened, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressLine {
    /// There is a plan.
    Plan { steps: usize, checks: usize },
    /// One subtask of the plan is over.
    Subtask { number: u32, of: usize, row: SubtaskRow },
    /// There is another plan: what changes, why, and which subtasks are kept.
    Round { number: u32, directive: Macro, failed: Vec<u32>, why: String, kept: Vec<u32> },
}

/// With symbols, or their ASCII, for a terminal of so many columns.
#[must_use]
pub fn render_line(line: &ProgressLine, name: &str, theme: Theme, columns: usize) -> Vec<String> {
    match line {
        ProgressLine::Plan { steps, checks } => vec![describe_plan(name, *steps, *checks)],
        ProgressLine::Round { number, directive, failed, why, kept } => {
            let text = format!("round {number}: {}", describe_round(*directive, failed, why, kept));
            vec![
                TextRow::new()
                    .toned(theme.mark("↻", "~"), Tone::Command)
                    .plain(format!(" {text}"))
                    .render(theme),
            ]
        }
        ProgressLine::Subtask { number, row, .. } => {
            let (symbol, ascii, tone) = choose_mark(&row.state);
            let intent = inline(&row.intent);
            let text = TextRow::new()
                .toned(theme.mark(symbol, ascii), tone)
                .plain(format!(" {number} {}", if columns < WIDE { &intent } else { "" }));
            let (checks, took) = (describe_checks(row), words::format_duration(row.took));
            let text = match (&row.state, columns < WIDE) {
                (SubtaskState::Skipped, true) => text.plain(format!(", {checks}")),
                (_, true) => text.plain(format!(", {checks}, {took}")),
                (SubtaskState::Skipped, false) => {
                    text.plain(intent).to(CHECKS - 1).plain(format!(" {checks}"))
                }
                (_, false) => {
                    let text = text.plain(intent).to(CHECKS - 1).plain(format!(" {checks}"));
                    text.to(END.saturating_sub(took.len() + 1)).plain(format!(" {took}"))
                }
            };
            let why = describe_failure(row).map(|why| format!("    {why}"));
            std::iter::once(text.render(theme)).chain(why).collect()
        }
    }
}

/// In words: `[1/5] done: …`.
#[must_use]
pub fn describe_line(line: &ProgressLine, name: &str) -> String {
    match line {
        ProgressLine::Plan { steps, checks } => describe_plan(name, *steps, *checks),
        ProgressLine::Round { number, directive, failed, why, kept } => {
            format!("round {number}: {}", describe_round(*directive, failed, why, kept))
        }
        ProgressLine::Subtask { number, of, row } => {
            let word = match row.state {
                SubtaskState::Done => "done",
                SubtaskState::Failed(_) => "failed",
                SubtaskState::Skipped => "skipped",
                SubtaskState::Later => "later",
                SubtaskState::Working => "working",
            };
            let time = match row.state {
                SubtaskState::Skipped => String::new(),
                _ => format!(", {}", words::format_duration(row.took)),
            };
            let why = describe_failure(row).map_or_else(String::new, |why| format!(": {why}"));
            let checks = describe_checks(row);
            let checks = checks.strip_prefix("skipped, ").unwrap_or(&checks);
            format!("[{number}/{of}] {word}: {}, {checks}{time}{why}", inline(&row.intent))
        }
    }
}

fn describe_plan(name: &str, steps: usize, checks: usize) -> String {
    let (steps, checks) =
        (pluralize(steps as u64, "step", "steps"), pluralize(checks as u64, "check", "checks"));
    format!("task {name}: {steps}, {checks}")
}

fn describe_round(directive: Macro, failed: &[u32], why: &str, kept: &[u32]) -> String {
    let mut text = words::describe_replan(directive, failed);
    if !why.is_empty() {
        text.push_str(&format!(", {}", fit(&inline(why), REASON)));
    }
    if !kept.is_empty() {
        text.push_str(&format!("; {} kept", words::join_numbers(kept)));
    }
    text
}

/// Symbol, ASCII and tone of a state; each of them has a word too.
#[must_use]
pub const fn choose_mark(state: &SubtaskState) -> (&'static str, &'static str, Option<Tone>) {
    match state {
        SubtaskState::Done => ("✓", "ok", Some(Tone::Good)),
        SubtaskState::Failed(_) => ("✗", "FAIL", Some(Tone::Bad)),
        SubtaskState::Skipped | SubtaskState::Later => ("-", "-", Some(Tone::Faint)),
        SubtaskState::Working => ("▸", ">", None),
    }
}

/// `2/2 checks, you: yes`, or what it waits for.
#[must_use]
pub fn describe_checks(row: &SubtaskRow) -> String {
    if row.state == SubtaskState::Skipped {
        return format!("skipped, needs {}", list_needs(row));
    }
    let answer = match row.answer {
        None => "",
        Some(PersonAnswer::Yes) => ", you: yes",
        Some(PersonAnswer::No) => ", you: no",
        Some(PersonAnswer::Changed) => ", you: changed",
        Some(PersonAnswer::Expired) => ", question expired",
    };
    format!("{}/{} {}{answer}", row.met, row.checks, if row.checks == 1 { "check" } else { "checks" })
}

#[must_use]
pub fn list_needs(row: &SubtaskRow) -> String {
    words::join_numbers(&row.needs.iter().map(|number| number + 1).collect::<Vec<u32>>())
}

fn describe_failure(row: &SubtaskRow) -> Option<String> {
    match &row.state {
        SubtaskState::Failed(why) if !why.is_empty() => Some(fit(&inline(why), REASON)),
        _ => None,
    }
}
