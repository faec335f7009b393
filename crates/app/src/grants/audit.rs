//! `grants audit`.

use clap::Args;
use domain::Time;
use domain::id::{CallId, GrantId};
use kernel::Problem;
use ledger::records::GrantEvent;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Grants;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    json_each,
};

/// What became of the grants: made, used, expired, revoked
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct AuditGrants {
    /// Only of this one
    pub id: Option<String>,
}

impl Operation for AuditGrants {
    const SPEC: OperationSpec = OperationSpec::new(
        "grants audit",
        OperationAccess::READ,
        &["regent grants audit", "regent grants audit g-k7q2"],
    )
    .route(HttpMethod::Get, "/grants/log");
    type Output = GrantLog;

    async fn run(self, context: &OperationContext<'_>) -> Result<GrantLog, OperationError> {
        Ok(GrantLog(context.app.grants().log(self.id.as_deref()).await?))
    }
}

#[derive(Debug, Serialize)]
pub struct GrantLog(pub Vec<GrantLine>);

/// What happened to a grant, once.
#[derive(Clone, Debug, Serialize)]
pub struct GrantLine {
    pub at: Time,
    pub grant: GrantId,
    pub short: String,
    pub event: GrantEvent,
    pub call: Option<CallId>,
    #[serde(skip)]
    pub call_short: String,
}

impl Output for GrantLog {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_all(self.0.iter().map(|line| {
            let at = line.at.date_time(style.zone);
            format!("{:<8} {:<8} {at}  {}", line.short, line.event.name(), line.call_short)
        }));
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.0)
    }
}

impl Grants<'_> {
    /// What became of the grants, in order; of one, or of all.
    ///
    /// # Errors
    /// If there is no such grant, or the ledger fails.
    #[tracing::instrument(level = "info", name = "grants.log", skip_all)]
    pub async fn log(self, id: Option<&str>) -> Result<Vec<GrantLine>, Problem> {
        let services = self.app.kernel.services().await?;
        let of = match id {
            Some(id) => Some(self.find(id).await?.id),
            None => None,
        };
        let mut lines = Vec::new();
        for log in services.ledger.grant_log(of).await? {
            lines.push(GrantLine {
                at: log.at,
                short: self.app.kernel.short(log.grant_id).await?,
                grant: log.grant_id,
                event: log.event,
                call_short: match log.call_id {
                    Some(call) => self.app.kernel.short(call).await?,
                    None => String::new(),
                },
                call: log.call_id,
            });
        }
        Ok(lines)
    }
}
