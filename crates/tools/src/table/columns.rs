//! `table_columns`: what a table consists of.

use std::collections::HashMap;

use domain::Stop;
use domain::call::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cell::Cell;
use super::source::{self, Format};
use crate::workspace::Workspace;

/// Cells that are shown of each column.
const EXAMPLES: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// A CSV or JSON file, relative to the workspace.
    pub(crate) path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Columns {
    /// Relative to the workspace, links followed.
    pub(crate) path: String,
    /// What the file turned out to be.
    pub(crate) format: Format,
    /// Of CSV: what stands between two cells.
    pub(crate) separator: Option<char>,
    /// Without the header line.
    pub(crate) rows: u64,
    /// In the order of the file.
    pub(crate) columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// What its cells are, as far as there is something in them.
    pub(crate) kind: Kind,
    /// Cells with something in them.
    pub(crate) non_empty: u64,
    /// The first cells that differ, shortened.
    pub(crate) examples: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Number,
    Text,
    Boolean,
    /// Cells of more than one kind.
    Mixed,
    /// No cell has anything in it.
    Empty,
}

/// # Errors
/// If the file cannot be read or is no table.
pub(crate) fn run(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Columns, Failure> {
    let mut found: HashMap<String, Column> = HashMap::new();
    let source = source::read(workspace, &args.path, stop, &mut |_, row| {
        for (name, cell) in row {
            if let Some(column) = found.get_mut(*name) {
                column.add(cell);
            } else {
                let mut column = Column::empty(name);
                column.add(cell);
                found.insert((*name).to_string(), column);
            }
        }
        Ok(())
    })?;
    let columns = source.columns.iter().map(|name| found.remove(name).unwrap_or_else(|| Column::empty(name)));
    Ok(Columns {
        columns: columns.collect(),
        path: source.path,
        format: source.format,
        separator: source.separator,
        rows: source.rows,
    })
}

impl Column {
    fn empty(name: &str) -> Self {
        Self { name: name.into(), kind: Kind::Empty, non_empty: 0, examples: Vec::new() }
    }

    fn add(&mut self, cell: &Cell<'_>) {
        let kind = match cell {
            Cell::Empty => return,
            Cell::Boolean(_) => Kind::Boolean,
            Cell::Number(..) => Kind::Number,
            Cell::Text(_) => Kind::Text,
        };
        self.non_empty += 1;
        self.kind = if self.kind == Kind::Empty || self.kind == kind { kind } else { Kind::Mixed };
        if self.examples.len() < EXAMPLES {
            let shown = cell.shown();
            if !self.examples.contains(&shown) {
                self.examples.push(shown);
            }
        }
    }
}
