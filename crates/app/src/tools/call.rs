//! A call that the owner asks for by name.

use std::path::PathBuf;
use std::sync::Arc;

use kernel::{Code, DIRECT_CALL, ModelOptions, Problem, RunRequest, Surface, WaitMode, check_request};
use llm::DirectCall;
use serde_json::Value;

use super::{Tools, known};
use crate::tasks::Report;

/// A call that the owner asks for by name.
#[derive(Clone)]
pub struct DirectRequest {
    pub tool: String,
    pub args: Value,
    /// Whether they have said yes to exactly this.
    pub confirmed: bool,
    pub workspace: PathBuf,
    pub surface: Arc<dyn Surface>,
    pub wait: WaitMode,
}

impl std::fmt::Debug for DirectRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DirectRequest").field("tool", &self.tool).finish_non_exhaustive()
    }
}

impl Tools<'_> {
    /// One call, by the owner's own hand: through the same door as any other, with its own task, journal and record.
    ///
    /// # Errors
    /// If there is no such tool, or it cannot be taken in or let in, or the ledger fails.
    #[tracing::instrument(level = "info", name = "tools.call", skip_all)]
    pub async fn call(self, direct: DirectRequest) -> Result<Report, Problem> {
        let DirectRequest { tool, args, confirmed, workspace, surface, wait } = direct;
        let tool_set = self.tool_set().await?;
        let id = known(&tool_set, &tool)?.id.clone();
        tool_set.registry.accepts(&id, &args).map_err(|why| {
            Problem::new(Code::BAD_ARGUMENTS, format!("the arguments do not fit {id}: {why}"))
                .safe("nothing was done")
                .remedy(format!("regent tools show {id}"))
        })?;
        let spec = tool_set.registry.digest(&id);
        let call = DirectCall { tool: id, args, confirmed, spec };
        let text = serde_json::to_string(&call).map_err(Problem::internal)?;
        let request = RunRequest { text, workspace, surface, wait, options: ModelOptions::default() };
        check_request(&request)?;
        self.app.tasks().run_as(&request, Some(DIRECT_CALL)).await
    }
}
