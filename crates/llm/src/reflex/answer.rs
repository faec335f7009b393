//! The answer in plain English, from the record and nothing else. What a record does not say is not
//! claimed: files left out, skipped or unread are mentioned.

use serde_json::Value;

use super::amount::{exact_size, minute, plural, rounded, size};
use super::describe::joined;
use super::record::{
    Calculated, Columns, Deleted, File, Found, Groups, Hashed, Made, Match, Read, Stats, one_line, pick, read,
};
use super::request::{By, Files, Function, Job, Matching, Measure, Part, Rank, To, Top, What};

/// What is said, and the same as bare data for a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub text: String,
    pub data: Vec<String>,
}

impl Answer {
    fn new(lines: Vec<String>, data: Vec<String>) -> Self {
        Self { text: lines.join("\n"), data }
    }
}

/// `last` is for the last of a request's answers, which says once how it was looked for.
pub(super) fn from_record(job: &Job, args: &Value, record: &Value, last: bool) -> Result<Answer, String> {
    let path = args.get("path").and_then(Value::as_str).unwrap_or_default();
    let (lines, data) = match &job.what {
        What::Part(part) => part_of(*part, &read(record)?),
        What::Hash(_) => hashed(path, &read(record)?),
        What::Stats { functions, .. } => statistics(functions, &read(record)?)?,
        What::Rows(None) => rows(&read(record)?),
        What::Rows(Some(only)) => {
            let Stats { path, matching_rows, .. } = read(record)?;
            let rows = plural(matching_rows, "row", "rows");
            let has = if matching_rows == 1 { "has" } else { "have" };
            (
                vec![format!(
                    "{rows} of {} {has} `{}` in column {}.",
                    one_line(&path),
                    only.equals,
                    only.column
                )],
                vec![matching_rows.to_string()],
            )
        }
        What::Columns => columns(&read(record)?),
        What::Values { .. } => values(&read(record)?),
        What::Calculate(expression) => calculated(expression, &read(record)?),
        What::Delete => deleted(&read(record)?),
        What::Copy(_) => made("Copied", &read(record)?),
        What::Move(To::Folder(_)) => made("Moved", &read(record)?),
        What::Move(_) => made("Renamed", &read(record)?),
        what => {
            let found = Found::read(record)?;
            let (mut lines, mut data) = about_files(&job.files, what, &found)?;
            if job.save.is_some() && matches!(what, What::Lines(_)) && is_cut(&found) {
                return Err(
                    "There are more or longer lines than I can write down whole, so nothing was written."
                        .into(),
                );
            }
            if job.save.is_some() && matches!(what, What::Show { list: true, .. }) && job.files.top.is_none()
            {
                data.extend(more(&found)); // a list that is not whole says so
            }
            caveats(&job.files, what, &found, last, &mut lines);
            (lines, data)
        }
    };
    Ok(Answer::new(lines, data))
}

type Told = (Vec<String>, Vec<String>);

fn about_files(files: &Files, what: &What, found: &Found) -> Result<Told, String> {
    Ok(match what {
        What::Exists => exists(files, found),
        What::Size => sizes(files, found)?,
        What::Measure(measure) => measured(files, measure, found)?,
        What::Lines(matching) => lines(files, matching, found)?,
        What::Groups(by) => groups(files, *by, found),
        What::Show { count, list } => shown(files, *count, *list, found),
        _ => return Err("There is no answer: nothing was asked of the files.".into()),
    })
}

/// What the numbers do not say.
fn caveats(files: &Files, what: &What, found: &Found, last: bool, lines: &mut Vec<String>) {
    let searched = files.contains.is_some()
        || files.lacks.is_some()
        || matches!(what, What::Lines(_) | What::Measure(Measure::Matching(_) | Measure::Occurrences(_)));
    if !found.complete {
        lines.push("Not every folder could be read, so there may be more.".into());
    }
    if found.unreadable > 0 {
        lines.push(format!(
            "{} could not be read.",
            plural(found.unreadable, "file or folder", "files or folders")
        ));
    }
    if searched && found.binary_skipped > 0 {
        let verb = if found.binary_skipped == 1 { "was" } else { "were" };
        lines.push(format!(
            "{} {verb} not searched.",
            plural(found.binary_skipped, "binary file", "binary files")
        ));
    }
    let whole = files.path.is_none() && !matches!(what, What::Exists);
    if last && whole && !found.left_out.is_empty() {
        let deep = if files.direct { "Subfolders not included" } else { "Subfolders included" };
        lines.push(format!("{deep}; {} left out.", found.left_out));
    }
}

fn exists(files: &Files, found: &Found) -> Told {
    let paths: Vec<String> = found.files.iter().map(|file| one_line(&file.path)).collect();
    match found.count {
        0 => {
            let none = match &files.path {
                Some(path) => format!("No, there is no file `{path}` here."),
                None => format!("No, there are no {}.", files.those(super::describe::MANY)),
            };
            (vec![none], vec!["no".into()])
        }
        1 => (vec![format!("Yes: {}.", paths.first().cloned().unwrap_or_default())], vec!["yes".into()]),
        count => {
            let lines = [format!("Yes, {count}:")].into_iter().chain(paths).chain(more(found));
            (lines.collect(), vec!["yes".into()])
        }
    }
}

fn shown(files: &Files, count: bool, list: bool, found: &Found) -> Told {
    let paths = || found.files.iter().map(|file| one_line(&file.path)).collect::<Vec<_>>();
    let all = files.without_top();
    let lines = match (&files.top, list) {
        (_, true) if found.count == 0 => match &files.path {
            Some(path) => vec![format!("There is no file `{path}` here.")],
            None => vec![format!("{}.", all.counted(0))],
        },
        (_, false) => return (vec![format!("{}.", all.counted(found.count))], vec![found.count.to_string()]),
        (Some(Top { rank, n: Some(n) }), true) => top(&all, count, *rank, *n, found),
        (_, true) if files.contains.is_some() => matches(files, found),
        (_, true) if files.path.is_some() => paths(),
        (_, true) => {
            let ranked = files.top.map(|top| top.rank);
            let named = found
                .files
                .iter()
                .map(|file| ranked.map_or_else(|| one_line(&file.path), |rank| ranking(rank, file)));
            named.chain(more(found)).chain([format!("{}.", all.counted(found.count))]).collect()
        }
    };
    (lines, paths())
}

fn matches(files: &Files, found: &Found) -> Vec<String> {
    let lines = found
        .matching_lines
        .unwrap_or_else(|| found.files.iter().filter_map(|file| file.matching_lines).sum());
    let heading = format!("{} ({}):", files.counted(found.count), plural(lines, "line", "lines"));
    let first = |file: &File| match file.matches.first() {
        Some(Match { line: Some(line), text }) => format!("{}:{line}: {}", one_line(&file.path), text.trim()),
        _ => one_line(&file.path),
    };
    [heading].into_iter().chain(found.files.iter().map(first)).chain(more(found)).collect()
}

fn top(files: &Files, count: bool, rank: Rank, n: u32, found: &Found) -> Vec<String> {
    let (total, name) = (found.count, superlative(rank));
    let best: Vec<_> = found.files.iter().take(n as usize).map(|file| ranking(rank, file)).collect();
    match (best.as_slice(), n) {
        ([], _) => vec![format!("{}, but none of them is named.", files.counted(total))],
        ([only], _) if total == 1 && count => vec![format!("{}: {only}.", files.counted(1))],
        ([first, ..], 1) if count => vec![format!("{}; the {name} is {first}.", files.counted(total))],
        ([first, ..], 1) => vec![format!("The {} is {first}.", named(files, name, 1))],
        _ => {
            let asked = u64::from(n);
            let heading = match (total < asked, count) {
                (true, true) => format!("{}, {name} first:", files.counted(total)),
                (true, false) => format!("Only {total} {}, {name} first:", files.those(total)),
                (false, true) => format!("{}; the {n} {name}:", files.counted(total)),
                (false, false) => format!("The {n} {}:", named(files, name, asked)),
            };
            [heading].into_iter().chain(best).collect()
        }
    }
}

fn named(files: &Files, name: &str, count: u64) -> String {
    match name.split_once(' ') {
        Some(_) => format!("{} with the {name}", files.those(count)),
        None => format!("{name} {}", files.those(count)),
    }
}

const fn superlative(rank: Rank) -> &'static str {
    rank.name()
}

fn ranking(rank: Rank, file: &File) -> String {
    let by = match rank {
        Rank::Largest | Rank::Smallest => size(file.bytes),
        Rank::Newest | Rank::Oldest => minute(&file.modified),
        Rank::MostLines | Rank::FewestLines => plural(file.lines.unwrap_or(0), "line", "lines"),
        Rank::MostWords => plural(file.words.unwrap_or(0), "word", "words"),
        Rank::MostMatches => {
            plural(file.occurrences.or(file.matching_lines).unwrap_or(0), "match", "matches")
        }
    };
    format!("{} ({by})", one_line(&file.path))
}

fn sizes(files: &Files, found: &Found) -> Result<Told, String> {
    if files.is_one() {
        let file = pick(files, found)?;
        return Ok((
            vec![format!("{} has {}.", one_line(&file.path), exact_size(file.bytes))],
            vec![file.bytes.to_string()],
        ));
    }
    if let Some(Top { n: Some(n), .. }) = files.top {
        let bytes: u64 = found.files.iter().take(n as usize).map(|file| file.bytes).sum();
        return Ok((
            vec![format!("The {} together have {}.", files.those(u64::from(n)), exact_size(bytes))],
            vec![bytes.to_string()],
        ));
    }
    let bytes = found.bytes.ok_or("There is no answer: the sizes were not added up.")?;
    let together = if found.count == 1 { "has" } else { "together have" };
    Ok((
        vec![format!("{} {together} {}.", files.counted(found.count), exact_size(bytes))],
        vec![bytes.to_string()],
    ))
}

fn measured(files: &Files, measure: &Measure, found: &Found) -> Result<Told, String> {
    let of_file = |file: &File| match measure {
        Measure::Lines => file.lines,
        Measure::Words => file.words,
        Measure::Matching(_) => file.matching_lines,
        Measure::Occurrences(_) => file.occurrences,
    };
    let said = |count: u64| match measure {
        Measure::Lines => plural(count, "line", "lines"),
        Measure::Words => plural(count, "word", "words"),
        Measure::Matching(matching) => format!("{} {matching}", plural(count, "line", "lines")),
        Measure::Occurrences(needle) => {
            format!("{needle} {}", if count == 1 { "once".into() } else { format!("{count} times") })
        }
    };
    let all = files.without_top();
    if let Some(Top { n: Some(n), .. }) =
        files.top.filter(|top| matches!(top.rank, Rank::MostMatches | Rank::MostLines))
    {
        let best = found
            .files
            .iter()
            .take(n as usize)
            .map(|file| format!("{}: {}", one_line(&file.path), of_file(file).unwrap_or(0)));
        let best: Vec<String> = best.collect();
        let total = total(measure, found);
        let heading = format!("{} in {}; the top {n}:", said(total), plural(found.count, "file", "files"));
        return Ok(([heading].into_iter().chain(best.clone()).collect(), best));
    }
    // A file without a match is not among those that were found, and still is the one that was meant.
    let unmatched = found.count == 0 && matches!(measure, Measure::Matching(_) | Measure::Occurrences(_));
    if files.is_one() && !unmatched {
        let file = pick(files, found)?;
        let count = of_file(file).ok_or("There is no answer: the lines were not counted.")?;
        return Ok((vec![format!("{}: {}.", one_line(&file.path), said(count))], vec![count.to_string()]));
    }
    let total = total(measure, found);
    let place = match measure {
        Measure::Matching(_) | Measure::Occurrences(_) if files.path.is_none() => {
            format!("{} in {}", said(total), plural(found.count, "file", "files"))
        }
        Measure::Matching(_) | Measure::Occurrences(_) => format!("{} in {}", said(total), all.those(1)),
        _ => format!("{} in {}", said(total), counted(&all, found.count)),
    };
    Ok((vec![format!("{place}.")], vec![total.to_string()]))
}

fn counted(files: &Files, count: u64) -> String {
    let counted = files.counted(count);
    if count == 0 { format!("n{}", counted.trim_start_matches('N')) } else { counted }
}

fn total(measure: &Measure, found: &Found) -> u64 {
    let total = match measure {
        Measure::Lines => found.lines,
        Measure::Words => found.words,
        Measure::Matching(_) => found.matching_lines,
        Measure::Occurrences(_) => found.occurrences,
    };
    total.unwrap_or(0)
}

/// The lines themselves: those of one file as they are, those of several with where they stand.
fn lines(files: &Files, matching: &Matching, found: &Found) -> Result<Told, String> {
    let total = found
        .matching_lines
        .unwrap_or_else(|| found.files.iter().filter_map(|file| file.matching_lines).sum());
    if total == 0 {
        let none = match &files.path {
            Some(path) => format!("No line {matching} in {path}."),
            None => format!("No line {matching} in the {}.", files.those(super::describe::MANY)),
        };
        return Ok((vec![none], vec![]));
    }
    let one = if files.path.is_some() { found.files.first() } else { None };
    let shown: Vec<&File> = one.map_or_else(|| found.files.iter().collect(), |file| vec![file]);
    let total = one.and_then(|file| file.matching_lines).unwrap_or(total);
    let place = match one {
        Some(file) => one_line(&file.path),
        None => plural(found.count, "file", "files"),
    };
    let heading = format!("{} {matching} in {place}:", plural(total, "line", "lines"));
    let line = |file: &File, hit: &Match| match hit.line {
        Some(line) => format!("{}:{line}: {}", one_line(&file.path), hit.text.trim()),
        None => format!("{}: {}", one_line(&file.path), hit.text.trim()),
    };
    let hits: Vec<String> =
        shown.iter().flat_map(|file| file.matches.iter().map(|hit| line(file, hit))).collect();
    let data: Vec<String> = match one {
        Some(file) => file.matches.iter().map(|hit| hit.text.clone()).collect(),
        None => hits.clone(),
    };
    let hidden = total.saturating_sub(hits.len() as u64);
    Ok(([heading].into_iter().chain(hits).chain(and_more(hidden)).collect(), data))
}

fn groups(files: &Files, by: By, found: &Found) -> Told {
    let groups = found.groups.as_deref().unwrap_or_default();
    let shown = |value: &str| match by {
        By::Extension if value.is_empty() => "no extension".to_owned(),
        By::Extension => format!(".{value}"),
        By::Folder if value == "." => "here".to_owned(),
        By::Folder => one_line(value),
    };
    let rows: Vec<String> =
        groups.iter().map(|group| format!("{}: {}", shown(&group.value), group.count)).collect();
    let heading = match by {
        By::Extension => format!("{} by type:", files.counted(found.count)),
        By::Folder => format!("{} by folder:", files.counted(found.count)),
    };
    let heading = if found.count == 0 { format!("{}.", files.counted(0)) } else { heading };
    ([heading].into_iter().chain(rows.clone()).chain(and_more(found.more_groups)).collect(), rows)
}

fn part_of(part: Part, read: &Read) -> Told {
    let mut lines: Vec<String> = match part {
        Part::Whole => read.text.lines().map(str::to_owned).collect(),
        _ => read.shown.iter().map(|line| line.text.clone()).collect(),
    };
    let data = lines.clone();
    if lines.is_empty() {
        lines.push(format!("{} has no such lines.", one_line(&read.path)));
    }
    if part == Part::Whole && read.text.is_empty() && !read.truncated {
        lines = vec![format!("{} is empty.", one_line(&read.path))];
    }
    if part == Part::Whole && read.truncated {
        lines.push("Not the whole file is shown.".into());
    }
    (lines, data)
}

fn hashed(path: &str, hashed: &Hashed) -> Told {
    let Hashed { algorithm, hex } = hashed;
    (vec![format!("{}: {algorithm} {hex}", one_line(path))], vec![hex.clone()])
}

fn statistics(functions: &[Function], stats: &Stats) -> Result<Told, String> {
    let Stats { path, column, rows, count, matching_rows, .. } = stats;
    let path = one_line(path);
    if *count == 0 {
        return Err(format!("Column {column} of {path} has no numbers."));
    }
    let value = |function: &Function| match function {
        Function::Sum => Some(rounded(&stats.sum)),
        Function::Mean => stats.mean.as_deref().map(rounded),
        Function::Min => stats.min.as_deref().map(rounded),
        Function::Max => stats.max.as_deref().map(rounded),
    };
    let values: Vec<String> = functions.iter().filter_map(value).collect();
    let said: Vec<String> = functions
        .iter()
        .zip(&values)
        .map(|(function, value)| format!("{} {value}", function.name()))
        .collect();
    let mut lines = vec![format!("Column {column} of {path}: {}.", joined(&said, "and"))];
    let asked = if matching_rows < rows { matching_rows } else { rows };
    if count < asked {
        lines.push(format!("{} of {} had a number there.", count, plural(*asked, "row", "rows")));
    }
    Ok((lines, values))
}

fn rows(columns: &Columns) -> Told {
    let rows = plural(columns.rows, "row", "rows");
    (
        vec![format!("{} has {rows}, without the header.", one_line(&columns.path))],
        vec![columns.rows.to_string()],
    )
}

fn columns(columns: &Columns) -> Told {
    let names: Vec<String> = columns.columns.iter().map(|column| one_line(&column.name)).collect();
    let count = plural(names.len() as u64, "column", "columns");
    (vec![format!("{} has {count}: {}.", one_line(&columns.path), joined(&names, "and"))], names)
}

fn values(groups: &Groups) -> Told {
    let rows: Vec<String> =
        groups.listed.iter().map(|group| format!("{}: {}", one_line(&group.value), group.count)).collect();
    let heading = format!("Rows of {} by {}:", one_line(&groups.path), one_line(&groups.column));
    let hidden = groups.groups.saturating_sub(groups.listed.len() as u64);
    let empty = (groups.empty > 0).then(|| format!("(nothing): {}", groups.empty));
    ([heading].into_iter().chain(rows.clone()).chain(and_more(hidden)).chain(empty).collect(), rows)
}

fn calculated(expression: &str, calculated: &Calculated) -> Told {
    let equals = if calculated.exact { "=" } else { "≈" };
    (vec![format!("{expression} {equals} {}", calculated.result)], vec![calculated.result.clone()])
}

fn deleted(deleted: &Deleted) -> Told {
    let paths: Vec<String> = deleted.deleted.iter().map(|file| one_line(&file.path)).collect();
    let heading = match paths.as_slice() {
        [one] => return (vec![format!("Deleted {one}.")], paths),
        _ => format!("Deleted {} files:", paths.len()),
    };
    ([heading].into_iter().chain(paths.clone()).collect(), paths)
}

fn made(verb: &str, made: &Made) -> Told {
    let moves: Vec<String> =
        made.made.iter().map(|one| format!("{} to {}", one_line(&one.from), one_line(&one.to))).collect();
    match moves.as_slice() {
        [one] => (vec![format!("{verb} {one}.")], moves),
        _ => ([format!("{verb} {} files:", moves.len())].into_iter().chain(moves.clone()).collect(), moves),
    }
}

/// Whether lines are missing, or may have been shortened.
fn is_cut(found: &Found) -> bool {
    const SHOWN_CHARS: usize = 200;
    let long = |hit: &Match| hit.text.chars().count() >= SHOWN_CHARS;
    let shown: usize = found.files.iter().map(|file| file.matches.len()).sum();
    found.truncated_matches
        || found.matching_lines.is_some_and(|lines| lines > shown as u64)
        || found.files.iter().flat_map(|file| &file.matches).any(long)
}

/// Files that were counted but not named.
fn more(found: &Found) -> Option<String> {
    and_more(found.count.saturating_sub(found.files.len() as u64))
}

fn and_more(count: u64) -> Option<String> {
    (count > 0).then(|| format!("… and {count} more"))
}
