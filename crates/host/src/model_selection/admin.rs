//! The selection of models for the operations about it.

use std::sync::Arc;

use app::instance::settings::Settings;
use app::models::{
    ConfirmedHost, ModelAdmin, ModelDisclosure, ModelList, ModelSetting, ModelTest, ModelTier, PreparedTests,
    ShowDisclosure,
};
use app::{Finding, Problem};
use async_trait::async_trait;
use domain::Clock;
use models::Endpoint;

use super::capability_test::test_model;
use super::diagnosis::diagnose_models;
use super::owner_choice::WrittenSetting;
use super::{ModelSelection, disclosure, views};
use crate::ProcessEnvironment;

/// The models that the settings and the environment name, as the owner sees and changes them.
pub struct ConfiguredModelAdmin {
    settings: Settings,
    process: ProcessEnvironment,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for ConfiguredModelAdmin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfiguredModelAdmin").finish_non_exhaustive()
    }
}

impl ConfiguredModelAdmin {
    pub fn new(settings: Settings, process: ProcessEnvironment, clock: Arc<dyn Clock>) -> Self {
        Self { settings, process, clock }
    }

    fn load(&self) -> Result<ModelSelection, Problem> {
        ModelSelection::load(&self.settings, &self.process)
    }

    /// The money for a day.
    fn budget(&self) -> &str {
        self.settings.get("budget.day.money")
    }
}

#[async_trait]
impl ModelAdmin for ConfiguredModelAdmin {
    async fn diagnose(&self) -> Vec<Finding> {
        diagnose_models(&self.settings, &self.process).await
    }

    async fn list(&self) -> Result<ModelList, Problem> {
        let selection = self.load()?;
        let chosen = selection.choose().await.map(|chosen| selection.view_choice(&chosen));
        let (chosen, problem) = views::split(chosen);
        let providers = selection.list_providers().await?.into_iter().map(views::view_provider).collect();
        Ok(ModelList { chosen, problem, providers })
    }

    async fn set_models(&self, tier: ModelTier, models: &str) -> Result<ModelSetting, Problem> {
        let mut selection = self.load()?;
        let WrittenSetting { name, value, file, hidden_by, chosen } =
            selection.set_models(tier, models, &self.process).await?;
        let (chosen, problem) = views::split(chosen);
        let disclosures = chosen
            .as_ref()
            .map(|chosen| disclosure::find_undisclosed(&selection.instance, chosen, self.budget()));
        Ok(ModelSetting {
            setting: name,
            value,
            file,
            chosen: chosen.map(|chosen| selection.view_choice(&chosen)),
            problem,
            hidden_by,
            disclosures: disclosures.unwrap_or_default(),
        })
    }

    fn disclose(&self, disclosures: &[ModelDisclosure], show: ShowDisclosure<'_>) {
        if let Ok(instance) = self.process.locate_instance() {
            disclosure::disclose(&instance, disclosures, show);
        }
    }

    fn confirm_host(&self, provider: &str, host: &str) -> Result<ConfirmedHost, Problem> {
        self.load()?.confirm_host(provider, host)
    }

    async fn prepare_tests(
        &self,
        which: Option<&str>,
        show: ShowDisclosure<'_>,
    ) -> Result<Box<dyn PreparedTests>, Problem> {
        let endpoints = self.load()?.prepare_tests(which, self.budget(), show).await?;
        Ok(Box::new(EndpointTests { endpoints: endpoints.into_iter(), clock: Arc::clone(&self.clock) }))
    }
}

/// The models that are still to be tested. The owner has seen the disclosures for them.
struct EndpointTests {
    endpoints: std::vec::IntoIter<Endpoint>,
    clock: Arc<dyn Clock>,
}

#[async_trait]
impl PreparedTests for EndpointTests {
    async fn test_next(&mut self) -> Result<Option<ModelTest>, Problem> {
        match self.endpoints.next() {
            Some(endpoint) => test_model(endpoint, || self.clock.now()).await.map(Some),
            None => Ok(None),
        }
    }
}
