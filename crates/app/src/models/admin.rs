//! What the operations about models need of the host.

use async_trait::async_trait;
use kernel::{Code, Problem};
use present::{Page, inline};

use super::{ConfirmedHost, ModelList, ModelSetting, ModelTest, ModelTier};
use crate::host::Finding;

/// What is sent to a host from now on, in the words for the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelDisclosure {
    pub host: String,
    /// Several lines, as they are: not escaped.
    pub text: String,
}

impl ModelDisclosure {
    #[must_use]
    pub fn page(&self) -> Page {
        let mut page = Page::new();
        self.text.lines().for_each(|line| page.add_note(inline(line)));
        page
    }
}

/// Shows the owner a disclosure.
pub type ShowDisclosure<'a> = &'a (dyn Fn(&ModelDisclosure) + Send + Sync);

/// The selection of models, as the owner sees and changes it.
#[async_trait]
pub trait ModelAdmin: Send + Sync {
    /// Says which models are asked and why, and which ones are not.
    async fn diagnose(&self) -> Vec<Finding>;

    /// The models that are asked, and every provider. Those on this machine are asked whether they answer.
    ///
    /// # Errors
    /// If a setting about a provider is wrong. A choice that cannot be used is in the list.
    async fn list(&self) -> Result<ModelList, Problem>;

    /// Writes which models a tier asks: a list, `auto` or `reflex`.
    ///
    /// # Errors
    /// If the list is wrong, or the settings cannot be written. Then nothing was changed.
    async fn set_models(&self, tier: ModelTier, models: &str) -> Result<ModelSetting, Problem>;

    /// Shows disclosures, and writes down after each that it was shown.
    fn disclose(&self, disclosures: &[ModelDisclosure], show: ShowDisclosure<'_>);

    /// Writes down that a provider's key may go to a host.
    ///
    /// # Errors
    /// If there is no such provider or host, or it cannot be written.
    fn confirm_host(&self, provider: &str, host: &str) -> Result<ConfirmedHost, Problem>;

    /// Finds the models to test, and shows the disclosures for them before anything is sent. `which` is a model, a tier, or
    /// `None` for all that are chosen.
    ///
    /// # Errors
    /// If there are none, or one that was named cannot be asked.
    async fn prepare_tests(
        &self,
        which: Option<&str>,
        show: ShowDisclosure<'_>,
    ) -> Result<Box<dyn PreparedTests>, Problem>;
}

/// Models that are tested one after the other.
#[async_trait]
pub trait PreparedTests: Send {
    /// Tests the next one; `None` if there is no other.
    ///
    /// # Errors
    /// If there is no HTTP client. A model that does not answer is an outcome.
    async fn test_next(&mut self) -> Result<Option<ModelTest>, Problem>;
}

/// For an instance without a selection of models, as tests have it.
#[derive(Clone, Copy, Debug)]
pub struct NoModelAdmin;

fn unable() -> Problem {
    Problem::new(Code::NEEDS_MODEL, "this instance selects no models").safe("nothing was done")
}

#[async_trait]
impl ModelAdmin for NoModelAdmin {
    async fn diagnose(&self) -> Vec<Finding> {
        Vec::new()
    }

    async fn list(&self) -> Result<ModelList, Problem> {
        Err(unable())
    }

    async fn set_models(&self, _tier: ModelTier, _models: &str) -> Result<ModelSetting, Problem> {
        Err(unable())
    }

    fn disclose(&self, _disclosures: &[ModelDisclosure], _show: ShowDisclosure<'_>) {}

    fn confirm_host(&self, _provider: &str, _host: &str) -> Result<ConfirmedHost, Problem> {
        Err(unable())
    }

    async fn prepare_tests(
        &self,
        _which: Option<&str>,
        _show: ShowDisclosure<'_>,
    ) -> Result<Box<dyn PreparedTests>, Problem> {
        Err(unable())
    }
}
