//! `table_stats`: the numbers of one column, added up exactly.

use domain::Stop;
use domain::call::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cell::Cell;
use super::source::{self, Only, Source, cell};
use crate::calc::number::{Number, Trouble};
use crate::workspace::Workspace;

/// Cells that are shown of those that are no numbers.
const EXAMPLES: usize = 3;
/// Digits behind the point of a mean.
const MEAN_PLACES: i32 = 12;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// A CSV or JSON file, relative to the workspace.
    pub(crate) path: String,
    /// The name of the column, as `table_columns` shows it. Case and blanks around it matter only if several are alike.
    pub(crate) column: String,
    /// Only the rows in which another column has this value.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub(crate) only: Option<Only>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Stats {
    /// Relative to the workspace, links followed.
    pub(crate) path: String,
    /// The one that was asked for, by its real name.
    pub(crate) column: String,
    /// Of the whole table, without the header line.
    pub(crate) rows: u64,
    /// Rows that were looked at: those that `where` lets through.
    pub(crate) matching_rows: u64,
    /// Cells that are numbers. Only they are in the figures below.
    pub(crate) count: u64,
    /// Exact.
    pub(crate) sum: String,
    /// Null if there are no numbers.
    pub(crate) mean: Option<String>,
    /// Whether `mean` is the mean itself. If not, it is rounded.
    pub(crate) mean_exact: bool,
    /// The smallest number.
    pub(crate) min: Option<String>,
    /// The largest number.
    pub(crate) max: Option<String>,
    /// Cells with nothing in them.
    pub(crate) empty: u64,
    /// Cells with something in them that is no number. They are not in the figures.
    pub(crate) not_numbers: u64,
    /// The first of them.
    pub(crate) not_number_examples: Vec<Oddity>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Oddity {
    /// The first row behind the header is 1.
    pub(crate) row: u64,
    /// What is in the cell, shortened.
    pub(crate) text: String,
}

/// # Errors
/// If the file cannot be read or is no table, there is no such column, or a sum does not fit.
pub(crate) fn run(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Stats, Failure> {
    let (mut source, mut figures) = figures(workspace, args, stop)?;
    let real = args.in_source(&source)?;
    if real != *args {
        // What columns there are is known only at the end of a table.
        (source, figures) = self::figures(workspace, &real, stop)?;
    }
    let mean = figures.mean()?;
    Ok(Stats {
        path: source.path,
        column: real.column,
        rows: source.rows,
        matching_rows: figures.count + figures.empty + figures.not_numbers,
        count: figures.count,
        sum: figures.sum.shown().0,
        mean_exact: mean.as_ref().is_some_and(|(_, exact)| *exact),
        mean: mean.map(|(mean, _)| mean),
        min: figures.range.map(|(min, _)| min.shown().0),
        max: figures.range.map(|(_, max)| max.shown().0),
        empty: figures.empty,
        not_numbers: figures.not_numbers,
        not_number_examples: figures.examples,
    })
}

fn figures(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<(Source, Figures), Failure> {
    let mut figures = Figures::default();
    let source = source::read(workspace, &args.path, stop, &mut |number, row| {
        let wanted = args.only.as_ref().is_none_or(|only| only.admits(row));
        if wanted { figures.add(number, cell(row, &args.column)) } else { Ok(()) }
    })?;
    Ok((source, figures))
}

impl Args {
    /// With the real names of the columns.
    fn in_source(&self, source: &Source) -> Result<Self, Failure> {
        let only = self.only.as_ref().map(|only| only.in_source(source)).transpose()?;
        Ok(Self { path: self.path.clone(), column: source.column(&self.column)?.into(), only })
    }
}

#[derive(Debug)]
struct Figures {
    count: u64,
    sum: Number,
    /// The smallest and the largest.
    range: Option<(Number, Number)>,
    empty: u64,
    not_numbers: u64,
    examples: Vec<Oddity>,
}

impl Default for Figures {
    fn default() -> Self {
        Self { count: 0, sum: Number::ZERO, range: None, empty: 0, not_numbers: 0, examples: Vec::new() }
    }
}

impl Figures {
    fn add(&mut self, row: u64, cell: &Cell<'_>) -> Result<(), Failure> {
        match cell {
            Cell::Empty => self.empty += 1,
            Cell::Number(_, number) => {
                self.count += 1;
                self.sum = self.sum.plus(*number).map_err(too_large)?;
                let (min, max) = self.range.unwrap_or((*number, *number));
                self.range = Some((min.min(*number), max.max(*number)));
            }
            Cell::Boolean(_) | Cell::Text(_) => {
                self.not_numbers += 1;
                if self.examples.len() < EXAMPLES {
                    self.examples.push(Oddity { row, text: cell.shown() });
                }
            }
        }
        Ok(())
    }

    fn mean(&self) -> Result<Option<(String, bool)>, Failure> {
        if self.count == 0 {
            return Ok(None);
        }
        let count = Number::whole(self.count.into()).map_err(too_large)?;
        let mean = self.sum.divided_by(count).map_err(too_large)?;
        // One that is too fine to be rounded is shown as `calc` would show it.
        let rounded = mean.rounded(MEAN_PLACES).unwrap_or(mean);
        let (text, whole) = rounded.shown();
        Ok(Some((text, whole && rounded == mean)))
    }
}

fn too_large(_: Trouble) -> Failure {
    Failure::logical("the sum has more than about 38 digits, which is more than can be held exactly")
}
