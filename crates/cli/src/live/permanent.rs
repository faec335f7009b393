//! The lines that stay, written once: with symbols and columns where a terminal can show them, in words everywhere else.
//! Both say the same.

use domain::gradient::Macro;

use super::cells::{Row, fitted};
use super::fold::Line;
use super::model::{Part, State, You};
use super::words;
use crate::show::{Theme, Tone, inline, plural};

/// How much of a reason is said; `regent why` has the rest.
const REASON: usize = 160;
/// From here on there is room for columns.
const WIDE: usize = 80;
/// Where the checks begin, and where the time ends.
const CHECKS: usize = 42;
const END: usize = 78;

/// With symbols, or their ASCII, for a terminal of so many columns.
pub(crate) fn drawn(line: &Line, name: &str, theme: Theme, columns: usize) -> Vec<String> {
    match line {
        Line::Plan { steps, checks } => vec![planned(name, *steps, *checks)],
        Line::Round { number, directive, failed, why, kept } => {
            let text = format!("round {number}: {}", changes(*directive, failed, why, kept));
            vec![Row::new().toned(theme.mark("↻", "~"), Tone::Command).plain(format!(" {text}")).shown(theme)]
        }
        Line::Part { number, part, .. } => {
            let (symbol, ascii, tone) = mark(&part.state);
            let intent = inline(&part.intent);
            let row = Row::new()
                .toned(theme.mark(symbol, ascii), tone)
                .plain(format!(" {number} {}", if columns < WIDE { &intent } else { "" }));
            let (checks, took) = (checks(part), words::took(part.took));
            let row = match (&part.state, columns < WIDE) {
                (State::Skipped, true) => row.plain(format!(", {checks}")),
                (_, true) => row.plain(format!(", {checks}, {took}")),
                (State::Skipped, false) => row.plain(intent).to(CHECKS - 1).plain(format!(" {checks}")),
                (_, false) => {
                    let row = row.plain(intent).to(CHECKS - 1).plain(format!(" {checks}"));
                    row.to(END.saturating_sub(took.len() + 1)).plain(format!(" {took}"))
                }
            };
            let why = reason(part).map(|why| format!("    {why}"));
            std::iter::once(row.shown(theme)).chain(why).collect()
        }
    }
}

/// In words: `[1/5] done: …`.
pub(crate) fn worded(line: &Line, name: &str) -> String {
    match line {
        Line::Plan { steps, checks } => planned(name, *steps, *checks),
        Line::Round { number, directive, failed, why, kept } => {
            format!("round {number}: {}", changes(*directive, failed, why, kept))
        }
        Line::Part { number, of, part } => {
            let word = match part.state {
                State::Done => "done",
                State::Failed(_) => "failed",
                State::Skipped => "skipped",
                State::Later => "later",
                State::Working => "working",
            };
            let time = match part.state {
                State::Skipped => String::new(),
                _ => format!(", {}", words::took(part.took)),
            };
            let why = reason(part).map_or_else(String::new, |why| format!(": {why}"));
            let checks = checks(part);
            let checks = checks.strip_prefix("skipped, ").unwrap_or(&checks);
            format!("[{number}/{of}] {word}: {}, {checks}{time}{why}", inline(&part.intent))
        }
    }
}

fn planned(name: &str, steps: usize, checks: usize) -> String {
    let (steps, checks) = (plural(steps as u64, "step", "steps"), plural(checks as u64, "check", "checks"));
    format!("task {name}: {steps}, {checks}")
}

fn changes(directive: Macro, failed: &[u32], why: &str, kept: &[u32]) -> String {
    let mut text = words::directed(directive, failed);
    if !why.is_empty() {
        text.push_str(&format!(", {}", fitted(&inline(why), REASON)));
    }
    if !kept.is_empty() {
        text.push_str(&format!("; {} kept", words::numbers(kept)));
    }
    text
}

/// Symbol, ASCII and tone of a state; each of them has a word too.
pub(crate) const fn mark(state: &State) -> (&'static str, &'static str, Option<Tone>) {
    match state {
        State::Done => ("✓", "ok", Some(Tone::Good)),
        State::Failed(_) => ("✗", "FAIL", Some(Tone::Bad)),
        State::Skipped | State::Later => ("-", "-", Some(Tone::Faint)),
        State::Working => ("▸", ">", None),
    }
}

/// `2/2 checks, you: yes`, or what it waits for.
pub(crate) fn checks(part: &Part) -> String {
    if part.state == State::Skipped {
        return format!("skipped, needs {}", needs(part));
    }
    let you = match part.you {
        None => "",
        Some(You::Yes) => ", you: yes",
        Some(You::No) => ", you: no",
        Some(You::Changed) => ", you: changed",
        Some(You::Expired) => ", question expired",
    };
    format!("{}/{} {}{you}", part.met, part.checks, if part.checks == 1 { "check" } else { "checks" })
}

pub(crate) fn needs(part: &Part) -> String {
    words::numbers(&part.needs.iter().map(|number| number + 1).collect::<Vec<u32>>())
}

fn reason(part: &Part) -> Option<String> {
    match &part.state {
        State::Failed(why) if !why.is_empty() => Some(fitted(&inline(why), REASON)),
        _ => None,
    }
}
