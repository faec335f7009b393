//! The tools: what there is, what is switched on, how much each is watched; and a call that the owner asks for by name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use broker::access::{Switch, Switches};
use broker::alias;
use broker::{ExecutionMode, Level, Reach, Registration, ToolSpec};
use domain::call::ToolId;
use domain::id::TaskId;
use domain::task::FinalResult;
use domain::{Tier, canonical};
use ledger::records::{Blob, Tool};
use ledger::{Batch, Entry};
use llm::DirectCall;
use serde::Serialize;
use serde_json::{Value, json};

use super::run::DIRECT;
use super::{App, Report, Request, Thinking};
use crate::pipeline::{Desk, Surface, Watch};
use crate::problem::{Code, Problem};
use crate::toolbox::Toolbox;

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

/// Everything that is known of one tool.
#[derive(Clone, Debug, Serialize)]
pub struct ToolView {
    #[serde(flatten)]
    pub spec: ToolSpec,
    /// As the rabs seed calls the tier.
    pub risk_level: domain::tier::RiskLevel,
    pub switch: Switch,
    pub shipped: bool,
    /// Other names that are understood.
    pub aliases: Vec<&'static str>,
    pub alignment_score_90d: Option<f64>,
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
    pub watch: Watch,
    pub patience: super::Patience,
}

impl std::fmt::Debug for DirectRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DirectRequest").field("tool", &self.tool).finish_non_exhaustive()
    }
}

/// Listings call nothing, so it does not matter where they would.
const NOWHERE: &str = "/";

pub(super) struct Unheard;

impl Surface for Unheard {
    fn show(&self, _: TaskId, _: &FinalResult) -> Result<(), String> {
        Err("nobody listens".into())
    }
}

impl App {
    async fn toolbox(&self) -> Result<Toolbox, Problem> {
        Toolbox::open(self.ledger().await?, Path::new(NOWHERE), &[], Arc::new(Unheard)).await
    }

    /// Every tool there is, with what is wrong with those that cannot be used.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn tools(&self) -> Result<(Vec<ToolLine>, Vec<String>), Problem> {
        let toolbox = self.toolbox().await?;
        let switches = self.parts.host.switches();
        let lines = toolbox.registry.specs().map(|spec| toolbox.line(spec, &switches)).collect();
        let mut mistakes = toolbox.mistakes;
        mistakes.extend(switches.mistake().map(|why| format!("tool-access.json: {why}")));
        Ok((lines, mistakes))
    }

    /// # Errors
    /// If there is no such tool, or the ledger cannot be read.
    pub async fn tool(&self, name: &str) -> Result<ToolView, Problem> {
        let toolbox = self.toolbox().await?;
        let spec = known(&toolbox, name)?.clone();
        let row = self.row(&spec.id).await?;
        let line = toolbox.line(&spec, &self.parts.host.switches());
        let aliases = alias::ARI.iter().filter(|(_, id, _)| *id == spec.id.as_str());
        Ok(ToolView {
            risk_level: spec.tier.risk_level(),
            switch: line.switch,
            shipped: line.shipped,
            aliases: aliases.map(|(alias, ..)| *alias).collect(),
            alignment_score_90d: row.and_then(|row| row.alignment_score_90d).map(f64::from),
            spec,
        })
    }

    async fn row(&self, id: &ToolId) -> Result<Option<Tool>, Problem> {
        Ok(self.ledger().await?.tools().await?.into_iter().find(|row| row.tool_id == *id))
    }

    /// Turns the one switch that a tool has.
    ///
    /// # Errors
    /// If there is no such tool, or the file cannot be written.
    pub async fn switch_tool(&self, name: &str, enabled: bool) -> Result<ToolLine, Problem> {
        let toolbox = self.toolbox().await?;
        let spec = known(&toolbox, name)?;
        if spec.reach == Reach::Origin {
            let what = format!("without {} nothing could be answered, so it is always on", spec.id);
            return Err(Problem::new(Code::BAD_TOOL, what).safe("nothing was changed"));
        }
        let desk = self.desk().await?;
        let mut batch = desk.batch();
        batch.audit(entry(&desk, "tool.switched", &spec.id, json!({ "enabled": enabled })));
        if enabled {
            // On record before it may run; off before it is on record.
            desk.ledger.commit(batch).await?;
            self.parts.host.turn(&spec.id, enabled)?;
        } else {
            self.parts.host.turn(&spec.id, enabled)?;
            desk.ledger.commit(batch).await?;
        }
        Ok(toolbox.line(spec, &self.parts.host.switches()))
    }

    /// How much a tool is watched from now on. The owner's word: it is recorded, not voted on.
    ///
    /// # Errors
    /// If there is no such tool or level, or the ledger fails.
    pub async fn set_level(&self, name: &str, level: u8) -> Result<ToolLine, Problem> {
        let toolbox = self.toolbox().await?;
        let mut spec = known(&toolbox, name)?.clone();
        let before = spec.level as u8;
        spec.level = Level::from_number(level)
            .ok_or_else(|| Problem::new(Code::BAD_TOOL, format!("there is no level {level}; 0 to 4")))?;
        let detail = json!({ "level": level, "before": before });
        self.keep(&spec, "tool.level_set", detail).await?;
        Ok(toolbox.line(&spec, &self.parts.host.switches()))
    }

    /// Registers a tool, or replaces what somebody had registered. It starts at level 0: a person looks at every call.
    ///
    /// # Errors
    /// If the registration cannot work or claims to be less than what stands behind it, or the ledger fails.
    pub async fn register_tool(&self, registration: &str) -> Result<ToolLine, Problem> {
        let bad = |why: String| Problem::new(Code::BAD_TOOL, why).safe("nothing was registered");
        let registration: Registration =
            domain::json::from_str(registration).map_err(|error| bad(error.to_string()))?;
        let toolbox = self.toolbox().await?;
        // Whatever was registered under this name is replaced, so it is tried without it.
        let rows = self.ledger().await?.tools().await?;
        let replaced = rows.iter().any(|row| row.tool_id == registration.tool_id);
        let registry = toolbox.registry.clone().shipped_only(&toolbox.shipped);
        let spec = registration.spec(&registry).map_err(|error| bad(error.to_string()))?;
        registry.register(spec.clone()).map_err(|error| bad(error.to_string()))?;
        let kind = if replaced { "tool.changed" } else { "tool.registered" };
        self.keep(&spec, kind, json!({ "level": spec.level as u8, "tier": spec.tier })).await?;
        Ok(toolbox.line(&spec, &self.parts.host.switches()))
    }

    /// Takes a registered tool out. Its calls stay on record.
    ///
    /// # Errors
    /// If there is none, or it ships with the program, or the ledger fails.
    pub async fn remove_tool(&self, name: &str) -> Result<ToolId, Problem> {
        let toolbox = self.toolbox().await?;
        let id = alias::resolve(name).ok_or_else(|| no_such(&toolbox, name))?;
        if toolbox.shipped.contains(&id.to_string()) {
            let what = format!("`{id}` ships with the program; it can only be switched off");
            return Err(Problem::new(Code::BAD_TOOL, what)
                .safe("nothing was changed")
                .remedy(format!("regent tools disable {id}")));
        }
        self.row(&id).await?.ok_or_else(|| no_such(&toolbox, name))?;
        let desk = self.desk().await?;
        let mut batch = desk.batch();
        batch.erase::<Tool, _>("tool_id", std::slice::from_ref(&id));
        batch.audit(entry(&desk, "tool.removed", &id, json!({})));
        desk.ledger.commit(batch).await?;
        Ok(id)
    }

    async fn keep(&self, spec: &ToolSpec, kind: &str, mut detail: Value) -> Result<(), Problem> {
        let desk = self.desk().await?;
        let score = self.row(&spec.id).await?.and_then(|row| row.alignment_score_90d);
        let body = Blob::public(canonical::bytes(spec).map_err(Problem::internal)?);
        if let Some(detail) = detail.as_object_mut() {
            detail.insert("spec".into(), json!(body.hash));
        }
        let mut batch: Batch = desk.batch();
        batch.put(&body).put(&Tool {
            tool_id: spec.id.clone(),
            agent_access: serde_json::to_string(&spec.agent_access).map_err(Problem::internal)?,
            risk_level: spec.tier.risk_level().name().into(),
            execution_mode: spec.execution_mode.name().into(),
            monitoring_level: spec.level as u64,
            alignment_score_90d: score,
            spec: body.hash,
            changed_at: desk.now(),
        });
        batch.audit(entry(&desk, kind, &spec.id, detail));
        desk.ledger.commit(batch).await?;
        Ok(())
    }

    /// One call, by the owner's own hand: through the same door as any other, with its own task, journal and record.
    ///
    /// # Errors
    /// If there is no such tool, or it cannot be taken in or let in, or the ledger fails.
    pub async fn call(&self, direct: DirectRequest) -> Result<Report, Problem> {
        let DirectRequest { tool, args, confirmed, workspace, surface, watch, patience } = direct;
        let toolbox = self.toolbox().await?;
        let id = known(&toolbox, &tool)?.id.clone();
        toolbox.registry.accepts(&id, &args).map_err(|why| {
            Problem::new(Code::BAD_ARGUMENTS, format!("the arguments do not fit {id}: {why}"))
                .safe("nothing was done")
                .remedy(format!("regent tools show {id}"))
        })?;
        let spec = toolbox.registry.digest(&id);
        let call = DirectCall { tool: id, args, confirmed, spec };
        let text = serde_json::to_string(&call).map_err(Problem::internal)?;
        let request = Request { text, workspace, surface, watch, patience, thinking: Thinking::default() };
        super::run::check(&request)?;
        self.carry(&request, Some(DIRECT)).await
    }
}

impl Toolbox {
    fn line(&self, spec: &ToolSpec, switches: &Switches) -> ToolLine {
        ToolLine {
            tool: spec.id.clone(),
            tier: spec.tier,
            level: spec.level as u8,
            execution_mode: spec.execution_mode,
            switch: switches.of(&spec.id),
            shipped: self.shipped.contains(&spec.id.to_string()),
            description: spec.description.clone(),
        }
    }
}

fn known<'a>(toolbox: &'a Toolbox, name: &str) -> Result<&'a ToolSpec, Problem> {
    toolbox.registry.named(name).ok_or_else(|| no_such(toolbox, name))
}

fn no_such(toolbox: &Toolbox, name: &str) -> Problem {
    let ids = toolbox.registry.specs().map(|spec| spec.id.as_str());
    let hint = crate::settings::nearest(name, ids);
    let hint = hint.map_or_else(String::new, |id| format!("; did you mean `{id}`?"));
    Problem::new(Code::NO_SUCH_TOOL, format!("there is no tool `{name}`{hint}"))
        .safe("nothing was done")
        .remedy("regent tools list")
}

fn entry(desk: &Desk, kind: &str, tool: &ToolId, detail: Value) -> Entry {
    Entry {
        at: desk.now(),
        kind: kind.into(),
        actor: "owner".into(),
        subject: tool.to_string(),
        trust: None,
        origin_id: None,
        reason_id: None,
        vpol_id: None,
        detail,
    }
}
