//! `cargo xtask test`: runs the suites one after the other, judges them, ends with a table that hides nothing.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::job::Job;
use crate::needs::Installer;
use crate::scope::{Requested, Scope};
use crate::suites::{Ran, SKIPS_ALLOWED, Suite};
use crate::table;

/// How a suite ended, before CI's rules are applied to it.
#[derive(Debug)]
enum Ended {
    Ran(Ran),
    Broke(String),
    Skipped(String),
    /// The change does not reach what it is about.
    Untouched(String),
}

/// So many of the slowest tests are shown.
const SLOWEST: usize = 10;

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

pub(crate) fn run(requested: &Requested, selected: &[&'static Suite]) -> anyhow::Result<ExitCode> {
    let job = Job::unlimited()?;
    let scope = requested.resolve(&job)?;
    if let Scope::Changed(change) = &scope {
        println!("the change reaches the tests of: {}", names(&change.tests));
    }
    let job = job.with(scope);
    let mut installer = Installer::default();
    let (mut rows, mut timed) = (Vec::new(), Vec::new());
    for suite in selected {
        let budget = suite.budget(&job.scope);
        println!("\n=== {}: {} (budget {} s)", suite.name, suite.what, budget.as_secs());
        let untouched = suite.is_untouched(&job.scope);
        // Installing is bounded as the suite is, but its time is not the suite's: it happens once per machine.
        let met = match untouched {
            Some(why) => Err(Ended::Untouched(why)),
            None => installer.meet(&job.limited(budget * 2), suite.needs).map_err(Ended::Skipped),
        };
        let started = Instant::now();
        let mut ended = met.map_or_else(
            |not_run| not_run,
            |()| match (suite.run)(&job.limited(budget * 2)) {
                Ok(ran) => Ended::Ran(ran),
                Err(error) => Ended::Broke(format!("{error:#}")),
            },
        );
        if let Ended::Ran(ran) = &mut ended {
            timed.append(&mut ran.timed);
        }
        let row = judge(suite, ended, (started.elapsed(), budget), in_ci());
        println!("=== {}: {}{}", row.suite, word(row.verdict), reason(&row.why));
        rows.push(row);
    }
    if !timed.is_empty() {
        println!("\n{}", table::markdown(&slowest(timed)));
    }
    println!("\n{}\n\n{}", table::markdown(&cells(&rows)), closing_line(&rows));
    let passed = rows.iter().all(|row| row.verdict != Verdict::Failed);
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn names(crates: &std::collections::BTreeSet<String>) -> String {
    if crates.is_empty() {
        "no crate".to_owned()
    } else {
        crates.iter().cloned().collect::<Vec<_>>().join(", ")
    }
}

/// The tests that took longest, the slowest first.
fn slowest(mut timed: Vec<(String, f64)>) -> Vec<Vec<String>> {
    timed.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let header = ["seconds", "the slowest tests"].map(str::to_owned).to_vec();
    let rows = timed.into_iter().take(SLOWEST).map(|(name, seconds)| vec![format!("{seconds:.1}"), name]);
    std::iter::once(header).chain(rows).collect()
}

/// Over budget fails, and so does, in CI, a skip that is not on the list.
fn judge(suite: &Suite, ended: Ended, (took, budget): (Duration, Duration), ci: bool) -> Row {
    let allowed = SKIPS_ALLOWED.iter().find(|(name, _)| *name == suite.name);
    let (verdict, tests, why) = match ended {
        Ended::Broke(why) => (Verdict::Failed, None, why),
        Ended::Ran(ran) if took > budget => (Verdict::Failed, ran.tests, "over its budget".to_owned()),
        Ended::Ran(ran) => (Verdict::Passed, ran.tests, ran.note),
        Ended::Untouched(why) => (Verdict::Skipped, None, why),
        Ended::Skipped(why) => match allowed {
            Some((_, reason)) => (Verdict::Skipped, None, format!("{why} (allowed: {reason})")),
            None if ci => (Verdict::Failed, None, format!("skipped, which CI does not allow: {why}")),
            None => (Verdict::Skipped, None, why),
        },
    };
    Row { suite: suite.name, verdict, tests, took, budget, why }
}

fn cells(rows: &[Row]) -> Vec<Vec<String>> {
    let header =
        ["suite", "result", "tests", "seconds", "share", "budget", "why"].map(str::to_owned).to_vec();
    let whole: Duration = rows.iter().map(|row| row.took).sum();
    let share = |took: Duration| 100.0 * took.as_secs_f64() / whole.as_secs_f64().max(f64::EPSILON);
    let sum = vec![String::from("all"), String::new(), String::new(), format!("{:.1}", whole.as_secs_f64())];
    std::iter::once(header)
        .chain(rows.iter().map(|row| {
            vec![
                row.suite.to_owned(),
                word(row.verdict).to_owned(),
                row.tests.map(|tests| tests.to_string()).unwrap_or_default(),
                format!("{:.1}", row.took.as_secs_f64()),
                format!("{:.0} %", share(row.took)),
                row.budget.as_secs().to_string(),
                // One line: an error of a command may bring its own.
                row.why.split_whitespace().collect::<Vec<_>>().join(" "),
            ]
        }))
        .chain([sum])
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
    const BUDGET: Duration = Duration::from_secs(10);

    fn suite(name: &'static str) -> Suite {
        Suite {
            name,
            what: "",
            budget: BUDGET,
            full: None,
            about: &[],
            needs: &[],
            run: |_| Ok(Ran::default()),
        }
    }

    fn ran() -> Ended {
        Ended::Ran(Ran { tests: Some(3), ..Ran::default() })
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
            ("unit", Ended::Untouched("not reached".to_owned()), IN_TIME, true, Verdict::Skipped),
        ];
        for (name, ended, took, ci, verdict) in table {
            let case = format!("{name} {ended:?} {took:?} ci={ci}");
            assert_eq!(judge(&suite(name), ended, (took, BUDGET), ci).verdict, verdict, "{case}");
        }
    }

    #[test]
    fn whatever_did_not_pass_says_why() {
        for (ended, took) in
            [(skipped(), IN_TIME), (ran(), LATE), (Ended::Broke("exit 1".to_owned()), IN_TIME)]
        {
            let row = judge(&suite("unit"), ended, (took, BUDGET), true);
            assert!(!row.why.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn the_slowest_tests_come_first() {
        let timed = (0..12_u8).map(|n| (format!("test {n}"), f64::from(n))).collect();
        let rows = slowest(timed);
        assert_eq!(rows.len(), 1 + SLOWEST);
        assert_eq!(rows.get(1), Some(&vec!["11.0".to_owned(), "test 11".to_owned()]));
    }

    #[test]
    fn each_suite_has_its_share() {
        let rows = [(6, "60 %"), (4, "40 %")];
        let judged =
            rows.map(|(took, _)| judge(&suite("unit"), ran(), (Duration::from_secs(took), BUDGET), true));
        let cells = cells(&judged);
        for (row, (_, share)) in cells.iter().skip(1).zip(rows) {
            assert_eq!(row.get(4).map(String::as_str), Some(share));
        }
        assert_eq!(cells.last().and_then(|sum| sum.get(3)).map(String::as_str), Some("10.0"));
    }

    #[test]
    fn the_closing_line_counts_suites() {
        let rows = [
            judge(&suite("unit"), ran(), (IN_TIME, BUDGET), true),
            judge(&suite("doc"), ran(), (IN_TIME, BUDGET), true),
            judge(&suite("clippy"), ran(), (LATE, BUDGET), true),
            judge(&suite("deny"), skipped(), (IN_TIME, BUDGET), true),
        ];
        assert_eq!(closing_line(&rows), "2 passed, 1 failed, 1 skipped");
    }
}
