//! The README's first request on the real program, compared with what git knows about the checkout.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::build::build;
use crate::job::Job;
use crate::suites::Ran;

pub(crate) const REQUEST: &str = "how many Rust files are here, and which is the largest?";

pub(crate) fn run(job: &Job) -> anyhow::Result<Ran> {
    // What is shown here does not depend on the profile, and a release build takes minutes: only `--full` types what the README says.
    let regent = if job.scope.is_full() {
        job.run(job.cargo(&["build", "--release"]))?;
        binary(job, "release")?
    } else {
        build(job)?.program("regent")?.to_owned()
    };
    let home = tempfile::tempdir().context("a house for the run")?;
    let command = |args: &[&str]| {
        let mut command = job.command(&regent.to_string_lossy(), args);
        command.env("REGENT_HOME", home.path());
        command
    };
    // Looked up on both sides of the run: a checkout that changed meanwhile is no failure of the program.
    let before = Truth::of(job)?;
    let answer = job.run(command(&["run", REQUEST]))?.stdout;
    let after = Truth::of(job)?;
    if let Err(wrong) = before.check(&answer)
        && after.check(&answer).is_err()
    {
        bail!("{wrong}");
    }
    job.run(command(&["audit", "verify"])).context("the audit trail of that run")?;
    Ok(Ran { note: format!("{} Rust files, as git says", before.files), ..Ran::default() })
}

/// The program as cargo left it: `profile` is the directory's name, `debug` or `release`.
pub(crate) fn binary(job: &Job, profile: &str) -> anyhow::Result<PathBuf> {
    Ok(target_directory(job)?.join(profile).join("regent"))
}

pub(crate) fn target_directory(job: &Job) -> anyhow::Result<PathBuf> {
    let metadata = job.read(job.cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: serde_json::Value =
        serde_json::from_str(&metadata).context("what cargo metadata printed")?;
    let directory =
        metadata.get("target_directory").and_then(|value| value.as_str()).context("a target directory")?;
    Ok(PathBuf::from(directory))
}

/// What the answer must say, found without the program: neither hidden nor ignored files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Truth {
    files: usize,
    bytes: u64,
    /// More than one when they are equally large: each of them is a right answer.
    largest: BTreeSet<String>,
}

impl Truth {
    pub(crate) fn of(job: &Job) -> anyhow::Result<Self> {
        let args =
            ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", "*.rs"];
        let listed = job.read(job.command("git", &args))?;
        let files =
            listed.split('\0').filter(|path| !path.is_empty() && !is_hidden(path)).filter_map(|path| {
                // A file in the index that was deleted is not here.
                let metadata =
                    std::fs::symlink_metadata(job.root.join(path)).ok().filter(|found| found.is_file())?;
                Some((path.to_owned(), metadata.len()))
            });
        let truth = Self::from_sizes(files);
        if truth.files == 0 {
            bail!("git lists no Rust files in {}", job.root.display());
        }
        Ok(truth)
    }

    fn from_sizes(files: impl Iterator<Item = (String, u64)>) -> Self {
        let files: Vec<_> = files.collect();
        let bytes = files.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
        let largest = files.iter().filter(|(_, size)| *size == bytes).map(|(path, _)| path.clone()).collect();
        Self { files: files.len(), bytes, largest }
    }

    /// The answer begins like `57 Rust files; the largest is crates/x/src/y.rs (18.2 kB).`
    pub(crate) fn check(&self, answer: &str) -> Result<(), String> {
        let Some((files, largest)) = answer.lines().find_map(parse) else {
            return Err(format!("no line says `N Rust files; the largest is PATH (SIZE)`: {answer:?}"));
        };
        if files != self.files {
            return Err(format!("the answer says {files} Rust files, git says {}", self.files));
        }
        if !self.largest.contains(largest) {
            let right = self.largest.iter().map(String::as_str).collect::<Vec<_>>().join(" or ");
            return Err(format!(
                "the answer calls {largest} the largest, git says {right} ({} bytes)",
                self.bytes
            ));
        }
        Ok(())
    }
}

fn parse(line: &str) -> Option<(usize, &str)> {
    let (count, rest) = line.trim().split_once(" Rust file")?;
    let (_, largest) = rest.split_once("the largest is ")?;
    let (path, _) = largest.rsplit_once(" (")?;
    let count = count.replace(',', "").parse().ok()?;
    Some((count, path.trim_matches('`').trim_start_matches("./")))
}

fn is_hidden(path: &str) -> bool {
    Path::new(path).components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth() -> Truth {
        let sizes = [("src/main.rs", 10), ("crates/x/src/y.rs", 18_200), ("src/twin.rs", 18_200)];
        Truth::from_sizes(sizes.into_iter().map(|(path, bytes)| (path.to_owned(), bytes)))
    }

    #[test]
    fn a_right_answer_passes_and_either_of_two_equals_is_right() {
        for answer in [
            "3 Rust files; the largest is crates/x/src/y.rs (18.2 kB).\nHidden and ignored files are left out.\n",
            "3 Rust files; the largest is src/twin.rs (18.2 kB).",
            "3 Rust files; the largest is ./src/twin.rs (18.2 kB).",
        ] {
            assert_eq!(truth().check(answer), Ok(()), "{answer}");
        }
    }

    #[test]
    fn a_wrong_answer_is_caught() {
        for (answer, says) in [
            ("4 Rust files; the largest is src/twin.rs (18.2 kB).", "4 Rust files, git says 3"),
            ("3 Rust files; the largest is src/main.rs (10 B).", "src/main.rs the largest"),
            ("I do not know.", "no line says"),
            ("", "no line says"),
        ] {
            let wrong = truth().check(answer).unwrap_err();
            assert!(wrong.contains(says), "{wrong}");
        }
    }

    #[test]
    fn hidden_is_any_part_of_the_path() {
        assert!(is_hidden(".ci/x.rs") && is_hidden("a/.b/c.rs") && is_hidden("a/.c.rs"));
        assert!(!is_hidden("a/b.rs"));
    }
}
