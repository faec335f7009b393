//! `cargo xtask test`: runs the suites one after the other, judges them, ends with a table that hides nothing.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::job::Job;
use crate::needs::Installer;
use crate::suites::{Ran, SKIPS_ALLOWED, Suite};
use crate::table;

/// How a suite ended, before CI's rules are applied to it.
#[derive(Debug)]
enum Ended {
    Ran(Ran),
    Broke(String),
    Skipped(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    Skipped,
}

#[derive(Debug, PartialEq, Eq)]
struct Row {
    suite: &'static str,
    verdict: Verdict,
    tests: Option<u64>,
    took: Duration,
    budget: Duration,
    why: String,
}

pub(crate) fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|ci| ci == "true")
}

pub(crate) fn run(selected: &[&'static Suite]) -> anyhow::Result<ExitCode> {
    let job = Job::unlimited()?;
    let mut installer = Installer::default();
    let mut rows = Vec::new();
    for suite in selected {
        println!("\n=== {}: {} (budget {} s)", suite.name, suite.what, suite.budget.as_secs());
        // Installing is bounded as the suite is, but its time is not the suite's: it happens once per machine.
        let met = installer.meet(&job.limited(suite.budget * 2), suite.needs);
        let started = Instant::now();
        let ended = match met {
            Err(why) => Ended::Skipped(why),
            Ok(()) => match (suite.run)(&job.limited(suite.budget * 2)) {
                Ok(ran) => Ended::Ran(ran),
                Err(error) => Ended::Broke(format!("{error:#}")),
            },
        };
        let row = judge(suite, ended, started.elapsed(), in_ci());
        println!("=== {}: {}{}", row.suite, word(row.verdict), reason(&row.why));
        rows.push(row);
    }
    println!("\n{}\n\n{}", table::markdown(&cells(&rows)), closing_line(&rows));
    let passed = rows.iter().all(|row| row.verdict != Verdict::Failed);
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Over budget fails, and so does, in CI, a skip that is not on the list.
fn judge(suite: &Suite, ended: Ended, took: Duration, ci: bool) -> Row {
    let allowed = SKIPS_ALLOWED.iter().find(|(name, _)| *name == suite.name);
    let (verdict, tests, why) = match ended {
        Ended::Broke(why) => (Verdict::Failed, None, why),
        Ended::Ran(ran) if took > suite.budget => (Verdict::Failed, ran.tests, "over its budget".to_owned()),
        Ended::Ran(ran) => (Verdict::Passed, ran.tests, ran.note),
        Ended::Skipped(why) => match allowed {
            Some((_, reason)) => (Verdict::Skipped, None, format!("{why} (allowed: {reason})")),
            None if ci => (Verdict::Failed, None, format!("skipped, which CI does not allow: {why}")),
            None => (Verdict::Skipped, None, why),
        },
    };
    Row { suite: suite.name, verdict, tests, took, budget: suite.budget, why }
}

fn cells(rows: &[Row]) -> Vec<Vec<String>> {
    let header = ["suite", "result", "tests", "seconds", "budget", "why"].map(str::to_owned).to_vec();
    std::iter::once(header)
        .chain(rows.iter().map(|row| {
            vec![
                row.suite.to_owned(),
                word(row.verdict).to_owned(),
                row.tests.map(|tests| tests.to_string()).unwrap_or_default(),
                format!("{:.1}", row.took.as_secs_f64()),
                row.budget.as_secs().to_string(),
                // One line: an error of a command may bring its own.
                row.why.split_whitespace().collect::<Vec<_>>().join(" "),
            ]
        }))
        .collect()
}

/// Alone on its line: CI reads it.
fn closing_line(rows: &[Row]) -> String {
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    format!(
        "{} passed, {} failed, {} skipped",
        count(Verdict::Passed),
        count(Verdict::Failed),
        count(Verdict::Skipped)
    )
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Skipped => "skipped",
    }
}

fn reason(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(" ({why})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_TIME: Duration = Duration::from_secs(5);
    const LATE: Duration = Duration::from_secs(11);

    fn suite(name: &'static str) -> Suite {
        Suite { name, what: "", budget: Duration::from_secs(10), needs: &[], run: |_| Ok(Ran::default()) }
    }

    fn ran() -> Ended {
        Ended::Ran(Ran { tests: Some(3), note: String::new() })
    }

    fn skipped() -> Ended {
        Ended::Skipped("no tool".to_owned())
    }

    #[test]
    fn a_suite_is_judged_by_its_end_its_time_and_cis_list() {
        let table = [
            ("unit", ran(), IN_TIME, true, Verdict::Passed),
            ("unit", ran(), LATE, true, Verdict::Failed),
            ("unit", ran(), LATE, false, Verdict::Failed),
            ("unit", Ended::Broke("exit 1".to_owned()), IN_TIME, false, Verdict::Failed),
            ("unit", skipped(), IN_TIME, false, Verdict::Skipped),
            ("unit", skipped(), IN_TIME, true, Verdict::Failed),
            ("deny", skipped(), IN_TIME, true, Verdict::Skipped),
        ];
        for (name, ended, took, ci, verdict) in table {
            let case = format!("{name} {ended:?} {took:?} ci={ci}");
            assert_eq!(judge(&suite(name), ended, took, ci).verdict, verdict, "{case}");
        }
    }

    #[test]
    fn whatever_did_not_pass_says_why() {
        for (ended, took) in
            [(skipped(), IN_TIME), (ran(), LATE), (Ended::Broke("exit 1".to_owned()), IN_TIME)]
        {
            let row = judge(&suite("unit"), ended, took, true);
            assert!(!row.why.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn the_closing_line_counts_suites() {
        let rows = [
            judge(&suite("unit"), ran(), IN_TIME, true),
            judge(&suite("doc"), ran(), IN_TIME, true),
            judge(&suite("clippy"), ran(), LATE, true),
            judge(&suite("deny"), skipped(), IN_TIME, true),
        ];
        assert_eq!(closing_line(&rows), "2 passed, 1 failed, 1 skipped");
    }
}
