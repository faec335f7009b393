//! `model set`.

use clap::{Args, ValueEnum};
use kernel::Problem;
use present::{Page, Style, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ModelChoice, ModelDisclosure};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    StreamEnd,
};

/// Say who is to be asked; everything else in the settings file stays
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct SetModels {
    /// `brain` perceives, plans and judges; `hands` act and check
    pub tier: ModelTier,
    /// Models as provider/model, with commas; the next is asked where one does not answer. Or `reflex`, or `auto`
    #[arg(value_name = "MODELS", required = true, num_args = 1..)]
    pub models: Vec<String>,
}

/// Whose models are set: those that plan and judge, or those that act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelTier {
    // No comments: they would be in the help.
    Brain,
    Hands,
}

impl ModelTier {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Brain => "brain",
            Self::Hands => "hands",
        }
    }
}

impl Operation for SetModels {
    const SPEC: OperationSpec = OperationSpec::new(
        "model set",
        OperationAccess::ADMIN,
        &[
            "regent model set brain anthropic/claude-sonnet-5-5,ollama/qwen3:8b",
            "regent model set brain reflex     nobody: nothing leaves this machine",
            "regent model set hands auto       as before anything was set",
        ],
    )
    .route(HttpMethod::Put, "/models/{tier}");
    type Output = StreamEnd;

    async fn run(self, context: &OperationContext<'_>) -> Result<StreamEnd, OperationError> {
        let each: Vec<&str> = self.models.iter().map(|one| one.trim_matches([',', ' '])).collect();
        let admin = &context.app.model_admin;
        let setting = admin.set_models(self.tier, &each.join(",")).await?;
        context.emit(&setting)?;
        // A caller that reads data sees no notes, so that nothing would be disclosed to a person.
        if !context.io.reads_data() {
            admin.disclose(&setting.disclosures, &|disclosure| context.io.note(&disclosure.page()));
        }
        Ok(StreamEnd::default())
    }
}

/// A setting about models as it was written, and what is chosen from now on.
#[derive(Clone, Debug, Serialize)]
pub struct ModelSetting {
    pub setting: String,
    pub value: String,
    pub file: String,
    pub chosen: Option<ModelChoice>,
    /// Why none is chosen.
    pub problem: Option<Problem>,
    /// The variable of the environment that counts before the file.
    #[serde(skip)]
    pub hidden_by: Option<String>,
    /// What the owner has not seen yet of the hosts that are asked from now on.
    #[serde(skip)]
    pub disclosures: Vec<ModelDisclosure>,
}

impl Output for ModelSetting {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(format!("{} is {:?} in {}", self.setting, self.value, inline(&self.file)));
        if let Some(variable) = &self.hidden_by {
            page.add_note(format!("the environment's {variable} counts before it"));
        }
        if let Some(chosen) = &self.chosen {
            page.append(chosen.page(style));
        }
        if let Some(problem) = &self.problem {
            page.add_note(format!("note {}: {}", problem.code, inline(&problem.what)));
        }
        page
    }
}
