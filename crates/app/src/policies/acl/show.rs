//! `acl show`.

use clap::Args;
use kernel::Problem;
use policy::acl::{Policy, written};
use present::{Page, Style, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AclLine;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};
use crate::policies::{Policies, no_such_policy};

/// One policy, whole, as YAML
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ShowAccessPolicy {
    /// As `regent acl list` shows it
    pub name: String,
}

impl Operation for ShowAccessPolicy {
    const SPEC: OperationSpec =
        OperationSpec::new("acl show", OperationAccess::READ, &["regent acl show partner-access"])
            .route(HttpMethod::Get, "/acl/policies/{name}");
    type Output = AclView;

    async fn run(self, context: &OperationContext<'_>) -> Result<AclView, OperationError> {
        Ok(context.app.policies().show(&self.name).await?)
    }
}

/// Everything of one policy.
#[derive(Clone, Debug, Serialize)]
pub struct AclView {
    #[serde(flatten)]
    pub line: AclLine,
    pub policy: Policy,
}

impl Output for AclView {
    fn render(&self, _: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_all(written(&self.policy).lines().map(inline));
        page
    }
}

impl Policies<'_> {
    /// # Errors
    /// If there is no such policy, or the ledger fails.
    #[tracing::instrument(level = "info", name = "policies.show", skip_all)]
    pub async fn show(self, name: &str) -> Result<AclView, Problem> {
        let active = self.active_acl().await?;
        let policy = active.set.get(name).cloned().ok_or_else(|| no_such_policy(&active.set, name))?;
        let line = self.acl_lines(&active.set).into_iter().find(|line| line.name == name);
        let line = line.ok_or_else(|| no_such_policy(&active.set, name))?;
        Ok(AclView { line, policy })
    }
}
