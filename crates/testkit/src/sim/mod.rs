//! A deterministic simulation: processes that share a store which fails, crash at any write and go on later, under a
//! clock that jumps, with deliveries that come twice, late or never. A failure is a seed: the same seed gives the same
//! run, step by step, on any machine.
//!
//! Nothing here is real but the code under test: no time, no chance, no thread that matters. Each process is an `App`
//! on a runtime of one thread, and everything it wants of the store waits at a gate (`flaky.rs`); which gate opens next,
//! and how, comes from the seed (`play.rs`). After every step the invariants are looked up in the bare store
//! (`check.rs`). That they can fail is shown with stores from which a guard was taken out ([`ledger::mutant`]).

mod check;
mod dice;
mod flaky;
mod play;
mod process;
mod requests;

use std::fmt;

use ledger::mutant::Guard;
use tempfile::TempDir;

/// What does not hold, and what was seen instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub invariant: &'static str,
    pub what: String,
}

impl Broken {
    fn new(invariant: &'static str, what: impl Into<String>) -> Self {
        Self { invariant, what: what.into() }
    }
}

/// One simulated run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub seed: u64,
    /// What was done, step by step.
    pub trace: Vec<String>,
    /// What was kept in the end.
    pub shape: Vec<String>,
    pub tally: Tally,
    pub broken: Option<Broken>,
}

/// What a run has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub steps: u64,
    pub crashes: u64,
    /// Writes and reads that failed, answers that were lost.
    pub faults: u64,
    /// Tasks that changed hands; and of those, while their driver lived.
    pub taken_over: u64,
    pub from_the_living: u64,
    /// How often each of [`KNOWN`] came up.
    pub known: [u64; KNOWN.len()],
}

/// What is wrong and known to be: counted, and no failure unless asked for ([`Setup::strict`]). Each goes away with its
/// remedy.
pub const KNOWN: [&str; 1] = [
    "a driver that was stopped and overtaken runs its call all the same, because the clock went back meanwhile",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Overtaken,
}

/// On what a run is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// A store that lacks this guard.
    pub without: Option<Guard>,
    /// What is known to be wrong is wrong.
    pub strict: bool,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.crashes += other.crashes;
        self.faults += other.faults;
        self.taken_over += other.taken_over;
        self.from_the_living += other.from_the_living;
        self.known.iter_mut().zip(other.known).for_each(|(sum, more)| *sum += more);
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}", self.seed)?;
        self.trace.iter().enumerate().try_for_each(|(n, line)| writeln!(f, "{n:5}  {line}"))?;
        match &self.broken {
            None => write!(f, "nothing is broken"),
            Some(Broken { invariant, what }) => write!(f, "broken ({invariant}): {what}"),
        }
    }
}

/// The files that all runs look at, and nobody changes.
#[derive(Debug)]
pub struct Stage(TempDir);

impl Default for Stage {
    fn default() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        requests::put_files(folder.path());
        Self(folder)
    }
}

impl Stage {
    #[must_use]
    pub fn play(&self, seed: u64, setup: Setup) -> Run {
        play::play(self.0.path(), seed, setup)
    }
}
