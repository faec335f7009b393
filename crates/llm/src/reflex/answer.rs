//! The answer in plain English, from the record and nothing else. What a record does not say is not
//! claimed: files left out, skipped or unread are mentioned.

use domain::Time;
use serde::Deserialize;
use serde_json::Value;

use super::request::{Files, Job, Rank, Show};

/// Of `find_files` and `glob`.
#[derive(Deserialize)]
struct Found {
    count: u64,
    files: Vec<File>,
    complete: bool,
    unreadable: u64,
    left_out: String,
    binary_skipped: u64,
}

#[derive(Deserialize)]
struct File {
    path: String,
    bytes: u64,
    modified: String,
    matching_lines: Option<u64>,
    matches: Vec<Match>,
}

#[derive(Deserialize)]
struct Match {
    line: u64,
    text: String,
}

/// Of `read_file`.
#[derive(Deserialize)]
struct Read {
    path: String,
    truncated: bool,
    matching_lines: Option<u64>,
    matches: Vec<Match>,
}

/// `last` is for the last of a request's answers, which says once how it was looked for.
pub(super) fn from_record(job: &Job, record: &Value, last: bool) -> String {
    let lines = match job {
        Job::Files { files, count, show } => {
            Found::deserialize(record).map(|found| about_files(files, *count, *show, &found, last))
        }
        Job::Lines { text, .. } => Read::deserialize(record).map(|read| about_lines(text, &read)),
    };
    match lines {
        Ok(lines) => lines.join("\n"),
        Err(error) => format!("There is no answer: the tool's record is not as agreed, {error}."),
    }
}

fn about_files(files: &Files, count: bool, show: Option<Show>, found: &Found, last: bool) -> Vec<String> {
    let mut lines = match show {
        _ if found.count == 0 => vec![format!("{}.", files.counted(0))],
        None => vec![format!("{}.", files.counted(found.count))],
        Some(Show::List) if files.contains.is_some() => matches(files, found),
        Some(Show::List) => list(files, found),
        Some(Show::Top(rank, n)) => top(files, count, rank, n, found),
    };
    if !found.complete {
        lines.push("Not every folder could be read, so there may be more.".into());
    }
    if found.unreadable > 0 {
        lines.push(format!(
            "{} could not be read.",
            plural(found.unreadable, "file or folder", "files or folders")
        ));
    }
    if files.contains.is_some() && found.binary_skipped > 0 {
        let verb = if found.binary_skipped == 1 { "was" } else { "were" };
        lines.push(format!(
            "{} {verb} not searched.",
            plural(found.binary_skipped, "binary file", "binary files")
        ));
    }
    if last && !found.left_out.is_empty() {
        lines.push(format!("Subfolders included; {} left out.", found.left_out));
    }
    lines
}

/// One path per line, then how many they are.
fn list(files: &Files, found: &Found) -> Vec<String> {
    let paths = found.files.iter().map(|file| one_line(&file.path));
    paths.chain(more(found)).chain([format!("{}.", files.counted(found.count))]).collect()
}

fn matches(files: &Files, found: &Found) -> Vec<String> {
    let lines = found.files.iter().filter_map(|file| file.matching_lines).sum();
    let lines = plural(lines, "line", "lines");
    let heading = match hidden(found) {
        0 => format!("{} ({lines}):", files.counted(found.count)),
        _ => format!("{} ({lines} in the first {}):", files.counted(found.count), found.files.len()),
    };
    let first = |file: &File| match file.matches.first() {
        Some(first) => format!("{}:{}: {}", one_line(&file.path), first.line, first.text),
        None => one_line(&file.path),
    };
    [heading].into_iter().chain(found.files.iter().map(first)).chain(more(found)).collect()
}

fn top(files: &Files, count: bool, rank: Rank, n: u32, found: &Found) -> Vec<String> {
    let total = found.count;
    let best: Vec<_> = found.files.iter().map(|file| ranked(rank, file)).collect();
    match (best.as_slice(), n) {
        ([], _) => vec![format!("{}, but none of them is named.", files.counted(total))],
        ([only], _) if total == 1 && count => vec![format!("{}: {only}.", files.counted(1))],
        ([first, ..], 1) if count => vec![format!("{}; the {rank} is {first}.", files.counted(total))],
        ([first, ..], 1) => vec![format!("The {rank} {} is {first}.", files.those(1))],
        _ => {
            let asked = u64::from(n);
            let heading = match (total < asked, count) {
                (true, true) => format!("{}, {rank} first:", files.counted(total)),
                (true, false) => format!("Only {total} {}, {rank} first:", files.those(total)),
                (false, true) => format!("{}; the {n} {rank}:", files.counted(total)),
                (false, false) => format!("The {n} {rank} {}:", files.those(asked)),
            };
            [heading].into_iter().chain(best).collect()
        }
    }
}

fn ranked(rank: Rank, file: &File) -> String {
    let by = match rank {
        Rank::Largest => size(file.bytes),
        Rank::Newest => minute(&file.modified),
    };
    format!("{} ({by})", one_line(&file.path))
}

fn about_lines(text: &str, read: &Read) -> Vec<String> {
    let Read { path, truncated, matching_lines, matches } = read;
    let path = one_line(path);
    let mut lines = match matching_lines {
        None => return vec![format!("There is no answer: {path} was read, but not searched.")],
        Some(0) if *truncated => vec![format!("The part of {path} that was read does not contain `{text}`.")],
        Some(0) => vec![format!("{path} does not contain `{text}`.")],
        Some(1) => vec![format!("1 line of {path} contains `{text}`:")],
        Some(count) => vec![format!("{count} lines of {path} contain `{text}`:")],
    };
    lines.extend(matches.iter().map(|Match { line, text }| format!("{path}:{line}: {text}")));
    let shown = u64::try_from(matches.len()).unwrap_or(u64::MAX);
    lines.extend(and_more(matching_lines.unwrap_or(0).saturating_sub(shown)));
    if *truncated {
        lines.push("Not the whole file was read, so there may be more.".into());
    }
    lines
}

/// Files that were counted but not named.
fn hidden(found: &Found) -> u64 {
    found.count.saturating_sub(u64::try_from(found.files.len()).unwrap_or(u64::MAX))
}

fn more(found: &Found) -> Option<String> {
    and_more(hidden(found))
}

/// A name that cannot pass for several lines of an answer.
fn one_line(path: &str) -> String {
    let mut shown = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() { shown.extend(c.escape_debug()) } else { shown.push(c) }
    }
    shown
}

fn and_more(count: u64) -> Option<String> {
    (count > 0).then(|| format!("… and {count} more"))
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// `812 bytes`, `18.2 kB`: thousands, one decimal, and never `1000.0 kB`.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return plural(bytes, "byte", "bytes");
    }
    let mut one = 1_u128;
    for unit in UNITS {
        one *= 1000;
        let tenths = (u128::from(bytes) * 10 + one / 2) / one;
        if tenths < 10_000 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} bytes")
}

/// `2026-11-15 08:30 UTC`; what is no moment is shown as it came.
fn minute(modified: &str) -> String {
    let utc = modified.parse::<Time>().map(|time| time.to_string()).ok();
    let minute = utc.and_then(|utc| Some(format!("{} {} UTC", utc.get(..10)?, utc.get(11..16)?)));
    minute.unwrap_or_else(|| modified.into())
}
