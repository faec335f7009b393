//! `tools call`: a call that the owner asks for by name.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use kernel::{Code, DIRECT_CALL, ModelOptions, Problem, RunRequest, Surface, WaitMode, check_request};
use llm::DirectCall;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Tools, known};
use crate::operation::{
    AttendedTask, HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};
use crate::tasks::{Report, TaskOutcome, conclude};

/// Call a tool yourself, here, through the same door as any agent
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct CallTool {
    pub tool: String,
    /// Arguments as name=value
    #[arg(value_name = "NAME=VALUE")]
    #[serde(default)]
    pub pairs: Vec<String>,
    /// All arguments as one JSON object
    #[arg(long = "args", value_name = "JSON", conflicts_with = "pairs")]
    #[serde(rename = "args")]
    pub json_args: Option<String>,
    /// Say yes to exactly this call, where a person is asked
    #[arg(long)]
    #[serde(default)]
    pub yes: bool,
    /// Stay until every question that it leads to is answered, here or elsewhere
    #[arg(long)]
    #[serde(default)]
    pub wait: bool,
}

impl Operation for CallTool {
    const SPEC: OperationSpec = OperationSpec::new(
        "tools call",
        OperationAccess::ADMIN,
        &[
            "regent tools call find_files 'extensions=[\"rs\"]' limit=3",
            "regent tools call write_file path=hello.txt content=hello",
            "regent tools call delete_file path=hello.txt --yes",
            "regent tools call calc --args '{\"expression\": \"19.99 * 3\"}'",
        ],
    )
    .route(HttpMethod::Post, "/tools/{tool}/calls")
    .starts_work();
    type Output = TaskOutcome;

    async fn run(self, context: &OperationContext<'_>) -> Result<TaskOutcome, OperationError> {
        let OperationContext { app, io } = *context;
        let request = DirectRequest {
            args: app.tools().read_arguments(&self.tool, &self.pairs, self.json_args.as_deref()).await?,
            tool: self.tool,
            confirmed: self.yes,
            workspace: io.folder()?,
            surface: io.delivery(),
            wait: io.wait_mode(self.wait),
        };
        let work = Box::pin(app.tools().call(request));
        let attended = io.attend(AttendedTask::New, self.wait, work).await?;
        Ok(conclude(context, attended).await)
    }
}

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
