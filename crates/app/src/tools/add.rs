//! `tools add`.

use ledger::AuditEvent;
use std::path::Path;

use broker::Registration;
use clap::Args;
use domain::limits::LINE_BYTES;
use kernel::{Code, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolLine, Tools, line};
use crate::operation::{Operation, OperationAccess, OperationContext, OperationError, OperationSpec};

/// Register a tool from a JSON file, or change one that was; it starts at level 0
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct AddTool {
    /// The file, or `-` for standard input
    pub file: String,
}

// No route: it reads a file of this machine.
impl Operation for AddTool {
    const SPEC: OperationSpec = OperationSpec::new(
        "tools add",
        OperationAccess::ADMIN,
        &[
            r#"echo '{"tool_id":"notes_read","description":"reads the notes","handler_config":{"function":"read_file","fixed":{"path":"NOTES.md"}}}' | regent tools add -"#,
        ],
    )
    .notes("All fields: docs/broker.md");
    type Output = ToolLine;

    async fn run(self, context: &OperationContext<'_>) -> Result<ToolLine, OperationError> {
        let registration = read_registration(context, &self.file).await?;
        Ok(context.app.tools().register(&registration).await?)
    }
}

async fn read_registration(context: &OperationContext<'_>, file: &str) -> Result<String, Problem> {
    let unreadable = |why: String| {
        Problem::new(Code::INPUT, format!("`{file}` cannot be read: {why}")).safe("nothing was registered")
    };
    if file == "-" {
        return context.io.read_text(LINE_BYTES).await.map_err(|error| unreadable(error.to_string()));
    }
    let text = context.io.read_file(Path::new(file));
    let text = text.map_err(|error| unreadable(error.to_string()))?;
    text.ok_or_else(|| unreadable("it is not there".into()))
}

impl Tools<'_> {
    /// Registers a tool, or replaces what somebody had registered. It starts at level 0: a person looks at every call.
    ///
    /// # Errors
    /// If the registration cannot work or claims to be less than what stands behind it, or the ledger fails.
    #[tracing::instrument(level = "info", name = "tools.register", skip_all)]
    pub async fn register(self, registration: &str) -> Result<ToolLine, Problem> {
        let bad = |why: String| Problem::new(Code::BAD_TOOL, why).safe("nothing was registered");
        let registration: Registration =
            domain::json::from_str(registration).map_err(|error| bad(error.to_string()))?;
        let tool_set = self.tool_set().await?;
        // Whatever was registered under this name is replaced, so it is tried without it.
        let rows = self.app.kernel.ledger().await?.tools().await?;
        let replaced = rows.iter().any(|row| row.tool_id == registration.tool_id);
        let registry = tool_set.registry.clone().shipped_only(&tool_set.shipped);
        let spec = registration.spec(&registry).map_err(|error| bad(error.to_string()))?;
        registry.register(spec.clone()).map_err(|error| bad(error.to_string()))?;
        let tier = spec.tier;
        self.keep(&spec, |tool| match replaced {
            true => AuditEvent::ToolChanged { tool, tier },
            false => AuditEvent::ToolRegistered { tool, tier },
        })
        .await?;
        Ok(line(&tool_set, &spec, &self.app.host.switches()))
    }
}
