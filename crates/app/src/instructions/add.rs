//! `instructions add`.

use clap::Args;
use domain::limits::INSTRUCTION_BYTES;
use kernel::{Code, Problem};
use ledger::audit_event::OWNER;
use ledger::records::{AgentNote, Blob};
use ledger::{AuditEvent, CommitError, Refusal};
use policy::admit::MAIN;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{InstructionView, Instructions};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// Add a standing instruction; it counts from the next prompt on
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct AddInstruction {
    /// What agents are to keep to, in plain language
    #[arg(value_name = "TEXT", required = true, num_args = 1..)]
    pub text: Vec<String>,
    /// Instructions with a higher priority come first
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    #[serde(default)]
    pub priority: i64,
}

impl Operation for AddInstruction {
    const SPEC: OperationSpec = OperationSpec::new(
        "instructions add",
        OperationAccess::ADMIN,
        &["regent instructions add \"write British English\""],
    )
    .route(HttpMethod::Post, "/instructions");
    type Output = InstructionView;

    async fn run(self, context: &OperationContext<'_>) -> Result<InstructionView, OperationError> {
        Ok(context.app.instructions().add(&self.text.join(" "), self.priority).await?)
    }
}

/// How often a number is counted up again because another process took it.
const TRIES: usize = 8;

impl Instructions<'_> {
    /// # Errors
    /// If the text is empty, too long or holds a secret, or the ledger fails.
    pub async fn add(self, text: &str, priority: i64) -> Result<InstructionView, Problem> {
        let text = text.trim();
        let bad = |what: String| {
            Problem::new(Code::BAD_ARGUMENTS, what)
                .safe("nothing was added")
                .remedy("regent instructions add \"write British English\"")
        };
        if text.is_empty() {
            return Err(bad("the instruction is empty".into()));
        }
        if text.len() > INSTRUCTION_BYTES {
            return Err(bad(format!(
                "the instruction has {} bytes, more than {INSTRUCTION_BYTES}",
                text.len()
            )));
        }
        self.app.kernel.check_for_secrets(text)?;
        let services = self.app.kernel.services().await?;
        let owner =
            kernel::parties::owner(&services, &self.app.host.user(), self.app.settings.get("owner.name"))
                .await?;
        let content = Blob::personal(text.as_bytes().to_vec(), &owner.salt);
        for _ in 0..TRIES {
            let notes: Vec<AgentNote> = services.ledger.sealed().await?;
            let note = AgentNote {
                id: notes.iter().map(|note| note.id).max().unwrap_or(0) + 1,
                agent_id: MAIN.into(),
                note_type: AgentNote::INSTRUCTION.into(),
                content: content.hash,
                priority,
                created_at: services.now(),
            };
            let mut batch = services.batch();
            owner.enter(&mut batch);
            batch
                .put(&content)
                .put(&note)
                .audit(AuditEvent::InstructionAdded(&note).entry(OWNER, services.now()));
            match services.ledger.commit(batch).await {
                Ok(_) => return self.view(note).await,
                // Another process took the number.
                Err(CommitError::Refused(Refusal::Duplicate { .. } | Refusal::Present { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Problem::new(Code::DATABASE_BUSY, "other processes added instructions all the time")
            .safe("nothing was added"))
    }
}
