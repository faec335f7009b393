//! Calls that are killed while they run, and gone on with until they are over.

use std::time::Duration;

use super::super::aim::Fate;
use super::super::random::Random;
use super::super::seen::Sort;
use super::super::verdict::{self, Company, Invariant, Violation};
use super::deed::Kind;
use super::site::{Planned, Site};

/// How often the unfinished is gone on with; only the first times may it be killed again.
const PASSES: usize = 8;
const PASSES_WITH_KILLS: usize = 3;
const KILLED_AGAIN_PERCENT: u64 = 60;
/// `regent status` shows so many tasks at once.
const SHOWN: usize = 20;
/// How often two processes want the same task at once: one of them gets it.
const RIVALS_PERCENT: u64 = 25;
/// Milliseconds that a process which says nothing keeps its task in a round of that kind.
const LEASE: u64 = 150;
const STALE_PERCENT: u64 = 8;
/// Points that a call passes, more or less: where in it it is held.
const PLACES: u64 = 45;

/// Whether what is gone on with may be killed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    Killed,
    Spared,
}

impl Site<'_> {
    /// Some calls at once, some of them killed; then all are gone on with.
    pub(super) fn round_of_kills(&mut self, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        self.trace.clear();
        let stale = match self.stage.without.as_deref() {
            None => random.chance(STALE_PERCENT),
            Some(guard) => guard == "fence",
        };
        if stale {
            let mut found = self.stale(random)?;
            found.extend(self.settle(random, Again::Spared)?);
            return Ok(found);
        }
        let mut load = Vec::new();
        for _ in 0..random.between(1, 3) {
            let kind = random.pick(&self.sought(&Kind::ALL, Kind::tool)).copied().unwrap_or(Kind::Create);
            let deed = self.deed(kind)?;
            load.push(self.call(deed, self.draw(Sort::Call, random))?);
        }
        let mut found = self.watch_all(load, Company::InALoad, &|| Ok(()))?;
        found.extend(self.settle(random, Again::Killed)?);
        Ok(found)
    }

    /// Goes on with what is unfinished, until nothing is.
    pub(super) fn settle(&mut self, random: &mut Random, again: Again) -> anyhow::Result<Vec<Violation>> {
        let passes = PASSES + self.deeds.len() / SHOWN;
        for pass in 0..passes {
            let unfinished = match self.unfinished()? {
                Ok(unfinished) => unfinished,
                Err(violation) => return Ok(vec![violation]),
            };
            if unfinished.is_empty() {
                return Ok(Vec::new());
            }
            self.undo(&unfinished)?;
            let killing = again == Again::Killed && pass < PASSES_WITH_KILLS;
            let rivals = killing && random.chance(RIVALS_PERCENT);
            let (each, company) = if rivals { (2, Company::InALoad) } else { (1, Company::Alone) };
            let mut resumes = Vec::new();
            for one in unfinished.iter().flat_map(|one| std::iter::repeat_n(one, each)) {
                let killed = killing && random.chance(KILLED_AGAIN_PERCENT);
                let fate = if killed { self.draw(Sort::Resume, random) } else { Fate::Spared };
                resumes.push(Self::resume(&one.task, fate));
            }
            let found = self.watch_all(resumes, company, &|| Ok(()))?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(vec![Invariant::Finished.violated(format!("something is unfinished after {passes} passes"))])
    }

    /// A driver is held until its lease is over and another has ended its call. It must notice when it goes on: what it
    /// would do happens every time it is done.
    fn stale(&mut self, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        let kind = random.pick(&[Kind::Append, Kind::Replace]).copied().unwrap_or(Kind::Append);
        let deed = self.deed(kind)?;
        let place = usize::try_from(random.below(PLACES))?;
        let call = Planned { lease: Some(LEASE), ..self.call(deed, Fate::Stop { place })? };
        let others = std::sync::Mutex::new((Vec::new(), Vec::new()));
        let site = &*self;
        let take_over = || -> anyhow::Result<()> {
            std::thread::sleep(Duration::from_millis(LEASE + LEASE / 3));
            let mut others = others.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match site.unfinished()? {
                Err(violation) => others.1.push(violation),
                Ok(unfinished) => {
                    for one in unfinished {
                        let resume = Planned { lease: Some(LEASE), ..Self::resume(&one.task, Fate::Spared) };
                        let (_, seen) = site.watch(resume, &|| Ok(()))?;
                        others.0.push(seen);
                    }
                }
            }
            drop(others);
            Ok(())
        };
        let (_, held) = site.watch(call, &take_over)?;
        let (others, mut found) = others.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        if held.stopped_at.is_some() && !others.is_empty() {
            found.extend(verdict::stayed_silent(&held));
        }
        found.extend(self.judge(Some(deed), held, Company::Alone));
        for other in others {
            found.extend(self.judge(None, other, Company::Alone));
        }
        Ok(found)
    }
}
