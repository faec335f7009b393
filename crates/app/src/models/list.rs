//! `model list`.

use clap::Args;
use kernel::Problem;
use present::{Page, Style, Tone, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ModelChoice;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Who is asked, why and at which price; every provider, and what it lacks
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListModels {}

impl Operation for ListModels {
    const SPEC: OperationSpec = OperationSpec::new(
        "model list",
        OperationAccess::READ,
        &["regent model list", "regent model list --json"],
    )
    .route(HttpMethod::Get, "/models");
    type Output = ModelList;

    async fn run(self, context: &OperationContext<'_>) -> Result<ModelList, OperationError> {
        Ok(context.app.model_admin.list().await?)
    }
}

/// The models that are asked, and every provider.
#[derive(Clone, Debug, Serialize)]
pub struct ModelList {
    pub chosen: Option<ModelChoice>,
    /// Why none is chosen.
    pub problem: Option<Problem>,
    pub providers: Vec<ProviderView>,
}

/// A provider, with what lets it be used or what is missing.
#[derive(Clone, Debug, Serialize)]
pub struct ProviderView {
    pub provider: String,
    pub dialect: String,
    pub url: String,
    /// Whether it is on another machine.
    pub outside: bool,
    pub usable: bool,
    /// Why it cannot be used.
    pub why: Option<String>,
    /// Where its key comes from.
    pub key: Option<String>,
    /// The variables of the environment that its key is looked for in.
    pub variables: Vec<String>,
    #[serde(skip)]
    pub host: String,
    /// What lets it be used, or why it cannot be.
    #[serde(skip)]
    pub remark: String,
}

impl ProviderView {
    fn row(&self, style: &Style<'_>) -> String {
        let (word, tone) = if self.usable { ("yes", Tone::Good) } else { ("no", Tone::Faint) };
        let word = style.theme.paint(&format!("{word:<3}"), tone);
        format!("{:<11} {word}  {:<33}  {}", self.provider, inline(&self.host), inline(&self.remark))
    }
}

impl Output for ModelList {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        if let Some(chosen) = &self.chosen {
            page.append(chosen.page(style));
            page.add("");
        }
        page.add_all(self.providers.iter().map(|provider| provider.row(style)));
        page
    }

    fn problem(&self) -> Option<Problem> {
        self.problem.clone()
    }
}
