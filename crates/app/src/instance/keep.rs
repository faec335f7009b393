//! The copies of the instance that are known of, and the upgrade that this process made.

use std::time::Duration;

use super::Instance;
use super::backup::{KeptBackup, Occasion, Upgrade};
use crate::host::{Finding, FindingState};
use kernel::{Code, Problem};

/// How long an upgrade counts as recent.
const RECENT: Duration = Duration::from_secs(14 * 24 * 60 * 60);

impl Instance<'_> {
    /// Every copy of this instance that is known of.
    ///
    /// # Errors
    /// If the list of backups cannot be read.
    pub fn backups(self) -> Result<Vec<KeptBackup>, Problem> {
        self.app.host.backups()
    }

    /// What opening the house brought forward, if anything.
    #[must_use]
    pub fn upgraded(self) -> Option<Upgrade> {
        self.app.host.upgraded()
    }

    pub(super) fn needs_a_house(self, done: &str) -> Result<(), Problem> {
        if self.exists() {
            return Ok(());
        }
        Err(Problem::new(Code::NO_HOUSE, format!("there is no house yet that could be {done}"))
            .safe("nothing was made")
            .remedy("regent paths"))
    }

    /// Where something is broken: an upgrade not long ago is the likely cause.
    pub(super) fn recent_upgrade(self) -> Option<Finding> {
        let now = self.app.kernel.now();
        let kept = match self.app.host.backups() {
            Ok(kept) => kept.into_iter().filter(|kept| !kept.unfinished),
            Err(problem) => {
                let remedy = problem.remedy.into_iter().next();
                return Some(Finding {
                    name: "backups",
                    state: FindingState::Bad,
                    what: problem.what,
                    remedy,
                });
            }
        };
        let upgrades = kept.filter(|kept| {
            kept.occasion == Occasion::Upgrade && now.is_within(kept.at, kept.at.plus(RECENT))
        });
        let newest = upgrades.max_by_key(|kept| kept.at)?;
        let (when, folder) = (newest.at.date_time(self.app.kernel.zone()), newest.folder.display());
        let what =
            format!("the house was upgraded on {when}; that may be the cause. As it was before: {folder}");
        let remedy = newest.there.then(|| format!("regent restore --dry-run {folder}"));
        Some(Finding { name: "upgrade", state: FindingState::Warn, what, remedy })
    }
}
