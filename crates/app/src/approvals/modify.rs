//! `approvals modify`.

use clap::Args;
use kernel::{Code, Problem};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::answer::{ApprovalOutcome, answer_call, bad_usage, explain_unknown, refuse_access_request};
use super::{Act, ApprovalView, Approvals};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// Say yes to the same call with other arguments
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ModifyRequest {
    /// Any unique beginning of its id
    pub id: String,
    /// Arguments that differ, as name=value; the others stay
    #[arg(value_name = "NAME=VALUE")]
    #[serde(default)]
    pub changes: Vec<String>,
    /// All arguments as one JSON object
    #[arg(long = "args", visible_alias = "json-args", value_name = "JSON", conflicts_with = "changes")]
    #[serde(rename = "args")]
    pub json_args: Option<String>,
    /// What has to be typed of the value, where a plain yes is not enough
    #[arg(long, value_name = "TEXT")]
    pub value: Option<String>,
}

impl Operation for ModifyRequest {
    const SPEC: OperationSpec = OperationSpec::new(
        "approvals modify",
        OperationAccess::APPROVE,
        &["regent approvals modify a-w8kd to=billing@aurora.example"],
    )
    .route(HttpMethod::Post, "/approvals/{id}/modify");
    type Output = ApprovalOutcome;

    async fn run(self, context: &OperationContext<'_>) -> Result<ApprovalOutcome, OperationError> {
        let Self { id, changes, json_args, value } = self;
        refuse_access_request(context.app, &id).await?;
        if changes.is_empty() && json_args.is_none() {
            let what = "nothing is to be changed: name at least one argument";
            return Err(bad_usage(what).remedy(format!("regent approvals modify {id} NAME=VALUE")).into());
        }
        let approvals = context.app.approvals();
        let view = approvals.show(&id).await.map_err(|problem| explain_unknown(&id, problem))?;
        let args = match json_args {
            Some(whole) => context.app.tools().read_arguments(tool_of(&view)?, &[], Some(&whole)).await?,
            None => approvals.change_arguments(&view, &changes).await?,
        };
        answer_call(context, &id, Act::Modify { args, typed: value }).await
    }
}

impl Approvals<'_> {
    /// The arguments that were asked about, with some of them changed: `name=value` each.
    ///
    /// # Errors
    /// If the approval request was erased, a pair cannot be read, or the ledger fails.
    #[tracing::instrument(level = "info", name = "approvals.change_arguments", skip_all)]
    pub async fn change_arguments(self, view: &ApprovalView, pairs: &[String]) -> Result<Value, Problem> {
        let given = self.app.tools().read_arguments(tool_of(view)?, pairs, None).await?;
        let mut args = view.question.as_ref().map(|question| question.args().clone()).unwrap_or_default();
        if let (Some(args), Value::Object(given)) = (args.as_object_mut(), given) {
            args.extend(given);
        }
        Ok(args)
    }
}

fn tool_of(view: &ApprovalView) -> Result<&str, Problem> {
    let erased = || Problem::new(Code::ERASED, "what was asked was erased").safe("nothing was decided");
    view.question.as_ref().map(|question| question.tool().as_str()).ok_or_else(erased)
}
