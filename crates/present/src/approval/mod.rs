//! An approval request as a person sees it: what decides, whole and first; where it comes from; the agent's words in quotes.
//!
//! INVARIANT (one-line): every line begins with words or a mark of ours. Whatever is longer than a row is broken by us,
//! never by the terminal, and each row of it that could be taken for a line of ours has a mark where none of ours has one.

mod alike;
mod answer;
mod body;
mod facts;
mod listed;
#[cfg(test)]
mod listed_tests;
#[cfg(any(test, feature = "samples"))]
pub mod sample;
#[cfg(test)]
mod tests;
mod view;

use broker::decide::Answer;
use broker::question::{Name, NamedBy, Question, Sink, Undo};
use domain::approval::Status;
use domain::call::Chooser;
use screen::{find_look_alikes, find_look_alikes_in_text};
use serde_json::Value;

use crate::wrap::{mark_end, measure_columns, wrap, wrap_exactly};
use crate::{Style, Theme, Tone, inline};

pub use alike::{group_alike, list_files};
pub use answer::{AnswerRules, TypedAnswer, is_yes, read_answer};
pub use facts::{describe_deadline, describe_outcome, describe_scope, describe_typed_value};
pub use view::{ApprovalView, Coverage};

/// Where the text behind a label begins.
const LABEL: usize = 15;
/// Less than this beside a label is not worth reading.
const NARROWEST: usize = 16;

/// Everything about one question.
pub fn render_block(view: &ApprovalView, style: &Style<'_>) -> Vec<String> {
    let mut page = BlockBuilder { style, lines: render_head(view, style) };
    let Some(question) = &view.question else {
        page.label("asked", "(erased)");
        return page.lines;
    };
    page.sinks(question);
    if let Some(args) = &view.changed {
        page.label("changed to", "");
        page.lines.extend(render_changed_call(question, args, style));
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
pub fn render_changed_call(question: &Question, args: &Value, style: &Style<'_>) -> Vec<String> {
    let mut page = BlockBuilder { style, lines: Vec::new() };
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
            None if !same => page.lines.extend(body::render_argument(name, value, style)),
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
pub fn render_deciding_values(view: &ApprovalView, style: &Style<'_>) -> Vec<String> {
    let mut page = BlockBuilder { style, lines: Vec::new() };
    for (question, sink) in
        view.question.iter().flat_map(|question| question.sinks.iter().map(move |sink| (question, sink)))
    {
        page.decides(question, sink, question.args().get(&sink.name));
    }
    page.lines
}

/// What an answer could grant beyond this one call, where nobody can press a key.
pub fn render_offer(view: &ApprovalView, style: &Style<'_>) -> Vec<String> {
    let mut page = BlockBuilder { style, lines: Vec::new() };
    let offered = view.question.as_ref().and_then(|question| question.offer.as_ref());
    if let Some(terms) = offered.filter(|_| view.status.is_open()) {
        page.label("grant", &facts::describe_offer(terms, view.coverage));
    }
    page.lines
}

/// What an answer could grant beyond this one call; nothing if nothing is offered.
pub fn render_offer_key(view: &ApprovalView, style: &Style<'_>) -> Vec<String> {
    let offered = view.question.as_ref().and_then(|question| question.offer.as_ref());
    let Some(terms) = offered.filter(|_| view.status.is_open()) else { return Vec::new() };
    let key = style.theme.paint("g", Tone::Command);
    let rows = wrap(&facts::describe_offer(terms, view.coverage), style.width.saturating_sub(3))
        .into_iter()
        .enumerate();
    rows.map(|(i, row)| if i == 0 { format!("{key}  {row}") } else { format!("   {row}") }).collect()
}

/// The first line, or two where they do not fit beside each other.
fn render_head(view: &ApprovalView, style: &Style<'_>) -> Vec<String> {
    let Style { theme, width, .. } = *style;
    let marked = mark_status(view, theme);
    let step = view.question.as_ref().and_then(|question| question.call.subtask);
    let step = step.map_or_else(String::new, |step| format!("step {} of ", u64::from(step) + 1));
    let right = format!("{step}{}, {}", view.task_short, describe_outcome(view, style));
    let id = theme.paint(&view.short, Tone::Command);
    let taken =
        measure_columns(&mark_status(view, theme.without_colors())) + 1 + measure_columns(&view.short) + 2;
    let title = write_title(view, width.saturating_sub(taken));
    let gap = width.saturating_sub(taken + measure_columns(&title) + measure_columns(&right));
    if gap >= 3 {
        return vec![format!("{marked} {id}  {title}{}{right}", " ".repeat(gap))];
    }
    let rows = wrap(&right, width.saturating_sub(6)).into_iter().enumerate();
    let below = rows.map(|(i, row)| format!("{}{row}", if i == 0 { "    " } else { body::GOES_ON }));
    std::iter::once(format!("{marked} {id}  {title}")).chain(below).collect()
}

fn mark_status(view: &ApprovalView, theme: Theme) -> String {
    let typed = view.question.as_ref().is_some_and(|question| question.typed.is_some());
    match view.status {
        Status::Approved | Status::Modified => theme.paint(theme.mark("✓", "ok"), Tone::Good),
        Status::Rejected => theme.paint(theme.mark("✗", "no"), Tone::Bad),
        Status::Expired if theme.words => "expired".into(),
        Status::Expired => "-".into(),
        Status::Pending | Status::Escalated if typed => theme.mark_attention(),
        Status::Pending | Status::Escalated => theme.mark_question(),
    }
}

/// What would happen, if that fits and can be nothing but what it is; else the tool alone. It is never cut: a harmless
/// beginning would hide the rest.
pub fn write_title(view: &ApprovalView, room: usize) -> String {
    let Some(question) = &view.question else { return "(erased)".into() };
    write_whole_title(question, room).unwrap_or_else(|| inline(question.tool().as_str()))
}

fn write_whole_title(question: &Question, room: usize) -> Option<String> {
    let summary = facts::summarize_call(question);
    (find_look_alikes(&summary, &[]).is_empty() && measure_columns(&summary) <= room).then_some(summary)
}

/// Whether the title alone shows all that decides.
pub fn is_title_complete(view: &ApprovalView, room: usize) -> bool {
    let all = |question: &Question| {
        facts::count_files(question).is_none() && write_whole_title(question, room).is_some()
    };
    view.question.as_ref().is_some_and(all)
}

struct BlockBuilder<'a> {
    style: &'a Style<'a>,
    lines: Vec<String>,
}

impl BlockBuilder<'_> {
    /// Words of ours or of a layer: broken into rows, so that they stay behind their label.
    fn label(&mut self, label: &str, text: &str) {
        self.marked(" ", label, text);
    }

    fn attention(&mut self, label: &str, text: &str) {
        let mark = self.style.theme.mark_attention();
        self.marked(&mark, label, text);
    }

    fn marked(&mut self, mark: &str, label: &str, text: &str) {
        let room = self.style.width.saturating_sub(LABEL);
        if room < NARROWEST {
            // There is no room beside the label, so it goes below.
            self.lines.push(format!("{mark} {label}").trim_end().to_owned());
            let rows = wrap(text, self.style.width.saturating_sub(4));
            self.lines.extend(rows.into_iter().map(|row| format!("    {row}")));
            return;
        }
        for (i, row) in wrap(text, room).into_iter().enumerate() {
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
        let Some(entries) = value.and_then(listed::read_entries) else {
            self.sink(sink);
            self.oddities(question, sink);
            return;
        };
        let known = list_values_of_owner(question, sink);
        let oddities = |value: &str| {
            let mut page = BlockBuilder { style: self.style, lines: Vec::new() };
            find_look_alikes(value, &known)
                .iter()
                .for_each(|line| page.attention("looks odd", &inline(line)));
            page.lines
        };
        self.lines.extend(listed::render_entries(&sink.name, &entries, question, self.style, oddities));
    }

    fn oddities(&mut self, question: &Question, sink: &Sink) {
        let known = list_values_of_owner(question, sink);
        // A passage of a file has lines and is indented, and there is nothing odd about that.
        let is_passage = question.tool().as_str() == "edit_file" && sink.name == "old";
        let found = if is_passage {
            find_look_alikes_in_text(&sink.value, &known)
        } else {
            find_look_alikes(&sink.value, &known)
        };
        found.iter().for_each(|line| self.attention("looks odd", &inline(line)));
    }

    /// Complete. What fits stands bare, so that copying gives it back; what does not is broken here, and each row of it
    /// has a mark that no line of ours begins with: a value that knows the width of the terminal draws nothing but itself.
    fn sink(&mut self, sink: &Sink) {
        let (name, value) = (inline(&sink.name), inline(&sink.value));
        let beside = format!("    {name}: {}", mark_end(&value));
        if measure_columns(&beside) <= self.style.width {
            self.lines.push(beside);
            return;
        }
        let header = format!("{name}, {} characters:", sink.value.chars().count());
        let room = self.style.width.saturating_sub(measure_columns(body::GOES_ON));
        let header = wrap_exactly(&header, room).into_iter().enumerate();
        self.lines
            .extend(header.map(|(i, row)| format!("{}{row}", if i == 0 { "    " } else { body::GOES_ON })));
        for line in sink.value.split_inclusive('\n') {
            let rows = wrap_exactly(&inline(line), room);
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
        let listed: Vec<&str> = values
            .filter_map(listed::read_entries)
            .flat_map(|all| listed::list_shown_paths(question, &all))
            .collect();
        let (listed, alone): (Vec<&Name>, Vec<&Name>) =
            question.names.iter().partition(|name| listed.contains(&name.change.path.as_str()));
        for name in alone {
            self.change(question, name);
        }
        if let Some(folders) = facts::describe_folders(listed.iter().map(|name| &name.change)) {
            self.label("folders", &inline(&folders));
        }
    }

    fn change(&mut self, question: &Question, Name { change, modified, .. }: &Name) {
        let is_named = question.sinks.iter().any(|sink| sink.value == change.path);
        if !is_named {
            self.label("file", &inline(&change.path));
        }
        for fact in facts::describe_change(change, *modified, self.style.zone) {
            self.label(if is_named { "file" } else { "" }, &inline(&fact));
        }
    }

    fn texts(&mut self, question: &Question) {
        let is_sink = |name: &str| question.sinks.iter().any(|sink| sink.name == name);
        for (name, value) in question.args().as_object().into_iter().flatten() {
            if !is_sink(name) {
                let lines = body::render_argument(name, value, self.style);
                self.lines.extend(lines);
            }
        }
        // Of a new file the diff says nothing that its text does not.
        let nothing = |name: &Name| name.change.from == domain::change::Standing::Nothing;
        let is_new = !question.names.is_empty() && question.names.iter().all(nothing);
        if let Some(diff) = question.diff.as_deref().filter(|_| !is_new) {
            let lines = body::render_diff(question, diff, self.style);
            self.lines.extend(lines);
            if !question.diff_whole {
                self.attention("diff", "too long to show: only its first 16 kB stand here");
            }
        }
    }
}

/// What the owner themselves has named beside this one: what a value could try to look like.
fn list_values_of_owner<'a>(question: &'a Question, beside: &Sink) -> Vec<&'a str> {
    let named =
        question.sinks.iter().filter(|sink| matches!(sink.named_by, NamedBy::Request | NamedBy::Owner));
    named.filter(|sink| *sink != beside).map(|sink| sink.value.as_str()).collect()
}
