//! How much of the tests is run: the short run of every day and of CI, all of it, or what a change can affect.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;

use crate::job::Job;
use crate::tidy::graph::{Kind, Member, members};

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Requested {
    Short,
    Full,
    /// Everything since this commit, with what is not committed yet.
    Changed {
        since: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    Short,
    Full,
    Changed(Change),
}

/// What a change can affect, as names of crates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Whose code it changes: the crates that it touches and those that are built on them.
    pub(crate) code: BTreeSet<String>,
    /// Whose tests can end differently: these, those that use them only in tests, those whose tests it changes, and those that
    /// read the documents.
    pub(crate) tests: BTreeSet<String>,
}

/// Crates whose tests read the documents.
const READERS: &[&str] = &["cli", "domain", "app"];

/// One file per error code: the build script of this crate turns them into code.
const ERROR_PAGES: (&str, &str) = ("docs/errors/", "domain");

impl Requested {
    /// `--full`, `--changed` or `--changed=REV`; `None` if this is no such flag.
    pub(crate) fn flag(argument: &str) -> Option<Self> {
        match argument {
            "--full" => Some(Self::Full),
            "--changed" => Some(Self::Changed { since: "HEAD".to_owned() }),
            other => Some(Self::Changed { since: other.strip_prefix("--changed=")?.to_owned() }),
        }
    }

    pub(crate) fn resolve(&self, job: &Job) -> anyhow::Result<Scope> {
        Ok(match self {
            Self::Short => Scope::Short,
            Self::Full => Scope::Full,
            Self::Changed { since } => Scope::Changed(changed(job, since)?),
        })
    }
}

impl Scope {
    pub(crate) fn is_full(&self) -> bool {
        *self == Self::Full
    }
}

fn changed(job: &Job, since: &str) -> anyhow::Result<Change> {
    let tracked = job.read(job.command("git", &["diff", "--name-only", "-z", since, "--"]))?;
    let new = job.read(job.command("git", &["ls-files", "-z", "--others", "--exclude-standard"]))?;
    let metadata = job.read(job.cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let members = members(&serde_json::from_str(&metadata).context("what cargo metadata printed")?)?;
    let files = tracked.split('\0').chain(new.split('\0')).filter(|file| !file.is_empty());
    Ok(Change::of(files, &members, &job.root))
}

impl Change {
    fn of<'a>(files: impl Iterator<Item = &'a str>, members: &[Member], root: &Path) -> Self {
        let (mut code, mut tests) = (BTreeSet::new(), BTreeSet::new());
        for file in files {
            let path = root.join(file);
            let owner = members.iter().find_map(|member| {
                let within = path.strip_prefix(member.manifest.parent()?).ok()?;
                Some((member, within))
            });
            match owner {
                Some((member, within)) if within.starts_with("tests") || within.starts_with("benches") => {
                    tests.insert(member.name.clone());
                }
                Some((member, _)) => {
                    code.insert(member.name.clone());
                }
                None if file.starts_with(ERROR_PAGES.0) => {
                    code.insert(ERROR_PAGES.1.to_owned());
                }
                None if Path::new(file).extension().is_some_and(|end| end == "md") => {
                    tests.extend(READERS.iter().map(|&name| name.to_owned()));
                }
                // The lock file, lints, the configuration of cargo and of its runner: anything may change.
                None => code.extend(members.iter().map(|member| member.name.clone())),
            }
        }
        let uses = |member: &Member, of: &BTreeSet<String>, in_tests: bool| {
            let mut dependencies = member.dependencies.iter();
            dependencies.any(|one| one.ours && of.contains(&one.name) && (in_tests || one.kind != Kind::Dev))
        };
        loop {
            let above: Vec<&Member> = members
                .iter()
                .filter(|member| !code.contains(&member.name) && uses(member, &code, false))
                .collect();
            if above.is_empty() {
                break;
            }
            code.extend(above.into_iter().map(|member| member.name.clone()));
        }
        let testing = members.iter().filter(|member| uses(member, &code, true));
        tests.extend(testing.map(|member| member.name.clone()));
        tests.extend(code.iter().cloned());
        Self { code, tests }
    }

    /// The tests of these crates, as nextest's `-E` takes it.
    pub(crate) fn filter(&self) -> String {
        self.tests.iter().map(|name| format!("package({name})")).collect::<Vec<_>>().join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::graph::Dependency;

    /// `cli` is built on `app`, which is built on `domain`; `policy` uses `testkit` in its tests only.
    fn workspace() -> Vec<Member> {
        let member = |name: &str, on: &[(&str, Kind)]| Member {
            name: name.to_owned(),
            manifest: Path::new("/x/crates").join(name).join("Cargo.toml"),
            dependencies: on
                .iter()
                .map(|(name, kind)| Dependency { name: (*name).to_owned(), kind: *kind, ours: true })
                .collect(),
        };
        vec![
            member("domain", &[]),
            member("policy", &[("testkit", Kind::Dev)]),
            member("testkit", &[]),
            member("app", &[("domain", Kind::Normal), ("policy", Kind::Normal)]),
            member("cli", &[("app", Kind::Normal)]),
        ]
    }

    #[test]
    fn a_change_reaches_what_is_built_on_it_and_the_tests_that_use_it() {
        let table: [(&[&str], &[&str], &[&str]); 8] = [
            (&["crates/cli/src/main.rs"], &["cli"], &["cli"]),
            (&["crates/domain/src/id.rs"], &["cli", "domain", "app"], &["cli", "domain", "app"]),
            (&["crates/domain/tests/integration/main.rs"], &[], &["domain"]),
            (&["crates/testkit/src/lib.rs"], &["testkit"], &["policy", "testkit"]),
            (&["docs/errors.md"], &[], &["cli", "domain", "app"]),
            (&["docs/errors/R1001.md"], &["cli", "domain", "app"], &["cli", "domain", "app"]),
            (
                &["Cargo.lock"],
                &["cli", "domain", "policy", "app", "testkit"],
                &["cli", "domain", "policy", "app", "testkit"],
            ),
            (&[], &[], &[]),
        ];
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
        for (files, code, tests) in table {
            let change = Change::of(files.iter().copied(), &workspace(), Path::new("/x"));
            assert_eq!(change, Change { code: names(code), tests: names(tests) }, "{files:?}");
        }
    }

    #[test]
    fn the_flags_say_how_much() {
        let since = |rev: &str| Some(Requested::Changed { since: rev.to_owned() });
        assert_eq!(Requested::flag("--full"), Some(Requested::Full));
        assert_eq!(Requested::flag("--changed"), since("HEAD"));
        assert_eq!(Requested::flag("--changed=main~3"), since("main~3"));
        assert_eq!(Requested::flag("unit"), None);
    }
}
