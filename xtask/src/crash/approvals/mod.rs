//! `cargo xtask crash approvals`: calls that a person is asked about. Whoever asks, answers or goes on is killed; the world
//! changes between the answer and the call. No effect without a yes for exactly this call, none twice for one yes; of several
//! answers one counts; a yes is never lost, and where it counts no more that is said.
//!
//! Start reading at [`Run::go`]; a round is in `round.rs`, with `people.rs` and `going_on.rs`, what must hold in `verdict.rs` and `answers.rs`.

mod answers;
mod case;
mod cut;
mod going_on;
mod office;
mod people;
mod report;
mod round;
mod verdict;
mod world;

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::bail;

use self::cut::Cut;
use self::office::Office;
use self::report::Totals;
use super::Ground;
use super::aim::Coverage;
use super::calls::site::Site;
use super::house::Stage;
use super::options::{APPROVALS, Options};
use super::random::Random;
use super::report::Log;
use super::seen::End;
use super::store::{Server, Store};
use super::verdict::{Invariant, Violation};
use crate::job::Job;

/// So long a house is used before its audit is checked and it is thrown away. Who connects to a server takes longer.
const ROUNDS_IN_A_FILE: u64 = 6;
const ROUNDS_ON_A_SERVER: u64 = 3;
/// More calls a day than a house can use.
const PLENTY: u64 = 10_000;
/// A guard that is missing shows within so many rounds.
const MUTANT_ROUNDS: u64 = 40;
const HOUSES_PER_LINE: u64 = 4;

pub(crate) fn task(options: Options) -> anyhow::Result<ExitCode> {
    let job = Job::unlimited()?;
    let ground = Ground::prepare(&job, options.seed, options.stores, None)?;
    let expected = options.expect_caught;
    let totals = run(&job, &ground, options)?;
    Ok(if (totals.violations > 0) == expected { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Some kills on every store there is; then each guard is taken out in turn and must be missed. What it has to tell is
/// returned.
pub(super) fn suite(job: &Job) -> anyhow::Result<String> {
    let options = Options::usual(&APPROVALS);
    let ground = Ground::prepare(job, options.seed, options.stores, None)?;
    let totals = run(job, &ground, options)?;
    if totals.violations > 0 {
        bail!("an invariant of approvals does not hold, see above");
    }
    for guard in APPROVALS.guards {
        if run(job, &ground, Options::mutant(&APPROVALS, guard))?.violations == 0 {
            bail!("nobody noticed that the {guard} was missing in {MUTANT_ROUNDS} rounds");
        }
    }
    Ok(format!("{} calls that asked, {} kills around them", totals.tally.cases, totals.kills))
}

/// A run from its seed to its table.
struct Run<'a> {
    job: &'a Job,
    ground: &'a Ground,
    stage: &'a Stage,
    options: Options,
    log: Log,
    totals: Totals,
    started: Instant,
}

fn run(job: &Job, ground: &Ground, options: Options) -> anyhow::Result<Totals> {
    let stage = &Stage {
        program: ground.stage.program.clone(),
        sockets: ground.stage.sockets.clone(),
        coverage: Mutex::new(Coverage::default()),
        without: options.without.clone(),
    };
    let log = Log::open(options.log.as_deref().map(|path| job.root.join(path)).as_deref())?;
    Run { job, ground, stage, options, log, totals: Totals::default(), started: Instant::now() }.whole()
}

impl<'a> Run<'a> {
    fn whole(mut self) -> anyhow::Result<Totals> {
        let Self { ground, options, .. } = &self;
        let command = options.command(ground.seed);
        self.log.say(&format!("# Crash run of approvals\n\n`{command}`, commit {}\n", ground.commit))?;
        self.go()?;
        let coverage = self.stage.coverage.lock().unwrap_or_else(PoisonError::into_inner);
        self.log.say(&format!("\n{}", report::tables(&self.totals, &coverage)))?;
        self.log.say(&format!("\n{:.0} s", self.started.elapsed().as_secs_f64()))?;
        match report::shortcoming(&self.totals, &coverage).filter(|_| self.options.without.is_none()) {
            Some(why) if self.totals.violations == 0 => bail!("{why}"),
            _ => Ok(self.totals),
        }
    }

    /// House after house, round after round, up to the first that finds something.
    fn go(&mut self) -> anyhow::Result<()> {
        while !self.is_enough() && self.totals.violations == 0 {
            let store = self.options.stores.of_house(self.totals.houses);
            let mut office = self.office(store)?;
            let mut found = Vec::new();
            for _ in 0..if store == Store::Sqlite { ROUNDS_IN_A_FILE } else { ROUNDS_ON_A_SERVER } {
                if !found.is_empty() || self.is_enough() {
                    break;
                }
                self.job.in_time()?;
                let mut random = Random::of_round(self.ground.seed, self.totals.rounds);
                match office.round(&mut random) {
                    Ok(()) => {}
                    Err(Cut::Found(violations)) => found = violations,
                    Err(Cut::Failed(error)) => return Err(error),
                }
                self.count_round(&office)?;
            }
            self.totals.houses += 1;
            self.totals.add(office.tally);
            if found.is_empty() {
                found.extend(complete(&office.site)?);
            }
            self.close(office.site, &found)?;
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.totals.kills >= self.options.amount
            || (self.options.without.is_some() && self.totals.rounds >= MUTANT_ROUNDS)
    }

    fn office(&self, store: Store) -> anyhow::Result<Office<'a>> {
        let server: Option<&'a Server> = self.ground.server.as_ref();
        let database = Server::environment(server, store)?;
        Ok(Office::new(Site::new(self.stage, server, &self.ground.beside, database, PLENTY)?))
    }

    fn count_round(&mut self, office: &Office<'_>) -> anyhow::Result<()> {
        let trace = &office.site.trace;
        let killed = trace.iter().filter(|seen| matches!(seen.end, End::Killed(_))).count();
        self.totals.rounds += 1;
        self.totals.processes += u64::try_from(trace.len())?;
        self.totals.kills += u64::try_from(killed)?;
        Ok(())
    }

    /// What does not hold goes into the log; what was seen, which may name paths, only to the terminal.
    fn close(&mut self, site: Site<'_>, found: &[Violation]) -> anyhow::Result<()> {
        if found.is_empty() {
            if let Some(server) = &self.ground.server {
                server.remove(&site.environment)?;
            }
            if self.totals.houses.is_multiple_of(HOUSES_PER_LINE) {
                self.log.say(&self.totals.line(self.started.elapsed()))?;
            }
            return Ok(());
        }
        self.totals.violations += u64::try_from(found.len())?;
        let (round, seed) = (self.totals.rounds - 1, self.ground.seed);
        self.log.say(&format!("\nVIOLATED in round {round} of seed {seed:#x}:\n"))?;
        for violation in found {
            self.log.say(&format!("- {violation}"))?;
        }
        if !self.options.expect_caught {
            site.trace.iter().for_each(|seen| eprintln!("\n{seen}"));
            eprintln!("\nthe house is kept: {}", site.folder.keep().display());
        }
        Ok(())
    }
}

/// The audit of a house that nobody is at any more, with every effect that stands in it.
fn complete(site: &Site<'_>) -> anyhow::Result<Option<Violation>> {
    let (end, stdout, stderr) = site.ask(&["audit", "verify", "--complete"])?;
    let right = end == End::Exit(0) && stdout.starts_with("consistent");
    let what = || format!("{end:?}: {}{}", stdout.trim_end(), stderr.trim_end());
    Ok((!right).then(|| Invariant::Chain.violated(what())))
}
