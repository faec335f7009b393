//! The tools of one run: those that ship, as the owner has set them, and those that were registered.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use broker::{ExecutionMode, Handler, Level, Registry, ToolSpec};
use domain::Digest;
use engine::task::DELIVER;
use ledger::Ledger;
use ledger::records::Tool;
use tools::{Kept, Workspace};

use crate::ask_model::{ASK_MODEL, AskModel};
use crate::deliver::{Deliver, Surface};
use crate::kernel::Kernel;
use domain::problem::{Code, Problem};

/// The tools of an instance, with what is wrong with those that cannot be used.
pub struct ToolSet {
    pub registry: Registry,
    pub(crate) models: Arc<AskModel>,
    /// Which of them ship with the program.
    pub shipped: Vec<String>,
    pub mistakes: Vec<String>,
}

impl std::fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolSet").field("registry", &self.registry).finish_non_exhaustive()
    }
}

impl Kernel {
    /// The tools for work in this folder, with those of this machine.
    ///
    /// # Errors
    /// If the folder cannot be worked in, or the ledger fails.
    pub async fn tools_in(&self, workspace: &Path, surface: Arc<dyn Surface>) -> Result<ToolSet, Problem> {
        let tools = self.shipped_tools_in(workspace, surface).await?;
        Ok(ToolSet { registry: self.parts.host.tools(tools.registry), ..tools })
    }

    /// The same without those that only this machine has.
    ///
    /// # Errors
    /// If the folder cannot be worked in, or the ledger fails.
    pub async fn shipped_tools_in(
        &self,
        workspace: &Path,
        surface: Arc<dyn Surface>,
    ) -> Result<ToolSet, Problem> {
        ToolSet::open(self.ledger().await?, workspace, &self.parts.guarded, surface).await
    }
}

impl ToolSet {
    /// `without` are the folders of the instance itself, which no tool reaches wherever the workspace is.
    ///
    /// # Errors
    /// If the folder cannot be worked in, or the ledger fails.
    pub async fn open(
        ledger: &Arc<Ledger>,
        workspace: &Path,
        without: &[PathBuf],
        surface: Arc<dyn Surface>,
    ) -> Result<Self, Problem> {
        let unusable = |failure: domain::call::Failure| {
            Problem::new(Code::WORKSPACE, format!("the workspace cannot be used: {}", failure.message))
                .safe("nothing was done")
        };
        let workspace = Workspace::new(workspace.to_owned()).map_err(unusable)?.without(without);
        let id = DELIVER.parse().map_err(Problem::internal)?;
        let deliver = Arc::new(Deliver::new(surface));
        let workspace = Arc::new(workspace);
        let blobs = Arc::new(Blobs(Arc::clone(ledger)));
        let models = Arc::new(AskModel::default());
        let ask_model = ASK_MODEL.parse().map_err(Problem::internal)?;
        let mut registry = tools::add_put_back(tools::builtin(&workspace), &workspace, blobs)
            .with(Deliver::spec(id), deliver)
            .with(AskModel::spec(ask_model), Arc::clone(&models) as Arc<dyn Handler>);
        let shipped = registry.ids().map(ToString::to_string).collect();
        let mut mistakes = Vec::new();
        for row in ledger.tools().await? {
            match added(ledger, registry.clone(), &row).await? {
                Ok(with) => registry = with,
                Err(why) => mistakes.push(format!("{}: {why}", row.tool_id)),
            }
        }
        Ok(Self { registry, models, shipped, mistakes })
    }
}

/// The bytes that calls have taken away stand in the ledger.
struct Blobs(Arc<Ledger>);

#[async_trait]
impl Kept for Blobs {
    async fn bytes(&self, blob: &Digest) -> Result<Option<Vec<u8>>, String> {
        self.0.body(blob).await.map_err(|error| error.to_string())
    }
}

async fn added(ledger: &Ledger, registry: Registry, row: &Tool) -> Result<Result<Registry, String>, Problem> {
    if registry.spec(&row.tool_id).is_some() {
        let mode = ExecutionMode::ALL.iter().find(|mode| mode.name() == row.execution_mode);
        let level = u8::try_from(row.monitoring_level).ok().and_then(Level::from_number);
        let (Some(mode), Some(level)) = (mode, level) else {
            return Ok(Err("its row is unreadable".into()));
        };
        return Ok(Ok(registry.tuned(&row.tool_id, |spec| {
            (spec.execution_mode, spec.level) = (*mode, level);
        })));
    }
    let Some(bytes) = ledger.body(&row.spec).await? else {
        return Ok(Err("what was known of it is gone".into()));
    };
    let spec: ToolSpec = match serde_json::from_slice(&bytes) {
        Ok(spec) => spec,
        Err(error) => return Ok(Err(error.to_string())),
    };
    Ok(registry.register(spec).map_err(|error| error.to_string()))
}
