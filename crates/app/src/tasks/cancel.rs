//! `cancel`.

use clap::Args;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Put an end to a task, wherever it runs; what it has done so far stays
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct CancelTask {
    /// A task or an event; any unique beginning of its id
    pub id: String,
}

impl Operation for CancelTask {
    const SPEC: OperationSpec = OperationSpec::new("cancel", OperationAccess::RUN, &["regent cancel t-k7q2"])
        .route(HttpMethod::Post, "/tasks/{id}/cancel")
        .mcp();
    type Output = CancelledTask;

    async fn run(self, context: &OperationContext<'_>) -> Result<CancelledTask, OperationError> {
        Ok(CancelledTask(Box::pin(context.app.tasks().cancel(&self.id)).await?))
    }
}

/// What a task had come to when it was cancelled.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct CancelledTask(pub Report);

impl Output for CancelledTask {
    fn render(&self, style: &Style<'_>) -> Page {
        let Report { short, result, can_undo, .. } = &self.0;
        let has_text = result.as_ref().is_some_and(|result| !result.text.is_empty());
        let rest = if has_text { "; a part of the result is there" } else { "" };
        let undo = if *can_undo > 0 { format!("    regent undo {short}") } else { String::new() };
        let commands = format!("regent tasks show {short}{undo}");
        let mut page = Page::new();
        page.add(format!("{short} cancelled{rest}"));
        page.add_note(format!("  {}", style.note_theme.paint_command(&commands)));
        page
    }
}
