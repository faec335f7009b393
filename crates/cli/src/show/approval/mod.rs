//! A question as a person sees it: what decides, whole and first; where it comes from; the agent's words in quotes.
//!
//! INVARIANT (one-line): every line begins with words or a mark of ours. Whatever is longer than a row is broken by us,
//! never by the terminal, and each row of it that could be taken for a line of ours has a mark where none of ours has one.

mod alike;
mod body;
mod facts;
mod listed;
#[cfg(test)]
mod listed_tests;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use broker::decide::Answer;
use broker::question::{Name, NamedBy, Question, Sink, Undo};
use domain::Time;
use domain::approval::Status;
use domain::call::Chooser;
use jiff::tz::TimeZone;
use runtime::app::ApprovalView;
use serde_json::Value;

use super::odd::{odd, odd_text};
use super::rows::{columns, pieces, rows, with_end};
use super::{Theme, Tone, inline};

pub(crate) use alike::{files, groups};
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
/// Less than this beside a label is not worth reading.
const NARROWEST: usize = 16;

/// Everything about one question.
pub(crate) fn block(view: &ApprovalView, look: &Look<'_>) -> Vec<String> {
    let mut page = Page { look, lines: head(view, look) };
    let Some(question) = &view.question else {
        page.label("asked", "(erased)");
        return page.lines;
    };
    page.sinks(question);
    if let Some(args) = &view.changed {
        page.label("changed to", "");
        page.lines.extend(instead(question, args, look));
    }
    page.changes(question);
    page.texts(question);
    for (i, word) in question.asked.iter().filter(|word| word.answer == Answer::Review).enumerate() {
        page.label(if i == 0 { "why asked" } else { "" }, &inline(&word.reason));
    }
    let command = format!("regent undo {}", view.task_short);
    let undo = match question.undo() {
        Undo::All => format!("yes, {command}"),
        Undo::Some(some, all) => format!("for {some} of {all}, {command}"),
        Undo::Nothing => "no".into(),
    };
    page.lines.push(format!("  undo: {undo}"));
    let typed_by_owner = question.sinks.iter().any(|sink| sink.named_by == NamedBy::Owner)
        || matches!(question.call.chosen_by, Chooser::Owner { .. });
    if !question.wanted.trim().is_empty() && !typed_by_owner {
        page.label("agent says", &format!("\"{}\"", inline(&question.wanted)));
    }
    page.lines
}

/// The call with other arguments: what decides, whole, and whatever else is not as it was.
pub(crate) fn instead(question: &Question, args: &Value, look: &Look<'_>) -> Vec<String> {
    let mut page = Page { look, lines: Vec::new() };
    let decides = |name: &str| question.sinks.iter().find(|sink| sink.name == name);
    let (before, now) = (question.args().as_object(), args.as_object());
    for (name, value) in now.into_iter().flatten() {
        let same = before.and_then(|before| before.get(name)) == Some(value);
        match decides(name) {
            Some(sink) => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let named_by = if same { sink.named_by } else { NamedBy::Owner };
                let sink = Sink { name: name.clone(), value: text, named_by };
                page.decides(question, &sink, Some(value));
            }
            None if !same => page.lines.extend(body::argument(name, value, look)),
            None => {}
        }
    }
    for name in before.into_iter().flatten().map(|(name, _)| name) {
        if now.is_none_or(|now| !now.contains_key(name)) {
            page.label("left out", &inline(name));
        }
    }
    page.lines
}

/// What decides, whole, for whoever sees only a line about a question.
pub(crate) fn values(view: &ApprovalView, look: &Look<'_>) -> Vec<String> {
    let mut page = Page { look, lines: Vec::new() };
    for (question, sink) in
        view.question.iter().flat_map(|question| question.sinks.iter().map(move |sink| (question, sink)))
    {
        page.decides(question, sink, question.args().get(&sink.name));
    }
    page.lines
}

/// What an answer could grant beyond this one call, where nobody can press a key.
pub(crate) fn could_be_granted(view: &ApprovalView, look: &Look<'_>) -> Vec<String> {
    let mut page = Page { look, lines: Vec::new() };
    let offered = view.question.as_ref().and_then(|question| question.offer.as_ref());
    if let Some(terms) = offered.filter(|_| view.status.is_open()) {
        page.label("grant", &facts::offer(terms, view.coverage));
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
    let taken = columns(&mark(view, Theme { color: false, ..theme })) + 1 + columns(&view.short) + 2;
    let title = title(view, width.saturating_sub(taken));
    let gap = width.saturating_sub(taken + columns(&title) + columns(&right));
    if gap >= 3 {
        return vec![format!("{marked} {id}  {title}{}{right}", " ".repeat(gap))];
    }
    let rows = rows(&right, width.saturating_sub(6)).into_iter().enumerate();
    let below = rows.map(|(i, row)| format!("{}{row}", if i == 0 { "    " } else { body::GOES_ON }));
    std::iter::once(format!("{marked} {id}  {title}")).chain(below).collect()
}

fn mark(view: &ApprovalView, theme: Theme) -> String {
    let typed = view.question.as_ref().is_some_and(|question| question.typed.is_some());
    match view.status {
        Status::Approved | Status::Modified => theme.tinted(theme.mark("✓", "ok"), Tone::Good),
        Status::Rejected => theme.tinted(theme.mark("✗", "no"), Tone::Bad),
        Status::Expired if theme.words => "expired".into(),
        Status::Expired => "-".into(),
        Status::Pending | Status::Escalated if typed => theme.attention(),
        Status::Pending | Status::Escalated => theme.question(),
    }
}

/// What would happen, if that fits and can be nothing but what it is; else the tool alone. It is never cut: a harmless
/// beginning would hide the rest.
pub(crate) fn title(view: &ApprovalView, room: usize) -> String {
    let Some(question) = &view.question else { return "(erased)".into() };
    whole_title(question, room).unwrap_or_else(|| inline(question.tool().as_str()))
}

fn whole_title(question: &Question, room: usize) -> Option<String> {
    let summary = facts::summary(question);
    (odd(&summary, &[]).is_empty() && columns(&summary) <= room).then_some(summary)
}

/// Whether the title alone shows all that decides.
pub(crate) fn title_says_all(view: &ApprovalView, room: usize) -> bool {
    let all =
        |question: &Question| facts::counted(question).is_none() && whole_title(question, room).is_some();
    view.question.as_ref().is_some_and(all)
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
        let mark = self.look.theme.attention();
        self.marked(&mark, label, text);
    }

    fn marked(&mut self, mark: &str, label: &str, text: &str) {
        let room = self.look.width.saturating_sub(LABEL);
        if room < NARROWEST {
            // There is no room beside the label, so it goes below.
            self.lines.push(format!("{mark} {label}").trim_end().to_owned());
            let rows = rows(text, self.look.width.saturating_sub(4));
            self.lines.extend(rows.into_iter().map(|row| format!("    {row}")));
            return;
        }
        for (i, row) in rows(text, room).into_iter().enumerate() {
            let line =
                if i == 0 { format!("{mark} {label:<13}{row}") } else { format!("{:LABEL$}{row}", "") };
            self.lines.push(line.trim_end().to_owned());
        }
    }

    fn sinks(&mut self, question: &Question) {
        for (i, sink) in question.sinks.iter().enumerate() {
            self.decides(question, sink, question.args().get(&sink.name));
            if question.sinks.get(i + 1).is_none_or(|next| next.named_by != sink.named_by) {
                self.named_by(sink.named_by);
            }
        }
    }

    /// One value that decides: complete, and what looks odd about it. Where it names several files, each has its row.
    fn decides(&mut self, question: &Question, sink: &Sink, value: Option<&Value>) {
        let Some(entries) = value.and_then(listed::entries) else {
            self.sink(sink);
            self.oddities(question, sink);
            return;
        };
        let known = named_by_the_owner(question, sink);
        let oddities = |value: &str| {
            let mut page = Page { look: self.look, lines: Vec::new() };
            odd(value, &known).iter().for_each(|line| page.attention("looks odd", &inline(line)));
            page.lines
        };
        self.lines.extend(listed::rows(&sink.name, &entries, question, self.look, oddities));
    }

    fn oddities(&mut self, question: &Question, sink: &Sink) {
        let known = named_by_the_owner(question, sink);
        // A passage of a file has lines and is indented, and there is nothing odd about that.
        let is_passage = question.tool().as_str() == "edit_file" && sink.name == "old";
        let found = if is_passage { odd_text(&sink.value, &known) } else { odd(&sink.value, &known) };
        found.iter().for_each(|line| self.attention("looks odd", &inline(line)));
    }

    /// Complete. What fits stands bare, so that copying gives it back; what does not is broken here, and each row of it
    /// has a mark that no line of ours begins with: a value that knows the width of the terminal draws nothing but itself.
    fn sink(&mut self, sink: &Sink) {
        let (name, value) = (inline(&sink.name), inline(&sink.value));
        let beside = format!("    {name}: {}", with_end(&value));
        if columns(&beside) <= self.look.width {
            self.lines.push(beside);
            return;
        }
        let header = format!("{name}, {} characters:", sink.value.chars().count());
        let room = self.look.width.saturating_sub(columns(body::GOES_ON));
        let header = pieces(&header, room).into_iter().enumerate();
        self.lines
            .extend(header.map(|(i, row)| format!("{}{row}", if i == 0 { "    " } else { body::GOES_ON })));
        for line in sink.value.split_inclusive('\n') {
            let rows = pieces(&inline(line), room);
            self.lines.extend(rows.into_iter().map(|row| format!("{}{row}", body::GOES_ON)));
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
        let values = question.sinks.iter().filter_map(|sink| question.args().get(&sink.name));
        let listed: Vec<&str> =
            values.filter_map(listed::entries).flat_map(|all| listed::shown(question, &all)).collect();
        let (listed, alone): (Vec<&Name>, Vec<&Name>) =
            question.names.iter().partition(|name| listed.contains(&name.change.path.as_str()));
        for name in alone {
            self.change(question, name);
        }
        if let Some(folders) = facts::folders(listed.iter().map(|name| &name.change)) {
            self.label("folders", &inline(&folders));
        }
    }

    fn change(&mut self, question: &Question, Name { change, modified, .. }: &Name) {
        let is_named = question.sinks.iter().any(|sink| sink.value == change.path);
        if !is_named {
            self.label("file", &inline(&change.path));
        }
        for fact in facts::of_change(change, *modified, self.look.zone) {
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
        let nothing = |name: &Name| name.change.from == domain::change::Standing::Nothing;
        let is_new = !question.names.is_empty() && question.names.iter().all(nothing);
        if let Some(diff) = question.diff.as_deref().filter(|_| !is_new) {
            let lines = body::diff(question, diff, self.look);
            self.lines.extend(lines);
            if !question.diff_whole {
                self.attention("diff", "too long to show: only its first 16 kB stand here");
            }
        }
    }
}

/// What the owner themselves has named beside this one: what a value could try to look like.
fn named_by_the_owner<'a>(question: &'a Question, beside: &Sink) -> Vec<&'a str> {
    let named =
        question.sinks.iter().filter(|sink| matches!(sink.named_by, NamedBy::Request | NamedBy::Owner));
    named.filter(|sink| *sink != beside).map(|sink| sink.value.as_str()).collect()
}
