//! One command, measured by a helper process that has no other child: the kernel then counts for that child alone.

use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

use crate::interrupt;
use crate::job::Job;

/// The size of a block in the kernel's account of what was written.
const BLOCK: u64 = 512;

/// What one process took from its start to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ProcessUsage {
    pub(super) wall: Duration,
    /// In the program and in the kernel for it.
    pub(super) processor: Duration,
    /// The kernel counts the helper's own size until the program is loaded: `/bin/true` shows that floor.
    pub(super) peak_bytes: u64,
    pub(super) written_bytes: u64,
    /// How often it gave the processor up to wait for something.
    pub(super) waits: u64,
}

impl ProcessUsage {
    /// Measures `command`, whose environment and folder are kept. Its standard input and output are files, or nothing.
    pub(super) fn of(job: &Job, command: &Command, files: Files<'_>) -> anyhow::Result<Self> {
        let mut helper = job.command(&std::env::current_exe()?.to_string_lossy(), &["measure-process"]);
        for (flag, file) in [("--stdin", files.stdin), ("--stdout", files.stdout)] {
            if let Some(file) = file {
                helper.arg(flag).arg(file);
            }
        }
        helper.arg("--");
        Self::parse(&job.read(pass_to(helper, command))?).context("the helper's figures")
    }

    fn print(&self) -> String {
        let times = [self.wall, self.processor].map(|time| time.as_micros().to_string());
        let sizes = [self.peak_bytes, self.written_bytes, self.waits].map(|size| size.to_string());
        [times.as_slice(), sizes.as_slice()].concat().join(" ")
    }

    fn parse(line: &str) -> Option<Self> {
        let mut figures = line.split_whitespace().map(|figure| figure.parse::<u64>().ok());
        let mut next = || figures.next().flatten();
        Some(Self {
            wall: Duration::from_micros(next()?),
            processor: Duration::from_micros(next()?),
            peak_bytes: next()?,
            written_bytes: next()?,
            waits: next()?,
        })
    }
}

pub(super) fn walls(usages: &[ProcessUsage]) -> Vec<Duration> {
    usages.iter().map(|usage| usage.wall).collect()
}

pub(super) fn processor_times(usages: &[ProcessUsage]) -> Vec<Duration> {
    usages.iter().map(|usage| usage.processor).collect()
}

/// The most that any of them took.
pub(super) fn peak_bytes(usages: &[ProcessUsage]) -> u64 {
    usages.iter().map(|usage| usage.peak_bytes).max().unwrap_or_default()
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Files<'a> {
    pub(super) stdin: Option<&'a Path>,
    pub(super) stdout: Option<&'a Path>,
}

/// A command that runs `command`, in its folder and with its environment: `wrapper` takes it as its last arguments.
pub(super) fn pass_to(mut wrapper: Command, command: &Command) -> Command {
    wrapper.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        wrapper.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapper.env(name, value),
            None => wrapper.env_remove(name),
        };
    }
    wrapper
}

/// The helper: runs a command, prints its figures in one line.
pub(crate) fn measure_process(args: &[String]) -> anyhow::Result<ExitCode> {
    const USAGE: &str = "usage: measure-process [--stdin FILE] [--stdout FILE] -- <command>";
    let split = args.iter().position(|arg| arg == "--").context(USAGE)?;
    let (flags, command) = args.split_at(split);
    let (program, args) = command.get(1..).and_then(<[String]>::split_first).context(USAGE)?;
    let file = |flag: &str| flags.iter().skip_while(|arg| *arg != flag).nth(1);
    let mut command = Command::new(program);
    command.args(args).stderr(Stdio::piped());
    command.stdin(file("--stdin").map_or(Ok(Stdio::null()), |path| File::open(path).map(Into::into))?);
    command.stdout(file("--stdout").map_or(Ok(Stdio::null()), |path| File::create(path).map(Into::into))?);

    let started = Instant::now();
    let (child, _) = interrupt::spawn(&mut command)?;
    let output = child.wait_with_output()?;
    let wall = started.elapsed();
    interrupt::ended();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("`{program} {}` failed ({}): {}", args.join(" "), output.status, errors.trim_end());
    }
    println!("{}", read_usage(wall)?.print());
    Ok(ExitCode::SUCCESS)
}

fn read_usage(wall: Duration) -> anyhow::Result<ProcessUsage> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let processor = (usage.user_time() + usage.system_time()).num_microseconds();
    Ok(ProcessUsage {
        wall,
        processor: Duration::from_micros(processor.try_into()?),
        peak_bytes: u64::try_from(usage.max_rss())? * 1024,
        written_bytes: u64::try_from(usage.block_writes())? * BLOCK,
        waits: usage.voluntary_context_switches().try_into()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_helpers_line_is_read_as_it_was_printed() {
        let usage = ProcessUsage {
            wall: Duration::from_micros(141_000),
            processor: Duration::from_micros(84_000),
            peak_bytes: 35_680_000,
            written_bytes: 1_024,
            waits: 17,
        };
        assert_eq!(ProcessUsage::parse(&usage.print()), Some(usage));
        assert_eq!(ProcessUsage::parse("1 2 3"), None);
        assert_eq!(ProcessUsage::parse("1 2 3 4 x"), None);
    }
}
