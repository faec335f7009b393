//! `cargo xtask sim` runs this: simulated runs, one after the other, until one breaks an invariant.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for the terminal: printing is what it does"
)]
#![expect(clippy::disallowed_methods, reason = "arguments are read here, once")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

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
    let (mut sum, mut found) = (Tally::default(), BTreeMap::<&str, Vec<u64>>::new());
    let last = asked.seeds.saturating_sub(1);
    for run in runs(asked) {
        sum += run.tally;
        if asked.trace || (run.broken.is_some() && !asked.all) {
            println!("{run}");
        }
        let Some(broken) = run.broken else { continue };
        found.entry(broken.invariant).or_default().push(run.seed);
        if !asked.all {
            let without = asked.setup.without.map(|guard| format!(" --without {guard}")).unwrap_or_default();
            println!("again: cargo xtask sim --seed {}{without}", run.seed);
            return ExitCode::FAILURE;
        }
    }
    println!(
        "{} runs, seeds {} to {}: {} steps, {} crashes, {} faults, {} tasks changed hands ({} while their driver lived)",
        asked.seeds,
        asked.seed,
        asked.seed.wrapping_add(last),
        sum.steps,
        sum.crashes,
        sum.faults,
        sum.taken_over,
        sum.from_the_living
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

/// One thread per core, each with seeds of its own; a run is on one thread from beginning to end. In the order of the
/// seeds; the traces of runs in which nothing broke are kept only if somebody wants to see them.
fn runs(asked: &Asked) -> Vec<Run> {
    let stage = Stage::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let play = |n: u64| {
        let mut run = stage.play(asked.seed.wrapping_add(n), asked.setup);
        if run.broken.is_none() && !asked.trace {
            run.trace.clear();
        }
        run.shape.clear();
        run
    };
    let first_broken = AtomicU64::new(u64::MAX);
    let work = &|thread: usize| {
        let mut runs = Vec::new();
        for n in (thread as u64..asked.seeds).step_by(threads) {
            if !asked.all && first_broken.load(Ordering::Relaxed) < n {
                break;
            }
            let run = play(n);
            if run.broken.is_some() {
                first_broken.fetch_min(n, Ordering::Relaxed);
            }
            runs.push((n, run));
        }
        runs
    };
    let mut runs: Vec<(u64, Run)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    runs.sort_by_key(|(n, _)| *n);
    runs.into_iter().map(|(_, run)| run).collect()
}
