//! `tools remove`.

use broker::alias;
use clap::Args;
use domain::call::ToolId;
use kernel::{Code, Problem};
use ledger::AuditEvent;
use ledger::audit_event::OWNER;
use ledger::records::Tool;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Tools, no_such};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Take a registered tool out again
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct RemoveTool {
    pub tool: String,
}

impl Operation for RemoveTool {
    const SPEC: OperationSpec =
        OperationSpec::new("tools remove", OperationAccess::ADMIN, &["regent tools remove notes_read"])
            .route(HttpMethod::Delete, "/tools/{tool}");
    type Output = ToolRemoval;

    async fn run(self, context: &OperationContext<'_>) -> Result<ToolRemoval, OperationError> {
        Ok(ToolRemoval { removed: context.app.tools().remove(&self.tool).await? })
    }
}

#[derive(Debug, Serialize)]
pub struct ToolRemoval {
    pub removed: ToolId,
}

impl Output for ToolRemoval {
    fn render(&self, _: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_note(format!("{} is not registered any more; its calls stay on record", self.removed));
        page
    }
}

impl Tools<'_> {
    /// Takes a registered tool out. Its calls stay on record.
    ///
    /// # Errors
    /// If there is none, or it ships with the program, or the ledger fails.
    #[tracing::instrument(level = "info", name = "tools.remove", skip_all)]
    pub async fn remove(self, name: &str) -> Result<ToolId, Problem> {
        let tool_set = self.tool_set().await?;
        let id = alias::resolve(name).ok_or_else(|| no_such(&tool_set, name))?;
        if tool_set.shipped.contains(&id.to_string()) {
            let what = format!("`{id}` ships with the program; it can only be switched off");
            return Err(Problem::new(Code::BAD_TOOL, what)
                .safe("nothing was changed")
                .remedy(format!("regent tools disable {id}")));
        }
        self.row(&id).await?.ok_or_else(|| no_such(&tool_set, name))?;
        let services = self.app.kernel.services().await?;
        let mut batch = services.batch();
        batch.erase::<Tool, _>("tool_id", std::slice::from_ref(&id));
        batch.audit(AuditEvent::ToolRemoved(&id).entry(OWNER, services.now()));
        services.ledger.commit(batch).await?;
        Ok(id)
    }
}
