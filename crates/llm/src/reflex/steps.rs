//! The calls that do a job, one after the other: which comes next follows from what the ones before returned.
//!
//! ```text
//! [find_files: which file is it?]  →  the tool that does it  →  [write_file: the answer]
//! ```

use domain::ask::Action;
use domain::call::{Chooser, Evidence, Failure, ToolId};
use domain::limits;
use jiff::Zoned;
use serde_json::{Map, Value, json};

use super::answer::{self, Answer};
use super::record::{Found, pick};
use super::request::{By, Files, Job, Measure, Needle, Part, Rank, To, Top, What};

pub(super) const FIND_FILES: &str = "find_files";
pub(super) const GLOB: &str = "glob";
pub(super) const READ_FILE: &str = "read_file";
pub(super) const HASH: &str = "hash";
pub(super) const WRITE_FILE: &str = "write_file";
pub(super) const DELETE_FILES: &str = "delete_files";
pub(super) const COPY_FILES: &str = "copy_files";
pub(super) const MOVE_FILES: &str = "move_files";
pub(super) const TABLE_STATS: &str = "table_stats";
pub(super) const TABLE_GROUPS: &str = "table_groups";
pub(super) const TABLE_COLUMNS: &str = "table_columns";
pub(super) const CALC: &str = "calc";

/// The tool that does the job itself.
pub(super) fn tool(job: &Job) -> &'static str {
    match &job.what {
        What::Part(_) => READ_FILE,
        What::Hash(_) => HASH,
        What::Stats { .. } => TABLE_STATS,
        What::Rows(None) | What::Columns => TABLE_COLUMNS,
        What::Rows(Some(_)) => TABLE_STATS,
        What::Values { .. } => TABLE_GROUPS,
        What::Delete => DELETE_FILES,
        What::Copy(_) => COPY_FILES,
        What::Move(_) => MOVE_FILES,
        What::Calculate(_) => CALC,
        _ if is_globbed(job) => GLOB,
        _ => FIND_FILES,
    }
}

/// Whether there is a file is asked with `glob`: to it, a folder that does not exist is an answer and no failure.
fn is_globbed(job: &Job) -> bool {
    let exact = job.files.path.as_deref().is_some_and(|path| path.contains('/'));
    let alone = job.files == Files { path: job.files.path.clone(), ..Files::default() };
    job.files.pattern.is_some() || (job.what == What::Exists && exact && alone)
}

/// What comes next, given what came back so far.
pub(super) fn next(job: &Job, evidence: &[Evidence], now: &Zoned, last: bool) -> Action {
    let records: Vec<Returned<'_>> = evidence.iter().filter_map(Returned::of).collect();
    if let Some(Evidence { tool, args, outcome: Err(failure), .. }) = evidence.last() {
        let replace = tool.as_str() == WRITE_FILE && args.get("replace").is_none() && is_there(failure);
        if !replace {
            return Action::failed(format!(
                "There is no answer: {tool} failed, {}.",
                failure.message.trim_end_matches('.')
            ));
        }
        // Changing what is there is for the owner to say: the call that replaces it asks.
        let args = json!({ "path": args.get("path"), "content": args.get("content"), "replace": true });
        return call(WRITE_FILE, args);
    }
    step(job, &records, now, last).unwrap_or_else(Action::failed)
}

fn is_there(failure: &Failure) -> bool {
    failure.message.contains("exists already")
}

/// A call that succeeded.
struct Returned<'a> {
    tool: &'a str,
    args: &'a Value,
    record: &'a Value,
}

impl<'a> Returned<'a> {
    fn of(evidence: &'a Evidence) -> Option<Self> {
        Some(Self {
            tool: evidence.tool.as_str(),
            args: &evidence.args,
            record: evidence.outcome.as_ref().ok()?,
        })
    }
}

fn step(job: &Job, records: &[Returned<'_>], now: &Zoned, last: bool) -> Result<Action, String> {
    let (first, done) = match (needs_finding(job), records) {
        (true, []) => return finding(job, now),
        (true, [first, rest @ ..]) => (Some(first.record), rest.first()),
        (false, records) => (None, records.first()),
    };
    let Some(Returned { args, record, .. }) = done else { return doing(job, tool(job), first, now) };
    let Answer { text, data } = answer::from_record(job, args, record, last)?;
    match &job.save {
        None => Ok(Action::done(text)),
        Some(path) if records.last().is_some_and(|last| last.tool == WRITE_FILE) => {
            Ok(Action::done(format!("{text}\nWritten to {path}.")))
        }
        Some(path) => Ok(call(WRITE_FILE, json!({ "path": path, "content": data.join("\n") + "\n" }))),
    }
}

#[expect(clippy::expect_used, reason = "a few fixed names, and a test makes an id of each")]
fn call(tool: &str, args: Value) -> Action {
    let tool: ToolId = tool.parse().expect("a tool id");
    Action::Call { tool, args, chosen_by: Chooser::Rule }
}

/// Whether the files have to be found before anything can be done with them.
pub(super) fn needs_finding(job: &Job) -> bool {
    match &job.what {
        What::Delete | What::Copy(_) | What::Move(_) => true,
        // That no line has it does not say that there is such a file.
        What::Lines(_) | What::Measure(Measure::Matching(_) | Measure::Occurrences(_)) => {
            job.files.path.is_some()
        }
        What::Part(_)
        | What::Hash(_)
        | What::Stats { .. }
        | What::Rows(_)
        | What::Columns
        | What::Values { .. } => {
            let exact = job.files.path.as_deref().is_some_and(|path| path.contains('/'));
            !(exact && job.files == Files { path: job.files.path.clone(), ..Files::default() })
        }
        _ => false,
    }
}

fn finding(job: &Job, now: &Zoned) -> Result<Action, String> {
    if job.files.pattern.is_some() {
        return Ok(call(GLOB, glob_args(job, limits::FOUND_FILES)));
    }
    let wanted = Wanted { limit: limits::FOUND_FILES, ..Wanted::default() };
    Ok(call(FIND_FILES, find_args(&job.files, &wanted, now)?))
}

/// What finds the files, where they have to be found first.
pub(super) fn finder(job: &Job) -> &'static str {
    if job.files.pattern.is_some() { GLOB } else { FIND_FILES }
}

/// The call that does it; `found` are the files, where they had to be found.
fn doing(job: &Job, main: &str, found: Option<&Value>, now: &Zoned) -> Result<Action, String> {
    let files = &job.files;
    let args = match &job.what {
        What::Delete => {
            let paths = several(job, found)?;
            if paths.is_empty() {
                return Ok(Action::done(format!(
                    "There is nothing to delete: no {}.",
                    files.those(super::describe::MANY)
                )));
            }
            json!({ "paths": paths })
        }
        What::Copy(to) => json!({ "copies": placed(&some(job, found)?, to, Way::Copy)? }),
        What::Move(to) => json!({ "moves": placed(&some(job, found)?, to, Way::Move)? }),
        What::Calculate(expression) => json!({ "expression": expression }),
        What::Part(part) => part_args(&one(job, found)?, *part),
        What::Hash(algorithm) => json!({ "path": one(job, found)?, "algorithm": algorithm }),
        What::Stats { column, only, .. } => table_args(&one(job, found)?, Some(column), only.as_ref()),
        What::Values { column, only } => {
            let mut args = table_args(&one(job, found)?, Some(column), only.as_ref());
            if let Value::Object(args) = &mut args {
                args.insert("limit".into(), json!(limits::LISTED_GROUPS));
            }
            args
        }
        What::Rows(Some(only)) => table_args(&one(job, found)?, Some(&only.column), Some(only)),
        What::Rows(None) | What::Columns => table_args(&one(job, found)?, None, None),
        _ if main == GLOB => glob_args(job, Wanted::of(job, &job.files).limit),
        _ if found.is_some() => {
            let files = Files { path: Some(one(job, found)?), ..Files::default() };
            find_args(&files, &Wanted::of(job, &files), now)?
        }
        _ => find_args(files, &Wanted::of(job, files), now)?,
    };
    Ok(call(main, args))
}

fn table_args(path: &str, column: Option<&String>, only: Option<&super::request::Only>) -> Value {
    let mut args = Map::new();
    args.insert("path".into(), path.into());
    args.extend(column.map(|column| ("column".to_owned(), json!(column))));
    args.extend(
        only.map(|only| ("where".to_owned(), json!({ "column": only.column, "equals": only.equals }))),
    );
    Value::Object(args)
}

fn part_args(path: &str, part: Part) -> Value {
    match part {
        Part::First(n) => json!({ "path": path, "first": n }),
        Part::Last(n) => json!({ "path": path, "last": n }),
        Part::Between(from, to) => json!({ "path": path, "from": from, "to": to }),
        Part::Whole => json!({ "path": path }),
    }
}

/// The one file that is meant.
fn one(job: &Job, found: Option<&Value>) -> Result<String, String> {
    match found {
        None => job.files.path.clone().ok_or_else(|| "it does not say which file".to_owned()),
        Some(record) => Ok(pick(&job.files, &Found::read(record)?)?.path.clone()),
    }
}

/// All of the files that were found, to be changed: all of them are known, and each by its very name.
fn several(job: &Job, found: Option<&Value>) -> Result<Vec<String>, String> {
    let found = Found::read(found.unwrap_or(&Value::Null))?;
    if !found.complete {
        return Err("not every folder could be read, so nothing was changed".into());
    }
    if job.files.path.is_some() {
        let file = pick(&job.files, &found)?;
        return if file.utf8 { Ok(vec![file.path.clone()]) } else { Err(not_utf8(&file.path)) };
    }
    let asked = job.files.top.and_then(|top| top.n).map_or(found.count, |n| found.count.min(u64::from(n)));
    if asked > found.files.len() as u64 {
        return Err(format!(
            "these are {} files, more than I change at once ({}); nothing was changed",
            found.count,
            limits::FOUND_FILES
        ));
    }
    if job.files.single && found.count > 1 {
        return Err(format!(
            "there are {} {}, and it says one; nothing was changed",
            found.count,
            job.files.those(found.count)
        ));
    }
    let odd = found.files.iter().find(|file| !file.utf8);
    if let Some(file) = odd {
        return Err(not_utf8(&file.path));
    }
    let asked = usize::try_from(asked).unwrap_or(usize::MAX);
    Ok(found.files.into_iter().take(asked).map(|file| file.path).collect())
}

fn not_utf8(path: &str) -> String {
    format!("the name of `{path}` is not UTF-8, so I cannot name it to a tool; nothing was changed")
}

fn some(job: &Job, found: Option<&Value>) -> Result<Vec<String>, String> {
    let paths = several(job, found)?;
    if paths.is_empty() {
        Err(format!("there are no {}", job.files.those(super::describe::MANY)))
    } else {
        Ok(paths)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Copy,
    Move,
}

/// From where to where. No two may meet in one place.
fn placed(paths: &[String], to: &To, way: Way) -> Result<Vec<Value>, String> {
    let mut targets = std::collections::BTreeSet::new();
    let mut moves = Vec::with_capacity(paths.len());
    for path in paths {
        let (folder, name) =
            path.rsplit_once('/').map_or(("", path.as_str()), |(folder, name)| (folder, name));
        let beside =
            |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let target = match to {
            To::File(target) if way == Way::Move && !folder.is_empty() && !target.contains('/') => {
                return Err(format!("I am not sure where `{target}` is to be; say it with its folder"));
            }
            To::File(target) => target.clone(),
            To::Name(target) => beside(target),
            To::Folder(target) => format!("{}/{name}", target.trim_end_matches('/')),
            To::Extension(extension) => {
                let stem =
                    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem });
                beside(&format!("{stem}.{extension}"))
            }
        };
        if !targets.insert(target.clone()) {
            return Err(format!("two of the files would both become `{target}`; nothing was changed"));
        }
        moves.push(json!({ "from": path, "to": target }));
    }
    Ok(moves)
}

fn glob_args(job: &Job, limit: usize) -> Value {
    let pattern =
        job.files.pattern.clone().or_else(|| job.files.path.as_deref().map(escaped)).unwrap_or_default();
    json!({ "pattern": pattern, "order": order(job.files.top), "limit": limit.max(1) })
}

/// What a search is to return beyond the count.
#[derive(Default)]
struct Wanted<'a> {
    limit: usize,
    measure: Vec<&'static str>,
    matching: Option<(&'static str, &'a Needle)>,
    show_matches: Option<usize>,
    group_by: Option<&'static str>,
    /// Nothing is asked about single files.
    count_only: bool,
}

impl<'a> Wanted<'a> {
    fn of(job: &'a Job, files: &Files) -> Self {
        let save = job.save.is_some();
        let listed = |list: bool| match files.top.and_then(|top| top.n) {
            Some(n) => n as usize,
            None if list && save => limits::FOUND_FILES,
            None if list => limits::LIST_ENTRIES as usize,
            None => 1,
        };
        let matching = |matching: &'a super::request::Matching| {
            Some((if matching.lacking { "lines_without" } else { "contains" }, &matching.needle))
        };
        let ranked = match files.top.map(|top| top.rank) {
            Some(Rank::MostLines | Rank::FewestLines) => vec!["lines"],
            Some(Rank::MostWords) => vec!["words"],
            _ => vec![],
        };
        match &job.what {
            What::Show { list: false, .. } if files.top.is_none() => {
                Self { count_only: true, ..Self::default() }
            }
            What::Show { list, .. } => Self { limit: listed(*list), measure: ranked, ..Self::default() },
            What::Exists => Self { limit: listed(true), ..Self::default() },
            What::Groups(by) => {
                let by = match by {
                    By::Extension => "extension",
                    By::Folder => "folder",
                };
                Self { limit: 1, group_by: Some(by), ..Self::default() }
            }
            What::Measure(Measure::Lines) => {
                Self { limit: limits::FOUND_FILES, measure: vec!["lines"], ..Self::default() }
            }
            What::Measure(Measure::Words) => {
                Self { limit: limits::FOUND_FILES, measure: vec!["words"], ..Self::default() }
            }
            What::Measure(Measure::Matching(text)) => {
                Self { limit: limits::FOUND_FILES, matching: matching(text), ..Self::default() }
            }
            What::Measure(Measure::Occurrences(needle)) => Self {
                limit: limits::FOUND_FILES,
                measure: vec!["occurrences"],
                matching: Some(("contains", needle)),
                ..Self::default()
            },
            What::Lines(text) => Self {
                limit: limits::FOUND_FILES,
                matching: matching(text),
                show_matches: Some(limits::MATCHING_LINES),
                ..Self::default()
            },
            _ => Self { limit: limits::FOUND_FILES, ..Self::default() },
        }
    }
}

fn order(top: Option<Top>) -> &'static str {
    match top.map(|top| top.rank) {
        None => "name",
        Some(Rank::Largest) => "largest",
        Some(Rank::Smallest) => "smallest",
        Some(Rank::Newest) => "newest",
        Some(Rank::Oldest) => "oldest",
        Some(Rank::MostLines) => "most_lines",
        Some(Rank::FewestLines) => "fewest_lines",
        Some(Rank::MostWords) => "most_words",
        Some(Rank::MostMatches) => "most_matches",
    }
}

/// An argument that is not needed is left out.
fn find_args(files: &Files, wanted: &Wanted<'_>, now: &Zoned) -> Result<Value, String> {
    let mut args = Map::new();
    let mut put = |name: &str, value: Value| drop(args.insert(name.into(), value));
    let (mut under, mut direct, mut names) = (files.under.clone(), files.direct, files.names.clone());
    if let Some(path) = &files.path {
        let (folder, name) =
            path.rsplit_once('/').map_or((None, path.as_str()), |(folder, name)| (Some(folder), name));
        under.extend(folder.map(str::to_owned));
        direct |= folder.is_some();
        names.push(escaped(name));
    }
    match under.as_slice() {
        [] => put("under", ".".into()),
        [one] => put("under", one.as_str().into()),
        several => put("under", json!(several)),
    }
    let kinds = |kinds: &[super::request::Kind]| {
        json!(kinds.iter().flat_map(|kind| kind.extensions.clone()).collect::<Vec<_>>())
    };
    let texts = [
        ("contains", files.contains.as_ref()),
        ("lacks", files.lacks.as_ref()),
        wanted.matching.map_or(("", None), |(name, needle)| (name, Some(needle))),
    ];
    if !files.outside.is_empty() {
        put("outside", json!(files.outside));
    }
    if direct {
        put("direct", true.into());
    }
    if files.folders {
        put("what", "folders".into());
    }
    if !files.kinds.is_empty() {
        put("extensions", kinds(&files.kinds));
    }
    if !files.not_kinds.is_empty() {
        put("not_extensions", kinds(&files.not_kinds));
    }
    match names.as_slice() {
        [] => {}
        [one] => put("name", one.as_str().into()),
        several => put("name", json!(several)),
    }
    if !files.not_names.is_empty() {
        put("not_name", json!(files.not_names));
    }
    for (name, needle) in texts {
        let Some(needle) = needle else { continue };
        put(name, needle.text.as_str().into());
        if needle.any_case {
            put("any_case", true.into());
        }
        if needle.whole_word {
            put("whole_word", true.into());
        }
    }
    for (name, when) in [("modified_from", files.age.from), ("modified_before", files.age.before)] {
        let Some(when) = when else { continue };
        let time = when.resolve(now).ok_or("that day is beyond all calendars")?;
        put(name, time.to_string().into());
    }
    for (name, bytes) in [("larger_than", files.size.0), ("smaller_than", files.size.1)] {
        if let Some(bytes) = bytes {
            put(name, bytes.into());
        }
    }
    if let Some(empty) = files.empty {
        put("empty", empty.into());
    }
    if !wanted.measure.is_empty() {
        put("measure", json!(wanted.measure));
    }
    if let Some(lines) = wanted.show_matches {
        put("show_matches", lines.into());
    }
    if let Some(by) = wanted.group_by {
        put("group_by", by.into());
    }
    if wanted.count_only {
        put("count_only", true.into());
    } else {
        put("order", order(files.top).into());
        put("limit", wanted.limit.into());
    }
    Ok(Value::Object(args))
}

/// A name that means itself, as a glob.
fn escaped(name: &str) -> String {
    let mut glob = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
            glob.extend(['[', c, ']']);
        } else {
            glob.push(c);
        }
    }
    glob
}
