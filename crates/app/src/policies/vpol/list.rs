//! `vpol list`.

use std::path::PathBuf;

use clap::Args;
use policy::vpol::Listed;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::VpolView;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    Requirements, json_each,
};

/// Every validation policy, in the order in which they are heard
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListVpols {
    /// The policies, in YAML; those that count, if none is named
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub policies: Vec<PathBuf>,
}

impl Operation for ListVpols {
    const SPEC: OperationSpec = OperationSpec::new("vpol list", OperationAccess::READ, &["regent vpol list"])
        .route(HttpMethod::Get, "/vpol/policies");
    type Output = VpolList;

    fn requirements(&self) -> Requirements {
        Requirements { instance: false, settings: true }
    }

    async fn run(self, context: &OperationContext<'_>) -> Result<VpolList, OperationError> {
        let set = context.app.policies().vpols_of(context.io, &self.policies).await?;
        Ok(VpolList(set.iter().cloned().map(VpolView).collect()))
    }
}

#[derive(Debug, Serialize)]
pub struct VpolList(pub Vec<VpolView>);

impl Output for VpolList {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_all(self.0.iter().map(|view| view.row(style)));
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.0)
    }
}

impl VpolView {
    fn row(&self, style: &Style<'_>) -> String {
        let Listed { vpol, priority, .. } = &self.0;
        let name = style.theme.paint_command(&format!("{:<24}", vpol.name));
        let mode = if vpol.reviews(domain::Tier::Admin) {
            format!("{} above {}", vpol.mode.name(), vpol.up_to)
        } else {
            vpol.mode.name().to_owned()
        };
        format!("{priority:>3}  {name}  {mode}")
    }
}
