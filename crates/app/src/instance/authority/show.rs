//! `authority show`.

use clap::Args;
use kernel::{Code, Problem};
use ledger::Unverified;
use present::{Page, Style, Tone, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::instance::Instance;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Check that this instance wrote every row that carries authority; exit 1 if not
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ShowAuthority {}

impl Operation for ShowAuthority {
    const SPEC: OperationSpec =
        OperationSpec::new("authority show", OperationAccess::READ, &["regent authority show"])
            .route(HttpMethod::Get, "/authority");
    type Output = AuthorityReport;

    async fn run(self, context: &OperationContext<'_>) -> Result<AuthorityReport, OperationError> {
        let report = context.app.instance().verify_authority().await?;
        if let Some(problem) = report.problem() {
            // The problem names the first fault only.
            context.emit(&report)?;
            return Err(problem.into());
        }
        Ok(report)
    }
}

/// What is wrong with the rows that carry authority; nothing if they all count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuthorityReport {
    pub verified: bool,
    pub faults: Vec<String>,
}

impl AuthorityReport {
    fn new(faults: &[Unverified]) -> Self {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        Self { verified: faults.is_empty(), faults }
    }

    /// What is wrong, if anything is.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        let what = format!("rows that carry authority do not count: {}", self.faults.first()?);
        Some(
            Problem::new(Code::AUTHORITY_CHANGED, what)
                .remedy("regent authority reset --dry-run")
                .remedy("regent explain R1016"),
        )
    }
}

impl Output for AuthorityReport {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        if self.verified {
            let what = "approvals, grants, people, policies, tools and halts are as this instance wrote them";
            page.add(style.theme.paint(what, Tone::Good));
        }
        page.add_all(self.faults.iter().map(|fault| style.theme.paint(&inline(fault), Tone::Attention)));
        page
    }
}

impl Instance<'_> {
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "instance.verify_authority", skip_all)]
    pub async fn verify_authority(self) -> Result<AuthorityReport, Problem> {
        Ok(AuthorityReport::new(&self.app.kernel.ledger().await?.verify_authority().await?))
    }
}
