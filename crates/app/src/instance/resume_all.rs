//! `resume-all`.

use clap::Args;
use domain::Time;
use kernel::Problem;
use ledger::AuditEvent;
use ledger::audit_event::OWNER;
use ledger::records::Halt;
use ledger::table::Record as _;
use ledger::{CommitError, Refusal};
use present::{Page, Style, pluralize, shorten};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Instance;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};
use crate::tasks::TaskLine;

const HALTS: &str = Halt::TABLE.name;

/// Lift a halt, and say what there is to go on with
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct LiftHalt {}

impl Operation for LiftHalt {
    const SPEC: OperationSpec =
        OperationSpec::new("resume-all", OperationAccess::ADMIN, &["regent resume-all"])
            .route(HttpMethod::Delete, "/halt");
    type Output = Lifted;

    async fn run(self, context: &OperationContext<'_>) -> Result<Lifted, OperationError> {
        Ok(context.app.instance().resume_all().await?)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Lifted {
    /// Since when everything had stood still; nothing if it did not.
    pub since: Option<Time>,
    /// What waits to be gone on with.
    pub unfinished: Vec<TaskLine>,
}

impl Output for Lifted {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(match self.since {
            Some(since) => format!("halted since {}; calls may start again", since.date_time(style.zone)),
            None => "nothing was halted".to_owned(),
        });
        if !self.unfinished.is_empty() {
            let waiting = pluralize(self.unfinished.len(), "task", "tasks");
            page.add_note(format!("{waiting} to go on with:"));
        }
        for task in &self.unfinished {
            let command = style.note_theme.paint_command(&format!("regent resume {}", task.short));
            let request = shorten(task.said.as_deref().unwrap_or("(erased)"), 50);
            page.add_note(format!("  {command}  {request}"));
        }
        page
    }
}

impl Instance<'_> {
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
