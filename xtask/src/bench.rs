//! `cargo xtask bench`: start-up and a whole run, each beside a reference measured in the same minute on the same machine. It prints;
//! it judges nothing, since a timed test fails on a busy machine for no fault of the code.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::job::Job;
use crate::table;
use crate::two_commands::{REQUEST, Truth, binary, target_directory};

const ROUNDS: usize = 50;
const WARM_UP: usize = 3;
/// The same question, asked of the system: sizes and paths, sorted; the number of lines and the last of them.
const FIND: &str = "find . \\( -name '.?*' -o -path ./target \\) -prune -o -name '*.rs' -type f -printf '%s %p\\n' \
                    | sort -n | awk '{ last = $0 } END { print NR, last }'";
/// What a durable run cannot do without, near enough: a few small appends, each on the disk before the next.
const SYNCS: usize = 4;
const SYNC_BYTES: usize = 4096;

pub(crate) fn rounds(args: &[String]) -> Result<usize, String> {
    match args {
        [] => Ok(ROUNDS),
        [flag, number] if flag == "--rounds" => number
            .parse()
            .ok()
            .filter(|rounds| *rounds > 0)
            .ok_or_else(|| format!("`{number}` is no number of rounds")),
        _ => Err(format!("unknown arguments `{}`", args.join(" "))),
    }
}

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

    fn name(self) -> String {
        match self {
            Self::True => "`/bin/true`".to_owned(),
            Self::Version => "`regent --version`".to_owned(),
            Self::Find => "`find`, `sort`, `awk`: the same question".to_owned(),
            Self::Run => "`regent run`, house in use".to_owned(),
            Self::FirstRun => "`regent run`, first in a new house".to_owned(),
            Self::Syncs => format!("fdatasync of {SYNC_BYTES} bytes, {SYNCS} ×"),
        }
    }
}

/// Where and with what the subjects run. The houses lie beside the target directory: a file system with a disk, unlike /tmp.
struct Bench {
    job: Job,
    regent: String,
    scratch: tempfile::TempDir,
}

pub(crate) fn run(rounds: usize) -> anyhow::Result<ExitCode> {
    let job = Job::unlimited()?;
    job.run(job.cargo(&["build", "--release", "--package", "cli"]))?;
    let regent = binary(&job, "release")?;
    let scratch = tempfile::Builder::new().prefix("regent-bench-").tempdir_in(target_directory(&job)?)?;
    let bench = Bench { regent: regent.to_string_lossy().into_owned(), job, scratch };
    bench.check_answer()?;

    let mut measured: Vec<(Subject, Vec<Duration>)> =
        Subject::ALL.map(|subject| (subject, Vec::new())).to_vec();
    for round in 0..WARM_UP + rounds {
        for (subject, times) in &mut measured {
            let took = bench.time(*subject, round)?;
            if round >= WARM_UP {
                times.push(took);
            }
        }
    }
    println!("\n{}\n\n{}", bench.about(rounds, &regent)?, table::markdown(&time_rows(&measured)));
    println!("\n{}", table::markdown(&bench.task_rows(&measured)?));
    println!("\n{}", table::markdown(&bench.memory_rows()?));
    Ok(ExitCode::SUCCESS)
}

impl Bench {
    /// A fast wrong answer is worth nothing.
    fn check_answer(&self) -> anyhow::Result<()> {
        let mut command = self.regent(&["run", REQUEST], "checked");
        command.stdout(Stdio::piped());
        let answer = command.output().context("run the program")?;
        let answer = String::from_utf8_lossy(&answer.stdout).into_owned();
        Truth::of(&self.job)?.check(&answer).map_err(anyhow::Error::msg)
    }

    fn time(&self, subject: Subject, round: usize) -> anyhow::Result<Duration> {
        match subject {
            Subject::True => time_command(self.command("/bin/true", &[])),
            Subject::Version => time_command(self.regent(&["--version"], "used")),
            Subject::Find => time_command(self.command("sh", &["-c", FIND])),
            Subject::Run => time_command(self.regent(&["run", REQUEST], "used")),
            Subject::FirstRun => {
                let house = format!("new-{round}");
                let took = time_command(self.regent(&["run", REQUEST], &house))?;
                std::fs::remove_dir_all(self.scratch.path().join(house)).context("remove the new house")?;
                Ok(took)
            }
            Subject::Syncs => time_syncs(&self.scratch.path().join("synced")),
        }
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = self.job.command(program, args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn regent(&self, args: &[&str], house: &str) -> Command {
        let mut command = self.command(&self.regent, args);
        command.env("REGENT_HOME", self.scratch.path().join(house));
        command
    }

    fn about(&self, rounds: usize, regent: &Path) -> anyhow::Result<String> {
        let read = |program: &str, args: &[&str]| self.job.read(self.job.command(program, args));
        let commit = read("git", &["describe", "--always", "--dirty"])?;
        let system = read("uname", &["-srm"])?;
        let cores = std::thread::available_parallelism()?;
        let mb = bytes_in_mb(std::fs::metadata(regent).context("the program's size")?.len());
        Ok(format!(
            "commit {}, profile `release` (no LTO), binary {mb} MB; {}, {cores} cores; {rounds} interleaved rounds after {WARM_UP} to warm up",
            commit.trim(),
            system.trim(),
        ))
    }

    /// What a task takes beyond its tools and as many syncs as it waits for: from its event to its end, as the ledger has it.
    fn task_rows(&self, measured: &[(Subject, Vec<Duration>)]) -> anyhow::Result<Vec<Vec<String>>> {
        let read = |args: &[&str]| -> anyhow::Result<String> {
            let mut command = self.job.command(&self.regent, args);
            command.env("REGENT_HOME", self.scratch.path().join("used"));
            self.job.read(command)
        };
        let (mut whole, mut tools) = (Vec::new(), Vec::new());
        for line in read(&["tasks", "list", "--json"])?.lines() {
            let listed: Value = serde_json::from_str(line).context("a task")?;
            let task = listed.get("task").and_then(Value::as_str).context("its id")?;
            let shown: Value = serde_json::from_str(&read(&["tasks", "show", task, "--json"])?)?;
            let calls = shown.get("calls").and_then(Value::as_array).into_iter().flatten();
            let tool = |call: &&Value| call.get("tool").is_some_and(|tool| tool != "deliver");
            let took = |call: &Value| call.get("duration_ms").and_then(Value::as_u64);
            tools.push(Duration::from_millis(calls.filter(tool).filter_map(took).sum()));
            let times = listed.get("created_at").zip(listed.get("completed_at"));
            whole.push(times.and_then(|(from, to)| between(from, to)).context("its times")?);
        }
        let syncs = measured.iter().find(|(subject, _)| *subject == Subject::Syncs);
        let syncs = syncs.map_or(Duration::ZERO, |(_, times)| quantile(times, 50));
        let (whole, tools) = (quantile(&whole, 50), quantile(&tools, 50));
        let beyond = whole.saturating_sub(tools).saturating_sub(syncs);
        let row = |what: &str, time| vec![what.to_owned(), milliseconds(time)];
        Ok(vec![
            vec!["what".to_owned(), "median (ms)".to_owned()],
            row("a reflex task, from its event to its end", whole),
            row("its tools", tools),
            row("beyond its tools and the syncs above (asked for: 10)", beyond),
        ])
    }

    /// Peak memory, each by a helper process that has no other child. The kernel counts the helper's own size until the program is
    /// loaded, so `/bin/true` shows the floor of the method.
    fn memory_rows(&self) -> anyhow::Result<Vec<Vec<String>>> {
        let subjects: [(Subject, Vec<&str>); 3] = [
            (Subject::True, vec!["/bin/true"]),
            (Subject::Version, vec![&self.regent, "--version"]),
            (Subject::Run, vec![&self.regent, "run", REQUEST]),
        ];
        let helper = std::env::current_exe()?;
        let mut rows = vec![vec!["what".to_owned(), "peak memory (MB)".to_owned()]];
        for (subject, command) in subjects {
            let mut args = vec!["peak-rss"];
            args.extend(command);
            let mut measure = self.job.command(&helper.to_string_lossy(), &args);
            measure.env("REGENT_HOME", self.scratch.path().join("used"));
            let kilobytes: u64 = self.job.read(measure)?.trim().parse().context("the helper's number")?;
            rows.push(vec![subject.name(), bytes_in_mb(kilobytes * 1024)]);
        }
        Ok(rows)
    }
}

/// From one time of the ledger to the next, less than a day later: `2026-11-17T09:18:25.693760Z`.
fn between(from: &Value, to: &Value) -> Option<Duration> {
    let of_day = |time: &Value| {
        let clock = time.as_str()?.split_once('T')?.1.strip_suffix('Z')?;
        let mut parts = clock.splitn(3, ':');
        let (hours, minutes): (f64, f64) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(hours * 3600.0 + minutes * 60.0 + parts.next()?.parse::<f64>().ok()?)
    };
    Some(Duration::from_secs_f64((of_day(to)? - of_day(from)?).rem_euclid(24.0 * 3600.0)))
}

/// The helper behind the memory table: runs a command silently, prints its peak resident size in kB.
pub(crate) fn peak_rss(args: &[String]) -> anyhow::Result<ExitCode> {
    let Some((program, args)) = args.split_first() else { bail!("usage: peak-rss <command>") };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    time_command(command)?;
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)?;
    println!("{}", usage.max_rss());
    Ok(ExitCode::SUCCESS)
}

fn time_command(mut command: Command) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let status =
        command.status().with_context(|| format!("start `{}`", command.get_program().to_string_lossy()))?;
    let took = started.elapsed();
    if !status.success() {
        bail!("`{}` failed ({status})", command.get_program().to_string_lossy());
    }
    Ok(took)
}

fn time_syncs(path: &Path) -> anyhow::Result<Duration> {
    let mut file = std::fs::File::options().create(true).append(true).open(path)?;
    let started = Instant::now();
    for _ in 0..SYNCS {
        file.write_all(&[0; SYNC_BYTES])?;
        file.sync_data()?;
    }
    Ok(started.elapsed())
}

fn time_rows(measured: &[(Subject, Vec<Duration>)]) -> Vec<Vec<String>> {
    let medians = |wanted: Subject| {
        measured
            .iter()
            .find(|(subject, _)| *subject == wanted)
            .map_or(Duration::ZERO, |(_, times)| quantile(times, 50))
    };
    let (reference, find) = (medians(Subject::True), medians(Subject::Find));
    let header = ["what", "median (ms)", "p90 (ms)", "× `/bin/true`", "× `find`"].map(str::to_owned).to_vec();
    std::iter::once(header)
        .chain(measured.iter().map(|(subject, times)| {
            let median = quantile(times, 50);
            vec![
                subject.name(),
                milliseconds(median),
                milliseconds(quantile(times, 90)),
                ratio(median, reference),
                ratio(median, find),
            ]
        }))
        .collect()
}

/// The nearest rank; zero for no times.
fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1000.0)
}

fn ratio(time: Duration, reference: Duration) -> String {
    if reference.is_zero() {
        "–".to_owned()
    } else {
        format!("{:.2}", time.as_secs_f64() / reference.as_secs_f64())
    }
}

fn bytes_in_mb(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_nearest_rank() {
        let times: Vec<_> = [5, 1, 4, 2, 3, 10, 9, 8, 7, 6].map(Duration::from_millis).to_vec();
        assert_eq!(quantile(&times, 50), Duration::from_millis(5));
        assert_eq!(quantile(&times, 90), Duration::from_millis(9));
        assert_eq!(quantile(&[], 50), Duration::ZERO);
    }

    #[test]
    fn times_of_the_ledger_are_subtracted_also_over_midnight() {
        let between = |from: &str, to: &str| between(&from.into(), &to.into()).map(|time| time.as_millis());
        assert_eq!(between("2026-11-17T09:18:25.500000Z", "2026-11-17T09:18:25.750000Z"), Some(250));
        assert_eq!(between("2026-11-17T23:59:59.500000Z", "2026-11-18T00:00:00.500000Z"), Some(1000));
        assert_eq!(between("then", "now"), None);
    }

    #[test]
    fn ratios_are_of_medians_in_the_same_run() {
        let times = |ms: u64| vec![Duration::from_millis(ms); 3];
        let rows =
            time_rows(&[(Subject::True, times(1)), (Subject::Version, times(3)), (Subject::Find, times(6))]);
        assert_eq!(rows[2], ["`regent --version`", "3.00", "3.00", "3.00", "0.50"]);
        assert_eq!(rows[3][4], "1.00");
    }

    #[test]
    fn rounds_are_a_number_above_nothing() {
        assert_eq!(rounds(&[]), Ok(ROUNDS));
        assert_eq!(rounds(&["--rounds".into(), "7".into()]), Ok(7));
        for wrong in [vec!["--rounds"], vec!["--rounds", "0"], vec!["--rounds", "x"], vec!["fast"]] {
            let args: Vec<String> = wrong.into_iter().map(str::to_owned).collect();
            assert!(rounds(&args).is_err(), "{args:?}");
        }
    }
}
