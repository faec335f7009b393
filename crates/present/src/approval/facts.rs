//! What is known about a question, in words.

use std::collections::BTreeSet;

use super::view::{ApprovalView, Coverage};
use broker::grant::Terms;
use broker::question::{Question, Sink, Typed};
use domain::Time;
use domain::approval::{Fate, Status};
use domain::change::{Change, Content, Standing};
use jiff::tz::TimeZone;
use serde_json::Value;

use super::listed;
use crate::{Style, inline, pluralize};

/// Where it stands: `open until 14:48`, `approved by owner, terminal, 14:20:51`, `expired`.
pub fn describe_outcome(view: &ApprovalView, style: &Style<'_>) -> String {
    match view.status {
        Status::Pending => describe_deadline(view, style),
        Status::Escalated => format!("with {}, {}", inline(&view.authority), describe_deadline(view, style)),
        Status::Expired => "expired".into(),
        Status::Approved | Status::Rejected | Status::Modified => {
            let who = view.resolved_by.as_deref().unwrap_or("somebody");
            let via =
                view.resolved_via.as_deref().map_or_else(String::new, |via| format!(", {}", inline(via)));
            let said = view.said.as_deref().filter(|said| !said.is_empty());
            let said = said.map_or_else(String::new, |said| format!(": \"{}\"", inline(said)));
            format!("{} by {}{via}{said}{}", view.status.name(), inline(who), describe_use(view))
        }
    }
}

/// What became of a yes.
fn describe_use(view: &ApprovalView) -> &'static str {
    match (view.status, view.fate) {
        (Status::Approved | Status::Modified, Some(Fate::Used)) => "; used",
        (Status::Approved | Status::Modified, Some(Fate::Void)) => "; void: it does not count any more",
        _ => "",
    }
}

/// `open until 14:48`, with the day if it is another.
pub fn describe_deadline(view: &ApprovalView, style: &Style<'_>) -> String {
    let clock = view.timeout_at.clock_time(style.zone);
    let minutes = clock.rsplit_once(':').map_or(clock.as_str(), |(minutes, _)| minutes);
    if view.timeout_at.date(style.zone) == style.now.date(style.zone) {
        format!("open until {minutes}")
    } else {
        format!("open until {} {minutes}", format_day(view.timeout_at, style.zone))
    }
}

/// `2 Sep 2026`.
pub(super) fn format_day(time: Time, zone: &TimeZone) -> String {
    let text = time.date_time(zone);
    text.rsplit_once(' ').map_or(text.as_str(), |(day, _)| day).to_owned()
}

pub(super) fn format_size(bytes: u64) -> String {
    const KB: u64 = 1_000;
    const MB: u64 = 1_000 * KB;
    const GB: u64 = 1_000 * MB;
    match bytes {
        1 => "1 byte".into(),
        0..KB => format!("{bytes} bytes"),
        KB..MB => format!("{} kB", bytes.div_ceil(KB)),
        MB..GB => format!("{}.{} MB", bytes / MB, bytes % MB / (MB / 10)),
        _ => format!("{}.{} GB", bytes / GB, bytes % GB / (GB / 10)),
    }
}

/// What becomes of what is there, and which folders are made for it.
pub(super) fn describe_change(change: &Change, modified: Option<Time>, zone: &TimeZone) -> Vec<String> {
    let dated = modified.map_or_else(String::new, |at| format!(", last changed {}", format_day(at, zone)));
    let file = |content: &Content| format_size(content.bytes);
    let what = match (&change.from, &change.to) {
        (Standing::Large { bytes, .. }, _) => format!("deleted: {}{dated}", format_size(*bytes)),
        (_, Standing::Large { bytes, .. }) => format!("becomes {}", format_size(*bytes)),
        (Standing::Nothing, Standing::File(new)) => format!("new file, {}", file(new)),
        (Standing::Nothing, Standing::Link { to }) => format!("new link to {to}"),
        (Standing::Nothing, Standing::Nothing) => "nothing is there, nothing becomes of it".into(),
        (Standing::File(old), Standing::Nothing) => format!("deleted: {}{dated}", file(old)),
        (Standing::File(old), Standing::File(new)) => {
            format!("replaced: {}{dated}; becomes {}", file(old), file(new))
        }
        (Standing::File(old), Standing::Link { to }) => {
            format!("replaced: {}{dated}; becomes a link to {to}", file(old))
        }
        (Standing::Link { to }, Standing::Nothing) => format!("deleted: a link to {to}, which stays{dated}"),
        (Standing::Link { to }, Standing::File(new)) => {
            format!("replaced: a link to {to}{dated}; becomes a file, {}", file(new))
        }
        (Standing::Link { to }, Standing::Link { to: new }) => {
            format!("replaced: a link to {to}{dated}; becomes a link to {new}")
        }
    };
    std::iter::once(what).chain(describe_folders(std::iter::once(change))).collect()
}

/// Which folders are made for these, each once.
pub(super) fn describe_folders<'a>(changes: impl Iterator<Item = &'a Change>) -> Option<String> {
    let made: BTreeSet<&str> = changes.flat_map(|change| &change.folders).map(String::as_str).collect();
    let made: Vec<&str> = made.into_iter().collect();
    (!made.is_empty()).then(|| format!("makes the folders {}", made.join(", ")))
}

/// What has to be typed where a plain yes is not enough.
pub fn describe_typed_value(question: &Question, typed: &Typed) -> String {
    let sink = question.sinks.iter().find(|sink| sink.name == typed.sink);
    let value = sink.map_or("", |sink| sink.value.as_str());
    let name = inline(&typed.sink);
    if value == typed.expected {
        format!("type the value of {name}")
    } else if value.strip_suffix(&typed.expected).is_some_and(|before| before.ends_with('@')) {
        format!("type what follows the @ in {name}")
    } else {
        format!("type the last {} characters of {name}", typed.expected.chars().count())
    }
}

/// `delete 3 files`, of a call that is about several: what they are stands below it.
pub(super) fn count_files(question: &Question) -> Option<String> {
    const VERBS: [(&str, &str, &str); 3] = [
        ("delete_files", "paths", "delete"),
        ("copy_files", "copies", "copy"),
        ("move_files", "moves", "move"),
    ];
    let tool = question.tool().as_str();
    let (_, list, verb) = VERBS.iter().find(|(known, ..)| *known == tool)?;
    let entries = listed::read_entries(question.args().get(list)?)?;
    Some(format!("{verb} {}", pluralize(entries.len() as u64, "file", "files")))
}

/// What would happen, in one line: the tool and what decides. A switch is said in words, not as its value.
pub(super) fn summarize_call(question: &Question) -> String {
    if let Some(counted) = count_files(question) {
        return counted;
    }
    let tool = question.tool().as_str();
    let value = |sink: &Sink| match (question.args().get(&sink.name), sink.name.as_str()) {
        (Some(Value::Bool(false)), _) => None,
        (Some(Value::Bool(true)), "replace") if tool == "write_file" => Some("(replaces it)".to_owned()),
        (Some(Value::Bool(true)), name) => Some(format!("({name})")),
        _ => Some(sink.value.clone()),
    };
    let values: Vec<String> = question.sinks.iter().filter_map(value).collect();
    format!("{tool} {}", values.join(" ")).trim_end().to_owned()
}

/// What an answer could grant, in words: `stop asking to write in reports/, this agent, 24 h`.
pub(super) fn describe_offer(terms: &Terms, coverage: Option<Coverage>) -> String {
    let session = if terms.session.is_some() { ", this session" } else { "" };
    let covered = coverage.map_or_else(String::new, |Coverage { covered, of }| {
        format!("; would have covered {covered} of your last {of} questions")
    });
    format!(
        "stop asking {}, {}{session}, 24 h{covered}",
        describe_scope(terms),
        describe_agents(&terms.agent)
    )
}

fn describe_agents(glob: &str) -> String {
    match glob {
        "*" => "any agent".into(),
        glob if glob.contains('*') => format!("agents {}", inline(glob)),
        _ => "this agent".into(),
    }
}

/// What a grant lets be done: `to write in reports/`, `to call message_send with to=lea@example.org`.
pub fn describe_scope(terms: &Terms) -> String {
    const VERBS: [(&str, &str); 5] = [
        ("write_file", "write"),
        ("edit_file", "edit"),
        ("delete_file", "delete"),
        ("read_file", "read"),
        ("find_files", "look for files"),
    ];
    let verb = VERBS.iter().find(|(tool, _)| *tool == terms.tool.as_str()).map(|(_, verb)| *verb);
    let only: Vec<(&String, &String)> = terms.pins.iter().collect();
    match (verb, only.as_slice()) {
        (Some(verb), [(name, pin)]) if *name == "path" => {
            let folder =
                pin.strip_suffix('*').filter(|folder| folder.ends_with('/') && !folder.contains('*'));
            let place = folder.map_or_else(|| inline(pin), |folder| format!("in {}", inline(folder)));
            let place = if *pin == "*" { "anywhere in the workspace".into() } else { place };
            format!("to {verb} {place}")
        }
        _ => {
            let pins: Vec<String> =
                terms.pins.iter().map(|(name, pin)| format!("{}={}", inline(name), inline(pin))).collect();
            let with = if pins.is_empty() { String::new() } else { format!(" with {}", pins.join(" ")) };
            format!("to call {}{with}", inline(terms.tool.as_str()))
        }
    }
}
