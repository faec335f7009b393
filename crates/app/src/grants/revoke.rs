//! `grants revoke`.

use clap::Args;
use kernel::approvals::{self, GRANTS};
use kernel::{Code, Problem};
use ledger::audit_event::OWNER;
use ledger::records::{Grant, GrantEvent};
use ledger::{AuditEvent, CommitError, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{GrantView, Grants};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// Take a grant back
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct RevokeGrant {
    /// Any unique beginning of its id
    pub id: String,
}

impl Operation for RevokeGrant {
    const SPEC: OperationSpec =
        OperationSpec::new("grants revoke", OperationAccess::ADMIN, &["regent grants revoke g-k7q2"])
            .route(HttpMethod::Delete, "/grants/{id}");
    type Output = GrantView;

    async fn run(self, context: &OperationContext<'_>) -> Result<GrantView, OperationError> {
        Ok(context.app.grants().revoke(&self.id).await?)
    }
}

impl Grants<'_> {
    /// # Errors
    /// If there is no such grant, it does not hold any more, or the ledger fails.
    #[tracing::instrument(level = "info", name = "grants.revoke", skip_all)]
    pub async fn revoke(self, id: &str) -> Result<GrantView, Problem> {
        let services = self.app.kernel.services().await?;
        let now = services.now();
        let grant = self.find(id).await?;
        let Some(live) = grant.live.clone() else { return Err(self.revoked(&grant).await?) };
        let revoked = Grant { live: None, revoked_at: Some(now), ..grant.clone() };
        let mut batch = services.batch();
        batch
            .expect_present::<Grant>("live", &live)
            .put(&revoked)
            .put(&approvals::log(grant.id, GrantEvent::Revoked, now))
            .audit(AuditEvent::GrantRevoked(&grant).entry(OWNER, now));
        match services.ledger.commit(batch).await {
            Ok(_) => self.view(&services, revoked).await,
            Err(CommitError::Refused(Refusal::Gone { table: GRANTS, .. })) => {
                Err(self.revoked(&grant).await?)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn revoked(self, grant: &Grant) -> Result<Problem, Problem> {
        let how = if grant.revoked_at.is_some() { "was revoked already" } else { "has expired" };
        let what = format!("{} {how}", self.app.kernel.short(grant.id).await?);
        Ok(Problem::new(Code::ANSWERED, what).safe("nothing was done").remedy("regent grants list"))
    }
}
