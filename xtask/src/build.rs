//! One build for all suites: every test and every program of the workspace, with all features. Whatever a suite runs comes from
//! here, so nothing is compiled a second time with other features.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

use crate::job::Job;
use crate::suites::Ran;

const BUILD: &[&str] =
    &["test", "--workspace", "--all-features", "--no-run", "--message-format=json-render-diagnostics"];

/// What cargo built, by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Artifacts {
    programs: BTreeMap<String, PathBuf>,
    libraries: BTreeMap<String, PathBuf>,
    tests: usize,
}

/// Builds what is not built yet; with everything there it takes about a second.
pub(crate) fn build(job: &Job) -> anyhow::Result<Artifacts> {
    Artifacts::read(&job.read(job.cargo(BUILD))?)
}

pub(crate) fn run(job: &Job) -> anyhow::Result<Ran> {
    let built = build(job)?;
    let note = format!("{} test binaries, {} programs", built.tests, built.programs.len());
    Ok(Ran { note, ..Ran::default() })
}

/// The program that cargo built for a target, from its messages: `cargo build … --message-format=json-render-diagnostics`.
pub(crate) fn executable(messages: &str, target: &str) -> anyhow::Result<PathBuf> {
    let found = messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_target = message.pointer("/target/name").and_then(Value::as_str) == Some(target);
        message.get("executable").filter(|_| is_target)?.as_str().map(PathBuf::from)
    });
    found.with_context(|| format!("cargo built no program `{target}`"))
}

impl Artifacts {
    /// From cargo's messages, one JSON object per line.
    fn read(messages: &str) -> anyhow::Result<Self> {
        let mut artifacts = Self::default();
        for line in messages.lines() {
            let message: Value =
                serde_json::from_str(line).with_context(|| format!("cargo said `{line}`"))?;
            artifacts.add(&message);
        }
        Ok(artifacts)
    }

    fn add(&mut self, message: &Value) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let target = message.get("target");
        let Some(name) = target.and_then(|target| text(target.get("name"))) else { return };
        let is = |kind: &str| {
            let kinds = target.and_then(|target| target.get("kind")?.as_array());
            kinds.is_some_and(|kinds| kinds.iter().any(|found| found == kind))
        };
        let executable = text(message.get("executable")).map(PathBuf::from);
        let is_test = message.pointer("/profile/test").and_then(Value::as_bool) == Some(true);
        match executable {
            Some(_) if is_test => self.tests += 1,
            Some(executable) if is("bin") => {
                self.programs.insert(name, executable);
            }
            None if is("lib") => {
                let files = message.get("filenames").and_then(Value::as_array).into_iter().flatten();
                let mut files = files.filter_map(Value::as_str).map(Path::new);
                if let Some(library) = files.find(|file| file.extension().is_some_and(|end| end == "rlib")) {
                    self.libraries.insert(name, library.to_owned());
                }
            }
            _ => {}
        }
    }

    pub(crate) fn program(&self, name: &str) -> anyhow::Result<&Path> {
        self.programs
            .get(name)
            .map(PathBuf::as_path)
            .with_context(|| format!("cargo built no program `{name}`"))
    }

    /// The compiled library of a crate, as `rustc --extern` takes it.
    pub(crate) fn library(&self, name: &str) -> anyhow::Result<&Path> {
        self.libraries
            .get(name)
            .map(PathBuf::as_path)
            .with_context(|| format!("cargo built no library `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_libraries_and_tests_are_told_apart() {
        let messages = [
            r#"{"reason":"compiler-artifact","target":{"name":"broker","kind":["lib"]},"profile":{"test":false},"filenames":["/t/libbroker-1.rlib","/t/libbroker-1.rmeta"],"executable":null}"#,
            r#"{"reason":"compiler-artifact","target":{"name":"broker","kind":["lib"]},"profile":{"test":true},"filenames":["/t/broker-2"],"executable":"/t/broker-2"}"#,
            r#"{"reason":"compiler-artifact","target":{"name":"regent","kind":["bin"]},"profile":{"test":false},"filenames":["/t/regent"],"executable":"/t/regent"}"#,
            r#"{"reason":"build-script-executed","package_id":"x"}"#,
            r#"{"reason":"build-finished","success":true}"#,
        ];
        let built = Artifacts::read(&messages.join("\n")).unwrap();
        assert_eq!(built.program("regent").unwrap(), Path::new("/t/regent"));
        assert_eq!(built.library("broker").unwrap(), Path::new("/t/libbroker-1.rlib"));
        assert_eq!((built.tests, built.programs.len()), (1, 1));
        assert!(built.program("sim").is_err() && built.library("regent").is_err());
        assert!(Artifacts::read("no JSON").is_err());
    }
}
