//! Python environments of our own, in the target directory: exactly what a file of requirements says, and nothing of the system's.

use std::path::PathBuf;

use anyhow::Context as _;

use crate::job::Job;
use crate::two_commands::target_directory;

/// One such environment.
#[derive(Debug)]
pub(crate) struct Environment {
    /// Its folder in the target directory.
    pub(crate) name: &'static str,
    pub(crate) requirements: &'static str,
    /// Besides the requirements, as pip takes it.
    pub(crate) pip: &'static [&'static str],
}

impl Environment {
    pub(crate) fn python(&self, job: &Job) -> anyhow::Result<PathBuf> {
        Ok(self.folder(job)?.join("bin/python"))
    }

    /// Whether exactly what is required is installed.
    pub(crate) fn is_there(&self, job: &Job) -> bool {
        let is_there = || -> anyhow::Result<bool> {
            let stamp = self.folder(job)?.join("installed.txt");
            let required = job.root.join(self.requirements);
            Ok(std::fs::read_to_string(stamp)? == std::fs::read_to_string(required)?)
        };
        is_there().unwrap_or(false)
    }

    /// Makes it anew and installs what is required into it.
    pub(crate) fn make(&self, job: &Job) -> anyhow::Result<()> {
        let folder = self.folder(job)?;
        let path = folder.to_string_lossy();
        job.run(job.command("python3", &["-m", "venv", "--clear", &path]))?;
        let python = self.python(job)?;
        let mut args = vec!["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        args.extend(self.pip);
        args.extend(["-r", self.requirements]);
        job.run(job.command(&python.to_string_lossy(), &args))?;
        std::fs::copy(job.root.join(self.requirements), folder.join("installed.txt"))
            .context("note what is installed")?;
        Ok(())
    }

    fn folder(&self, job: &Job) -> anyhow::Result<PathBuf> {
        Ok(target_directory(job)?.join(self.name))
    }
}
