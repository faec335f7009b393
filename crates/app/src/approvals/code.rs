//! `approvals code`.

use clap::Args;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::Deserialize;

use super::CodeView;
use super::answer::{explain_unknown, refuse_access_request};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// A number and a one-time code to answer a question from a chat
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct CreateReplyCode {
    /// Any unique beginning of its id
    pub id: String,
}

impl Operation for CreateReplyCode {
    const SPEC: OperationSpec =
        OperationSpec::new("approvals code", OperationAccess::APPROVE, &["regent approvals code a-m3xd"])
            .route(HttpMethod::Post, "/approvals/{id}/code");
    type Output = CodeView;

    async fn run(self, context: &OperationContext<'_>) -> Result<CodeView, OperationError> {
        refuse_access_request(context.app, &self.id).await?;
        let code = context.app.approvals().create_code(&self.id).await;
        Ok(code.map_err(|problem| explain_unknown(&self.id, problem))?)
    }
}

impl Output for CodeView {
    fn render(&self, style: &Style<'_>) -> Page {
        let Self { number, code, until, .. } = self;
        let mut page = Page::new();
        let until = until.date_time(style.zone);
        page.add(format!("number {number}, code {code}, good once, until {until}"));
        page.add_note(format!(
            "reply `yes {number} {code}`, or `no {number} {code} because ...`; it is shown only now"
        ));
        page
    }
}
