//! `approvals show`.

use clap::Args;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{explain_unknown, is_access_request};
use super::{ApprovalItem, access_request_page, page};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Everything about one question
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ShowApproval {
    /// Any unique beginning of its id
    pub id: String,
    /// Texts in full, however long
    #[arg(short = 'v', long)]
    #[serde(default)]
    pub all: bool,
}

impl Operation for ShowApproval {
    const SPEC: OperationSpec = OperationSpec::new(
        "approvals show",
        OperationAccess::READ,
        &["regent approvals show a-m3xd", "regent approvals show a-m3xd -v"],
    )
    .route(HttpMethod::Get, "/approvals/{id}")
    .mcp();
    type Output = ApprovalDetails;

    async fn run(self, context: &OperationContext<'_>) -> Result<ApprovalDetails, OperationError> {
        let Self { id, all } = self;
        let item = if is_access_request(context.app, &id).await {
            ApprovalItem::AccessRequest(Box::new(context.app.access_requests().show(&id).await?))
        } else {
            let view = context.app.approvals().show(&id).await;
            ApprovalItem::Call(Box::new(view.map_err(|problem| explain_unknown(&id, problem))?))
        };
        Ok(ApprovalDetails { item, all })
    }
}

/// One approval request or access request, alone.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct ApprovalDetails {
    pub item: ApprovalItem,
    /// Whether the page has texts in full.
    #[serde(skip)]
    pub all: bool,
}

impl Output for ApprovalDetails {
    fn render(&self, style: &Style<'_>) -> Page {
        match &self.item {
            ApprovalItem::Call(view) => page::render_details(view, self.all, style),
            ApprovalItem::AccessRequest(view) => access_request_page::render_details(view, self.all, style),
        }
    }
}
