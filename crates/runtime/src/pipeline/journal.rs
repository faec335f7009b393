//! How a step of a task is written down, and read again.

use domain::id::TaskId;
use domain::task::Status;
use domain::{Digest, Tags, Time, canonical};
use engine::task::{Input, Opening, Step, Task};
use ledger::records::{AgentTask, Blob, Event, Reason, Salt, TaskStep};
use ledger::value::Seq;
use ledger::{Batch, Entry, Ledger};
use policy::admit::MAIN;
use serde_json::json;

use super::{Claim, Desk, Held, task_of};
use crate::problem::{Code, Problem};

/// Enters one step: its body as a blob of the person it belongs to, its reasons, its row. Returns the body's name.
pub(super) fn enter(
    step: &Step,
    opening: &Opening,
    epoch: u64,
    salt: &Salt,
    batch: &mut Batch,
) -> Result<Digest, Problem> {
    let bytes = canonical::bytes(step).map_err(Problem::internal)?;
    let body = Blob::personal(bytes, salt);
    let row = TaskStep { seq: Seq(None), task: opening.task, n: step.n, epoch, body: body.hash, at: step.at };
    batch.put(&body).put(&row);
    for new in &step.reasons {
        let thought = Blob::personal(new.thought.text.clone().into_bytes(), salt);
        batch.put(&thought).put(&Reason {
            id: new.id,
            r_tag: new.r_tag.clone(),
            o_tag: opening.tags.origin,
            vpol_id: opening.tags.vpol,
            chain_id: opening.task.to_string(),
            parent_id: new.parent,
            agent_id: opening.agent.clone(),
            thought: thought.hash,
            at: step.at,
        });
    }
    Ok(body.hash)
}

/// The task as the board shows it; a projection, written with every batch.
pub(crate) fn projection(task: &Task, event: &Event, started_at: Time, now: Time) -> AgentTask {
    let status = task.status();
    AgentTask {
        agent_id: task.opening().agent.clone(),
        status,
        vpol_id: Some(task.tags().vpol),
        task_class: task.spec().map(|spec| spec.task_class.clone()),
        directive: task.result().map(|result| result.directive),
        steps: task.steps(),
        started_at: Some(started_at),
        completed_at: status.is_over().then_some(now),
        ..queued(task.id(), event)
    }
}

/// A request that was written down and not looked at yet.
pub(crate) fn queued(task: TaskId, event: &Event) -> AgentTask {
    const PRIORITY: u32 = 50;
    AgentTask {
        task_id: task,
        agent_id: MAIN.into(),
        status: Status::Queued,
        priority: PRIORITY,
        payload: event.id,
        o_tag: event.origin_id,
        vpol_id: None,
        task_class: None,
        directive: None,
        steps: 0,
        created_at: event.received_at,
        started_at: None,
        completed_at: None,
    }
}

/// Enters that a request is over which was not let in: the board does not show it as waiting.
pub(crate) fn never_begun(desk: &Desk, event: &Event, held: &Held, tags: Tags, batch: &mut Batch) {
    let (now, task) = (desk.now(), task_of(event));
    let subject = task.to_string();
    match &held.claim {
        Claim::Free(seen) => batch.expect_lease(subject.clone(), seen.clone()),
        Claim::Ours => batch.fence(subject.clone(), held.epoch),
    };
    let over = AgentTask { status: Status::Stopped, completed_at: Some(now), ..queued(task, event) };
    let detail = json!({ "status": over.status, "directive": over.directive, "steps": over.steps });
    batch.put(&over).audit(Entry {
        at: now,
        kind: "task.ended".into(),
        actor: "system".into(),
        subject,
        trust: None,
        origin_id: Some(tags.origin),
        reason_id: Some(tags.reason),
        vpol_id: Some(tags.vpol),
        detail,
    });
}

/// The journal's steps, as they were written.
pub(crate) async fn load(ledger: &Ledger, task: TaskId) -> Result<Vec<Step>, Problem> {
    let mut steps = Vec::new();
    for row in ledger.steps(task).await? {
        let gone = || {
            Problem::new(
                Code::ERASED,
                format!("step {} of {task} was erased, so the task cannot be read any more", row.n),
            )
        };
        let step = step_of(ledger, &row).await?.ok_or_else(gone)?;
        if step.n != row.n || row.n != steps.len() as u64 {
            return Err(Problem::new(
                Code::DATABASE_DAMAGED,
                format!("step {} of {task} is out of place", row.n),
            ));
        }
        steps.push(step);
    }
    Ok(steps)
}

/// What a step says; nothing if it was erased.
pub(crate) async fn step_of(ledger: &Ledger, row: &TaskStep) -> Result<Option<Step>, Problem> {
    let Some(bytes) = ledger.body(&row.body).await? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        let what = format!("step {} of {} is unreadable: {error}", row.n, row.task);
        Problem::new(Code::DATABASE_DAMAGED, what)
    })
}

/// The task's state is the fold of its inputs.
pub(crate) fn fold(steps: &[Step]) -> Result<Task, Problem> {
    let inputs = steps.iter().map(|step| (step.input.clone(), step.at));
    Task::fold(inputs.collect::<Vec<(Input, Time)>>())
        .map_err(|error| Problem::new(Code::DATABASE_DAMAGED, format!("the journal does not fold: {error}")))
}
