//! An instance of its own, removed when it is dropped, and the commands that run on it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use super::process::{Files, ProcessUsage};
use crate::job::Job;

pub(super) struct Instance {
    program: PathBuf,
    home: tempfile::TempDir,
    database: Vec<(String, String)>,
    folder: Option<PathBuf>,
}

impl Instance {
    /// An empty folder: the first command makes the instance.
    pub(super) fn new(program: &Path, beside: &Path) -> anyhow::Result<Self> {
        let home = tempfile::Builder::new().prefix("instance-").tempdir_in(beside)?;
        Ok(Self { program: program.to_owned(), home, database: Vec::new(), folder: None })
    }

    /// On a database on a server, as the environment names it.
    pub(super) fn with_database(self, database: Vec<(String, String)>) -> Self {
        Self { database, ..self }
    }

    /// Commands run in this folder, in place of the checkout.
    pub(super) fn in_folder(self, folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), ..self }
    }

    pub(super) fn database(&self) -> &[(String, String)] {
        &self.database
    }

    pub(super) fn command(&self, job: &Job, args: &[&str]) -> Command {
        let mut command = job.command(&self.program.to_string_lossy(), args);
        command.env("REGENT_HOME", self.home.path()).envs(self.database.iter().cloned());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    /// What the command prints; an error if it fails.
    pub(super) fn read(&self, job: &Job, args: &[&str]) -> anyhow::Result<String> {
        let output = job.probe(self.command(job, args))?;
        if !output.status.success() {
            bail!("`regent {}` failed ({}): {}", args.join(" "), output.status, output.stderr.trim_end());
        }
        Ok(output.stdout)
    }

    /// Runs `events ingest` on a file with this many events and counts its acknowledgements: a fast wrong answer is worth nothing.
    pub(super) fn ingest(&self, job: &Job, events: &Path, count: u64) -> anyhow::Result<ProcessUsage> {
        let acknowledged = self.home.path().with_extension("acknowledged");
        let files = Files { stdin: Some(events), stdout: Some(&acknowledged) };
        let usage = ProcessUsage::of(job, &self.command(job, &["events", "ingest"]), files)?;
        let new = count_new(&acknowledged)?;
        std::fs::remove_file(&acknowledged).context("remove the acknowledgements")?;
        if new != count {
            bail!("`events ingest` has acknowledged {new} of {count} new events");
        }
        Ok(usage)
    }
}

fn count_new(acknowledged: &Path) -> anyhow::Result<u64> {
    let lines = BufReader::new(std::fs::File::open(acknowledged)?).lines();
    lines.map(|line| Ok(u64::from(line?.contains(r#""new":true"#)))).sum()
}
