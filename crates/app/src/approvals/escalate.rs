//! `approvals escalate`.

use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Act;
use super::answer::{ApprovalOutcome, answer_call, refuse_access_request};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// Hand a question to the next authority; its time begins anew
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct EscalateRequest {
    /// Any unique beginning of its id
    pub id: String,
}

impl Operation for EscalateRequest {
    const SPEC: OperationSpec = OperationSpec::new(
        "approvals escalate",
        OperationAccess::APPROVE,
        &["regent approvals escalate a-m3xd"],
    )
    .route(HttpMethod::Post, "/approvals/{id}/escalate");
    type Output = ApprovalOutcome;

    async fn run(self, context: &OperationContext<'_>) -> Result<ApprovalOutcome, OperationError> {
        refuse_access_request(context.app, &self.id).await?;
        answer_call(context, &self.id, Act::Escalate).await
    }
}
