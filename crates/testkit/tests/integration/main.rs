//! Simulated histories. A failure prints its seed and its trace; `cargo xtask sim --seed N` plays it again.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails loudly, and names the seed it caught a mutant with"
)]

use ledger::mutant::Guard;
use testkit::sim::{Run, Setup, Stage};

/// Mutants must be caught within so many seeds.
const BOUND: u64 = 150;

/// Step by step, and whatever the folder is called.
#[test]
fn the_same_seed_gives_the_same_run() {
    let (one, other) = (Stage::default(), Stage::default());
    let seeds = if services::is_full() { 20 } else { 5 };
    for seed in 0..seeds {
        let (one, other) = (one.play(seed, Setup::default()), other.play(seed, Setup::default()));
        assert!(one.trace.len() > 30, "seed {seed}: {} steps are no history", one.trace.len());
        assert_eq!(one, other);
    }
}

/// From a seed that is known to show it, or from 0 on with `cargo xtask test --full`.
fn first_caught(guard: Guard, known: u64) -> Run {
    let (stage, setup) = (Stage::default(), Setup { without: Some(guard), ..Setup::default() });
    let first = if services::is_full() { 0 } else { known };
    let caught = (first..first + BOUND).map(|seed| stage.play(seed, setup)).find(|run| run.broken.is_some());
    let caught = caught.unwrap_or_else(|| panic!("without {guard}: nobody noticed in {BOUND} seeds"));
    println!("without {guard}: seed {}: {:?}", caught.seed, caught.broken);
    caught
}

fn is_caught_by(guard: Guard, known: u64, invariants: &[&str]) {
    let caught = first_caught(guard, known);
    let broken = caught.broken.as_ref().map_or("", |broken| broken.invariant);
    assert!(invariants.contains(&broken), "without {guard}: caught, but by `{broken}`\n{caught}");
}

/// At the port, and nowhere else: the key of the journal keeps a driver that was overtaken from writing, too, so what is
/// missed is only that it is told why.
#[test]
fn a_store_without_fences_is_caught() {
    is_caught_by(Guard::Fence, 8, &["fence"]);
}

#[test]
fn a_store_without_the_journal_is_caught() {
    is_caught_by(Guard::Journal, 0, &["board", "journal"]);
}

#[test]
fn a_store_that_says_written_and_does_not_write_is_caught() {
    is_caught_by(Guard::Durability, 0, &["acknowledged", "durable-first", "reported", "problem", "answer"]);
}

/// An event's id follows from its key, so that the store itself keeps it from being there twice; a decision about one
/// has only the expectation. Where a second decision opens the task again, its journal is found not to fit (`problem`).
#[test]
fn a_store_that_writes_the_same_twice_is_caught() {
    is_caught_by(Guard::Idempotence, 41, &["keys-unique", "one-admission", "problem"]);
}
