//! Several processes want the last of a budget: one gets it.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::super::aim::Fate;
use super::super::random::Random;
use super::super::seen::{End, Sort};
use super::super::verdict::{Company, Invariant, Violation};
use super::deed::Kind;
use super::killed::Again;
use super::site::Site;
use super::verdict::Standing;

/// All that there is.
pub(super) const LAST: u64 = 1;
/// Of a hundred rounds so many let all of them look at the budget before any of them takes it; the others are left to
/// chance, and to kills.
const TOGETHER_PERCENT: u64 = 60;
/// The batch after the one that takes the request down is the one that starts the call.
const STARTING: Fate = Fate::Held { kind: "committing", nth: 2 };

impl Site<'_> {
    pub(super) fn round_of_the_last(&mut self, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        self.standing = Standing::Limited;
        let together = self.stage.without.is_some() || random.chance(TOGETHER_PERCENT);
        let rivals = usize::try_from(random.between(2, 4))?;
        let mut load = Vec::new();
        for _ in 0..rivals {
            let deed = self.deed(Kind::Create)?;
            let fate = if together { STARTING } else { self.draw(Sort::Call, random) };
            load.push(self.call(deed, fate)?);
        }
        let meeting = Meeting::of(rivals);
        let mut found = self.watch_all(load, Company::InALoad, &|| meeting.join())?;
        let killed = self.trace.iter().any(|seen| matches!(seen.end, End::Killed(_)));
        let went = self.trace.iter().filter(|seen| seen.end == End::Exit(0)).count();
        if !killed && went != 1 {
            found.push(
                Invariant::Budget.violated(format!("{went} of {rivals} calls got the last of a budget")),
            );
        }
        found.extend(self.settle(random, Again::Spared)?);
        let effects = self.effects.all()?.len();
        if effects > 1 || (!killed && effects != 1) {
            found.push(Invariant::Budget.violated(format!("{effects} effects of a budget for one")));
        }
        Ok(found)
    }
}

/// Whoever comes waits for the others, but not for ever: one of them may have ended before.
pub(in crate::crash) struct Meeting {
    missing: Mutex<usize>,
    complete: Condvar,
}

impl Meeting {
    const PATIENCE: Duration = Duration::from_secs(3);

    pub(in crate::crash) fn of(expected: usize) -> Self {
        Self { missing: Mutex::new(expected), complete: Condvar::new() }
    }

    pub(in crate::crash) fn join(&self) -> anyhow::Result<()> {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        *missing = missing.saturating_sub(1);
        self.complete.notify_all();
        let waited = self.complete.wait_timeout_while(missing, Self::PATIENCE, |missing| *missing > 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}
