//! `cargo xtask tidy`: the rules of the house that no compiler checks. Every problem is told at once, each with what to do.

mod banned;
mod edges;
mod features;
mod files;
pub(crate) mod graph;
mod links;
mod listeners;
mod pure;

use std::process::ExitCode;

use anyhow::Context as _;

use crate::job::Job;

/// What was found. Notes are for thought; problems fail.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    problems: Vec<String>,
    notes: Vec<String>,
}

pub(crate) fn run(job: &Job) -> anyhow::Result<ExitCode> {
    let problems = print(&check(job)?);
    Ok(if problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints what was found; how many problems there are.
pub(crate) fn print(findings: &Findings) -> usize {
    for note in &findings.notes {
        println!("note: {note}");
    }
    for problem in &findings.problems {
        println!("error: {problem}");
    }
    match findings.problems.len() {
        0 => println!("tidy: nothing to put right"),
        count => println!("tidy: {count} to put right"),
    }
    findings.problems.len()
}

/// Folders of this machine that no file of ours may name: the checkout, and what is hidden in the home.
fn here(job: &Job) -> Vec<String> {
    let home = std::env::var("HOME").ok().filter(|home| home.len() > 1);
    [Some(job.root.display().to_string()), home.map(|home| format!("{home}/."))]
        .into_iter()
        .flatten()
        .collect()
}

pub(crate) fn check(job: &Job) -> anyhow::Result<Findings> {
    let metadata = |more: &[&str]| {
        let mut args = vec!["metadata", "--format-version", "1"];
        args.extend(more);
        let printed = job.read(job.cargo(&args))?;
        serde_json::from_str::<serde_json::Value>(&printed).context("what cargo metadata printed")
    };
    let members = graph::members(&metadata(&["--no-deps"])?)?;
    let resolved = graph::Resolved::read(&metadata(&["--all-features"])?)?;
    let tracked = files::tracked(job)?;
    let texts = files::texts(job, &tracked)?;

    let mut findings = Findings::default();
    findings.problems.extend(edges::check(&members));
    findings.problems.extend(pure::check(&resolved));
    findings.problems.extend(banned::check(job)?);
    findings.problems.extend(files::lints_missing(&members)?);
    findings.problems.extend(files::machine_paths(&texts, &here(job)));
    findings.problems.extend(links::broken(&texts, |path| job.root.join(path).exists()));
    findings.problems.extend(features::check(&texts));
    findings.problems.extend(listeners::found(&texts));
    let lengths = files::lengths(&texts);
    findings.problems.extend(lengths.problems);
    findings.notes.extend(lengths.notes);
    Ok(findings)
}
