//! `instructions remove`.

use clap::Args;
use kernel::{Code, Problem};
use ledger::audit_event::OWNER;
use ledger::records::AgentNote;
use ledger::{AuditEvent, CommitError, Refusal};
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InstructionView, Instructions};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Remove a standing instruction; it is gone from the next prompt on
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct RemoveInstruction {
    /// Its number, as `regent instructions list` shows it
    pub id: u64,
}

impl Operation for RemoveInstruction {
    const SPEC: OperationSpec =
        OperationSpec::new("instructions remove", OperationAccess::ADMIN, &["regent instructions remove 3"])
            .route(HttpMethod::Delete, "/instructions/{id}");
    type Output = InstructionRemoval;

    async fn run(self, context: &OperationContext<'_>) -> Result<InstructionRemoval, OperationError> {
        Ok(InstructionRemoval(context.app.instructions().remove(self.id).await?))
    }
}

/// An instruction that was removed, as it was.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct InstructionRemoval(pub InstructionView);

impl Output for InstructionRemoval {
    fn render(&self, _: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(format!("removed {}", self.0.row().trim_start()));
        page
    }
}

impl Instructions<'_> {
    /// Removes an instruction, and returns it as it was.
    ///
    /// # Errors
    /// If there is no such instruction, or the ledger fails.
    pub async fn remove(self, id: u64) -> Result<InstructionView, Problem> {
        let services = self.app.kernel.services().await?;
        let unknown = || {
            Problem::new(Code::NO_SUCH_ID, format!("there is no instruction {id}"))
                .safe("nothing was removed")
                .remedy("regent instructions list")
        };
        let notes: Vec<AgentNote> = services.ledger.sealed().await?;
        let note = notes.into_iter().find(|note| note.id == id).ok_or_else(unknown)?;
        let view = self.view(note).await?;
        let mut batch = services.batch();
        batch
            .expect_present::<AgentNote>("id", &id)
            .erase::<AgentNote, _>("id", &[id])
            .audit(AuditEvent::InstructionRemoved { note: id }.entry(OWNER, services.now()));
        match services.ledger.commit(batch).await {
            Ok(_) => Ok(view),
            // Another process has just removed it.
            Err(CommitError::Refused(Refusal::Gone { .. })) => Err(unknown()),
            Err(error) => Err(error.into()),
        }
    }
}
