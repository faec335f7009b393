//! A question as a person sees it: what decides, whole and first; where it comes from; the agent's words in quotes.
//!
//! INVARIANT (one-line): every line begins with words of ours. A value stands on one line, however long, with what
//! would end it made visible; a text that folds is broken into rows by us.

mod body;
mod facts;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use broker::decide::Answer;
use broker::question::{NamedBy, Question, Sink};
use domain::Time;
use domain::approval::Status;
use jiff::tz::TimeZone;
use runtime::app::ApprovalView;

use super::odd::odd;
use super::rows::{columns, rows};
use super::{Theme, Tone, inline};

pub(crate) use facts::{leave, open_until, outcome, to_type};

/// How it is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    pub(crate) now: Time,
    pub(crate) zone: &'a TimeZone,
    pub(crate) theme: Theme,
    pub(crate) width: usize,
    pub(crate) fold: Fold,
}

/// How much of a text is shown. What decides is never folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// Its first lines; this shows the rest.
    Folded(&'static str),
    Whole,
}

/// Where the text behind a label begins.
const LABEL: usize = 15;

/// Everything about one question.
pub(crate) fn block(view: &ApprovalView, look: &Look<'_>) -> Vec<String> {
    let mut page = Page { look, lines: head(view, look) };
    let Some(question) = &view.question else {
        page.label("asked", "(erased)");
        return page.lines;
    };
    page.sinks(question);
    page.changes(question);
    page.texts(question);
    for (i, word) in question.asked.iter().filter(|word| word.answer == Answer::Review).enumerate() {
        page.label(if i == 0 { "why asked" } else { "" }, &inline(&word.reason));
    }
    let undo = if question.undo { format!("yes, regent undo {}", view.task_short) } else { "no".into() };
    page.lines.push(format!("  undo: {undo}"));
    if !question.wanted.trim().is_empty() {
        page.label("agent says", &format!("\"{}\"", inline(&question.wanted)));
    }
    page.lines
}

/// What an answer could grant beyond this one call; nothing if nothing is offered.
pub(crate) fn offered(view: &ApprovalView, look: &Look<'_>) -> Vec<String> {
    let offered = view.question.as_ref().and_then(|question| question.offer.as_ref());
    let Some(terms) = offered.filter(|_| view.status.is_open()) else { return Vec::new() };
    let key = look.theme.tinted("g", Tone::Command);
    let rows =
        rows(&facts::offer(terms, view.coverage), look.width.saturating_sub(3)).into_iter().enumerate();
    rows.map(|(i, row)| if i == 0 { format!("{key}  {row}") } else { format!("   {row}") }).collect()
}

/// The first line, or two where they do not fit beside each other.
fn head(view: &ApprovalView, look: &Look<'_>) -> Vec<String> {
    let Look { theme, width, .. } = *look;
    let marked = mark(view, theme);
    let step = view.question.as_ref().and_then(|question| question.call.subtask);
    let step = step.map_or_else(String::new, |step| format!("step {} of ", u64::from(step) + 1));
    let right = format!("{step}{}, {}", view.task_short, outcome(view, look));
    let id = theme.tinted(&view.short, Tone::Command);
    let taken = 2 + columns(&view.short) + 2;
    let title = title(view, width.saturating_sub(taken));
    let gap = width.saturating_sub(taken + columns(&title) + columns(&right));
    if gap >= 3 {
        return vec![format!("{marked} {id}  {title}{}{right}", " ".repeat(gap))];
    }
    vec![format!("{marked} {id}  {title}"), format!("    {right}")]
}

fn mark(view: &ApprovalView, theme: Theme) -> String {
    let typed = view.question.as_ref().is_some_and(|question| question.typed.is_some());
    match view.status {
        Status::Approved | Status::Modified => theme.tinted(theme.mark("✓", "ok"), Tone::Good),
        Status::Rejected => theme.tinted(theme.mark("✗", "no"), Tone::Bad),
        Status::Expired => "-".into(),
        Status::Pending | Status::Escalated if typed => theme.tinted("!", Tone::Attention),
        Status::Pending | Status::Escalated => theme.tinted("?", Tone::Waiting),
    }
}

/// What would happen, if that fits and can be nothing but what it is; else the tool alone. It is never cut: a harmless
/// beginning would hide the rest.
pub(crate) fn title(view: &ApprovalView, room: usize) -> String {
    let Some(question) = &view.question else { return "(erased)".into() };
    let summary = question.summary();
    let plain = odd(&summary, &[]).is_empty() && columns(&summary) <= room;
    if plain { summary } else { inline(question.tool().as_str()) }
}

struct Page<'a> {
    look: &'a Look<'a>,
    lines: Vec<String>,
}

impl Page<'_> {
    /// Words of ours or of a layer: broken into rows, so that they stay behind their label.
    fn label(&mut self, label: &str, text: &str) {
        self.marked(" ", label, text);
    }

    fn attention(&mut self, label: &str, text: &str) {
        let mark = self.look.theme.tinted("!", Tone::Attention);
        self.marked(&mark, label, text);
    }

    fn marked(&mut self, mark: &str, label: &str, text: &str) {
        let room = self.look.width.saturating_sub(LABEL);
        for (i, row) in rows(text, room).into_iter().enumerate() {
            let line =
                if i == 0 { format!("{mark} {label:<13}{row}") } else { format!("{:LABEL$}{row}", "") };
            self.lines.push(line.trim_end().to_owned());
        }
    }

    fn sinks(&mut self, question: &Question) {
        for (i, sink) in question.sinks.iter().enumerate() {
            self.sink(sink);
            for line in odd(&sink.value, &named_by_the_owner(question, sink)) {
                self.attention("looks odd", &inline(&line));
            }
            if question.sinks.get(i + 1).is_none_or(|next| next.named_by != sink.named_by) {
                self.named_by(sink.named_by);
            }
        }
    }

    /// Complete, and on one line of its own length: the terminal breaks it, and copying gives it back.
    fn sink(&mut self, sink: &Sink) {
        let (name, value) = (inline(&sink.name), inline(&sink.value));
        let beside = format!("    {name}: {value}");
        if columns(&beside) <= self.look.width {
            self.lines.push(beside);
        } else {
            self.lines.push(format!("    {name}, {} characters:", sink.value.chars().count()));
            self.lines.push(format!("    {value}"));
        }
    }

    fn named_by(&mut self, who: NamedBy) {
        match who {
            NamedBy::Request => self.label("named by", "your own words"),
            NamedBy::Owner => self.label("named by", "you, who typed it"),
            NamedBy::Rule => self.label("named by", "a rule, from your words"),
            NamedBy::Model => self.attention("named by", "a model, nobody knows from what"),
        }
    }

    fn changes(&mut self, question: &Question) {
        let Some(change) = &question.change else { return };
        let is_named = question.sinks.iter().any(|sink| sink.value == change.path);
        if !is_named {
            self.label("file", &inline(&change.path));
        }
        for fact in facts::of_change(change, question.modified, self.look.zone) {
            self.label(if is_named { "file" } else { "" }, &inline(&fact));
        }
    }

    fn texts(&mut self, question: &Question) {
        let is_sink = |name: &str| question.sinks.iter().any(|sink| sink.name == name);
        for (name, value) in question.args().as_object().into_iter().flatten() {
            if !is_sink(name) {
                let lines = body::argument(name, value, self.look);
                self.lines.extend(lines);
            }
        }
        // Of a new file the diff says nothing that its text does not.
        let is_new =
            question.change.as_ref().is_some_and(|change| change.from == domain::change::Standing::Nothing);
        if let Some(diff) = question.diff.as_deref().filter(|_| !is_new) {
            let lines = body::text("diff", diff, self.look);
            self.lines.extend(lines);
        }
    }
}

/// What the owner themselves has named beside this one: what a value could try to look like.
fn named_by_the_owner<'a>(question: &'a Question, beside: &Sink) -> Vec<&'a str> {
    let named =
        question.sinks.iter().filter(|sink| matches!(sink.named_by, NamedBy::Request | NamedBy::Owner));
    named.filter(|sink| *sink != beside).map(|sink| sink.value.as_str()).collect()
}
