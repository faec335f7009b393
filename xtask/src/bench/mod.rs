//! `cargo xtask bench`: what the program takes, through the commands that users type, beside references measured in the same minutes on
//! the same machine. It ends with the table of promises.
//!
//! It judges nothing with its exit code: a timed test fails on a busy machine for no fault of the code. Read `pass` and `fail` together
//! with the machine's load, which the last line shows.
//!
//! Start reading at `promises.rs`. Every measurement has a file of its own; `process.rs` is how one command is measured.

mod calls;
mod figures;
mod fsyncs;
mod growth;
mod ingest;
mod instance;
mod options;
mod process;
mod processor;
mod promises;
mod reference;
mod reflex;
mod start;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use self::figures::megabytes;
use self::instance::Instance;
pub(crate) use self::options::BenchOptions;
use self::options::Measurement;
pub(crate) use self::process::measure_process;
use self::promises::Outcome;
use crate::interrupt::Tidying;
use crate::job::Job;
use crate::table;
use crate::two_commands::{binary, target_directory};

/// The program, and a folder on a file system with a disk, unlike perhaps /tmp.
struct Bench {
    job: Job,
    options: BenchOptions,
    program: PathBuf,
    scratch: tempfile::TempDir,
    /// Dropped last: an interrupt waits until the folder is removed.
    _tidying: Tidying,
}

/// Measures and prints. A promise that is not kept is no failure of this command; a wrong answer of the program is.
pub(crate) fn run(options: BenchOptions) -> anyhow::Result<ExitCode> {
    let bench = Bench::prepare(options)?;
    println!("\n{}", bench.describe()?);
    let mut outcomes = Vec::new();
    let mut grown = None;
    for measurement in Measurement::ALL {
        if bench.options.includes(measurement) {
            outcomes.extend(bench.measure(measurement, &mut grown)?);
        }
    }
    bench.print_table(&promises::rows(&outcomes));
    println!("\n{}; the exit code judges nothing: a busy machine is no fault of the code", load_average()?);
    Ok(ExitCode::SUCCESS)
}

impl Bench {
    fn prepare(options: BenchOptions) -> anyhow::Result<Self> {
        let job = Job::unlimited()?;
        let program = match &options.program {
            Some(program) => {
                program.canonicalize().with_context(|| format!("find `{}`", program.display()))?
            }
            None => {
                job.run(job.cargo(&["build", "--release", "--package", "cli"]))?;
                binary(&job, "release")?
            }
        };
        let tidying = Tidying::begin();
        let scratch = tempfile::Builder::new().prefix("regent-bench-").tempdir_in(target_directory(&job)?)?;
        Ok(Self { job, options, program, scratch, _tidying: tidying })
    }

    /// Runs one measurement, prints what it saw, and returns what that says about promises. `grown` is an instance with many events, once
    /// a measurement has filled one.
    fn measure(&self, what: Measurement, grown: &mut Option<Instance>) -> anyhow::Result<Vec<Outcome>> {
        println!("\n## {}", what.name());
        match what {
            Measurement::Start => start::measure(self),
            Measurement::Reflex => reflex::measure(self),
            Measurement::Processor => processor::measure(self),
            Measurement::Ingest => ingest::measure(self),
            Measurement::Growth => growth::measure(self, grown),
            Measurement::Verify => verify::measure(self, grown),
            Measurement::Calls => calls::measure(self),
        }
    }

    fn new_instance(&self) -> anyhow::Result<Instance> {
        Instance::new(&self.program, self.scratch.path())
    }

    /// The median over this many rounds, unless `--rounds` says another number.
    fn rounds(&self, usual: usize) -> usize {
        self.options.rounds.unwrap_or(usual)
    }

    /// Says that a round begins, for measurements that take minutes.
    fn announce(&self, round: usize, usual: usize) {
        eprintln!("round {} of {}", round + 1, self.rounds(usual));
    }

    fn print_table(&self, rows: &[Vec<String>]) {
        println!("\n{}", table::markdown(rows));
    }

    fn describe(&self) -> anyhow::Result<String> {
        let read = |program: &str, args: &[&str]| self.job.read(self.job.command(program, args));
        let commit = read("git", &["describe", "--always", "--dirty"])?;
        let system = read("uname", &["-srm"])?;
        let cores = std::thread::available_parallelism()?;
        let size = megabytes(std::fs::metadata(&self.program).context("the program's size")?.len());
        let program = match &self.options.program {
            Some(program) => format!("program `{}`", program.display()),
            None => format!("commit {}, profile `release` (no LTO)", commit.trim()),
        };
        Ok(format!("{program}, {size} MB; {}, {cores} cores; {}", system.trim(), load_average()?))
    }
}

/// How many processes wanted to run during the last minute.
fn load_average() -> anyhow::Result<String> {
    let load = std::fs::read_to_string("/proc/loadavg").context("read the load")?;
    Ok(format!("load {}", load.split_whitespace().next().unwrap_or("unknown")))
}
