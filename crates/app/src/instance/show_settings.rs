//! `config show`.

use clap::Args;
use present::{Page, Style, Tone, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings::Settings;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Every setting with its value
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ShowSettings {
    /// Say where each value came from
    #[arg(long)]
    #[serde(default)]
    pub origin: bool,
}

impl Operation for ShowSettings {
    const SPEC: OperationSpec =
        OperationSpec::new("config show", OperationAccess::READ, &["regent config show --origin"])
            .route(HttpMethod::Get, "/settings");
    type Output = SettingsView;

    async fn run(self, context: &OperationContext<'_>) -> Result<SettingsView, OperationError> {
        Ok(SettingsView { settings: context.app.settings().clone(), origin: self.origin })
    }
}

/// The settings; `origin`: a person sees where each value came from.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct SettingsView {
    pub settings: Settings,
    #[serde(skip)]
    pub origin: bool,
}

impl Output for SettingsView {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        for (name, setting) in self.settings.all() {
            let value = format!("{:?}", setting.value);
            let origin = if self.origin {
                format!("   {}", style.theme.paint(&inline(&setting.origin), Tone::Faint))
            } else {
                String::new()
            };
            page.add(format!("{name:<17} {value:<16}{origin}"));
        }
        page
    }
}
