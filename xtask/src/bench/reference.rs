//! The bench program of `ledger-sql`: a bare writer and the events for `events ingest`, with the same keys and contents. It is a program
//! of its own so that xtask needs no database driver.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::build::executable;
use crate::job::Job;

/// Where the bare writer writes.
#[derive(Debug, Clone, Copy)]
pub(super) enum BareDatabase<'a> {
    File(&'a Path),
    Url(&'a str),
}

/// Rows by their numbers: number `n` has the same key and content in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) from: u64,
    pub(super) count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Senders {
    One,
    Distinct,
}

pub(super) struct Reference<'a> {
    job: &'a Job,
    program: PathBuf,
}

impl<'a> Reference<'a> {
    pub(super) fn build(job: &'a Job) -> anyhow::Result<Self> {
        let messages = job.read(job.cargo(&[
            "build",
            "--release",
            "--package",
            "ledger-sql",
            "--bench",
            "durable",
            "--message-format=json-render-diagnostics",
        ]))?;
        Ok(Self { job, program: executable(&messages, "durable")? })
    }

    /// Inserts rows one by one, 64 in a durable transaction; rows per second.
    pub(super) fn write_rows(&self, database: BareDatabase<'_>, rows: Numbers) -> anyhow::Result<f64> {
        let mut command = self.job.command(&self.program.to_string_lossy(), &["bare"]);
        command.args(rows.flags());
        match database {
            BareDatabase::File(file) => command.arg("--file").arg(file),
            BareDatabase::Url(url) => command.args(["--url", url]),
        };
        self.job.read(command)?.trim().parse().context("the bare writer's rows per second")
    }

    pub(super) fn write_events(&self, file: &Path, rows: Numbers, senders: Senders) -> anyhow::Result<()> {
        let mut command = self.job.command(&self.program.to_string_lossy(), &["events"]);
        command.args(rows.flags());
        if senders == Senders::Distinct {
            command.arg("--distinct-senders");
        }
        command.stdout(std::fs::File::create(file)?);
        let status = command.status().context("start the writer of events")?;
        status.success().then_some(()).with_context(|| format!("the writer of events failed ({status})"))
    }
}

impl Numbers {
    pub(super) const fn first(count: u64) -> Self {
        Self { from: 0, count }
    }

    fn flags(self) -> [String; 4] {
        ["--rows".to_owned(), self.count.to_string(), "--from".to_owned(), self.from.to_string()]
    }
}
