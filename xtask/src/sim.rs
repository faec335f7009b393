//! `cargo xtask sim`: simulated histories, by a program of `testkit`; xtask itself depends on none of our crates.

use std::process::ExitCode;

use anyhow::Context as _;

use crate::job::Job;
use crate::suites::Ran;

/// What one run of the suite plays.
const SEEDS: u64 = 1_000;

const PROGRAM: [&str; 7] = ["run", "--quiet", "--package", "testkit", "--bin", "sim", "--"];

pub(crate) fn play(args: &[String]) -> anyhow::Result<ExitCode> {
    let job = Job::unlimited()?;
    let words: Vec<&str> = PROGRAM.into_iter().chain(args.iter().map(String::as_str)).collect();
    // It has said itself what is wrong.
    Ok(if job.run(job.cargo(&words)).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Other seeds with every commit, and the same ones for the same commit.
pub(crate) fn run(job: &Job) -> anyhow::Result<Ran> {
    let commit = job.read(job.command("git", &["rev-parse", "HEAD"]))?;
    let (first, seeds) = (seed_of(commit.trim())?.to_string(), SEEDS.to_string());
    let words: Vec<&str> = PROGRAM.into_iter().chain(["--seed", &first, "--seeds", &seeds]).collect();
    job.run(job.cargo(&words))?;
    Ok(Ran { tests: Some(SEEDS), note: format!("from seed {first} on") })
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
