//! What is checked by reading the files: their length, the lints in the manifests, paths of the machine they were written on.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};

use super::Findings;
use super::graph::Member;
use crate::job::Job;

const LONG: usize = 500;
const TOO_LONG: usize = 800;

/// Files by their path from the checkout's root.
pub(crate) type Texts = BTreeMap<String, String>;

/// What git tracks, and what it would if it were added: new files count before they are committed.
pub(crate) fn tracked(job: &Job) -> anyhow::Result<Vec<String>> {
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    let listed = job.read(job.command("git", &args))?;
    let tracked: Vec<_> = listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    if tracked.is_empty() {
        bail!("git lists no files in {}", job.root.display());
    }
    Ok(tracked)
}

/// The tracked files that are text and still there.
pub(crate) fn texts(job: &Job, tracked: &[String]) -> anyhow::Result<Texts> {
    let mut texts = Texts::new();
    for path in tracked {
        let full = job.root.join(path);
        if !std::fs::symlink_metadata(&full).is_ok_and(|metadata| metadata.is_file()) {
            continue;
        }
        let bytes = std::fs::read(&full).with_context(|| format!("read {path}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            texts.insert(path.clone(), text);
        }
    }
    Ok(texts)
}

/// Long files under crates/: past 500 lines a note, past 800 a problem.
pub(crate) fn lengths(texts: &Texts) -> Findings {
    let mut findings = Findings::default();
    for (path, text) in texts.iter().filter(|(path, _)| path.starts_with("crates/") && path.ends_with(".rs"))
    {
        match text.lines().count() {
            lines if lines > TOO_LONG => findings.problems.push(format!(
                "{path} has {lines} lines, more than {TOO_LONG}: there are two things in it, part them"
            )),
            lines if lines > LONG => {
                findings.notes.push(format!("{path} has {lines} lines: which two things are in it?"));
            }
            _ => {}
        }
    }
    findings
}

/// Members whose manifest does not take the workspace's lints.
pub(crate) fn lints_missing(members: &[Member]) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for member in members {
        let manifest = std::fs::read_to_string(&member.manifest)
            .with_context(|| format!("read {}", member.manifest.display()))?;
        if !takes_lints(&manifest) {
            problems.push(format!(
                "`{}` has lints of its own: write `[lints]` and `workspace = true`",
                member.name
            ));
        }
    }
    Ok(problems)
}

fn takes_lints(manifest: &str) -> bool {
    let mut section = "";
    manifest.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).any(|line| {
        if line.starts_with('[') {
            section = line;
        }
        let setting: String = line.split_whitespace().collect();
        section == "[lints]" && setting == "workspace=true"
    })
}

/// Homes: the name that follows is a person's, unless it is one of those below.
const HOMES: &[&str] = &["/home/", "/Users/"];
const NOBODY: &[&str] = &[
    "user", "you", "me", "someone", "name", "alice", "bob", "carol", "mallory", "eve", "regent", "example",
    "agent",
];

/// Paths of the machine on which a file was written. `here` are folders of this one (the checkout, the home): never an
/// example, not even in a test or a snapshot.
pub(crate) fn machine_paths(texts: &Texts, here: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in texts {
        for (at, line) in text.lines().enumerate() {
            if let Some(found) = machine_path(line, here) {
                let line = at + 1;
                problems.push(format!("{path}:{line} names a path of one machine, `{found}`: write it relative, or as an example"));
            }
        }
    }
    problems
}

fn machine_path<'a>(line: &'a str, here: &'a [String]) -> Option<&'a str> {
    if let Some(trace) = here.iter().find(|trace| begins_in(line, trace).is_some()) {
        return Some(trace);
    }
    let name = HOMES.iter().find_map(|home| begins_in(line, home))?;
    let name = name.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').next()?;
    // `/home/<name>`, `/home/{user}`, `/home/$USER`, `/home/*` are patterns, not homes.
    (!name.is_empty() && !NOBODY.contains(&name)).then_some(name)
}

/// What follows `path` where it begins a path in the line: not where it is the rest of a longer one, as in `$HOME/checkout/`.
fn begins_in<'a>(line: &'a str, path: &str) -> Option<&'a str> {
    line.match_indices(path).find_map(|(at, _)| {
        let before = line.get(..at)?.chars().next_back();
        let inside = before
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '~' | '_' | '-' | '}' | '*' | '>'));
        if inside { None } else { line.get(at + path.len()..) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> Texts {
        Texts::from([(path.to_owned(), text.to_owned())])
    }

    #[test]
    fn long_files_are_noted_then_refused() {
        let check = |path: &str, lines: usize| {
            let findings = lengths(&file(path, &"x\n".repeat(lines)));
            (findings.problems.len(), findings.notes.len())
        };
        let table = [
            ("crates/a/src/lib.rs", 500, (0, 0)),
            ("crates/a/src/lib.rs", 501, (0, 1)),
            ("crates/a/src/lib.rs", 800, (0, 1)),
            ("crates/a/src/lib.rs", 801, (1, 0)),
            ("crates/a/README.md", 801, (0, 0)),
            ("docs/a.rs", 801, (0, 0)),
        ];
        for (path, lines, expected) in table {
            assert_eq!(check(path, lines), expected, "{path} {lines}");
        }
    }

    #[test]
    fn a_manifest_takes_the_workspaces_lints_or_is_told() {
        let table = [
            ("[lints]\nworkspace = true\n", true),
            ("[package]\nname = \"x\"\n\n[lints]\n# why\nworkspace=true # all\n[dependencies]\n", true),
            ("[lints]\n[dependencies]\nworkspace = true\n", false),
            ("[lints.rust]\nunsafe_code = \"allow\"\n", false),
            ("# [lints]\n# workspace = true\n", false),
            ("", false),
        ];
        for (manifest, takes) in table {
            assert_eq!(takes_lints(manifest), takes, "{manifest:?}");
        }
    }

    #[test]
    fn paths_of_a_machine_are_found_and_examples_are_not() {
        let table = [
            ("docs/a.md", "see /srv/me/.cargo/registry", true),
            ("crates/a/tests/a.rs", "\"/srv/me/.cargo/registry\"", true),
            ("docs/a.md", "in /srv/checkout/crates", true),
            ("docs/a.md", concat!("(/home", "/wilhelmina/regent)"), true),
            ("docs/a.md", concat!("/Users", "/wilhelmina"), true),
            ("docs/a.md", "/home/alice/notes, /home/<name>, /home/{user}, /home/$USER", false),
            ("docs/a.md", "$HOME/srv/checkout and ~/srv/checkout", false),
            ("docs/a.md", "https://example.org/home/page", false),
        ];
        let here = ["/srv/checkout".to_owned(), "/srv/me/.".to_owned()];
        for (path, text, found) in table {
            let problems = machine_paths(&file(path, text), &here);
            assert_eq!(!problems.is_empty(), found, "{path} {text:?} {problems:?}");
        }
    }
}
