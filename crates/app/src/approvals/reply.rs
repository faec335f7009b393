//! `approvals reply`.

use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;

use super::ApprovalItem;
use super::answer::ApprovalOutcome;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// A reply as it came from a chat
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ReplyWithCode {
    /// `yes` or `no`, the number, the code, and with a no the reason
    #[arg(value_name = "REPLY", required = true, num_args = 1..)]
    pub text: Vec<String>,
}

impl Operation for ReplyWithCode {
    const SPEC: OperationSpec = OperationSpec::new(
        "approvals reply",
        OperationAccess::APPROVE,
        &["regent approvals reply \"yes 3 K7Q2MX8P\"", "regent approvals reply \"no 3 K7Q2MX8P not today\""],
    )
    .route(HttpMethod::Post, "/approvals/reply");
    type Output = ApprovalOutcome;

    async fn run(self, context: &OperationContext<'_>) -> Result<ApprovalOutcome, OperationError> {
        let view = context.app.approvals().reply(&self.text.join(" ")).await?;
        Ok(ApprovalOutcome(ApprovalItem::Call(Box::new(view))))
    }
}
