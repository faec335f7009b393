//! Texts that come along: they fold, and say how much there is of them.

use serde_json::Value;

use super::super::rows::rows;
use super::super::{escaped, inline, plural};
use super::{Fold, Look};

/// Rows of a text that are shown before it folds.
const SHOWN: usize = 12;
/// More links than this are only counted.
const NAMED_LINKS: usize = 3;
const INDENT: usize = 6;
/// As much as a tab stands for in a text that nobody has to copy.
const TAB: &str = "    ";

/// One argument that does not decide.
pub(super) fn argument(name: &str, value: &Value, look: &Look<'_>) -> Vec<String> {
    match value {
        Value::String(text) if text.contains('\n') || text.chars().count() > look.width => {
            text_of(name, text, look)
        }
        Value::String(text) => labelled(name, &inline(text), look),
        other => labelled(name, &inline(&other.to_string()), look),
    }
}

fn labelled(name: &str, value: &str, look: &Look<'_>) -> Vec<String> {
    let rows = rows(&format!("{}: {value}", inline(name)), look.width.saturating_sub(INDENT));
    let row = |(i, row): (usize, String)| if i == 0 { format!("    {row}") } else { format!("      {row}") };
    folded(rows.into_iter().enumerate().map(row).collect(), SHOWN, 0, look)
}

pub(super) fn text(name: &str, text: &str, look: &Look<'_>) -> Vec<String> {
    text_of(name, text, look)
}

fn text_of(name: &str, text: &str, look: &Look<'_>) -> Vec<String> {
    let all: Vec<&str> = text.lines().collect();
    let mut shown =
        vec![format!("    {}: {}{}", inline(name), plural(all.len() as u64, "line", "lines"), links(text))];
    let room = look.width.saturating_sub(INDENT);
    let (mut taken, mut complete) = (0, 0);
    for line in &all {
        let rows = rows(&escaped(&line.replace('\t', TAB)), room);
        let fits = if look.fold == Fold::Whole { rows.len() } else { SHOWN - taken };
        shown.extend(rows.iter().take(fits).map(|row| format!("{:INDENT$}{row}", "").trim_end().to_owned()));
        taken += rows.len().min(fits);
        if rows.len() > fits || (fits == 0 && look.fold != Fold::Whole) {
            break;
        }
        complete += 1;
    }
    let more = all.len() - complete;
    if more > 0 { with_more(shown, more, look) } else { shown }
}

fn folded(mut lines: Vec<String>, most: usize, complete: usize, look: &Look<'_>) -> Vec<String> {
    if look.fold == Fold::Whole || lines.len() <= most {
        return lines;
    }
    let more = lines.len() - most - complete;
    lines.truncate(most);
    with_more(lines, more, look)
}

fn with_more(mut lines: Vec<String>, more: usize, look: &Look<'_>) -> Vec<String> {
    if let Fold::Folded(how) = look.fold {
        let dots = look.theme.mark("…", "...");
        lines.push(format!("      {dots} {}, {how}", plural(more as u64, "more line", "more lines")));
    }
    lines
}

/// Where a text could lead: named if they are few, counted if not.
fn links(text: &str) -> String {
    let found: Vec<&str> = text.split(|c: char| c.is_whitespace() || "<>\"'()[]".contains(c)).collect();
    let found: Vec<&str> = found.into_iter().filter(|word| word.contains("://")).collect();
    match found.len() {
        0 => String::new(),
        few @ 1..=NAMED_LINKS => {
            let named: Vec<String> = found.iter().map(|link| inline(link)).collect();
            format!(", {} ({})", plural(few as u64, "link", "links"), named.join(", "))
        }
        many => format!(", {many} links"),
    }
}
