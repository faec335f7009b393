//! The end of a task whose journal cannot be read. Nothing follows from such a journal, so nothing is added to it: what is open is
//! closed by its rows alone.

use broker::{Context, Finished};
use domain::call::{Call, Chooser};
use domain::task::{Cause, Directive, FinalResult, Status};
use domain::{Tags, Trust};
use ledger::records::{AgentTask, CallStatus, Lease, Salt, ToolCall};
use ledger::{AuditEvent, Entry};
use serde_json::Value;

use ledger::chain::Trail;

use super::RunContext;
use crate::admit::task_of;
use crate::approvals::{self, ApprovalAnswer};
use crate::drive::DriveOutcome;
use domain::problem::{Code, Problem};

/// Ends the task in one batch: its lease is taken, calls that wait are refused, calls that were started are unknown, and open
/// questions are withdrawn. Its calls are recorded under this agent and trust.
pub(super) async fn end(
    context: &RunContext<'_>,
    agent: &str,
    trust: Trust,
) -> Result<DriveOutcome, Problem> {
    let RunContext { services, event, lease, .. } = context;
    let (now, task, salt) = (services.now(), task_of(event), context.salt());
    let holder = context.kernel.parts.host.holder();
    let subject = task.to_string();
    let row = services.ledger.task(task).await?;
    let row =
        row.ok_or_else(|| Problem::new(Code::DATABASE_DAMAGED, format!("the row of {task} is gone")))?;
    let mut batch = services.batch();
    lease.expect(subject.clone(), &mut batch);
    batch.expect_present::<Salt>("person", &salt.person);
    batch.put(&Lease { subject, epoch: lease.epoch, holder, until: now, beats: 1 });
    for asked in services.ledger.approvals_of(task).await?.into_iter().filter(|asked| asked.status.is_open())
    {
        approvals::answer(&asked, &ApprovalAnswer::not_needed(), now, &mut batch);
    }
    let context = || Context { agent, trust, salt };
    for call in services.ledger.calls_of(task).await? {
        match call.status {
            CallStatus::Waiting => Finished::refuse(call, false, context(), now, &mut batch),
            CallStatus::Started => {
                let unknown = Finished::unknown(as_called(&call), call, now);
                unknown.enter(context(), &mut batch).map_err(Problem::internal)?;
            }
            CallStatus::Refused | CallStatus::Finished | CallStatus::Failed | CallStatus::Unknown => {}
        }
    }
    let bodies = services.ledger.steps(task).await?;
    let trail = Trail::of(bodies.iter().map(|step| step.body));
    let (status, directive) = (Status::Stopped, Directive::Abandon);
    let ended = AgentTask { status, directive: Some(directive), completed_at: Some(now), ..row };
    let entry = AuditEvent::TaskEnded(&ended).entry(format!("agent:{agent}"), now).trusting(trust);
    let entry = entry.with("journal", trail.digest()).with("unread", true);
    batch.put(&ended).audit(Entry { origin_id: Some(ended.o_tag), vpol_id: ended.vpol_id, ..entry });
    services.ledger.commit(batch).await?;
    let reason = "cancelled by the owner; its journal cannot be read".to_owned();
    let result = FinalResult {
        cause: Some(Cause::Cancelled),
        reason: Some(reason),
        ..FinalResult::new(directive, String::new())
    };
    Ok(DriveOutcome { status, result: Some(result), question: None, worked: true })
}

/// The call of a row. Its arguments are in its record.
fn as_called(row: &ToolCall) -> Call {
    Call {
        id: row.id,
        tool: row.tool_id.clone(),
        args: Value::Null,
        task: row.task_id,
        subtask: None,
        chosen_by: Chooser::Rule,
        tags: Tags { origin: row.o_tag, reason: row.r_tag, vpol: row.vpol_id },
    }
}
