//! Texts that come along: they fold, and say how much there is of them.
//!
//! A line of a text begins in the seventh column. Where it is longer than a row, each row that goes on with it has a mark
//! before that, where no text reaches: it can pass for no other line.

use broker::question::Question;
use serde_json::Value;

use screen::is_unusual_blank;

use crate::wrap::{mark_end, measure_columns, wrap, wrap_exactly};
use crate::{Folding, Style, inline, pluralize};

/// Rows of a text that are shown before it folds.
const SHOWN: usize = 12;
/// More links than this are only counted.
const NAMED_LINKS: usize = 3;
const INDENT: usize = 6;
/// Before each row that goes on with what the one above began.
pub(super) const GOES_ON: &str = "    | ";
/// As much as a tab stands for in a text that nobody has to copy.
const TAB: &str = "    ";

/// What kind of text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextKind {
    Text,
    /// Each line has a sign before it, and every difference counts.
    Diff,
}

/// One argument that does not decide.
pub(super) fn render_argument(name: &str, value: &Value, style: &Style<'_>) -> Vec<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let beside = format!("    {}: {}", inline(name), mark_end(&inline(&text)));
    if !text.contains('\n') && measure_columns(&beside) <= style.width {
        return vec![beside];
    }
    let all = TextLines::of(&text, TextKind::Text);
    let header = format!(
        "{}: {}{}{}",
        inline(name),
        pluralize(all.lines.len() as u64, "line", "lines"),
        describe_links(&text, TextKind::Text),
        all.describe_ends()
    );
    [render_header(&header, style), all.render(style)].concat()
}

/// What would change in a file, line by line.
pub(super) fn render_diff(question: &Question, text: &str, style: &Style<'_>) -> Vec<String> {
    let all = TextLines::of(text, TextKind::Diff);
    let (mut added, mut removed) = (question.lines_added, question.lines_removed);
    if (added, removed) == (0, 0) {
        let changed = |sign: &str, head: &str| {
            let lines = all.lines.iter().filter(|line| line.starts_with(sign) && !line.starts_with(head));
            lines.count() as u64
        };
        (added, removed) = (changed("+", "+++ "), changed("-", "--- "));
    }
    let header =
        format!("diff  +{added} -{removed}{}{}", describe_links(text, TextKind::Diff), all.describe_ends());
    [render_header(&header, style), all.render(style)].concat()
}

fn render_header(header: &str, style: &Style<'_>) -> Vec<String> {
    let rows = wrap(header, style.width.saturating_sub(INDENT)).into_iter().enumerate();
    rows.map(|(i, row)| if i == 0 { format!("    {row}") } else { format!("{GOES_ON}{row}") }).collect()
}

/// The lines of a text, and what they have in common.
struct TextLines<'a> {
    lines: Vec<&'a str>,
    kind: TextKind,
    /// Every one of them ends as on Windows: it is said once.
    crlf: bool,
}

impl<'a> TextLines<'a> {
    fn of(text: &'a str, kind: TextKind) -> Self {
        let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
        let ours = |line: &str| {
            kind == TextKind::Diff && ["--- ", "+++ ", "@@ ", "\\ "].iter().any(|head| line.starts_with(head))
        };
        let mut theirs = lines.iter().filter(|line| !ours(line)).peekable();
        let crlf = theirs.peek().is_some() && theirs.all(|line| line.ends_with('\r'));
        Self { lines, kind, crlf }
    }

    const fn describe_ends(&self) -> &'static str {
        if self.crlf { ", every line ends in \\r\\n" } else { "" }
    }

    fn render(&self, style: &Style<'_>) -> Vec<String> {
        let room = style.width.saturating_sub(INDENT);
        let mut shown = Vec::new();
        for (i, line) in self.lines.iter().enumerate() {
            let line = make_visible(line.strip_suffix('\r').filter(|_| self.crlf).unwrap_or(line), self.kind);
            let rows =
                if self.kind == TextKind::Diff { wrap_exactly(&line, room) } else { wrap(&line, room) };
            let fits =
                if style.folding == Folding::Whole { rows.len() } else { SHOWN.saturating_sub(shown.len()) };
            let first = |i: usize| if i == 0 { "      " } else { GOES_ON };
            let marked = rows.iter().enumerate().map(|(i, row)| format!("{}{row}", first(i)));
            shown.extend(marked.take(fits).map(|row| row.trim_end().to_owned()));
            if let Some(hidden) = rows.get(fits..).filter(|hidden| !hidden.is_empty()) {
                let hidden = hidden.iter().map(|row| row.chars().count()).sum();
                let hidden = if fits == 0 { 0 } else { hidden };
                let lines = self.lines.len() - i - usize::from(fits > 0);
                shown.extend(describe_rest(hidden, lines, style));
                break;
            }
        }
        shown
    }
}

fn describe_rest(characters: usize, lines: usize, style: &Style<'_>) -> Option<String> {
    let Folding::FirstLines(how) = style.folding else { return None };
    let of_line = pluralize(characters as u64, "more character", "more characters");
    let whole = pluralize(lines as u64, "more line", "more lines");
    let what = match (characters, lines) {
        (0, _) => whole,
        (_, 0) => format!("{of_line} of this line"),
        (_, _) => format!("{of_line} of this line and {whole}"),
    };
    Some(format!("      {} {what}, {how}", style.theme.mark("…", "...")))
}

/// One line of a text: what nobody would see is made visible, also at its end. In what a diff adds or takes away a tab
/// is no blanks.
fn make_visible(line: &str, kind: TextKind) -> String {
    let sign = line.chars().next().filter(|sign| kind == TextKind::Diff && [' ', '+', '-'].contains(sign));
    let rest = sign.and_then(|sign| line.strip_prefix(sign)).unwrap_or(line);
    let counts = matches!(sign, Some('+' | '-'));
    let text = rest.trim_end_matches([' ', '\t']).len();
    let mut out: String = sign.into_iter().collect();
    for (at, c) in rest.char_indices() {
        match c {
            '\t' if counts || at >= text => out.push_str("\\t"),
            '\t' => out.push_str(TAB),
            '\r' => out.push_str("\\r"),
            c if domain::is_unseen(c) || is_unusual_blank(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    if rest.ends_with(' ') { mark_end(&out) } else { out }
}

/// Where a text could lead: named if they are few, counted if not.
fn describe_links(text: &str, kind: TextKind) -> String {
    let ends =
        |c: char| c.is_whitespace() || is_unusual_blank(c) || domain::is_unseen(c) || "<>\"'()[]".contains(c);
    let unsigned = |line: &'_ str| {
        if kind == TextKind::Diff {
            line.strip_prefix(['+', '-']).map_or(line.len(), str::len)
        } else {
            line.len()
        }
    };
    let lines = text.lines().map(|line| line.split_at(line.len() - unsigned(line)).1);
    let found: Vec<&str> =
        lines.flat_map(|line| line.split(ends)).filter(|word| word.contains("://")).collect();
    match found.len() {
        0 => String::new(),
        few @ 1..=NAMED_LINKS => {
            let named: Vec<String> = found.iter().map(|link| inline(link)).collect();
            format!(", {} ({})", pluralize(few as u64, "link", "links"), named.join(", "))
        }
        many => format!(", {many} links"),
    }
}
