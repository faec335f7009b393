//! `cargo xtask sim`: simulated histories, by a program of `testkit`; xtask itself depends on none of our crates.

use std::process::ExitCode;

use anyhow::Context as _;

use crate::build::build;
use crate::job::Job;
use crate::suites::Ran;

/// Played in every run, because mutants were caught among them.
const KNOWN_SEEDS: u64 = 200;
/// Other ones with every commit.
const SEEDS: u64 = 200;
/// With `--full`.
const FULL_SEEDS: u64 = 2_000;

pub(crate) fn play(args: &[String]) -> anyhow::Result<ExitCode> {
    let job = Job::unlimited()?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    // It has said itself what is wrong.
    Ok(if simulate(&job, &args).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn simulate(job: &Job, args: &[&str]) -> anyhow::Result<()> {
    let built = build(job)?;
    job.run(job.command(&built.program("sim")?.to_string_lossy(), args))?;
    Ok(())
}

/// The known seeds, then others with every commit, and the same ones for the same commit.
pub(crate) fn run(job: &Job) -> anyhow::Result<Ran> {
    let commit = job.read(job.command("git", &["rev-parse", "HEAD"]))?;
    let first = seed_of(commit.trim())?;
    let seeds = if job.scope.is_full() { FULL_SEEDS } else { SEEDS };
    for (first, seeds) in [(0, KNOWN_SEEDS), (first, seeds)] {
        simulate(job, &["--seed", &first.to_string(), "--seeds", &seeds.to_string()])?;
    }
    let note = format!("{KNOWN_SEEDS} known seeds, {seeds} from seed {first} on");
    Ok(Ran { tests: Some(KNOWN_SEEDS + seeds), note, ..Ran::default() })
}

fn seed_of(commit: &str) -> anyhow::Result<u64> {
    let digits = commit.get(..8).with_context(|| format!("`{commit}` is no commit"))?;
    u64::from_str_radix(digits, 16).with_context(|| format!("`{commit}` is no commit"))
}

#[cfg(test)]
mod tests {
    use super::seed_of;

    #[test]
    fn a_commit_gives_a_seed() {
        assert_eq!(seed_of("f7f1c7b00000aaaabbbbccccddddeeeeffff0000").unwrap(), 0xf7f1_c7b0);
        assert!(seed_of("HEAD").is_err());
    }
}
