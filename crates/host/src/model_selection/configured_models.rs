//! The models for what is beyond the reflexes. They are chosen when the first request needs them, once per process.

use std::sync::Arc;

use app::instance::settings::Settings;
use app::{ModelSource, Problem};
use async_trait::async_trait;
use llm::Model;
use tokio::sync::OnceCell;

use super::client::connect_tiers;
use super::{ModelReporter, ModelSelection};
use crate::ProcessEnvironment;

/// The models that the settings and the environment name.
pub struct ConfiguredModels {
    settings: Settings,
    process: ProcessEnvironment,
    reporter: Box<dyn ModelReporter>,
    chosen: OnceCell<Option<Arc<dyn Model>>>,
}

impl std::fmt::Debug for ConfiguredModels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfiguredModels").finish_non_exhaustive()
    }
}

impl ConfiguredModels {
    pub fn new(settings: Settings, process: ProcessEnvironment, reporter: Box<dyn ModelReporter>) -> Self {
        Self { settings, process, reporter, chosen: OnceCell::new() }
    }

    /// `None`: the reflexes answer alone.
    async fn connect(&self) -> Result<Option<Arc<dyn Model>>, Problem> {
        let selection = ModelSelection::load(&self.settings, &self.process)?;
        let chosen = selection.choose().await?;
        selection.disclose(&chosen, self.settings.get("budget.day.money"), &|disclosure| {
            self.reporter.show_disclosure(disclosure);
        });
        if !chosen.is_reflex() {
            return Ok(Some(Arc::new(connect_tiers(&chosen)?)));
        }
        for (model, why) in &chosen.passed_over {
            self.reporter.show_unavailable(model, why);
        }
        Ok(None)
    }
}

#[async_trait]
impl ModelSource for ConfiguredModels {
    async fn choose(&self) -> Result<Option<Arc<dyn Model>>, Problem> {
        let chosen = self.chosen.get_or_try_init(async || self.connect().await);
        chosen.await.cloned()
    }
}
