//! One round: a load all at once, some of it killed; then the work is gone on with until nothing is left.

use std::sync::PoisonError;
use std::time::Duration;

use super::aim::Fate;
use super::house::{House, Planned, Witnessed};
use super::random::Random;
use super::seen::Sort;
use super::verdict::{self, Company, Invariant, Violation};
use crate::two_commands::REQUEST;

/// How often the unfinished is gone on with; only the first times may it be killed again.
const PASSES: usize = 8;
const PASSES_WITH_KILLS: usize = 2;
const KILLED_AGAIN_PERCENT: u64 = 40;
/// How often two processes want the same task at once: one of them gets it.
const RIVALS_PERCENT: u64 = 30;
/// Milliseconds that a process which says nothing keeps its task in a round of that kind.
const LEASE: u64 = 150;
/// So many of a hundred rounds are of that kind; more of them where a guard is missing and must be missed.
const STALE_PERCENT: u64 = 8;
const STALE_PERCENT_OF_MUTANTS: u64 = 30;
/// Points that a run passes, more or less: where in it it is held.
const PLACES: u64 = 50;

impl House<'_> {
    pub(crate) fn round(&mut self, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        self.trace.clear();
        let percent = self.stage.without.as_ref().map_or(STALE_PERCENT, |_| STALE_PERCENT_OF_MUTANTS);
        let mut found = if random.chance(percent) {
            self.stale(random)?
        } else {
            let load = self.load(random)?;
            self.watch_all(load, Company::InALoad)?
        };
        found.extend(self.book.never_new());
        found.extend(self.settle(random)?);
        found.extend(self.account.check());
        Ok(found)
    }

    fn load(&mut self, random: &mut Random) -> anyhow::Result<Vec<Planned>> {
        let mut load = Vec::new();
        for _ in 0..1 + u64::from(random.chance(40)) {
            let lines = random.between(3, 10);
            let sent = self.book.draw(lines, random);
            load.push(Planned { sent, ..self.planned(Sort::Ingest, &["events", "ingest"], random) });
        }
        for _ in 0..1 + u64::from(random.chance(30)) {
            let errand = Some(self.errand()?);
            load.push(Planned { errand, ..self.planned(Sort::Run, &["run", REQUEST], random) });
        }
        let seeks = self.stage.coverage.lock().unwrap_or_else(PoisonError::into_inner).seeks;
        if random.chance(25) {
            load.push(self.planned(Sort::Resume, &["resume"], random));
        }
        if seeks || random.chance(40) {
            load.push(self.planned(Sort::Tick, &["tick"], random));
        }
        Ok(load)
    }

    fn planned(&self, sort: Sort, args: &[&str], random: &mut Random) -> Planned {
        let coverage = self.stage.coverage.lock().unwrap_or_else(PoisonError::into_inner);
        let fate = coverage.draw(sort, random);
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        Planned { sort, args, sent: Vec::new(), errand: None, lease: None, fate }
    }

    /// Goes on with what is unfinished, until nothing is.
    fn settle(&mut self, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        for pass in 0..PASSES {
            let status = match self.status()? {
                Ok(status) => status,
                Err(violation) => return Ok(vec![violation]),
            };
            if !status.consistent {
                return Ok(vec![Invariant::Chain.violated("`regent status` says that the audit is broken")]);
            }
            if status.unfinished.is_empty() {
                return Ok(Vec::new());
            }
            let rivals = pass < PASSES_WITH_KILLS && random.chance(RIVALS_PERCENT);
            let (each, company) = if rivals { (2, Company::InALoad) } else { (1, Company::Alone) };
            let mut resumes = Vec::new();
            for task in status.unfinished.iter().flat_map(|task| std::iter::repeat_n(task, each)) {
                let planned = self.planned(Sort::Resume, &["resume", task], random);
                let again = pass < PASSES_WITH_KILLS && random.chance(KILLED_AGAIN_PERCENT);
                resumes.push(if again { planned } else { Planned { fate: Fate::Spared, ..planned } });
            }
            let found = self.watch_all(resumes, company)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(vec![Invariant::Finished.violated(format!("something is unfinished after {PASSES} passes"))])
    }

    /// A driver is held until its lease is over and another has finished its task. It must notice when it goes on.
    fn stale(&mut self, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        let errand = Some(self.errand()?);
        let place = usize::try_from(random.below(PLACES))?;
        let fate = Fate::Stop { place };
        let run = Planned {
            errand,
            fate,
            lease: Some(LEASE),
            ..self.planned(Sort::Run, &["run", REQUEST], random)
        };
        let (mut others, mut found) = (Vec::new(), Vec::new());
        let house = &*self;
        let mut take_over = || -> anyhow::Result<()> {
            match house.take_over()? {
                Ok(taken) => others.extend(taken),
                Err(violation) => found.push(violation),
            }
            Ok(())
        };
        let held = house.watch(run, &mut take_over)?;
        if held.seen.stopped_at.is_some() && !others.is_empty() {
            found.extend(verdict::stayed_silent(&held.seen));
        }
        found.extend(self.judge(held, Company::Alone));
        for other in others {
            found.extend(self.judge(other, Company::Alone));
        }
        Ok(found)
    }

    /// Once the lease is over, whatever is unfinished is finished by somebody else.
    fn take_over(&self) -> anyhow::Result<Result<Vec<Witnessed>, Violation>> {
        std::thread::sleep(Duration::from_millis(LEASE + LEASE / 3));
        let status = match self.status()? {
            Ok(status) => status,
            Err(violation) => return Ok(Err(violation)),
        };
        let resume = |task: String| {
            let args = vec!["resume".to_owned(), task];
            let (sort, fate, lease) = (Sort::Resume, Fate::Spared, Some(LEASE));
            self.watch(Planned { sort, args, sent: Vec::new(), errand: None, lease, fate }, &mut || Ok(()))
        };
        Ok(Ok(status.unfinished.into_iter().map(resume).collect::<anyhow::Result<_>>()?))
    }
}
