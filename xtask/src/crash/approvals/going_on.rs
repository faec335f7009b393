//! Those who go on with a task: killed, two at once, or held until somebody else has ended it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::super::aim::Fate;
use super::super::calls::site::Planned;
use super::super::random::Random;
use super::super::seen::Sort;
use super::super::verdict::{Company, Invariant, stayed_silent};
use super::case::Case;
use super::cut::{Step, sound};
use super::office::Office;

/// How often the unfinished is gone on with; only the first times may it be killed again.
pub(super) const PASSES: usize = 8;
const PASSES_WITH_KILLS: usize = 3;
const KILLED_AGAIN_PERCENT: u64 = 60;
/// How often two processes want the same task at once: one of them gets it.
const RIVALS_PERCENT: u64 = 25;
/// Milliseconds that a process which says nothing keeps its task, where it is held.
const LEASE: u64 = 150;
/// Points that going on passes, more or less: where in it it is held.
const PLACES: u64 = 30;

impl Office<'_> {
    /// Goes on at least once, until the task is over or waits for somebody who has not answered.
    pub(super) fn go_on(&mut self, case: &Case, task: &str, random: &mut Random) -> Step {
        for pass in 0..PASSES {
            let Some(unfinished) = self.unfinished(case)? else { return Ok(()) };
            if pass > 0 && unfinished.waits && self.question(task)?.is_some() {
                return Ok(());
            }
            case.undo(&self.site.workspace())?;
            let rivals = pass < PASSES_WITH_KILLS && random.chance(RIVALS_PERCENT);
            let (each, company) = if rivals { (2, Company::InALoad) } else { (1, Company::Alone) };
            let load = (0..each).map(|_| self.resume(task, self.again(pass, random))).collect();
            self.watch(load, company, &|| Ok(()))?;
        }
        Err(Invariant::Finished.violated(format!("{task} is unfinished after {PASSES} passes")).into())
    }

    /// What becomes of whoever goes on in this pass.
    pub(super) fn again(&self, pass: usize, random: &mut Random) -> Fate {
        let killed = pass < PASSES_WITH_KILLS && random.chance(KILLED_AGAIN_PERCENT);
        if killed { self.site.draw(Sort::Resume, random) } else { Fate::Spared }
    }

    /// Whoever goes on is held until its lease is over and another has ended the task. It must notice when it wakes, though all
    /// that the yes was for is as it was.
    pub(super) fn held(&mut self, case: &Case, task: &str, random: &mut Random) -> Step {
        let place = usize::try_from(random.below(PLACES))?;
        let others = Mutex::new(Vec::new());
        let office = &*self;
        let brief = |fate| Planned { lease: Some(LEASE), ..office.resume(task, fate) };
        let take_over = || -> anyhow::Result<()> {
            std::thread::sleep(Duration::from_millis(LEASE + LEASE / 3));
            if office.site.unfinished()?.is_ok_and(|all| all.iter().all(|one| one.task != task)) {
                return Ok(());
            }
            case.undo(&office.site.workspace())?;
            let (_, seen) = office.site.watch(brief(Fate::Spared), &|| Ok(()))?;
            others.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
            Ok(case.undo(&office.site.workspace())?)
        };
        let (_, held) = office.site.watch(brief(Fate::Stop { place }), &take_over)?;
        let others = others.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        if held.stopped_at.is_some() && !others.is_empty() {
            found.extend(stayed_silent(&held));
        }
        for seen in others.iter().chain([&held]) {
            found.extend(self.witnessed(seen, Company::Alone));
        }
        sound(found)
    }
}
