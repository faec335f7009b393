//! The house as a whole: brought forward, copied, taken back.

use std::path::Path;
use std::time::Duration;

use ledger::AuditEvent;
use ledger::audit_event::OWNER;

use super::Instance;
use super::backup::{Backup, How, KeptBackup, Occasion, Restored, Upgrade};
use crate::host::{Finding, FindingState};
use kernel::{Code, Problem};

/// How long an upgrade counts as recent.
const RECENT: Duration = Duration::from_secs(14 * 24 * 60 * 60);

impl Instance<'_> {
    /// Brings the house forward to this program's schema, or only says what would happen. The next command would do it, too.
    ///
    /// # Errors
    /// If there is no house, or the rehearsal refuses; then nothing was changed.
    #[tracing::instrument(level = "info", name = "instance.upgrade", skip_all)]
    pub async fn upgrade(self, how: How) -> Result<Upgrade, Problem> {
        self.needs_a_house("upgraded")?;
        self.app.host.upgrade(how).await
    }

    /// Makes a backup below `to`, or where backups are kept, and tries whether it can be restored.
    ///
    /// # Errors
    /// If there is no house, or it cannot be copied, or the copy is not as good as the house.
    #[tracing::instrument(level = "info", name = "instance.backup", skip_all)]
    pub async fn backup(self, to: Option<&Path>, how: How) -> Result<Backup, Problem> {
        self.needs_a_house("backed up")?;
        let services = self.app.kernel.services().await?;
        let backup = self.app.host.backup(to, how).await?;
        if let Some(manifest) = backup.manifest {
            let mut batch = services.batch();
            // Not the path: it can name a person, and an entry is for ever.
            let backed_up = AuditEvent::InstanceBackedUp { manifest, rows: backup.counted.rows };
            // The copy holds the secret of this epoch, so the epoch is over.
            batch.audit(backed_up.entry(OWNER, services.now())).end_epoch();
            services.ledger.commit(batch).await?;
        }
        Ok(backup)
    }

    /// Puts a backup in the place of this house, or only says what would be replaced.
    ///
    /// # Errors
    /// If it is no backup, is damaged, or belongs to another house while this one is not empty.
    #[tracing::instrument(level = "info", name = "instance.restore", skip_all)]
    pub async fn restore(self, from: &Path, how: How) -> Result<Restored, Problem> {
        self.app.host.restore(from, how).await
    }

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

    fn needs_a_house(self, done: &str) -> Result<(), Problem> {
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
