//! `tools enable` and `tools disable`.

use broker::Reach;
use clap::Args;
use kernel::{Code, Problem};
use ledger::AuditEvent;
use ledger::audit_event::OWNER;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolLine, Tools, known, line};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// Switch a tool on
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct EnableTool {
    pub tool: String,
}

impl Operation for EnableTool {
    const SPEC: OperationSpec =
        OperationSpec::new("tools enable", OperationAccess::ADMIN, &["regent tools enable write_file"])
            .route(HttpMethod::Post, "/tools/{tool}/enable");
    type Output = ToolLine;

    async fn run(self, context: &OperationContext<'_>) -> Result<ToolLine, OperationError> {
        Ok(context.app.tools().switch(&self.tool, true).await?)
    }
}

/// Switch a tool off; nobody can use it then
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct DisableTool {
    pub tool: String,
}

impl Operation for DisableTool {
    const SPEC: OperationSpec =
        OperationSpec::new("tools disable", OperationAccess::ADMIN, &["regent tools disable write_file"])
            .route(HttpMethod::Post, "/tools/{tool}/disable");
    type Output = ToolLine;

    async fn run(self, context: &OperationContext<'_>) -> Result<ToolLine, OperationError> {
        Ok(context.app.tools().switch(&self.tool, false).await?)
    }
}

impl Tools<'_> {
    /// Turns the one switch that a tool has.
    ///
    /// # Errors
    /// If there is no such tool, or the file cannot be written.
    #[tracing::instrument(level = "info", name = "tools.switch", skip_all)]
    pub async fn switch(self, name: &str, enabled: bool) -> Result<ToolLine, Problem> {
        let tool_set = self.tool_set().await?;
        let spec = known(&tool_set, name)?;
        if spec.reach == Reach::Origin {
            let what = format!("without {} nothing could be answered, so it is always on", spec.id);
            return Err(Problem::new(Code::BAD_TOOL, what).safe("nothing was changed"));
        }
        let services = self.app.kernel.services().await?;
        let mut batch = services.batch();
        let switched = AuditEvent::ToolSwitched { tool: &spec.id, enabled };
        batch.audit(switched.entry(OWNER, services.now()));
        if enabled {
            // On record before it may run; off before it is on record.
            services.ledger.commit(batch).await?;
            self.app.host.turn(&spec.id, enabled)?;
        } else {
            self.app.host.turn(&spec.id, enabled)?;
            services.ledger.commit(batch).await?;
        }
        Ok(line(&tool_set, spec, &self.app.host.switches()))
    }
}
