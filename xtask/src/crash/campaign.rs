//! A run of kills from its seed to its table: house after house, round after round, up to the first that finds something.
//! What is played in the houses is a [`Play`].

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::bail;

use super::Ground;
use super::aim::Coverage;
use super::calls::site::Site;
use super::house::Stage;
use super::options::{Load, Options};
use super::random::Random;
use super::report::{Log, written};
use super::seen::{End, Seen};
use super::store::{Server, Store};
use super::verdict::Violation;
use crate::job::Job;

/// More calls a day than a house can use.
pub(super) const PLENTY: u64 = 10_000;
/// A guard that is missing shows within so many rounds.
const MUTANT_ROUNDS: u64 = 40;
/// Below that, a kind of point without a hit says nothing.
const ENOUGH_KILLS: u64 = 200;

/// What is played, with what is counted of it alone.
pub(super) trait Play: Default {
    /// As it is told.
    const OF: &'static str;
    const LOAD: &'static Load;
    const HOUSES_PER_LINE: u64;
    /// A house that is played in.
    type House<'a>: Into<Site<'a>>;

    fn house<'a>(&self, field: &Field<'a>, number: u64) -> anyhow::Result<Self::House<'a>>;

    /// For so many rounds a house is used before all of it is checked and it is thrown away.
    fn rounds(&self, house: &Self::House<'_>) -> u64;

    fn round(&mut self, house: &mut Self::House<'_>, random: &mut Random) -> anyhow::Result<Vec<Violation>>;

    /// Adds up what came of a house, and looks at the whole of it where its rounds found nothing.
    fn close(&mut self, house: &Self::House<'_>, found: &mut Vec<Violation>) -> anyhow::Result<()>;

    fn trace<'h>(house: &'h Self::House<'_>) -> &'h [Seen];

    /// What has come of it so far, in a few words.
    fn line(&self) -> String;

    fn counts(&self) -> Vec<(&'static str, u64)>;

    fn effects(&self) -> u64;

    /// A kind of point at which nobody is killed.
    fn is_spared(_: &str) -> bool {
        false
    }
}

/// What houses stand on in one run.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) ground: &'a Ground,
    pub(super) stage: &'a Stage,
    pub(super) options: &'a Options,
}

impl<'a> Field<'a> {
    pub(super) fn store(&self, number: u64) -> Store {
        self.options.stores.of_house(number)
    }

    /// A site on the store whose turn it is, with so many calls a day.
    pub(super) fn site(&self, number: u64, limit: u64) -> anyhow::Result<Site<'a>> {
        let server: Option<&'a Server> = self.ground.server.as_ref();
        let database = Server::environment(server, self.store(number))?;
        Site::new(self.stage, server, &self.ground.beside, database, limit)
    }
}

/// What every run counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    rounds: u64,
    houses: u64,
    processes: u64,
    pub(super) kills: u64,
    violations: u64,
}

struct Campaign<'a, P> {
    job: &'a Job,
    field: Field<'a>,
    log: Log,
    counted: Counted,
    play: P,
    started: Instant,
}

pub(super) fn task<P: Play>(options: Options) -> anyhow::Result<ExitCode> {
    let job = Job::unlimited()?;
    let ground = Ground::prepare(&job, options.seed, options.stores, None)?;
    let expected = options.expect_caught;
    let (counted, _) = run::<P>(&job, &ground, &options)?;
    Ok(if (counted.violations > 0) == expected { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Some kills on every store there is; then each guard is taken out in turn and must be missed.
pub(super) fn suite<P: Play>(job: &Job) -> anyhow::Result<(Counted, P)> {
    let options = Options::usual(P::LOAD);
    let ground = Ground::prepare(job, options.seed, options.stores, None)?;
    let (counted, play) = run::<P>(job, &ground, &options)?;
    if counted.violations > 0 {
        bail!("an invariant of {} does not hold, see above", P::OF);
    }
    for guard in P::LOAD.guards {
        if run::<P>(job, &ground, &Options::mutant(P::LOAD, guard))?.0.violations == 0 {
            bail!("nobody noticed that the {guard} was missing in {MUTANT_ROUNDS} rounds");
        }
    }
    Ok((counted, play))
}

fn run<P: Play>(job: &Job, ground: &Ground, options: &Options) -> anyhow::Result<(Counted, P)> {
    let stage = &Stage {
        program: ground.stage.program.clone(),
        sockets: ground.stage.sockets.clone(),
        coverage: Mutex::new(Coverage::default()),
        without: options.without.clone(),
    };
    let log = Log::open(options.log.as_deref().map(|path| job.root.join(path)).as_deref())?;
    let field = Field { ground, stage, options };
    let (counted, play) = (Counted::default(), P::default());
    Campaign { job, field, log, counted, play, started: Instant::now() }.whole()
}

impl<P: Play> Campaign<'_, P> {
    fn whole(mut self) -> anyhow::Result<(Counted, P)> {
        let Field { ground, stage, options } = self.field;
        let command = options.command(ground.seed);
        self.log.say(&format!("# Crash run of {}\n\n`{command}`, commit {}\n", P::OF, ground.commit))?;
        self.go()?;
        let coverage = stage.coverage.lock().unwrap_or_else(PoisonError::into_inner);
        self.log.say(&format!("\n{}", tables(&self.counted, &self.play, &coverage)))?;
        self.log.say(&format!("\n{:.0} s", self.started.elapsed().as_secs_f64()))?;
        let why = shortcoming(self.counted.kills, &self.play, &coverage);
        match why.filter(|_| options.without.is_none()) {
            Some(why) if self.counted.violations == 0 => bail!("{why}"),
            _ => Ok((self.counted, self.play)),
        }
    }

    fn go(&mut self) -> anyhow::Result<()> {
        while self.counted.violations == 0 && !self.is_enough() {
            let mut house = self.play.house(&self.field, self.counted.houses)?;
            let mut found = Vec::new();
            for _ in 0..self.play.rounds(&house) {
                if !found.is_empty() || self.is_enough() {
                    break;
                }
                self.job.in_time()?;
                let mut random = Random::of_round(self.field.ground.seed, self.counted.rounds);
                found = self.play.round(&mut house, &mut random)?;
                self.count_round(P::trace(&house))?;
            }
            self.counted.houses += 1;
            self.play.close(&house, &mut found)?;
            self.tell(house.into(), &found)?;
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        let Options { amount, without, .. } = self.field.options;
        self.counted.kills >= *amount || (without.is_some() && self.counted.rounds >= MUTANT_ROUNDS)
    }

    fn count_round(&mut self, trace: &[Seen]) -> anyhow::Result<()> {
        let killed = trace.iter().filter(|seen| matches!(seen.end, End::Killed(_))).count();
        self.counted.rounds += 1;
        self.counted.processes += u64::try_from(trace.len())?;
        self.counted.kills += u64::try_from(killed)?;
        Ok(())
    }

    /// What does not hold goes into the log; what was seen, which may name paths, only to the terminal.
    fn tell(&mut self, site: Site<'_>, found: &[Violation]) -> anyhow::Result<()> {
        let Counted { rounds, houses, processes, kills, .. } = self.counted;
        if found.is_empty() {
            if let Some(server) = &self.field.ground.server {
                server.remove(&site.environment)?;
            }
            if houses.is_multiple_of(P::HOUSES_PER_LINE) {
                let (line, took) = (self.play.line(), self.started.elapsed().as_secs_f64());
                let counted = format!("round {rounds}: {processes} processes, {kills} killed");
                self.log.say(&format!("{counted}; {line}; {took:.1} s"))?;
            }
            return Ok(());
        }
        self.counted.violations += u64::try_from(found.len())?;
        let (round, seed) = (rounds - 1, self.field.ground.seed);
        self.log.say(&format!("\nVIOLATED in round {round} of seed {seed:#x}:\n"))?;
        for violation in found {
            self.log.say(&format!("- {violation}"))?;
        }
        if !self.field.options.expect_caught {
            site.trace.iter().for_each(|seen| eprintln!("\n{seen}"));
            eprintln!("\nthe house is kept: {}", site.folder.keep().display());
        }
        Ok(())
    }
}

fn tables(counted: &Counted, play: &impl Play, coverage: &Coverage) -> String {
    let Counted { rounds, houses, processes, kills, violations } = *counted;
    let mut counts = vec![
        ("rounds", rounds),
        ("houses", houses),
        ("processes", processes),
        ("killed", kills),
        ("of them at a random moment", coverage.moments),
        ("held until taken over, or until others came", coverage.stops),
    ];
    counts.extend(play.counts());
    counts.push(("violations", violations));
    written(coverage, &counts)
}

/// What is wrong with the run itself, though nothing was found.
fn shortcoming<P: Play>(kills: u64, play: &P, coverage: &Coverage) -> Option<String> {
    if coverage.kinds.is_empty() {
        return Some("no process told of any point: is the feature `faults` in the program?".to_owned());
    }
    if play.effects() == 0 {
        return Some("no effect was seen at all".to_owned());
    }
    let never: Vec<&str> = coverage.never_hit().into_iter().filter(|kind| !P::is_spared(kind)).collect();
    let failed = kills >= ENOUGH_KILLS && !never.is_empty();
    failed.then(|| format!("seen, and nobody was ever killed there: {}", never.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::calls::Calls;
    use super::super::calls::verdict::Outcome;
    use super::*;

    #[test]
    fn a_run_without_points_or_without_effects_has_shown_nothing() {
        let (mut calls, mut coverage) = (Calls::default(), Coverage::default());
        assert!(shortcoming(1, &calls, &coverage).is_some());
        coverage.hit("committed");
        assert!(shortcoming(1, &calls, &coverage).is_some());
        calls.add(&[Outcome::Finished], 1);
        assert_eq!(shortcoming(1, &calls, &coverage), None);
    }
}
