//! The start of the program and whole runs, beside `/bin/true` and the same question asked of `find`.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::Bench;
use super::figures::{median_time, megabytes, milliseconds, quantile, ratio};
use super::instance::Instance;
use super::process::{Files, ProcessUsage};
use super::promises::Outcome;
use super::reflex::time_syncs;
use crate::two_commands::{REQUEST, Truth};

const ROUNDS: usize = 50;
pub(super) const WARM_UP: usize = 3;
/// The same question, asked of the system: sizes and paths, sorted; the number of lines and the last of them.
const FIND: &str = "find . \\( -name '.?*' -o -path ./target \\) -prune -o -name '*.rs' -type f -printf '%s %p\\n' \
                    | sort -n | awk '{ last = $0 } END { print NR, last }'";

/// What is measured, in the order of each round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    True,
    Version,
    Find,
    Run,
    FirstRun,
    Syncs,
}

impl Subject {
    const ALL: [Self; 6] = [Self::True, Self::Version, Self::Find, Self::Run, Self::FirstRun, Self::Syncs];

    const fn name(self) -> &'static str {
        match self {
            Self::True => "`/bin/true`",
            Self::Version => "`regent --version`",
            Self::Find => "`find`, `sort`, `awk`: the same question",
            Self::Run => "`regent run`, instance in use",
            Self::FirstRun => "`regent run`, first in a new instance",
            Self::Syncs => "fdatasync of 4 kB, 4 ×",
        }
    }
}

/// Promises nothing: these figures are the background of the others.
pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Outcome>> {
    let used = bench.new_instance()?;
    check_answer(bench, &used)?;
    let mut measured: Vec<(Subject, Vec<Duration>)> =
        Subject::ALL.map(|subject| (subject, Vec::new())).to_vec();
    for round in 0..WARM_UP + bench.rounds(ROUNDS) {
        for (subject, times) in &mut measured {
            let took = time(bench, &used, *subject)?;
            if round >= WARM_UP {
                times.push(took);
            }
        }
    }
    bench.print_table(&time_rows(&measured));
    bench.print_table(&memory_rows(bench, &used)?);
    Ok(Vec::new())
}

/// A fast wrong answer is worth nothing.
pub(super) fn check_answer(bench: &Bench, instance: &Instance) -> anyhow::Result<()> {
    let answer = instance.read(&bench.job, &["run", REQUEST])?;
    Truth::of(&bench.job)?.check(&answer).map_err(anyhow::Error::msg)
}

fn time(bench: &Bench, used: &Instance, subject: Subject) -> anyhow::Result<Duration> {
    match subject {
        Subject::FirstRun => time_command(bench.new_instance()?.command(&bench.job, &["run", REQUEST])),
        Subject::Syncs => time_syncs(&bench.scratch.path().join("synced")),
        Subject::Find => time_command(bench.job.command("sh", &["-c", FIND])),
        Subject::True | Subject::Version | Subject::Run => time_command(single(bench, used, subject)),
    }
}

/// A subject that is one process.
fn single(bench: &Bench, used: &Instance, subject: Subject) -> Command {
    match subject {
        Subject::Version => used.command(&bench.job, &["--version"]),
        Subject::Run => used.command(&bench.job, &["run", REQUEST]),
        _ => bench.job.command("/bin/true", &[]),
    }
}

fn memory_rows(bench: &Bench, used: &Instance) -> anyhow::Result<Vec<Vec<String>>> {
    let mut rows = vec![vec!["what".to_owned(), "peak memory (MB)".to_owned()]];
    for subject in [Subject::True, Subject::Version, Subject::Run] {
        let usage = ProcessUsage::of(&bench.job, &single(bench, used, subject), Files::default())?;
        rows.push(vec![subject.name().to_owned(), megabytes(usage.peak_bytes)]);
    }
    Ok(rows)
}

/// Without the helper process, so that the figures are comparable with earlier ones.
pub(super) fn time_command(mut command: Command) -> anyhow::Result<Duration> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status =
        command.status().with_context(|| format!("start `{}`", command.get_program().to_string_lossy()))?;
    let took = started.elapsed();
    if !status.success() {
        bail!("`{}` failed ({status})", command.get_program().to_string_lossy());
    }
    Ok(took)
}

fn time_rows(measured: &[(Subject, Vec<Duration>)]) -> Vec<Vec<String>> {
    let median_of = |wanted: Subject| {
        let times = measured.iter().find(|(subject, _)| *subject == wanted);
        times.map_or(Duration::ZERO, |(_, times)| median_time(times))
    };
    let (reference, find) = (median_of(Subject::True), median_of(Subject::Find));
    let header = ["what", "median (ms)", "p90 (ms)", "× `/bin/true`", "× `find`"].map(str::to_owned).to_vec();
    let row = |(subject, times): &(Subject, Vec<Duration>)| {
        let median = median_time(times);
        vec![
            subject.name().to_owned(),
            milliseconds(median),
            milliseconds(quantile(times, 90)),
            ratio(median, reference),
            ratio(median, find),
        ]
    };
    std::iter::once(header).chain(measured.iter().map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_medians_in_the_same_run() {
        let times = |ms: u64| vec![Duration::from_millis(ms); 3];
        let rows =
            time_rows(&[(Subject::True, times(1)), (Subject::Version, times(3)), (Subject::Find, times(6))]);
        assert_eq!(rows[2], ["`regent --version`", "3.00", "3.00", "3.00", "0.50"]);
        assert_eq!(rows[3][4], "1.00");
    }
}
