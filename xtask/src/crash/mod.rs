//! `cargo xtask crash`: the real program under load, killed by SIGKILL at named points and at random moments, gone on with,
//! and compared with what was counted outside of it. `crash calls` does the same for calls that change something (`calls/`), `crash approvals` for those
//! that a person is asked about (`approvals/`).
//!
//! Start reading at [`Run::go`]; a round is in `round.rs`, what must hold in `verdict.rs`, how a process is watched in `watch.rs`.

mod account;
mod aim;
mod approvals;
mod book;
mod calls;
mod campaign;
mod house;
mod options;
mod random;
mod report;
mod round;
mod seen;
mod store;
mod verdict;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, bail};

use self::aim::Coverage;
use self::approvals::Approvals;
use self::calls::Calls;
use self::house::{House, Stage};
pub(crate) use self::options::{APPROVALS, CALLS, HOUSES, Load, Options};
use self::random::Random;
use self::report::{Log, Totals};
use self::store::{Server, Stores};
use self::verdict::Violation;
use crate::interrupt::Tidying;
use crate::job::Job;
use crate::suites::Ran;
use crate::two_commands::{binary, target_directory};

/// So long a house is used before all of it is checked and it is thrown away. Some are young: a house that is being made
/// by several processes at once is a case of its own.
const ROUNDS_PER_HOUSE: u64 = 20;
const ROUNDS_OF_THE_YOUNG: u64 = 2;
const YOUNG_PERCENT: u64 = 60;
const ROUNDS_PER_LINE: u64 = 100;
/// A guard that is missing shows within so many rounds.
const MUTANT_ROUNDS: u64 = 100;

pub(crate) fn task(options: Options) -> anyhow::Result<ExitCode> {
    let expected = options.expect_caught;
    let totals = run(&Job::unlimited()?, options)?;
    Ok(if (totals.violations > 0) == expected { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(crate) fn calls_task(options: Options) -> anyhow::Result<ExitCode> {
    campaign::task::<Calls>(options)
}

pub(crate) fn approvals_task(options: Options) -> anyhow::Result<ExitCode> {
    campaign::task::<Approvals>(options)
}

/// Some rounds on every store there is; then each guard is taken out in turn and must be missed.
pub(crate) fn suite(job: &Job) -> anyhow::Result<Ran> {
    let totals = run(job, Options::usual(&HOUSES))?;
    if totals.violations > 0 {
        bail!("an invariant does not hold, see above");
    }
    for guard in HOUSES.guards {
        let options = Options { amount: MUTANT_ROUNDS, ..Options::mutant(&HOUSES, guard) };
        if run(job, options)?.violations == 0 {
            bail!("nobody noticed that the {guard} was missing in {MUTANT_ROUNDS} rounds");
        }
    }
    let (of_calls, calls) = campaign::suite::<Calls>(job)?;
    let (of_approvals, approvals) = campaign::suite::<Approvals>(job)?;
    let note = format!(
        "{} rounds, {} processes; {} calls, {} kills of them; {} calls that asked, {} kills around them",
        totals.rounds,
        totals.processes,
        calls.calls(),
        of_calls.kills,
        approvals.cases(),
        of_approvals.kills,
    );
    Ok(Ran { tests: None, note })
}

fn run(job: &Job, options: Options) -> anyhow::Result<Totals> {
    let ground = Ground::prepare(job, options.seed, options.stores, options.without.clone())?;
    let log = Log::open(options.log.as_deref().map(|path| job.root.join(path)).as_deref())?;
    let mut run =
        Run { ground: &ground, job, options, log, totals: Totals::default(), started: Instant::now() };
    run.log.say(&run.header())?;
    run.go()?;
    run.close()
}

/// What the houses stand on. Dropped in this order: the server, then the folders, and only then may an interrupt go on.
struct Ground {
    server: Option<Server>,
    stage: Stage,
    /// On a file system with a disk, unlike perhaps the folder for what is temporary.
    beside: PathBuf,
    commit: String,
    seed: u64,
    _scratch: tempfile::TempDir,
    _tidying: Tidying,
}

impl Ground {
    fn prepare(
        job: &Job,
        seed: Option<u64>,
        stores: Stores,
        without: Option<String>,
    ) -> anyhow::Result<Self> {
        job.run(job.cargo(&["build", "--package", "cli", "--features", "faults"]))?;
        let tidying = Tidying::begin();
        let scratch = tempfile::Builder::new().prefix("regent-").tempdir().context("a folder for sockets")?;
        // A copy: another build must not change what is being killed.
        let program = scratch.path().join("regent");
        std::fs::copy(binary(job, "debug")?, &program).context("copy the program")?;
        let commit = job.read(job.command("git", &["rev-parse", "--short=16", "HEAD"]))?.trim().to_owned();
        let from_commit = u64::from_str_radix(commit.get(..16).unwrap_or(&commit), 16);
        let stage = Stage {
            program,
            sockets: scratch.path().to_owned(),
            coverage: Mutex::new(Coverage::default()),
            without,
        };
        Ok(Self {
            server: Server::start(stores)?,
            stage,
            beside: target_directory(job)?,
            commit,
            seed: seed.map_or(from_commit, Ok).context("a seed from the commit")?,
            _scratch: scratch,
            _tidying: tidying,
        })
    }

    fn house(&self, number: u64, options: &Options) -> anyhow::Result<House<'_>> {
        let store = options.stores.of_house(number);
        House::new(&self.stage, &self.beside, Server::environment(self.server.as_ref(), store)?)
    }

    fn coverage(&self) -> MutexGuard<'_, Coverage> {
        self.stage.coverage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run from its seed to its table.
struct Run<'a> {
    ground: &'a Ground,
    job: &'a Job,
    options: Options,
    log: Log,
    totals: Totals,
    started: Instant,
}

impl Run<'_> {
    fn header(&self) -> String {
        let without = self.options.without.as_ref().map(|guard| format!(", without the guard `{guard}`"));
        format!(
            "# Crash run\n\nseed {:#x}, commit {}, {} rounds, store: {}{}\n",
            self.ground.seed,
            self.ground.commit,
            self.options.amount,
            self.options.stores.name(),
            without.unwrap_or_default(),
        )
    }

    /// House after house, round after round, up to the first that finds something.
    fn go(&mut self) -> anyhow::Result<()> {
        let mut round = 0;
        while round < self.options.amount && self.totals.violations == 0 {
            let mut house = self.ground.house(self.totals.houses, &self.options)?;
            let young = Random::of_round(!self.ground.seed, self.totals.houses).chance(YOUNG_PERCENT);
            let length = if young { ROUNDS_OF_THE_YOUNG } else { ROUNDS_PER_HOUSE };
            let end = self.options.amount.min(round + length);
            let mut found = Vec::new();
            while round < end && found.is_empty() {
                self.job.in_time()?;
                found = house.round(&mut Random::of_round(self.ground.seed, round))?;
                round += 1;
                self.count_round(round, &house)?;
            }
            if found.is_empty() {
                found = house.check()?;
            }
            self.count_house(&house)?;
            if !found.is_empty() {
                self.totals.violations += u64::try_from(found.len())?;
                self.tell(house, round - 1, &found)?;
            } else if let Some(server) = &self.ground.server {
                server.remove(&house.environment)?;
            }
        }
        Ok(())
    }

    fn count_round(&mut self, round: u64, house: &House<'_>) -> anyhow::Result<()> {
        self.totals.rounds = round;
        self.totals.processes += u64::try_from(house.trace.len())?;
        if round.is_multiple_of(ROUNDS_PER_LINE) {
            self.log.say(&self.totals.line(&self.ground.coverage(), self.started.elapsed()))?;
        }
        Ok(())
    }

    fn count_house(&mut self, house: &House<'_>) -> anyhow::Result<()> {
        let finished = house.book.errands().filter(|errand| errand.shown > 0).count();
        self.totals.add_house(house.book.acknowledged(), u64::try_from(finished)?, house.account.runs());
        Ok(())
    }

    /// What does not hold goes into the log; what was seen, which may name paths, only to the terminal.
    fn tell(&mut self, house: House<'_>, round: u64, found: &[Violation]) -> anyhow::Result<()> {
        self.log.say(&format!("\nVIOLATED in round {round} of seed {:#x}:\n", self.ground.seed))?;
        for violation in found {
            self.log.say(&format!("- {violation}"))?;
        }
        if !self.options.expect_caught {
            house.trace.iter().for_each(|seen| eprintln!("\n{seen}"));
            eprintln!("\nthe house is kept: {}", house.folder.keep().display());
        }
        Ok(())
    }

    fn close(mut self) -> anyhow::Result<Totals> {
        let tables = report::tables(&self.totals, &self.ground.coverage());
        self.log.say(&format!("\n{tables}"))?;
        let per_round = self.started.elapsed().as_secs_f64() / self.totals.rounds.max(1) as f64;
        self.log.say(&format!("\n{per_round:.2} s per round"))?;
        let shortcoming = report::shortcoming(&self.totals, &self.ground.coverage());
        match shortcoming.filter(|_| self.totals.violations == 0) {
            Some(why) => bail!("{why}"),
            None => Ok(self.totals),
        }
    }
}
