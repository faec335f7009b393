//! `vpol show`.

use std::path::PathBuf;

use clap::Args;
use kernel::{Code, Problem};
use present::{Page, Style, inline};
use schemars::JsonSchema;
use serde::Deserialize;

use super::VpolView;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    Requirements,
};

/// One of them, as a file would say it
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ShowVpol {
    pub name: String,
    /// The policies, in YAML; those that count, if none is named
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub policies: Vec<PathBuf>,
}

impl Operation for ShowVpol {
    const SPEC: OperationSpec =
        OperationSpec::new("vpol show", OperationAccess::READ, &["regent vpol show unattended"])
            .route(HttpMethod::Get, "/vpol/policies/{name}");
    type Output = VpolView;

    fn requirements(&self) -> Requirements {
        Requirements { instance: false, settings: true }
    }

    async fn run(self, context: &OperationContext<'_>) -> Result<VpolView, OperationError> {
        let set = context.app.policies().vpols_of(context.io, &self.policies).await?;
        let listed = set.get(&self.name).cloned().ok_or_else(|| {
            let what = format!("there is no validation policy `{}`", inline(&self.name));
            Problem::new(Code::NO_SUCH_ID, what).safe("nothing was done").remedy("regent vpol list")
        })?;
        Ok(VpolView(listed))
    }
}

impl Output for VpolView {
    fn render(&self, _: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(format!("# {}\n{}", self.0.vpol.id(), self.0));
        page
    }
}
