//! `halt` and `resume-all`: everything stands still until the owner says otherwise, whatever is restarted.

use std::time::Duration;

use domain::Time;
use ledger::audit_event::OWNER;
use ledger::records::Halt;
use ledger::table::Record as _;
use ledger::{AuditEvent, CommitError, Refusal, Select};
use serde::Serialize;

use super::Instance;
use crate::tasks::TaskLine;
use kernel::Problem;

const HALTS: &str = Halt::TABLE.name;
/// How long `halt` waits for the database. It counts before that.
const DATABASE_WAIT: Duration = Duration::from_secs(5);

/// How long to wait before looking again whether the keys are free.
const KEYS_WAIT: Duration = Duration::from_millis(50);

#[derive(Clone, Debug, Serialize)]
pub struct Halted {
    pub since: Time,
    /// Whether it stood still already.
    pub already: bool,
    /// Whether it is in the ledger. If not, the database was busy: the next command that can write to it enters the halt.
    pub recorded: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Lifted {
    /// Since when everything had stood still; nothing if it did not.
    pub since: Option<Time>,
    /// What waits to be gone on with.
    pub unfinished: Vec<TaskLine>,
}

impl Instance<'_> {
    /// From the moment this returns no call starts, in any process; what runs is stopped within a second. It works while the
    /// database is locked or away, too: a file beside the keys says so until the ledger does.
    ///
    /// # Errors
    /// If neither the file nor the ledger can be written. Then nothing is halted.
    #[tracing::instrument(level = "info", name = "instance.halt", skip_all)]
    pub async fn halt(self) -> Result<Halted, Problem> {
        let now = self.app.kernel.now();
        let requested = self.app.host.request_halt(now);
        let waiting = tokio::time::timeout(DATABASE_WAIT, self.enter_halt(now)).await;
        match (requested, waiting) {
            (_, Ok(Ok(halted))) => Ok(halted),
            (Ok(()), _) => Ok(Halted { since: now, already: false, recorded: false }),
            (Err(problem), _) => Err(problem),
        }
    }

    async fn enter_halt(self, now: Time) -> Result<Halted, Problem> {
        // Here, where the wait can be given up: the ledger would block until it has them.
        while self.app.host.keys_are_locked() {
            tokio::time::sleep(KEYS_WAIT).await;
        }
        let ledger = self.app.kernel.ledger().await?;
        let before: Option<Halt> = ledger.first(Select::by("name", &Halt::ALL.to_owned())).await?;
        self.app.kernel.record_halt(now).await?;
        let (already, since) = (before.is_some(), before.map_or(now, |halt| halt.at));
        Ok(Halted { since, already, recorded: true })
    }

    /// # Errors
    /// If the ledger fails. Then everything still stands.
    #[tracing::instrument(level = "info", name = "instance.resume_all", skip_all)]
    pub async fn resume_all(self) -> Result<Lifted, Problem> {
        const SHOWN: u32 = 20;
        let services = self.app.kernel.services().await?; // enters a halt that waits
        let since = services.ledger.halted().await?.map(|halt| halt.at);
        if let Some(since) = &since {
            let mut batch = services.batch();
            // This one, and none that was given since.
            batch.expect_present::<Halt>("at", since).erase::<Halt, _>("name", &[Halt::ALL.to_owned()]);
            batch.audit(AuditEvent::InstanceResumed.entry(OWNER, services.now()));
            match services.ledger.commit(batch).await {
                Ok(_) | Err(CommitError::Refused(Refusal::Gone { table: HALTS, .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut unfinished = Vec::new();
        for task in services.ledger.unfinished(SHOWN).await? {
            unfinished.push(self.app.tasks().line(task).await?);
        }
        Ok(Lifted { since, unfinished })
    }
}
