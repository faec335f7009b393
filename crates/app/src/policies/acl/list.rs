//! `acl list`.

use clap::Args;
use domain::{Digest, Time};
use kernel::Problem;
use present::{Page, Style, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AclLine;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};
use crate::policies::in_force::ActivePolicySet;
use crate::policies::{Policies, PolicyMistake, PolicyStatus};

/// Every policy in force, in the order in which they are heard
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListAccessPolicies {}

impl Operation for ListAccessPolicies {
    const SPEC: OperationSpec = OperationSpec::new("acl list", OperationAccess::READ, &["regent acl list"])
        .route(HttpMethod::Get, "/acl/policies");
    type Output = AclReport;

    async fn run(self, context: &OperationContext<'_>) -> Result<AclReport, OperationError> {
        Ok(context.app.policies().list().await?)
    }
}

/// What is in force, and what is wrong with the files if something is.
#[derive(Clone, Debug, Serialize)]
pub struct AclReport {
    pub standing: PolicyStatus,
    pub set: Digest,
    /// Since when exactly these policies are in force.
    pub since: Option<Time>,
    pub policies: Vec<AclLine>,
    pub mistakes: Vec<PolicyMistake>,
    /// Policies of the last good set that are not in force any more, because their file was deleted.
    pub deleted: Vec<String>,
}

impl Output for AclReport {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_all(self.policies.iter().map(|line| line.row(style)));
        for mistake in &self.mistakes {
            page.add_note(format!("! {}", inline(&mistake.what)));
        }
        page.add_note(inline(&self.describe_status(style)));
        if !self.deleted.is_empty() {
            let deleted = inline(&self.deleted.join(", "));
            page.add_note(format!("! not in force, because the file was deleted: {deleted}"));
        }
        page
    }
}

impl AclReport {
    fn describe_status(&self, style: &Style<'_>) -> String {
        let since = self.since.map_or_else(|| "now".to_owned(), |since| since.date_time(style.zone));
        match self.standing {
            PolicyStatus::Current => format!("in force since {since}"),
            PolicyStatus::LastGood => {
                format!("! the files have mistakes: these are the last good policies, in force since {since}")
            }
            PolicyStatus::ShippedOnly => {
                "! the files have mistakes: only the policies that ship are in force".to_owned()
            }
            PolicyStatus::Closed => {
                "! the files have mistakes, and the last good policies are damaged: nobody is let in"
                    .to_owned()
            }
        }
    }
}

impl Policies<'_> {
    /// Every access policy in force, as they are heard.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "policies.list", skip_all)]
    pub async fn list(self) -> Result<AclReport, Problem> {
        let active = self.active_acl().await?;
        let (policies, deleted) = (self.acl_lines(&active.set), active.deleted());
        let ActivePolicySet { standing, digest, since, mistakes, .. } = active;
        Ok(AclReport { standing, set: digest, since, policies, mistakes, deleted })
    }
}
