//! The tools: what there is, what is switched on, how much each is watched; and a call that the owner asks for by name.

mod add;
mod arguments;
mod call;
mod level;
mod list;
mod remove;
mod show;
mod switch;

use ledger::AuditEvent;
use ledger::audit_event::OWNER;
use std::path::Path;
use std::sync::Arc;

use broker::access::{Switch, Switches};
use broker::{ExecutionMode, ToolSpec};
use domain::call::ToolId;
use domain::id::TaskId;
use domain::task::FinalResult;
use domain::{Tier, canonical};
use kernel::{Code, Problem, Surface, ToolSet};
use ledger::Batch;
use ledger::records::{Blob, Tool};
use present::{Page, Style, Tone, shorten};
use serde::Serialize;

use crate::App;
use crate::operation::{OperationEntry, OperationGroup, Output};

pub use add::AddTool;
pub use call::{CallTool, DirectRequest};
pub use level::SetToolLevel;
pub use list::{ListTools, ToolList};
pub use remove::{RemoveTool, ToolRemoval};
pub use show::{ShowTool, ToolView};
pub use switch::{DisableTool, EnableTool};

pub const GROUP: OperationGroup = OperationGroup::new(
    "tools",
    "The tools: what there is, what is on, and a call by your own hand",
    &["regent tools call hash path=README.md"],
    &[
        OperationEntry::of::<ListTools>(),
        OperationEntry::of::<ShowTool>(),
        OperationEntry::of::<EnableTool>(),
        OperationEntry::of::<DisableTool>(),
        OperationEntry::of::<SetToolLevel>(),
        OperationEntry::of::<AddTool>(),
        OperationEntry::of::<RemoveTool>(),
        OperationEntry::of::<CallTool>(),
    ],
);

/// One tool in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolLine {
    pub tool: ToolId,
    pub tier: Tier,
    pub level: u8,
    pub execution_mode: ExecutionMode,
    pub switch: Switch,
    /// Whether it comes with the program.
    pub shipped: bool,
    pub description: String,
}

impl Output for ToolLine {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(self.row(style));
        page
    }
}

impl ToolLine {
    fn row(&self, style: &Style<'_>) -> String {
        let state = match self.switch {
            Switch::On => style.theme.paint("on ", Tone::Good),
            Switch::Off | Switch::OffByEnvironment | Switch::Unreadable => {
                style.theme.paint("off", Tone::Attention)
            }
        };
        format!(
            "{state}  {:<16} {:<18} level {}  {}",
            shorten(self.tool.as_str(), 32),
            self.tier.name(),
            self.level,
            shorten(&self.description, 64)
        )
    }
}

/// Listings call nothing, so it does not matter where they would.
const NOWHERE: &str = "/";

struct Unheard;

impl Surface for Unheard {
    fn show(&self, _: TaskId, _: &FinalResult) -> Result<(), String> {
        Err("nobody listens".into())
    }
}

/// The tools of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    pub(crate) app: &'a App,
}

impl Tools<'_> {
    async fn tool_set(self) -> Result<ToolSet, Problem> {
        ToolSet::open(self.app.kernel.ledger().await?, Path::new(NOWHERE), &[], Arc::new(Unheard)).await
    }

    async fn row(self, id: &ToolId) -> Result<Option<Tool>, Problem> {
        Ok(self.app.kernel.ledger().await?.tools().await?.into_iter().find(|row| row.tool_id == *id))
    }

    async fn keep(self, spec: &ToolSpec, event: impl FnOnce(&Tool) -> AuditEvent<'_>) -> Result<(), Problem> {
        let services = self.app.kernel.services().await?;
        let score = self.row(&spec.id).await?.and_then(|row| row.alignment_score_90d);
        let body = Blob::public(canonical::bytes(spec).map_err(Problem::internal)?);
        let mut batch: Batch = services.batch();
        let row = Tool {
            tool_id: spec.id.clone(),
            agent_access: serde_json::to_string(&spec.agent_access).map_err(Problem::internal)?,
            risk_level: spec.tier.risk_level().name().into(),
            execution_mode: spec.execution_mode.name().into(),
            monitoring_level: spec.level as u64,
            alignment_score_90d: score,
            spec: body.hash,
            changed_at: services.now(),
        };
        batch.put(&body).put(&row).audit(event(&row).entry(OWNER, services.now()));
        services.ledger.commit(batch).await?;
        Ok(())
    }
}

fn line(tools: &ToolSet, spec: &ToolSpec, switches: &Switches) -> ToolLine {
    ToolLine {
        tool: spec.id.clone(),
        tier: spec.tier,
        level: spec.level as u8,
        execution_mode: spec.execution_mode,
        switch: switches.of(&spec.id),
        shipped: tools.shipped.contains(&spec.id.to_string()),
        description: spec.description.clone(),
    }
}

fn known<'a>(tool_set: &'a ToolSet, name: &str) -> Result<&'a ToolSpec, Problem> {
    tool_set.registry.named(name).ok_or_else(|| no_such(tool_set, name))
}

fn no_such(tool_set: &ToolSet, name: &str) -> Problem {
    let ids = tool_set.registry.ids().map(ToolId::as_str);
    let hint = crate::nearest::find_nearest(name, ids);
    let hint = hint.map_or_else(String::new, |id| format!("; did you mean `{id}`?"));
    Problem::new(Code::NO_SUCH_TOOL, format!("there is no tool `{name}`{hint}"))
        .safe("nothing was done")
        .remedy("regent tools list")
}
