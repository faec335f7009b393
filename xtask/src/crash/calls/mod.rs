//! `cargo xtask crash calls`: calls that really change something, killed while they run. No effect twice; each call ends, or
//! nobody knows and that is said; no budget is overdrawn; nothing starts in a house that is halted.
//!
//! Start reading at [`Run::go`]; the rounds are in `killed.rs`, `last.rs` and `halted.rs`, who counts in `effects.rs`, what
//! must hold in `verdict.rs` and `check.rs`.

mod check;
mod deed;
pub(super) mod effects;
mod halted;
mod killed;
pub(super) mod last;
mod report;
pub(super) mod site;
pub(super) mod verdict;

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::bail;

use self::check::Findings;
use self::last::LAST;
use self::report::Totals;
use self::site::Site;
use self::verdict::Standing;
use super::Ground;
use super::aim::Coverage;
use super::house::Stage;
use super::options::{CALLS, Options};
use super::random::Random;
use super::report::Log;
use super::seen::{Blow, End};
use super::store::{Server, Store};
use super::verdict::Violation;
use crate::job::Job;

/// So long a house is used before all of it is checked and it is thrown away. Who connects to a server takes longer.
const ROUNDS_IN_A_FILE: u64 = 12;
const ROUNDS_ON_A_SERVER: u64 = 4;
/// More than a house can use.
const PLENTY: u64 = 10_000;
/// So many of a hundred houses run out of calls on the way.
const SCARCE_PERCENT: u64 = 20;
const SCARCE: u64 = 6;
/// A guard that is missing shows within so many rounds.
const MUTANT_ROUNDS: u64 = 40;
const HOUSES_PER_LINE: u64 = 10;

/// What a house is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Kills,
    Last,
    Halting,
}

impl Part {
    /// Houses take turns, in pairs: one on each store.
    fn of_house(number: u64, without: Option<&str>) -> Self {
        match (without, number / 2 % 6) {
            (Some("reservation"), _) => Self::Last,
            (Some("halt"), _) => Self::Halting,
            (Some(_), _) => Self::Kills,
            (None, 2 | 5) => Self::Last,
            (None, 3) => Self::Halting,
            (None, _) => Self::Kills,
        }
    }

    const fn rounds(self, store: Store) -> u64 {
        match (self, store) {
            (Self::Kills, Store::Sqlite) => ROUNDS_IN_A_FILE,
            (Self::Kills, Store::Postgres) => ROUNDS_ON_A_SERVER,
            (Self::Last | Self::Halting, _) => 1,
        }
    }
}

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
    let options = Options::usual(&CALLS);
    let ground = Ground::prepare(job, options.seed, options.stores, None)?;
    let totals = run(job, &ground, options)?;
    if totals.violations > 0 {
        bail!("an invariant of calls does not hold, see above");
    }
    for guard in CALLS.guards {
        if run(job, &ground, Options::mutant(&CALLS, guard))?.violations == 0 {
            bail!("nobody noticed that the {guard} was missing in {MUTANT_ROUNDS} rounds");
        }
    }
    Ok(format!("{} calls, {} kills of them", totals.calls, totals.kills))
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
        self.log.say(&format!("# Crash run of calls\n\n`{command}`, commit {}\n", ground.commit))?;
        self.go()?;
        let coverage = self.stage.coverage.lock().unwrap_or_else(PoisonError::into_inner);
        self.log.say(&format!("\n{}", report::tables(&self.totals, &coverage)))?;
        self.log.say(&format!("\n{:.0} s", self.started.elapsed().as_secs_f64()))?;
        match report::shortcoming(&self.totals, &coverage).filter(|_| self.options.without.is_none()) {
            Some(why) if self.totals.violations == 0 => bail!("{why}"),
            _ => Ok(self.totals),
        }
    }

    /// House after house, up to the first that finds something.
    fn go(&mut self) -> anyhow::Result<()> {
        while self.totals.violations == 0 && !self.is_enough() {
            let number = self.totals.houses;
            let part = Part::of_house(number, self.options.without.as_deref());
            let mut site = self.site(number, part)?;
            let mut found = Vec::new();
            for _ in 0..part.rounds(self.options.stores.of_house(number)) {
                if !found.is_empty() || self.is_enough() {
                    break;
                }
                self.job.in_time()?;
                let mut random = Random::of_round(self.ground.seed, self.totals.rounds);
                found = match part {
                    Part::Kills => site.round_of_kills(&mut random)?,
                    Part::Last => site.round_of_the_last(&mut random)?,
                    Part::Halting => site.round_of_halting(&mut random)?,
                };
                self.count_round(&site, part)?;
            }
            self.totals.houses += 1;
            if found.is_empty() {
                let Findings { outcomes, effects, violations } = site.check()?;
                self.totals.add(&outcomes, effects);
                found = violations;
            }
            self.close(site, &found)?;
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.totals.kills >= self.options.amount
            || (self.options.without.is_some() && self.totals.rounds >= MUTANT_ROUNDS)
    }

    fn site(&self, number: u64, part: Part) -> anyhow::Result<Site<'a>> {
        let store = self.options.stores.of_house(number);
        let server: Option<&'a Server> = self.ground.server.as_ref();
        let scarce = Random::of_round(!self.ground.seed, number).chance(SCARCE_PERCENT);
        let limit = match part {
            Part::Last => LAST,
            Part::Kills if scarce => SCARCE,
            Part::Kills | Part::Halting => PLENTY,
        };
        let database = Server::environment(server, store)?;
        let mut site = Site::new(self.stage, server, &self.ground.beside, database, limit)?;
        if limit < PLENTY {
            site.standing = Standing::Limited;
        }
        Ok(site)
    }

    fn count_round(&mut self, site: &Site<'_>, part: Part) -> anyhow::Result<()> {
        let killed = |blow: Blow| site.trace.iter().filter(|seen| seen.end == End::Killed(blow)).count();
        self.totals.rounds += 1;
        self.totals.processes += u64::try_from(site.trace.len())?;
        self.totals.kills += u64::try_from(killed(Blow::Point) + killed(Blow::Moment))?;
        match part {
            Part::Kills => {}
            Part::Last => self.totals.last += 1,
            Part::Halting => self.totals.halts += 1,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_turn_on_every_store() {
        let parts: Vec<Part> = (0..12).map(|house| Part::of_house(house, None)).collect();
        for part in [Part::Kills, Part::Last, Part::Halting] {
            let houses = || parts.iter().enumerate().filter(|(_, of)| **of == part);
            assert!(houses().any(|(house, _)| house % 2 == 0) && houses().any(|(house, _)| house % 2 == 1));
        }
        assert_eq!(Part::of_house(0, Some("halt")), Part::Halting);
        assert_eq!(Part::of_house(6, Some("fence")), Part::Kills);
    }
}
