//! What decides where it is many: every file of a call that is about several, each with a number of ours before it.

use std::path::{Component, Path, PathBuf};

use broker::question::{Name, Question, Undo};
use domain::change::Standing;
use serde_json::Value;

use super::body::GOES_ON;
use super::facts::{format_day, format_size};
use crate::wrap::{mark_end, measure_columns, wrap_exactly};
use crate::{Style, inline, pluralize};

/// Between a path and what is said of it.
const GAP: usize = 3;

/// The files that an argument names, if that is all it does.
pub(super) fn read_entries(value: &Value) -> Option<Vec<FileEntry<'_>>> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    items.iter().map(FileEntry::read).collect()
}

/// One file, or from where it goes to where.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileEntry<'a> {
    pub(super) path: &'a str,
    pub(super) to: Option<&'a str>,
}

impl<'a> FileEntry<'a> {
    fn read(item: &'a Value) -> Option<Self> {
        if let Value::String(path) = item {
            return Some(Self { path, to: None });
        }
        let (fields, field) = (item.as_object()?, |name: &str| item.get(name)?.as_str());
        let (path, to) = (field("from")?, Some(field("to")?));
        (fields.len() == 2).then_some(Self { path, to })
    }

    /// What would become of the file, where it was looked at.
    fn find_name(self, names: &[Name]) -> Option<&Name> {
        let path = normalize(self.path);
        names.iter().find(|name| Path::new(&name.change.path) == path)
    }

    /// The very name that it gets: what was named may be a folder.
    fn find_new_name(self, names: &[Name]) -> Option<&Name> {
        let to = normalize(self.to?);
        let inside = Path::new(self.path).file_name().map(|name| to.join(name));
        let is = |name: &&Name| {
            let path = Path::new(&name.change.path);
            name.change.from == Standing::Nothing && (path == to || Some(path) == inside.as_deref())
        };
        names.iter().find(is)
    }
}

fn normalize(path: &str) -> PathBuf {
    Path::new(path).components().filter(|part| *part != Component::CurDir).collect()
}

/// The names that these entries show already.
pub(super) fn list_shown_paths<'a>(question: &'a Question, entries: &[FileEntry<'_>]) -> Vec<&'a str> {
    let of = |entry: &FileEntry<'_>| [entry.find_name(&question.names), entry.find_new_name(&question.names)];
    entries.iter().flat_map(of).flatten().map(|name| name.change.path.as_str()).collect()
}

/// The rows of a list; `odd` says what looks odd about a value.
pub(super) fn render_entries(
    name: &str,
    entries: &[FileEntry<'_>],
    question: &Question,
    style: &Style<'_>,
    odd: impl Fn(&str) -> Vec<String>,
) -> Vec<String> {
    let numbered = entries.len().to_string().len().max(2);
    let partly = matches!(question.undo(), Undo::Some(..));
    let widest = entries.iter().map(|entry| measure_columns(&inline(entry.path))).max().unwrap_or(0);
    let mut lines =
        vec![format!("    {}, {}:", inline(name), pluralize(entries.len() as u64, "file", "files"))];
    for (number, entry) in (1..).zip(entries) {
        let known = entry.find_name(&question.names);
        let row = PathRow { mark: format!("{number:>numbered$}"), path: entry.path, widest, style };
        lines.extend(row.render(&known.map_or_else(String::new, |name| describe_file(name, style))));
        lines.extend(odd(entry.path));
        if let Some(to) = entry.to {
            let made = entry.find_new_name(&question.names).map_or(to, |name| &name.change.path);
            let row = PathRow { mark: format!("{:>numbered$}", "to"), path: made, widest, style };
            lines.extend(row.render(""));
            lines.extend(odd(made));
        }
        if partly && known.is_some_and(|name| !name.undo) {
            lines.push(format!("{:1$}cannot be put back", "", 6 + numbered));
        }
    }
    lines
}

/// `214 kB   2 Sep 2026`.
fn describe_file(name: &Name, style: &Style<'_>) -> String {
    let what = match &name.change.from {
        Standing::Nothing => String::new(),
        Standing::File(file) => format_size(file.bytes),
        Standing::Large { bytes, .. } => format_size(*bytes),
        Standing::Link { .. } => "a link".into(),
    };
    let when = name.modified.map_or_else(String::new, |at| format_day(at, style.zone));
    format!("{what:>9}   {when:>11}").trim_end().to_owned()
}

/// One path, complete, with a mark of ours before it.
struct PathRow<'a> {
    mark: String,
    path: &'a str,
    widest: usize,
    style: &'a Style<'a>,
}

impl PathRow<'_> {
    fn render(&self, said: &str) -> Vec<String> {
        let (path, width) = (mark_end(&inline(self.path)), self.style.width);
        let before = format!("    {}  ", self.mark);
        let room = width.saturating_sub(measure_columns(&before));
        let beside = room.saturating_sub(if said.is_empty() { 0 } else { GAP + measure_columns(said) });
        if measure_columns(&path) <= beside {
            let gap = self.widest.clamp(measure_columns(&path), beside) - measure_columns(&path);
            let gap = " ".repeat(gap + GAP);
            return vec![format!("{before}{path}{gap}{said}").trim_end().to_owned()];
        }
        // What does not fit is broken here, and no row of it can be taken for a line of ours.
        let mut lines =
            vec![format!("{before}{}", pluralize(path.chars().count() as u64, "character:", "characters:"))];
        let room = width.saturating_sub(measure_columns(GOES_ON));
        lines.extend(wrap_exactly(&inline(self.path), room).into_iter().map(|row| format!("{GOES_ON}{row}")));
        lines.extend(
            (!said.is_empty()).then(|| format!("{:1$}{2}", "", measure_columns(&before), said.trim_start())),
        );
        lines
    }
}
