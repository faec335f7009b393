//! What the answers to approval requests have in common.

use kernel::{Code, Problem};
use present::{Page, Style};
use serde::Serialize;

use super::{Act, ApprovalItem, access_request_page, page};
use crate::App;
use crate::operation::{OperationContext, OperationError, Output};

/// An approval request or access request that was answered just now.
#[derive(Debug, Serialize)]
pub struct ApprovalOutcome(pub ApprovalItem);

impl Output for ApprovalOutcome {
    fn render(&self, style: &Style<'_>) -> Page {
        match &self.0 {
            ApprovalItem::Call(view) => page::render_answer(view, style),
            ApprovalItem::AccessRequest(view) => access_request_page::render_answer(view, style),
        }
    }
}

/// Answers one approval request for a call.
pub(super) async fn answer_call(
    context: &OperationContext<'_>,
    id: &str,
    act: Act,
) -> Result<ApprovalOutcome, OperationError> {
    let approvals = context.app.approvals();
    let found = approvals.show(id).await.map_err(|problem| explain_unknown(id, problem))?;
    let answered = approvals.resolve(&found.id.to_string(), act, context.io.via()).await?;
    Ok(ApprovalOutcome(ApprovalItem::Call(Box::new(answered))))
}

/// Whether an id, or `id/count`, is that of an access request. If nothing has this id, the lookup that follows says so.
pub(super) async fn is_access_request(app: &App, id: &str) -> bool {
    let id = id.split_once('/').map_or(id, |(id, _)| id);
    // No other id needs the database for this.
    id.starts_with("k-") && app.access_requests().contains(id).await.unwrap_or(false)
}

/// # Errors
/// If the id is that of an access request: it can be approved and rejected, and nothing else.
pub(super) async fn refuse_access_request(app: &App, id: &str) -> Result<(), Problem> {
    if !is_access_request(app, id).await {
        return Ok(());
    }
    let what = "whoever wants in is let in or not: nothing else can be said about them";
    Err(bad_usage(what).remedy(format!("regent approvals show {id}")))
}

pub(super) fn bad_usage(what: &str) -> Problem {
    Problem::new(Code::USAGE, what).safe("nothing was decided")
}

/// The problem of an unknown id, with the command that lists the known ones.
pub(super) fn explain_unknown(id: &str, problem: Problem) -> Problem {
    if problem.code != Code::NO_SUCH_ID {
        return problem;
    }
    let what = format!("no question is called `{id}`");
    Problem::new(Code::NO_SUCH_ID, what).safe("nothing was decided").remedy("regent approvals list")
}
