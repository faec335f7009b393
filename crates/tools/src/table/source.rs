//! The rows of a file, whatever form it has.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use domain::Stop;
use domain::call::{Failure, FailureClass};
use domain::limits::{TABLE_BYTES, TABLE_COLUMNS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cell::Cell;
use super::json::{self, Object};
use super::quotes::Quotes;
use crate::search::CHUNK;
use crate::stopping::Heeding;
use crate::workspace::{self, Workspace};

/// Columns that are named if the one that was asked for is not there.
const NAMED_COLUMNS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    Csv,
    /// An array of objects.
    Json,
    /// Objects one after another.
    JsonLines,
}

/// What a file turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Free of links.
    pub(crate) path: String,
    pub(crate) format: Format,
    /// Of CSV: what the header line separates its columns with.
    pub(crate) separator: Option<char>,
    pub(crate) rows: u64,
    pub(crate) columns: Vec<String>,
}

impl Source {
    /// The real name of a column: as it is asked for, or the only one that differs in case and blanks around it alone.
    ///
    /// # Errors
    /// If there is no such column, with the names of those that there are, or several could be meant.
    pub(crate) fn column(&self, name: &str) -> Result<&str, Failure> {
        if let Some(column) = self.columns.iter().find(|column| *column == name) {
            return Ok(column);
        }
        let folded = |name: &str| name.trim().to_lowercase();
        let alike: Vec<_> = self.columns.iter().filter(|column| folded(column) == folded(name)).collect();
        match alike.as_slice() {
            [only] => Ok(only),
            [] => Err(self.no_column(name, "there are", &self.columns.iter().collect::<Vec<_>>())),
            several => Err(self.no_column(name, "it could be", several)),
        }
    }

    fn no_column(&self, name: &str, instead: &str, columns: &[&String]) -> Failure {
        let known: Vec<_> = columns.iter().take(NAMED_COLUMNS).map(|name| format!("`{name}`")).collect();
        let more = if columns.len() > NAMED_COLUMNS { " and more" } else { "" };
        let known = known.join(", ");
        Failure::logical(format!("`{name}` is no column of `{}`; {instead} {known}{more}", self.path))
    }
}

/// One row: the cells with the names of their columns.
pub(crate) type Row<'a> = [(&'a str, Cell<'a>)];

pub(crate) fn cell<'r, 'a>(row: &'r Row<'a>, column: &str) -> &'r Cell<'a> {
    row.iter().find(|(name, _)| *name == column).map_or(&Cell::Empty, |(_, cell)| cell)
}

/// Only the rows in which a column has a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Only {
    /// The name of the other column.
    pub(crate) column: String,
    /// The cell exactly as it is written.
    pub(crate) equals: String,
}

impl Only {
    pub(crate) fn admits(&self, row: &Row<'_>) -> bool {
        cell(row, &self.column).text() == self.equals
    }

    /// With the real name of its column.
    pub(crate) fn in_source(&self, source: &Source) -> Result<Self, Failure> {
        Ok(Self { column: source.column(&self.column)?.into(), equals: self.equals.clone() })
    }
}

/// Gives every row to `each`, together with its number: the first one behind the header is 1.
///
/// # Errors
/// If the file cannot be read, is no table, or `each` does not want to go on.
pub(crate) fn read(
    workspace: &Workspace,
    path: &str,
    stop: &Stop,
    each: &mut dyn FnMut(u64, &Row<'_>) -> Result<(), Failure>,
) -> Result<Source, Failure> {
    let opened = workspace.file(path)?;
    if opened.seen.bytes > TABLE_BYTES {
        let bytes = opened.seen.bytes;
        return Err(Failure::logical(format!(
            "`{path}` has {bytes} bytes; tables have at most {TABLE_BYTES}"
        )));
    }
    let mut reader = BufReader::with_capacity(CHUNK, Heeding { reader: opened.file, stop });
    let unreadable = |error: &io::Error| workspace::unreadable(path, error);
    let start = reader.fill_buf().map_err(|error| unreadable(&error))?;
    let mark = if start.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let head = start.get(mark..).unwrap_or_default();
    if head.trim_ascii().is_empty() {
        return Err(Failure::logical(format!("`{path}` is empty; a table has at least a line of names")));
    }
    let (format, separator) = (format_of(&opened.path, head), separator_of(head));
    reader.consume(mark);
    let shown = opened.path.to_string_lossy().into_owned();
    let mut source = Source { path: shown, format, separator: None, rows: 0, columns: Vec::new() };
    let mut reading = Reading { path, source: &mut source, known: HashSet::new(), each };
    match format {
        Format::Csv => {
            reading.source.separator = Some(char::from(separator));
            reading.csv(reader, separator)?;
        }
        Format::Json => reading.json(|each| json::each_of_array(reader, each))?,
        Format::JsonLines => reading.json(|each| json::each_of_lines(reader, each))?,
    }
    Ok(source)
}

/// By its name, and where that says nothing, by its first character.
fn format_of(path: &Path, head: &[u8]) -> Format {
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
    let named = extension.as_deref().and_then(|extension| extension.to_str()).unwrap_or_default();
    match (named, head.trim_ascii_start().first()) {
        ("csv" | "tsv", _) => Format::Csv,
        (_, Some(b'[')) => Format::Json,
        ("json" | "jsonl" | "ndjson", _) | (_, Some(b'{')) => Format::JsonLines,
        _ => Format::Csv,
    }
}

/// The one that the header line has most of, outside of quotes.
fn separator_of(head: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0), (b'|', 0)];
    for &byte in head {
        quoted ^= byte == b'"';
        if !quoted && matches!(byte, b'\n' | b'\r') {
            break;
        }
        for (separator, count) in &mut counts {
            *count += u32::from(!quoted && byte == *separator);
        }
    }
    // Of equals the last one wins, and the comma is to win.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(separator, _)| separator)
}

struct Reading<'a> {
    path: &'a str,
    source: &'a mut Source,
    known: HashSet<String>,
    each: &'a mut dyn FnMut(u64, &Row<'_>) -> Result<(), Failure>,
}

impl Reading<'_> {
    fn wrong(&self, problem: &str) -> Failure {
        Failure::logical(format!("`{}` {problem}", self.path))
    }

    fn add_column(&mut self, name: &str) -> Result<(), Failure> {
        if self.source.columns.len() == TABLE_COLUMNS {
            return Err(self.wrong(&format!("has more than {TABLE_COLUMNS} columns")));
        }
        self.known.insert(name.into());
        self.source.columns.push(name.into());
        Ok(())
    }

    fn csv(&mut self, reader: impl Read, separator: u8) -> Result<(), Failure> {
        let quotes = Quotes::new(reader, separator);
        let mut csv = csv::ReaderBuilder::new().delimiter(separator).flexible(false).from_reader(quotes);
        let done = self.csv_rows(&mut csv);
        match (csv.get_ref().unclosed(), &done) {
            // It explains what else was found wrong, but not why nobody could or would read on.
            (Some(line), Ok(()) | Err(Failure { class: FailureClass::Logical, .. })) => {
                Err(self.wrong(&format!("has a quote in line {line} that may never be closed")))
            }
            _ => done,
        }
    }

    fn csv_rows(&mut self, csv: &mut csv::Reader<impl Read>) -> Result<(), Failure> {
        let header = csv.headers().map_err(|error| self.csv_problem(error))?.clone();
        for name in &header {
            if self.known.contains(name) {
                let twice = format!("has two columns called `{name}`; give each a name of its own");
                return Err(self.wrong(&twice));
            }
            self.add_column(name)?;
        }
        let mut record = csv::StringRecord::new();
        while csv.read_record(&mut record).map_err(|error| self.csv_problem(error))? {
            let cells = record.iter().map(Cell::of_csv);
            let row: Vec<_> = header.iter().zip(cells).collect();
            self.source.rows += 1;
            (self.each)(self.source.rows, &row)?;
        }
        Ok(())
    }

    fn csv_problem(&self, error: csv::Error) -> Failure {
        let line = error.position().map_or(1, csv::Position::line);
        match error.into_kind() {
            csv::ErrorKind::Io(error) => workspace::unreadable(self.path, &error),
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                self.wrong(&format!("has {len} cells in line {line}, and {expected_len} columns"))
            }
            csv::ErrorKind::Utf8 { .. } => self.wrong(&format!("is no UTF-8 text in line {line}")),
            _ => self.wrong(&format!("cannot be read as CSV in line {line}")),
        }
    }

    fn json(
        &mut self,
        go: impl FnOnce(&mut dyn FnMut(Object) -> bool) -> Result<(), serde_json::Error>,
    ) -> Result<(), Failure> {
        let mut refused = None;
        let done = go(&mut |object| {
            refused = self.object(&object).err();
            refused.is_none()
        });
        match (refused, done) {
            (Some(failure), _) => Err(failure),
            (None, Ok(())) => Ok(()),
            (None, Err(error)) if error.is_io() => Err(workspace::unreadable(self.path, &error.into())),
            (None, Err(error)) => Err(self.wrong(&format!("cannot be read as a table: {error}"))),
        }
    }

    fn object(&mut self, Object(pairs): &Object) -> Result<(), Failure> {
        self.source.rows += 1;
        let mut seen = HashSet::new();
        for (name, _) in pairs {
            if !seen.insert(name.as_str()) {
                let row = self.source.rows;
                return Err(
                    self.wrong(&format!("has `{name}` twice in row {row}; give each a name of its own"))
                );
            }
            if !self.known.contains(name) {
                self.add_column(name)?;
            }
        }
        let row: Vec<_> = pairs.iter().map(|(name, raw)| (name.as_str(), Cell::of_json(raw.get()))).collect();
        (self.each)(self.source.rows, &row)
    }
}
