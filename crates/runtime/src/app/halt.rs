//! `halt` and `resume-all`: everything stands still until the owner says otherwise, whatever is restarted.

use ledger::records::Halt;
use ledger::table::Record as _;
use ledger::{CommitError, Entry, Refusal};
use serde::Serialize;
use serde_json::json;

use super::{App, TaskLine};
use crate::problem::Problem;

const HALTS: &str = Halt::TABLE.name;
/// The word that stands for the owner in rows.
const OWNER: &str = "owner";

#[derive(Clone, Debug, Serialize)]
pub struct Halted {
    pub since: domain::Time,
    /// Whether it stood still already.
    pub already: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Lifted {
    /// Since when everything had stood still; nothing if it did not.
    pub since: Option<domain::Time>,
    /// What waits to be gone on with.
    pub unfinished: Vec<TaskLine>,
}

impl App {
    /// From the moment this returns no call starts, in any process; what runs is stopped within a second.
    ///
    /// # Errors
    /// If the ledger fails. Then nothing is halted.
    pub async fn halt(&self) -> Result<Halted, Problem> {
        let desk = self.desk().await?;
        let now = desk.now();
        let mut batch = desk.batch();
        batch
            .put(&Halt { name: Halt::ALL.into(), at: now, by: OWNER.into() })
            .expect_absent::<Halt>("name", &Halt::ALL.to_owned())
            .audit(entry("house.halted", now));
        match desk.ledger.commit(batch).await {
            Ok(_) => Ok(Halted { since: now, already: false }),
            Err(CommitError::Refused(
                Refusal::Present { table: HALTS, .. } | Refusal::Duplicate { table: HALTS },
            )) => {
                let since = desk.ledger.halted().await?.map_or(now, |halt| halt.at);
                Ok(Halted { since, already: true })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// # Errors
    /// If the ledger fails. Then everything still stands.
    pub async fn resume_all(&self) -> Result<Lifted, Problem> {
        const SHOWN: u32 = 20;
        let desk = self.desk().await?;
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

fn entry(kind: &str, at: domain::Time) -> Entry {
    Entry {
        at,
        kind: kind.into(),
        actor: OWNER.into(),
        subject: "house".into(),
        trust: None,
        origin_id: None,
        reason_id: None,
        vpol_id: None,
        detail: json!({}),
    }
}
