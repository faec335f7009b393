//! `halt`: everything stands still until the owner says otherwise, whatever is restarted.

use std::time::Duration;

use clap::Args;
use domain::Time;
use kernel::Problem;
use ledger::Select;
use ledger::records::Halt;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Instance;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// How long `halt` waits for the database. It counts before that.
const DATABASE_WAIT: Duration = Duration::from_secs(5);

/// How long to wait before looking again whether the keys are free.
const KEYS_WAIT: Duration = Duration::from_millis(50);

/// Stop everything now: no call starts, what runs is stopped; until `resume-all`
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct HaltInstance {}

impl Operation for HaltInstance {
    const SPEC: OperationSpec =
        OperationSpec::new("halt", OperationAccess::ADMIN, &["regent halt"]).route(HttpMethod::Post, "/halt");
    type Output = Halted;

    async fn run(self, context: &OperationContext<'_>) -> Result<Halted, OperationError> {
        Ok(context.app.instance().halt().await?)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Halted {
    pub since: Time,
    /// Whether it stood still already.
    pub already: bool,
    /// Whether it is in the ledger. If not, the database was busy: the next command that can write to it enters the halt.
    pub recorded: bool,
}

impl Output for Halted {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        let since = self.since.date_time(style.zone);
        let again = if self.already { "already " } else { "" };
        page.add(format!("{again}halted since {since}: no call starts, what runs is stopped"));
        if !self.recorded {
            page.add_note(
                "the database is busy; the halt counts, and the next command enters it into the ledger",
            );
        }
        page.add_note(format!("  {}", style.note_theme.paint_command("regent resume-all")));
        page
    }
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
        // A halt counts from its request on. A process that was killed may have left one: the earlier time goes on record.
        let requested = ledger.seal().vault().halt_request().map_err(ledger::StoreError::from)?;
        let since = requested.map_or(now, |requested| requested.min(now));
        self.app.kernel.record_halt(since).await?;
        let already = before.is_some() || since < now;
        Ok(Halted { since: before.map_or(since, |halt| halt.at), already, recorded: true })
    }
}
