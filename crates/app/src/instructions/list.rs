//! `instructions list`.

use clap::Args;
use kernel::Problem;
use ledger::records::AgentNote;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{InstructionView, Instructions};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    json_each,
};

/// List the standing instructions, in the order in which agents read them
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListInstructions {}

impl Operation for ListInstructions {
    const SPEC: OperationSpec =
        OperationSpec::new("instructions list", OperationAccess::READ, &["regent instructions list"])
            .route(HttpMethod::Get, "/instructions");
    type Output = InstructionList;

    async fn run(self, context: &OperationContext<'_>) -> Result<InstructionList, OperationError> {
        Ok(InstructionList(context.app.instructions().list().await?))
    }
}

#[derive(Debug, Serialize)]
pub struct InstructionList(pub Vec<InstructionView>);

impl Output for InstructionList {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        if self.0.is_empty() {
            let add = style.note_theme.paint_command("regent instructions add \"TEXT\"");
            page.add_note(format!("there are no standing instructions; {add}"));
        }
        page.add_all(self.0.iter().map(InstructionView::row));
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.0)
    }
}

impl Instructions<'_> {
    /// Every standing instruction, in the order in which agents read them.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn list(self) -> Result<Vec<InstructionView>, Problem> {
        let mut notes: Vec<AgentNote> = self.app.kernel.ledger().await?.sealed().await?;
        kernel::order_instructions(&mut notes);
        let mut views = Vec::new();
        for note in notes {
            views.push(self.view(note).await?);
        }
        Ok(views)
    }
}
