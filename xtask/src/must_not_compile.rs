//! What must not compile (`crates/*/tests/ui/*.rs`), each with the compiler's message beside it in a `.stderr` file: a proof that
//! fails for another reason than it should is noticed. A file without one must compile.
//!
//! After a change on purpose: `UPDATE=1 cargo xtask test doc`, and read the difference.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::build::{Artifacts, build};
use crate::job::Job;

/// What the examples may use.
const LIBRARIES: &[&str] = &["app", "broker", "domain", "ledger", "serde_json"];

/// Compiles them all; how many there are.
pub(crate) fn check(job: &Job) -> anyhow::Result<u64> {
    let built = build(job)?;
    let scratch = tempfile::tempdir().context("a folder for what rustc writes")?;
    let update = std::env::var_os("UPDATE").is_some();
    let examples = examples(job)?;
    let mut wrong = Vec::new();
    for example in &examples {
        let said = compile(job, &built, example, scratch.path())?;
        let beside = job.root.join(example).with_extension("stderr");
        let expected = std::fs::read_to_string(&beside).ok();
        if update && expected.is_some() {
            std::fs::write(&beside, &said)?;
        } else if let Some(problem) = differs(expected.as_deref(), &said) {
            wrong.push(format!("{}: {problem}", example.display()));
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("; "));
    }
    Ok(examples.len() as u64)
}

fn examples(job: &Job) -> anyhow::Result<Vec<PathBuf>> {
    let listed = job.read(job.command("git", &["ls-files", "-z", "--", "crates/*/tests/ui/*.rs"]))?;
    let examples: Vec<PathBuf> =
        listed.split('\0').filter(|path| !path.is_empty()).map(PathBuf::from).collect();
    if examples.is_empty() {
        bail!("no `crates/*/tests/ui/*.rs` is tracked by git");
    }
    Ok(examples)
}

/// The compiler's messages, a line each; nothing if it compiles.
fn compile(job: &Job, built: &Artifacts, example: &Path, scratch: &Path) -> anyhow::Result<String> {
    let path = example.to_string_lossy();
    let mut rustc = job.command("rustc", &["--edition", "2024", "--crate-type", "lib", "--emit", "metadata"]);
    rustc.args(["--error-format", "short", "--color", "never", "--out-dir"]).arg(scratch);
    for name in LIBRARIES {
        let library = built.library(name)?;
        let folder = library.parent().context("a folder of libraries")?;
        rustc.arg("-L").arg(format!("dependency={}", folder.display()));
        rustc.arg("--extern").arg(format!("{name}={}", library.display()));
    }
    rustc.arg(&*path);
    let output = job.probe(rustc)?;
    let errors: String = output
        .stderr
        .lines()
        .filter(|line| line.contains(": error"))
        .map(|line| format!("{line}\n"))
        .collect();
    if output.status.success() != errors.is_empty() {
        bail!("rustc ended with {} on `{path}`:\n{}", output.status, output.stderr);
    }
    Ok(errors)
}

fn differs(expected: Option<&str>, said: &str) -> Option<String> {
    match expected {
        Some(_) if said.is_empty() => Some("it compiles".to_owned()),
        None if !said.is_empty() => Some(format!("it does not compile: {}", said.trim_end())),
        Some(expected) if expected != said => {
            Some(format!("the compiler says `{}`, expected `{}`", said.trim_end(), expected.trim_end()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::differs;

    #[test]
    fn only_the_expected_message_passes() {
        assert_eq!(differs(Some("a.rs:1:1: error: x\n"), "a.rs:1:1: error: x\n"), None);
        assert_eq!(differs(None, ""), None);
        for (expected, said) in [(Some("x"), ""), (Some("x"), "y"), (None, "x"), (Some(""), "")] {
            assert!(differs(expected, said).is_some(), "{expected:?} {said:?}");
        }
    }
}
