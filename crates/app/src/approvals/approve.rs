//! `approvals approve`.

use clap::Args;
use domain::approval::Lasting;
use domain::id::ApprovalId;
use kernel::{Code, Problem};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::answer::{ApprovalOutcome, bad_usage, explain_unknown, is_access_request};
use super::durations::{ApprovalLifetime, ApprovalValidity};
use super::{Act, ApprovalItem};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, StreamEnd,
};
use crate::people::{AccessRequestAnswer, AccessRequestView, PersonDetails};

/// Say yes, once or for longer
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ApproveRequests {
    /// Any unique beginning of each id
    #[arg(value_name = "ID", required = true, num_args = 1..)]
    pub ids: Vec<String>,
    /// How long the yes lasts; the last two write a grant
    #[arg(long = "for", value_name = "TIME", default_value = "once")]
    #[serde(rename = "for", default)]
    pub lasting: ApprovalLifetime,
    /// How long the call may wait before it uses the yes: `2h`, `7d`; 24 hours unless you say otherwise
    #[arg(long = "valid-for", value_name = "TIME")]
    pub valid_for: Option<ApprovalValidity>,
    /// What has to be typed of the value, where a plain yes is not enough
    #[arg(long, value_name = "TEXT")]
    pub value: Option<String>,
    /// Of somebody who wants in: what they are called
    #[arg(long)]
    pub name: Option<String>,
    /// Of somebody who wants in: what they are to you; `friend` unless you say otherwise
    #[arg(long, value_name = "WORD")]
    pub relationship: Option<String>,
    /// Of somebody who wants in: somebody you know already
    #[arg(long, value_name = "WHO", conflicts_with_all = ["name", "relationship"])]
    pub person: Option<String>,
}

impl Operation for ApproveRequests {
    const SPEC: OperationSpec = OperationSpec::new(
        "approvals approve",
        OperationAccess::APPROVE,
        &[
            "regent approvals approve a-m3xd",
            "regent approvals approve a-m3xd a-p2ne",
            "regent approvals approve a-m3xd --for 24h",
            "regent approvals approve a-w8kd --value aurora.example",
            "regent approvals approve k-7q2m/2 --name Lea --relationship partner",
        ],
    )
    .route(HttpMethod::Post, "/approvals/approve");
    type Output = StreamEnd;

    async fn run(self, context: &OperationContext<'_>) -> Result<StreamEnd, OperationError> {
        let Self { ids, lasting, valid_for, value, name, relationship, person } = self;
        if ids.is_empty() {
            return Err(bad_usage("no id is named").remedy("regent approvals list").into());
        }
        let (mut calls, mut access_requests) = (0, 0);
        for id in &ids {
            let counter =
                if is_access_request(context.app, id).await { &mut access_requests } else { &mut calls };
            *counter += 1;
        }
        let details = PersonDetails { name, relationship, person };
        let plain = value.is_none() && valid_for.is_none() && lasting == ApprovalLifetime::Once;
        if calls == 0 && plain {
            return approve_access_requests(context, &ids, &details).await;
        }
        if access_requests > 0 || details != PersonDetails::default() {
            let what = "whoever wants in is answered by themselves: with --name, --relationship or --person, and nothing else";
            return Err(bad_usage(what).remedy("regent approvals list").into());
        }
        if value.is_some() && calls > 1 {
            let what = "--value is the value of one question, and several are named";
            return Err(bad_usage(what).remedy("regent approvals approve ID --value TEXT").into());
        }
        let good_for = valid_for.map(|ApprovalValidity(time)| time);
        let act = Act::Approve { lasting: Lasting::from(lasting), typed: value, good_for };
        approve_calls(context, &ids, &act).await
    }
}

/// One after the other: if one fails, the next is approved all the same. But if one of the ids is unknown, it is not clear what
/// was meant, and nothing is decided.
async fn approve_calls(
    context: &OperationContext<'_>,
    ids: &[String],
    act: &Act,
) -> Result<StreamEnd, OperationError> {
    let approvals = context.app.approvals();
    let mut known: Vec<ApprovalId> = Vec::new();
    for id in ids {
        let view = approvals.show(id).await.map_err(|problem| explain_unknown(id, problem))?;
        if !known.contains(&view.id) {
            known.push(view.id);
        }
    }
    let mut exit = None;
    for id in &known {
        match approvals.resolve(&id.to_string(), act.clone(), context.io.via()).await {
            Ok(view) => context.emit(&ApprovalOutcome(ApprovalItem::Call(Box::new(view))))?,
            Err(problem) if known.len() == 1 => return Err(problem.into()),
            Err(problem) => {
                if context.io.reads_data() {
                    context.io.emit_json(&json!({ "problem": &problem, "id": id }))?;
                }
                context.io.note_problem(&problem);
                exit.get_or_insert(problem.code.exit());
            }
        }
    }
    Ok(StreamEnd { exit: exit.unwrap_or(0) })
}

async fn approve_access_requests(
    context: &OperationContext<'_>,
    ids: &[String],
    details: &PersonDetails,
) -> Result<StreamEnd, OperationError> {
    if ids.len() != 1 && *details != PersonDetails::default() {
        let what = "--name, --relationship and --person say who one sender is, and several are named";
        return Err(bad_usage(what).into());
    }
    for id in ids {
        let seen = add_seen_count(context, id).await?;
        let answer = AccessRequestAnswer::Yes(details.clone());
        let view = context.app.access_requests().answer(&seen, answer, context.io.via()).await?;
        context.emit(&ApprovalOutcome(ApprovalItem::AccessRequest(Box::new(view))))?;
    }
    Ok(StreamEnd::default())
}

/// The id with the number of messages that the owner has seen. If there is more than one, the owner has to give the number.
async fn add_seen_count(context: &OperationContext<'_>, id: &str) -> Result<String, Problem> {
    if id.contains('/') {
        return Ok(id.to_owned());
    }
    let AccessRequestView { short, messages, status, .. } = context.app.access_requests().show(id).await?;
    match messages.len() {
        count if count > 1 && status.is_open() => {
            let what = format!("{count} messages wait behind {short}: a yes says how many you have seen");
            Err(Problem::new(Code::BAD_ANSWER, what)
                .safe("it is still open")
                .remedy(format!("regent approvals show {short}"))
                .remedy(format!("regent approvals approve {short}/{count}")))
        }
        count => Ok(format!("{short}/{count}")),
    }
}
