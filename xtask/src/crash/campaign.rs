//! A run of kills from its seed to its table: house after house, round after round, up to the first that finds something.
//! What is played in the houses is a [`Play`].

use std::process::ExitCode;
use std::time::Instant;

use anyhow::bail;

use super::Ground;
use super::aim::PerStore;
use super::calls::site::Site;
use super::house::Stages;
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
/// Fewer houses do not show what there is to hit: they take turns on the stores.
const COVERING_HOUSES: u64 = 2;
/// Below that, a kind of point without a hit says nothing, unless the run is for hitting each.
pub(super) const ENOUGH_KILLS: u64 = 200;

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

    /// A kind of point at which nobody is killed, or not here: what is due now and then is killed in `round.rs`.
    fn is_spared(kind: &str) -> bool {
        is_due(kind)
    }

    /// Whether everything that it consists of was played on every store.
    fn is_whole(&self) -> bool {
        true
    }
}

/// A point of what is due now and then, which follows a command only where there is time for it.
pub(super) fn is_due(kind: &str) -> bool {
    kind.contains(" duty:") || kind == "writing duties" || kind == "writing checkpoints"
}

/// What houses stand on in one run.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) ground: &'a Ground,
    pub(super) stages: &'a Stages,
    pub(super) options: &'a Options,
}

impl<'a> Field<'a> {
    pub(super) fn seed(&self) -> u64 {
        self.options.seed.unwrap_or(self.ground.seed)
    }

    pub(super) fn store(&self, number: u64) -> Store {
        self.options.stores.of_house(number)
    }

    /// A site on the store whose turn it is, with so many calls a day.
    pub(super) fn site(&self, number: u64, limit: u64) -> anyhow::Result<Site<'a>> {
        let server: Option<&'a Server> = self.ground.server.as_ref();
        let database = Server::environment(server, self.store(number))?;
        Site::new(self.stages.of(self.store(number)), server, &self.ground.beside, database, limit)
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
    let ground = Ground::prepare(&job, options.stores)?;
    let expected = options.expect_caught;
    let (counted, _) = run::<P>(&job, &ground, &options)?;
    Ok(if (counted.violations > 0) == expected { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Some kills on every store there is; then each guard is taken out in turn and must be missed.
pub(super) fn suite<P: Play>(job: &Job, ground: &Ground) -> anyhow::Result<(Counted, P)> {
    let (counted, play) = run::<P>(job, ground, &Options::suite(P::LOAD, &job.scope))?;
    if counted.violations > 0 {
        bail!("an invariant of {} does not hold, see above", P::OF);
    }
    for guard in P::LOAD.guards {
        if run::<P>(job, ground, &Options::mutant(P::LOAD, guard, &job.scope))?.0.violations == 0 {
            bail!("nobody noticed that the {} was missing in {MUTANT_ROUNDS} rounds", guard.name);
        }
    }
    Ok((counted, play))
}

fn run<P: Play>(job: &Job, ground: &Ground, options: &Options) -> anyhow::Result<(Counted, P)> {
    let stages = &ground.stages(options);
    let log = Log::open(options.log.as_deref().map(|path| job.root.join(path)).as_deref())?;
    let field = Field { ground, stages, options };
    let (counted, play) = (Counted::default(), P::default());
    Campaign { job, field, log, counted, play, started: Instant::now() }.whole()
}

impl<P: Play> Campaign<'_, P> {
    fn whole(mut self) -> anyhow::Result<(Counted, P)> {
        let Field { ground, stages, options } = self.field;
        let command = options.command(self.field.seed());
        self.log.say(&format!("# Crash run of {}\n\n`{command}`, commit {}\n", P::OF, ground.commit))?;
        self.go()?;
        let coverage = stages.coverage();
        ground.note(options, &coverage);
        self.log.say(&format!("\n{}", tables(&self.counted, &self.play, &coverage)))?;
        self.log.say(&format!("\n{:.0} s", self.started.elapsed().as_secs_f64()))?;
        let enough = options.until_covered || self.counted.kills >= ENOUGH_KILLS;
        let why = shortcoming(enough, &self.play, &coverage);
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
                let mut random = Random::of_round(self.field.seed(), self.counted.rounds);
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
        let Options { amount, without, until_covered, .. } = self.field.options;
        self.counted.kills >= *amount
            || (without.is_some() && self.counted.rounds >= MUTANT_ROUNDS)
            || (*until_covered && self.is_covered())
    }

    /// Every failpoint that was seen was hit, on every store.
    fn is_covered(&self) -> bool {
        self.counted.houses >= COVERING_HOUSES
            && self.play.is_whole()
            && self.field.stages.coverage().never_hit(P::is_spared).is_empty()
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
        let (round, seed) = (rounds - 1, self.field.seed());
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

fn tables(counted: &Counted, play: &impl Play, coverage: &PerStore) -> String {
    let Counted { rounds, houses, processes, kills, violations } = *counted;
    let mut counts = vec![
        ("rounds", rounds),
        ("houses", houses),
        ("processes", processes),
        ("killed", kills),
        ("of them at a random moment", coverage.sum(|coverage| coverage.moments)),
        ("held until taken over, or until others came", coverage.sum(|coverage| coverage.stops)),
    ];
    counts.extend(play.counts());
    counts.push(("violations", violations));
    written(coverage, &counts)
}

/// What is wrong with the run itself, though nothing was found.
fn shortcoming<P: Play>(enough: bool, play: &P, coverage: &PerStore) -> Option<String> {
    if coverage.is_empty() {
        return Some("no process told of any point: is the feature `faults` in the program?".to_owned());
    }
    if play.effects() == 0 {
        return Some("no effect was seen at all".to_owned());
    }
    let never = coverage.never_hit(P::is_spared);
    (enough && !never.is_empty())
        .then(|| format!("seen, and nobody was ever killed there: {}", never.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::calls::Calls;
    use super::super::calls::verdict::Outcome;
    use super::*;

    #[test]
    fn a_run_without_points_or_without_effects_has_shown_nothing() {
        let (mut calls, mut coverage) = (Calls::default(), PerStore::default());
        assert!(shortcoming(true, &calls, &coverage).is_some());
        coverage.sqlite.hit("committed");
        assert!(shortcoming(true, &calls, &coverage).is_some());
        calls.add(&[Outcome::Finished], 1);
        assert_eq!(shortcoming(true, &calls, &coverage), None);
    }
}
