//! `grants list`.

use clap::Args;
use kernel::Problem;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{GrantView, Grants};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    json_each,
};

/// Every grant, also those that do not hold any more
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListGrants {}

impl Operation for ListGrants {
    const SPEC: OperationSpec =
        OperationSpec::new("grants list", OperationAccess::READ, &["regent grants list"])
            .route(HttpMethod::Get, "/grants");
    type Output = GrantList;

    async fn run(self, context: &OperationContext<'_>) -> Result<GrantList, OperationError> {
        Ok(GrantList(context.app.grants().list().await?))
    }
}

#[derive(Debug, Serialize)]
pub struct GrantList(pub Vec<GrantView>);

impl Output for GrantList {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        if self.0.is_empty() {
            page.add_note("nothing is granted: whatever needs you asks you");
        }
        page.add_all(self.0.iter().map(|grant| grant.row(style)));
        for GrantView { short, .. } in self.0.iter().filter(|grant| grant.look_again) {
            let revoke = style.note_theme.paint_command(&format!("regent grants revoke {short}"));
            page.add_note(format!("! {short} has no end and is old; is it still meant? if not: {revoke}"));
        }
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.0)
    }
}

impl Grants<'_> {
    /// Every grant, oldest first; those that hold and those that do not any more.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "grants.list", skip_all)]
    pub async fn list(self) -> Result<Vec<GrantView>, Problem> {
        let services = self.app.kernel.services().await?;
        let mut views = Vec::new();
        for grant in services.ledger.grants().await? {
            views.push(self.view(&services, grant).await?);
        }
        Ok(views)
    }
}
