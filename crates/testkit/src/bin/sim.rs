//! `cargo xtask sim` runs this: simulated runs, one after the other, until one breaks an invariant.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for the terminal: printing is what it does"
)]
#![expect(clippy::disallowed_methods, reason = "arguments are read here, once")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use testkit::sim::{KNOWN, Run, Setup, Stage, Tally};

const USAGE: &str = "usage: sim [--seed N] [--seeds K] [--without fence|journal|durability|idempotence] [--trace] [--all] [--strict]";

struct Asked {
    seed: u64,
    seeds: u64,
    setup: Setup,
    /// Print every run.
    trace: bool,
    /// Do not stop at the first that breaks something; count.
    all: bool,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match parse(&args) {
        Ok(asked) => play(&asked),
        Err(problem) => {
            eprintln!("error: {problem}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn parse(args: &[String]) -> Result<Asked, String> {
    let mut asked = Asked { seed: 0, seeds: 1, setup: Setup::default(), trace: false, all: false };
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("`{flag}` needs a value"));
        let number = |text: &String| text.parse().map_err(|_bad| format!("`{text}` is no number"));
        match flag.as_str() {
            "--seed" => asked.seed = number(value()?)?,
            "--seeds" => asked.seeds = number(value()?)?,
            "--without" => asked.setup.without = Some(value()?.parse().map_err(|bad| format!("{bad}"))?),
            "--strict" => asked.setup.strict = true,
            "--all" => asked.all = true,
            "--trace" => asked.trace = true,
            _ => return Err(format!("unknown argument `{flag}`")),
        }
    }
    Ok(asked)
}

fn play(asked: &Asked) -> ExitCode {
    let (stage, mut sum) = (Stage::default(), Tally::default());
    let mut found: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for n in 0..asked.seeds {
        let run: Run = stage.play(asked.seed.wrapping_add(n), asked.setup);
        sum += run.tally;
        if asked.trace || (run.broken.is_some() && !asked.all) {
            println!("{run}");
        }
        let Some(broken) = run.broken else { continue };
        found.entry(broken.invariant).or_default().push(run.seed);
        if !asked.all {
            println!("after {} runs; again: cargo xtask sim --seed {}", n + 1, run.seed);
            return ExitCode::FAILURE;
        }
    }
    println!(
        "{} runs, from seed {}: {} steps, {} crashes, {} faults",
        asked.seeds, asked.seed, sum.steps, sum.crashes, sum.faults
    );
    for (known, times) in KNOWN.iter().zip(sum.known) {
        println!("known: {known}: {times} times");
    }
    for (invariant, seeds) in &found {
        let some: Vec<String> = seeds.iter().take(5).map(u64::to_string).collect();
        println!("broken ({invariant}): {} times, seeds {} …", seeds.len(), some.join(", "));
    }
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
