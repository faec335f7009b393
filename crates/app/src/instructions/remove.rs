//! `instructions remove`.

use clap::Args;
use kernel::{Code, Problem};
use ledger::AuditEvent;
use ledger::audit_event::OWNER;
use ledger::records::AgentNote;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{InstructionView, Instructions};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
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
    type Output = InstructionView;

    async fn run(self, context: &OperationContext<'_>) -> Result<InstructionView, OperationError> {
        Ok(context.app.instructions().remove(self.id).await?)
    }
}

impl Instructions<'_> {
    /// Removes an instruction, and returns it as it was.
    ///
    /// # Errors
    /// If there is no such instruction, or the ledger fails.
    pub async fn remove(self, id: u64) -> Result<InstructionView, Problem> {
        let services = self.app.kernel.services().await?;
        let notes: Vec<AgentNote> = services.ledger.sealed().await?;
        let note = notes.into_iter().find(|note| note.id == id).ok_or_else(|| {
            Problem::new(Code::NO_SUCH_ID, format!("there is no instruction {id}"))
                .safe("nothing was removed")
                .remedy("regent instructions list")
        })?;
        let view = self.view(note).await?;
        let mut batch = services.batch();
        batch
            .erase::<AgentNote, _>("id", &[id])
            .audit(AuditEvent::InstructionRemoved { note: id }.entry(OWNER, services.now()));
        services.ledger.commit(batch).await?;
        Ok(view)
    }
}
