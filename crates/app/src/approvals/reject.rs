//! `approvals reject`.

use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::{ApprovalOutcome, answer_call, is_access_request};
use super::{Act, ApprovalItem};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};
use crate::people::AccessRequestAnswer;

/// Say no
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct RejectRequest {
    /// Any unique beginning of its id
    pub id: String,
    /// The agent is told it
    #[arg(value_name = "REASON")]
    #[serde(default)]
    pub reason: Vec<String>,
}

impl Operation for RejectRequest {
    const SPEC: OperationSpec = OperationSpec::new(
        "approvals reject",
        OperationAccess::APPROVE,
        &["regent approvals reject a-m3xd \"the originals are not there any more\""],
    )
    .route(HttpMethod::Post, "/approvals/{id}/reject");
    type Output = ApprovalOutcome;

    async fn run(self, context: &OperationContext<'_>) -> Result<ApprovalOutcome, OperationError> {
        if !is_access_request(context.app, &self.id).await {
            return answer_call(context, &self.id, Act::Reject { reason: self.reason.join(" ") }).await;
        }
        let access_requests = context.app.access_requests();
        let view = access_requests.answer(&self.id, AccessRequestAnswer::No, context.io.via()).await?;
        Ok(ApprovalOutcome(ApprovalItem::AccessRequest(Box::new(view))))
    }
}
