//! `halt` and `resume-all`: everything stands still until the owner says otherwise, whatever is restarted.

use std::time::Duration;

use domain::id::Id;
use domain::{IdSource, Time};
use ledger::records::Halt;
use ledger::table::Record as _;
use ledger::{Batch, CommitError, Entry, Ledger, Refusal, Select};
use serde::Serialize;
use serde_json::json;

use super::{App, TaskLine};
use crate::host::Host;
use crate::problem::Problem;

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

impl App {
    /// From the moment this returns no call starts, in any process; what runs is stopped within a second. It works while the
    /// database is locked or away, too: a file beside the keys says so until the ledger does.
    ///
    /// # Errors
    /// If neither the file nor the ledger can be written. Then nothing is halted.
    pub async fn halt(&self) -> Result<Halted, Problem> {
        let now = self.parts.clock.now();
        let requested = self.parts.host.request_halt(now);
        let waiting = tokio::time::timeout(DATABASE_WAIT, self.enter_halt(now)).await;
        match (requested, waiting) {
            (_, Ok(Ok(halted))) => Ok(halted),
            (Ok(()), _) => Ok(Halted { since: now, already: false, recorded: false }),
            (Err(problem), _) => Err(problem),
        }
    }

    async fn enter_halt(&self, now: Time) -> Result<Halted, Problem> {
        // Here, where the wait can be given up: the ledger would block until it has them.
        while self.parts.host.keys_are_locked() {
            tokio::time::sleep(KEYS_WAIT).await;
        }
        let ledger = self.ledger().await?;
        let before: Option<Halt> = ledger.first(Select::by("name", &Halt::ALL.to_owned())).await?;
        carry_out(ledger, &*self.parts.host, &*self.parts.ids, now).await?;
        let (already, since) = (before.is_some(), before.map_or(now, |halt| halt.at));
        Ok(Halted { since, already, recorded: true })
    }

    /// # Errors
    /// If the ledger fails. Then everything still stands.
    pub async fn resume_all(&self) -> Result<Lifted, Problem> {
        const SHOWN: u32 = 20;
        let desk = self.desk().await?; // enters a halt that waits
        let since = desk.ledger.halted().await?.map(|halt| halt.at);
        if let Some(since) = &since {
            let mut batch = desk.batch();
            // This one, and none that was given since.
            batch.expect_present::<Halt>("at", since).erase::<Halt, _>("name", &[Halt::ALL.to_owned()]);
            batch.audit(entry("house.resumed", desk.now()));
            match desk.ledger.commit(batch).await {
                Ok(_) | Err(CommitError::Refused(Refusal::Gone { table: HALTS, .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut unfinished = Vec::new();
        for task in desk.ledger.unfinished(SHOWN).await? {
            unfinished.push(self.task_line(task).await?);
        }
        Ok(Lifted { since, unfinished })
    }
}

/// Enters a halt into the ledger, and takes the request for it back.
pub(super) async fn carry_out(
    ledger: &Ledger,
    host: &dyn Host,
    ids: &dyn IdSource,
    since: Time,
) -> Result<(), Problem> {
    let mut batch = Batch::new(Id::dated(since, ids), since);
    batch
        .put(&Halt { name: Halt::ALL.into(), at: since, by: Halt::OWNER.into() })
        .expect_absent::<Halt>("name", &Halt::ALL.to_owned())
        .audit(entry("house.halted", since));
    match ledger.commit(batch).await {
        Ok(_)
        | Err(CommitError::Refused(
            Refusal::Present { table: HALTS, .. } | Refusal::Duplicate { table: HALTS },
        )) => host.withdraw_halt_request(),
        Err(error) => Err(error.into()),
    }
}

fn entry(kind: &str, at: Time) -> Entry {
    Entry {
        at,
        kind: kind.into(),
        actor: Halt::OWNER.into(),
        subject: "house".into(),
        trust: None,
        origin_id: None,
        reason_id: None,
        vpol_id: None,
        detail: json!({}),
    }
}
