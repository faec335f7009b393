//! How a step of a task is written down, and read again.

use domain::id::TaskId;
use domain::limits::NESTED_LEVELS;
use domain::task::Status;
use domain::{Digest, Tags, Time, canonical};
use engine::task::{Input, Opening, Step, Task};
use ledger::audit_event::SYSTEM;
use ledger::records::{AgentTask, Blob, Event, Reason, Salt, TaskStep};
use ledger::value::Seq;
use ledger::{AuditEvent, Batch, Ledger};
use policy::admit::MAIN;
use serde::Serialize;
use serde::de::DeserializeOwned;

use ledger::chain::Trail;

use crate::admit::task_of;
use crate::lease::TaskLease;
use crate::services::Services;
use domain::problem::{Code, Problem};

/// Whether this comes back from a journal as it went in. Asked about everything that others fill, before the machine sees it:
/// a reply that is no good is asked for again, and a result that is no good is a failure. There is room for what the step
/// says around it.
///
/// # Errors
/// Why it does not.
pub(crate) fn survives<T: Serialize + DeserializeOwned>(value: &T) -> Result<(), String> {
    const AROUND: usize = 16;
    let bytes =
        canonical::bytes_within(value, NESTED_LEVELS + AROUND).map_err(|error| error.why().to_owned())?;
    comes_back::<T>(&bytes)
}

fn comes_back<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<(), String> {
    let again: T = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    match canonical::bytes(&again) {
        Ok(written) if written == bytes => Ok(()),
        Ok(_) => Err("it would come back as something else".to_owned()),
        Err(error) => Err(error.why().to_owned()),
    }
}

/// Enters one step: its body as a blob of the person it belongs to, its reasons, its row. Returns the body's name. A step that
/// could not be read again is not entered.
pub(crate) fn enter(
    step: &Step,
    opening: &Opening,
    epoch: u64,
    salt: &Salt,
    batch: &mut Batch,
) -> Result<Digest, Problem> {
    let bytes = canonical::bytes(step).map_err(Problem::internal)?;
    comes_back::<Step>(&bytes).map_err(|why| {
        Problem::internal(format!("step {} could not be read again: {why}", step.n))
            .safe("it was not written; what was done before is saved")
            .remedy(format!("regent cancel {}", opening.task))
    })?;
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
pub fn projection(task: &Task, event: &Event, trail: Trail, started_at: Time, now: Time) -> AgentTask {
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
        journal: Some(AgentTask::journal_of(event, trail)),
        ..queued(task.id(), event)
    }
}

/// A request that was written down and not looked at yet.
pub fn queued(task: TaskId, event: &Event) -> AgentTask {
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
        journal: Some(AgentTask::journal_of(event, Trail::of([]))),
    }
}

/// Enters that a request is over which was not let in: the board does not show it as waiting.
pub(crate) fn enter_never_begun(
    services: &Services,
    event: &Event,
    lease: &TaskLease,
    tags: Tags,
    batch: &mut Batch,
) {
    let (now, task) = (services.now(), task_of(event));
    lease.expect(task.to_string(), batch);
    let over = AgentTask { status: Status::Stopped, completed_at: Some(now), ..queued(task, event) };
    batch.put(&over).audit(AuditEvent::TaskEnded(&over).entry(SYSTEM, now).tagged(tags));
}

/// A step of a journal, as far as it can be read.
#[derive(Debug)]
pub enum JournalStep {
    There(Box<Step>),
    Erased,
    /// Why it cannot be read.
    Unreadable(String),
}

/// The journal's steps, as they were written.
///
/// # Errors
/// If one was erased or cannot be read.
pub async fn load(ledger: &Ledger, task: TaskId) -> Result<Vec<Step>, Problem> {
    let step = |(row, step): (TaskStep, JournalStep)| match step {
        JournalStep::There(step) => Ok(*step),
        JournalStep::Erased => {
            let what = format!("step {} of {task} was erased, so the task cannot be read any more", row.n);
            Err(Problem::new(Code::ERASED, what))
        }
        JournalStep::Unreadable(why) => Err(Problem::new(Code::DATABASE_DAMAGED, why)
            .safe("nothing was done")
            .remedy(format!("regent tasks show {task}"))),
    };
    load_each(ledger, task).await?.into_iter().map(step).collect()
}

/// Every row of the journal with what it says, also where that cannot be read.
///
/// # Errors
/// If the ledger fails.
pub async fn load_each(ledger: &Ledger, task: TaskId) -> Result<Vec<(TaskStep, JournalStep)>, Problem> {
    let mut steps = Vec::new();
    for row in ledger.steps(task).await? {
        let out_of_place = |n: u64| n != row.n || row.n != steps.len() as u64;
        let step = match step_of(ledger, &row).await {
            Ok(Some(step)) if out_of_place(step.n) => {
                JournalStep::Unreadable(format!("step {} of {task} is out of place", row.n))
            }
            Ok(Some(step)) => JournalStep::There(Box::new(step)),
            Ok(None) => JournalStep::Erased,
            Err(problem) if problem.code == Code::DATABASE_DAMAGED => JournalStep::Unreadable(problem.what),
            Err(problem) => return Err(problem),
        };
        steps.push((row, step));
    }
    Ok(steps)
}

/// A journal as far as it can be read: the steps up to the first that cannot, or none if any of it was erased.
#[derive(Debug, Default)]
pub struct LoadedJournal {
    /// Every row, with the name of its input.
    pub rows: Vec<(TaskStep, &'static str)>,
    pub steps: Vec<Step>,
    pub erased: bool,
    /// Why the first unreadable step cannot be read.
    pub unreadable: Option<String>,
}

/// Reads what can be read of a journal.
///
/// # Errors
/// If the ledger fails.
pub async fn read(ledger: &Ledger, task: TaskId) -> Result<LoadedJournal, Problem> {
    let rows = load_each(ledger, task).await?;
    let erased = rows.iter().any(|(_, step)| matches!(step, JournalStep::Erased));
    let mut journal = LoadedJournal { erased, ..LoadedJournal::default() };
    for (row, step) in rows {
        let input = match &step {
            _ if erased => "(erased)",
            JournalStep::There(step) => step.input.name(),
            JournalStep::Erased | JournalStep::Unreadable(_) => "(unreadable)",
        };
        journal.rows.push((row, input));
        match step {
            JournalStep::There(step) if !erased && journal.unreadable.is_none() => journal.steps.push(*step),
            JournalStep::Unreadable(why) => drop(journal.unreadable.get_or_insert(why)),
            JournalStep::There(_) | JournalStep::Erased => {}
        }
    }
    Ok(journal)
}

/// Those that can be read, wherever they are.
pub async fn load_readable(ledger: &Ledger, task: TaskId) -> Result<Vec<Step>, Problem> {
    let there = |(_, step): (TaskStep, JournalStep)| match step {
        JournalStep::There(step) => Some(*step),
        JournalStep::Erased | JournalStep::Unreadable(_) => None,
    };
    Ok(load_each(ledger, task).await?.into_iter().filter_map(there).collect())
}

/// What a step says; nothing if it was erased.
pub async fn step_of(ledger: &Ledger, row: &TaskStep) -> Result<Option<Step>, Problem> {
    let Some(bytes) = ledger.body(&row.body).await? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        let what = format!("step {} of {} is unreadable: {error}", row.n, row.task);
        Problem::new(Code::DATABASE_DAMAGED, what)
    })
}

/// The task's state is the fold of its inputs.
pub fn fold(steps: &[Step]) -> Result<Task, Problem> {
    let inputs = steps.iter().map(|step| (step.input.clone(), step.at));
    Task::fold(inputs.collect::<Vec<(Input, Time)>>())
        .map_err(|error| Problem::new(Code::DATABASE_DAMAGED, format!("the journal does not fold: {error}")))
}
