//! `paths`.

use clap::Args;
use present::{Page, Style, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::paths::VaultOwner;
use super::{Instance, settings};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    Requirements,
};

/// Where data, keys and settings are, and how to remove them
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ShowPaths {}

impl Operation for ShowPaths {
    const SPEC: OperationSpec =
        OperationSpec::new("paths", OperationAccess::OWNER_READ, &["regent paths --json"])
            .route(HttpMethod::Get, "/paths");
    type Output = Paths;

    fn requirements(&self) -> Requirements {
        Requirements::INSTANCE
    }

    async fn run(self, context: &OperationContext<'_>) -> Result<Paths, OperationError> {
        Ok(context.app.instance().paths())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Paths {
    pub settings: String,
    pub data: String,
    pub database: String,
    pub keys: String,
}

impl Output for Paths {
    fn render(&self, _: &Style<'_>) -> Page {
        let mut page = Page::new();
        let rows = [
            ("settings", &self.settings),
            ("data", &self.data),
            ("database", &self.database),
            ("keys", &self.keys),
        ];
        page.add_all(rows.into_iter().map(|(name, path)| format!("{name:<10} {}", inline(path))));
        let elsewhere = match self.database.split_once("://") {
            Some(_) => "drop the schema `brainframe` of that database",
            None => "there is nothing elsewhere",
        };
        page.add_note(format!("to remove everything, delete the folders of settings and data; {elsewhere}"));
        page
    }
}

impl Instance<'_> {
    #[must_use]
    pub fn paths(self) -> Paths {
        let house = &self.app.paths;
        Paths {
            settings: house.settings_file().display().to_string(),
            data: house.data.display().to_string(),
            database: match self.app.settings.get("database.url") {
                "" => house.database().display().to_string(),
                url => settings::without_password(url),
            },
            keys: self
                .app
                .host
                .keys_folder()
                .unwrap_or_else(|| house.vault(&VaultOwner::File).keys)
                .display()
                .to_string(),
        }
    }
}
