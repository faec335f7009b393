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
use ledger::audit_event::OWNER;
use ledger::records::{Blob, Tool};
use ledger::{AuditEvent, Batch};
use llm::DirectCall;
use serde::Serialize;
use serde_json::Value;

use kernel::{DIRECT_CALL, ModelOptions, RunRequest, Surface, ToolSet, WaitMode, check_request};

use crate::App;
use crate::tasks::Report;
use kernel::{Code, Problem};

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
    pub wait: WaitMode,
}

impl std::fmt::Debug for DirectRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DirectRequest").field("tool", &self.tool).finish_non_exhaustive()
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

    /// Every tool there is, with what is wrong with those that cannot be used.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "tools.list", skip_all)]
    pub async fn list(self) -> Result<(Vec<ToolLine>, Vec<String>), Problem> {
        let tool_set = self.tool_set().await?;
        let switches = self.app.host.switches();
        let lines = tool_set.registry.specs().map(|spec| line(&tool_set, spec, &switches)).collect();
        let mut mistakes = tool_set.mistakes;
        mistakes.extend(switches.mistake().map(|why| format!("tool-access.json: {why}")));
        Ok((lines, mistakes))
    }

    /// # Errors
    /// If there is no such tool, or the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "tools.show", skip_all)]
    pub async fn show(self, name: &str) -> Result<ToolView, Problem> {
        let tool_set = self.tool_set().await?;
        let spec = known(&tool_set, name)?.clone();
        let row = self.row(&spec.id).await?;
        let line = line(&tool_set, &spec, &self.app.host.switches());
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

    async fn row(self, id: &ToolId) -> Result<Option<Tool>, Problem> {
        Ok(self.app.kernel.ledger().await?.tools().await?.into_iter().find(|row| row.tool_id == *id))
    }

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
    let ids = tool_set.registry.specs().map(|spec| spec.id.as_str());
    let hint = crate::instance::settings::nearest(name, ids);
    let hint = hint.map_or_else(String::new, |id| format!("; did you mean `{id}`?"));
    Problem::new(Code::NO_SUCH_TOOL, format!("there is no tool `{name}`{hint}"))
        .safe("nothing was done")
        .remedy("regent tools list")
}
