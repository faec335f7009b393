//! `tools level`.

use broker::Level;
use clap::Args;
use kernel::{Code, Problem};
use ledger::AuditEvent;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolLine, Tools, known, line};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// Set how much a tool is watched: 0 (every call reviewed) to 4 (none)
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct SetToolLevel {
    pub tool: String,
    #[arg(value_parser = clap::value_parser!(u8).range(0..=4))]
    #[schemars(range(max = 4))]
    pub level: u8,
}

impl Operation for SetToolLevel {
    const SPEC: OperationSpec =
        OperationSpec::new("tools level", OperationAccess::ADMIN, &["regent tools level write_file 0"])
            .route(HttpMethod::Put, "/tools/{tool}/level");
    type Output = ToolLine;

    async fn run(self, context: &OperationContext<'_>) -> Result<ToolLine, OperationError> {
        Ok(context.app.tools().set_level(&self.tool, self.level).await?)
    }
}

impl Tools<'_> {
    /// How much a tool is watched from now on. The owner's word: it is recorded, not voted on.
    ///
    /// # Errors
    /// If there is no such tool or level, or the ledger fails.
    #[tracing::instrument(level = "info", name = "tools.set_level", skip_all)]
    pub async fn set_level(self, name: &str, level: u8) -> Result<ToolLine, Problem> {
        let tool_set = self.tool_set().await?;
        let mut spec = known(&tool_set, name)?.clone();
        let before = spec.level as u8;
        spec.level = Level::from_number(level)
            .ok_or_else(|| Problem::new(Code::BAD_TOOL, format!("there is no level {level}; 0 to 4")))?;
        self.keep(&spec, |tool| AuditEvent::ToolLevelSet { tool, before }).await?;
        Ok(line(&tool_set, &spec, &self.app.host.switches()))
    }
}
