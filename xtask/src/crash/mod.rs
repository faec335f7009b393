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

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, bail};

use self::aim::PerStore;
use self::approvals::Approvals;
use self::calls::Calls;
use self::house::{House, Stages};
pub(crate) use self::options::{APPROVALS, CALLS, HOUSES, Load, Options};
use self::random::Random;
use self::report::{Log, Totals};
pub(crate) use self::store::{Server, Store, Stores};
use self::verdict::Violation;
use crate::build::build;
use crate::interrupt::Tidying;
use crate::job::Job;
use crate::suites::Ran;
use crate::two_commands::target_directory;

/// So long a house is used before all of it is checked and it is thrown away. Some are young: a house that is being made
/// by several processes at once is a case of its own.
const ROUNDS_PER_HOUSE: u64 = 20;
const ROUNDS_OF_THE_YOUNG: u64 = 2;
const YOUNG_PERCENT: u64 = 60;
const ROUNDS_PER_LINE: u64 = 100;
/// Fewer houses do not show what there is to hit: they take turns on the stores.
const COVERING_HOUSES: u64 = 6;
/// A guard that is missing shows within so many rounds.
const MUTANT_ROUNDS: u64 = 100;

pub(crate) fn task(options: Options) -> anyhow::Result<ExitCode> {
    let (job, expected) = (Job::unlimited()?, options.expect_caught);
    let totals = run(&job, &Ground::prepare(&job, options.stores)?, options)?;
    Ok(if (totals.violations > 0) == expected { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(crate) fn calls_task(options: Options) -> anyhow::Result<ExitCode> {
    campaign::task::<Calls>(options)
}

pub(crate) fn approvals_task(options: Options) -> anyhow::Result<ExitCode> {
    campaign::task::<Approvals>(options)
}

/// Every failpoint on every store there is, with `--full` many random rounds; then each guard is taken out in turn and must be missed.
pub(crate) fn suite(job: &Job) -> anyhow::Result<Ran> {
    let ground = Ground::prepare(job, Stores::Both)?;
    let totals = run(job, &ground, Options::suite(&HOUSES, &job.scope))?;
    if totals.violations > 0 {
        bail!("an invariant does not hold, see above");
    }
    for guard in HOUSES.guards {
        let options = Options { amount: MUTANT_ROUNDS, ..Options::mutant(&HOUSES, guard, &job.scope) };
        if run(job, &ground, options)?.violations == 0 {
            bail!("nobody noticed that the {} was missing in {MUTANT_ROUNDS} rounds", guard.name);
        }
    }
    let (of_calls, calls) = campaign::suite::<Calls>(job, &ground)?;
    let (of_approvals, approvals) = campaign::suite::<Approvals>(job, &ground)?;
    let note = format!(
        "{} rounds, {} processes; {} calls, {} kills of them; {} calls that asked, {} kills around them",
        totals.rounds,
        totals.processes,
        calls.calls(),
        of_calls.kills,
        approvals.cases(),
        of_approvals.kills,
    );
    Ok(Ran { note, ..Ran::default() })
}

fn run(job: &Job, ground: &Ground, options: Options) -> anyhow::Result<Totals> {
    let log = Log::open(options.log.as_deref().map(|path| job.root.join(path)).as_deref())?;
    let stages = ground.stages(&options);
    let (totals, started) = (Totals::default(), Instant::now());
    let mut run = Run { ground, job, stages: &stages, options, log, totals, started };
    run.log.say(&run.header())?;
    run.go()?;
    run.close()
}

/// What the houses stand on. Dropped in this order: the server, then the folders, and only then may an interrupt go on.
struct Ground {
    server: Option<Server>,
    /// On a file system with a disk, unlike perhaps the folder for what is temporary.
    beside: PathBuf,
    commit: String,
    /// From the commit.
    seed: u64,
    /// The program, and the sockets on which it tells of its failpoints.
    scratch: tempfile::TempDir,
    /// The failpoints that were hit so far on each store.
    hit: Mutex<[BTreeSet<String>; 2]>,
    _tidying: Tidying,
}

impl Ground {
    fn prepare(job: &Job, stores: Stores) -> anyhow::Result<Self> {
        let built = build(job)?;
        let tidying = Tidying::begin();
        let scratch = tempfile::Builder::new().prefix("regent-").tempdir().context("a folder for sockets")?;
        // A copy: another build must not change what is being killed.
        std::fs::copy(built.program("regent")?, scratch.path().join("regent")).context("copy the program")?;
        let commit = job.read(job.command("git", &["rev-parse", "--short=16", "HEAD"]))?.trim().to_owned();
        let seed = u64::from_str_radix(commit.get(..16).unwrap_or(&commit), 16);
        Ok(Self {
            server: Server::start(stores)?,
            beside: target_directory(job)?,
            commit,
            seed: seed.context("a seed from the commit")?,
            scratch,
            hit: Mutex::default(),
            _tidying: tidying,
        })
    }

    /// A run that ends when every failpoint was hit does not repeat what the runs before it have hit.
    fn stages(&self, options: &Options) -> Stages {
        let hit = self.hit.lock().unwrap_or_else(PoisonError::into_inner);
        let elsewhere = if options.until_covered { hit.clone() } else { Default::default() };
        Stages::new(self.scratch.path(), options, elsewhere)
    }

    fn note(&self, options: &Options, coverage: &PerStore) {
        // Without a guard the program is another one.
        if options.without.is_none() {
            let mut hit = self.hit.lock().unwrap_or_else(PoisonError::into_inner);
            for (known, new) in hit.iter_mut().zip(coverage.hit()) {
                known.extend(new);
            }
        }
    }
}

/// A run from its seed to its table.
struct Run<'a> {
    ground: &'a Ground,
    job: &'a Job,
    stages: &'a Stages,
    options: Options,
    log: Log,
    totals: Totals,
    started: Instant,
}

impl<'a> Run<'a> {
    fn seed(&self) -> u64 {
        self.options.seed.unwrap_or(self.ground.seed)
    }

    fn house(&self) -> anyhow::Result<House<'a>> {
        let store = self.options.stores.of_house(self.totals.houses);
        let database = Server::environment(self.ground.server.as_ref(), store)?;
        House::new(self.stages.of(store), &self.ground.beside, database)
    }

    /// Every failpoint that was seen was hit, on every store.
    fn is_covered(&self) -> bool {
        self.totals.houses >= COVERING_HOUSES && self.stages.coverage().never_hit(|_| false).is_empty()
    }

    fn header(&self) -> String {
        let without = self.options.without.as_ref().map(|guard| format!(", without the guard `{guard}`"));
        format!(
            "# Crash run\n\nseed {:#x}, commit {}, {} rounds, store: {}{}\n",
            self.seed(),
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
            if self.options.until_covered && self.is_covered() {
                break;
            }
            let mut house = self.house()?;
            let young = Random::of_round(!self.seed(), self.totals.houses).chance(YOUNG_PERCENT);
            let length =
                if young || self.options.until_covered { ROUNDS_OF_THE_YOUNG } else { ROUNDS_PER_HOUSE };
            let end = self.options.amount.min(round + length);
            let mut found = Vec::new();
            while round < end && found.is_empty() {
                self.job.in_time()?;
                found = house.round(&mut Random::of_round(self.seed(), round))?;
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
            self.log.say(&self.totals.line(&self.stages.coverage(), self.started.elapsed()))?;
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
        self.log.say(&format!("\nVIOLATED in round {round} of seed {:#x}:\n", self.seed()))?;
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
        let coverage = self.stages.coverage();
        self.ground.note(&self.options, &coverage);
        let tables = report::tables(&self.totals, &coverage);
        self.log.say(&format!("\n{tables}"))?;
        let per_round = self.started.elapsed().as_secs_f64() / self.totals.rounds.max(1) as f64;
        self.log.say(&format!("\n{per_round:.2} s per round"))?;
        let shortcoming = report::shortcoming(&self.totals, &coverage, self.options.until_covered);
        match shortcoming.filter(|_| self.totals.violations == 0) {
            Some(why) => bail!("{why}"),
            None => Ok(self.totals),
        }
    }
}
