//! Retention, a background job: the content of a channel's events is erased when it is older than the owner wants to keep it.
//! The rows stay: when an event came and what was decided. Content is shared per person, so what a younger row names stays.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use domain::change::{Changes, Standing};
use domain::event::Direction;
use domain::id::{EventId, TaskId};
use domain::limits::CLOCK_TOLERANCE;
use domain::{Digest, Time};
use ledger::audit_event::SYSTEM;
use ledger::records::{Access, AgentNote, AgentTask, Blob, Duty, Event, Reason, TaskStep, ToolCall};
use ledger::table::Record;
use ledger::value::Cell;
use ledger::{AuditEvent, Batch, CommitError, Ledger, Op, Refusal, Select};

use kernel::clock::{self, ClockJump};
use kernel::jobs::{BackgroundJob, JobContext, JobDemand, demand_scrub};
use kernel::{Code, Host, Problem, Services, Timing, task_of};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Events that are looked at together; what goes of them is one batch.
const PAGE: u32 = 2_048;
/// Values that are asked for at once.
const ASKED: usize = 1_024;
/// Bodies that are read at once.
const BODIES: usize = 64;
/// How often a page is looked at again when somebody wrote meanwhile.
const TRIES: usize = 8;

/// For how many days the content of each adapter's events is kept.
pub(crate) struct Retention {
    pub(crate) days: BTreeMap<String, u32>,
}

#[async_trait]
impl BackgroundJob for Retention {
    fn name(&self) -> &'static str {
        "retention"
    }

    fn pause(&self, timing: Timing, _: bool) -> Duration {
        timing.jobs.unwrap_or(DAY)
    }

    async fn demand(&self, _: &Services, _: Option<&Duty>) -> Result<JobDemand, Problem> {
        Ok(if self.days.is_empty() { JobDemand::No } else { JobDemand::InTime })
    }

    async fn run(&self, context: &JobContext<'_>, _: &mut Batch) -> Result<(), Problem> {
        keep(context, &self.days).await
    }
}

/// Erases what is too old. If it is cut off, the next run goes on; if it runs twice, there is nothing left.
async fn keep(context: &JobContext<'_>, days: &BTreeMap<String, u32>) -> Result<(), Problem> {
    let JobContext { services, host, confirmed: now } = *context;
    let limits = days.iter().map(|(adapter, days)| (adapter.clone(), now.minus(DAY * *days))).collect();
    let past = Past { ledger: &services.ledger, limits, now, jumps: clock::jumps(&services.ledger).await? };
    let future = now.plus(CLOCK_TOLERANCE);
    for (adapter, limit) in &past.limits {
        for (op, bound) in [(Op::Lt, *limit), (Op::Gt, future)] {
            let mut after = 0;
            loop {
                let some = Select::<Event>::by("adapter", adapter).filter("received_at", op, &bound);
                let some = some.filter("seq", Op::Gt, &after).ascending("seq").limit(PAGE);
                let mut page = services.ledger.select(some).await?;
                let Some(last) = page.last() else { break };
                after = last.seq.0.unwrap_or(i64::MAX);
                page.retain(|event| past.is_past(event));
                erase(services, host, &past, adapter, &page).await?;
            }
        }
    }
    Ok(())
}

/// One page of one adapter.
async fn erase(
    services: &Services,
    host: &dyn Host,
    past: &Past<'_>,
    adapter: &str,
    page: &[Event],
) -> Result<(), Problem> {
    for _ in 0..TRIES {
        // Whoever writes the same words again from here on makes us look again: theirs must stay.
        let seen = services.ledger.newest_commit().await?;
        let (bodies, events) = past.bodies(page).await?;
        if bodies.is_empty() {
            return Ok(());
        }
        let mut batch = services.batch();
        let erased = AuditEvent::RetentionErased { adapter, events, blobs: bodies.len() };
        batch
            .expect_quiet(seen)
            .erase::<Blob, _>("hash", &bodies)
            .audit(erased.entry(SYSTEM, services.now()));
        demand_scrub(services, host, &mut batch).await?;
        match services.ledger.commit(batch).await {
            Err(CommitError::Refused(Refusal::Disturbed | Refusal::Fenced { .. })) => {}
            written => return written.map(drop).map_err(Problem::from),
        }
    }
    Err(Problem::new(Code::DATABASE_BUSY, "others wrote all the time").safe("it is tried again"))
}

/// What is older than its adapter's words are kept.
struct Past<'a> {
    ledger: &'a Ledger,
    limits: BTreeMap<String, Time>,
    /// As far as it is certain: [`JobContext::confirmed`].
    now: Time,
    jumps: Vec<ClockJump>,
}

impl Past<'_> {
    fn is_past(&self, event: &Event) -> bool {
        let received = clock::received(event.received_at, event.seq.0, self.now, &self.jumps);
        self.limits.get(&event.adapter).is_some_and(|limit| received < *limit)
    }

    /// The personal bodies that hang on these events and on nothing else that stays, and how many events it concerns.
    async fn bodies(&self, page: &[Event]) -> Result<(Vec<Digest>, u64), Problem> {
        let going = self.over(page.to_vec()).await?;
        let tasks: Vec<TaskId> =
            going.iter().filter(|event| event.direction == Direction::In).map(task_of).collect();
        let mut named: BTreeSet<Digest> = going.iter().map(|event| event.body).collect();
        named.extend(going.iter().filter_map(|event| event.metadata));
        named.extend(self.asked("task", &tasks).await?.into_iter().map(|step: TaskStep| step.body));
        named.extend(self.asked("task_id", &tasks).await?.into_iter().map(|call: ToolCall| call.decision));
        let chains: Vec<String> = tasks.iter().map(ToString::to_string).collect();
        named.extend(self.asked("chain_id", &chains).await?.into_iter().map(|reason: Reason| reason.thought));
        named.extend(self.decisions(&going).await?);

        let mut personal = BTreeSet::new();
        for hashes in named.into_iter().collect::<Vec<_>>().chunks(BODIES) {
            let blobs = self.ledger.select(Select::<Blob>::any_of("hash", hashes)).await?;
            personal.extend(blobs.into_iter().filter(|blob| blob.person.is_some()).map(|blob| blob.hash));
        }
        let bodies: Vec<Digest> = personal.into_iter().collect();
        let staying =
            if bodies.is_empty() { BTreeSet::new() } else { self.named_by_what_stays(&bodies).await? };
        let bodies: Vec<Digest> = bodies.into_iter().filter(|body| !staying.contains(body)).collect();
        let concerned = going.iter().filter(|event| bodies.binary_search(&event.body).is_ok()).count() as u64;
        Ok((bodies, concerned))
    }

    /// What was decided about these events, and from what: each is of one event alone.
    async fn decisions(&self, events: &[Event]) -> Result<Vec<Digest>, Problem> {
        let ids: Vec<EventId> = events.iter().map(|event| event.id).collect();
        let rows = self.asked::<Access, _>("event_id", &ids).await?;
        Ok(rows.into_iter().map(|row| row.decision).collect())
    }

    /// Those whose task, if they have one, is over: what is still worked on is kept until it is done.
    async fn over(&self, events: Vec<Event>) -> Result<Vec<Event>, Problem> {
        let ids: Vec<TaskId> = events.iter().map(task_of).collect();
        let open: BTreeSet<TaskId> = self
            .asked::<AgentTask, _>("task_id", &ids)
            .await?
            .into_iter()
            .filter(|task| !task.status.is_over())
            .map(|task| task.task_id)
            .collect();
        Ok(events.into_iter().filter(|event| !open.contains(&task_of(event))).collect())
    }

    /// Those of these bodies that something names which is younger, or of a channel that is kept.
    async fn named_by_what_stays(&self, bodies: &[Digest]) -> Result<BTreeSet<Digest>, Problem> {
        let mut staying = BTreeSet::new();
        let mut naming: Vec<Event> = self.asked("body", bodies).await?;
        naming.extend(self.asked::<Event, _>("metadata", bodies).await?);
        let over: BTreeSet<_> = self.over(naming.clone()).await?.iter().map(|event| event.id).collect();
        for event in naming.iter().filter(|event| !self.is_past(event) || !over.contains(&event.id)) {
            staying.extend([Some(event.body), event.metadata].into_iter().flatten());
        }
        staying.extend(self.kept_to_undo(bodies, &naming).await?);
        let notes: Vec<AgentNote> = self.asked("content", bodies).await?;
        staying.extend(notes.into_iter().map(|note| note.content));

        let mut of_tasks: Vec<(String, Digest)> = Vec::new();
        let steps: Vec<TaskStep> = self.asked("body", bodies).await?;
        of_tasks.extend(steps.into_iter().map(|step| (step.task.to_string(), step.body)));
        let calls: Vec<ToolCall> = self.asked("decision", bodies).await?;
        of_tasks.extend(calls.into_iter().map(|call| (call.task_id.to_string(), call.decision)));
        let reasons: Vec<Reason> = self.asked("thought", bodies).await?;
        of_tasks.extend(reasons.into_iter().map(|reason| (reason.chain_id, reason.thought)));
        let going = self.tasks_that_go(of_tasks.iter().map(|(task, _)| task.clone()).collect()).await?;
        staying.extend(of_tasks.into_iter().filter(|(task, _)| !going.contains(task)).map(|(_, body)| body));
        Ok(staying)
    }

    /// Those of these bodies that an undo needs: what a change says or keeps, and where its task worked. They stay until
    /// their person is forgotten.
    async fn kept_to_undo(&self, bodies: &[Digest], naming: &[Event]) -> Result<BTreeSet<Digest>, Problem> {
        let tasks: Vec<TaskId> = naming.iter().map(task_of).collect();
        let calls: Vec<ToolCall> = self.asked("task_id", &tasks).await?;
        let changing: BTreeSet<TaskId> =
            calls.into_iter().filter(|call| call.change.is_some()).map(|call| call.task_id).collect();
        let worked = naming.iter().filter(|event| changing.contains(&task_of(event)));
        let mut needed: BTreeSet<Digest> = worked.filter_map(|event| event.metadata).collect();

        let wanted: BTreeSet<Digest> = bodies.iter().copied().collect();
        let mut after = Digest::ZERO;
        loop {
            let some = Select::<ToolCall>::all().filter("change", Op::Gt, &after).ascending("change");
            let page = self.ledger.select(some.limit(PAGE)).await?;
            let changes: Vec<Digest> = page.into_iter().filter_map(|call| call.change).collect();
            let Some(last) = changes.last() else { return Ok(needed) };
            after = *last;
            needed.extend(changes.iter().filter(|change| wanted.contains(change)));
            for some in changes.chunks(BODIES) {
                for blob in self.ledger.select(Select::<Blob>::any_of("hash", some)).await? {
                    let damaged =
                        |error: serde_json::Error| Problem::new(Code::DATABASE_DAMAGED, error.to_string());
                    let changes: Changes = serde_json::from_slice(&blob.content).map_err(damaged)?;
                    let kept = changes.iter().filter_map(|change| match &change.from {
                        Standing::File(file) => file.kept,
                        _ => None,
                    });
                    needed.extend(kept.filter(|kept| wanted.contains(kept)));
                }
            }
        }
    }

    /// Those of these tasks that are over and whose event is past.
    async fn tasks_that_go(&self, tasks: BTreeSet<String>) -> Result<BTreeSet<String>, Problem> {
        let tasks: Vec<String> = tasks.into_iter().collect();
        let mut rows: Vec<AgentTask> = self.asked("task_id", &tasks).await?;
        rows.retain(|task| task.status.is_over());
        let events: Vec<_> = rows.iter().map(|task| task.payload).collect();
        let events: Vec<Event> = self.asked("id", &events).await?;
        let past: BTreeSet<_> =
            events.iter().filter(|event| self.is_past(event)).map(|event| event.id).collect();
        rows.retain(|task| past.contains(&task.payload));
        Ok(rows.into_iter().map(|task| task.task_id.to_string()).collect())
    }

    /// All rows that have one of these values.
    async fn asked<T: Record, C: Cell>(&self, column: &'static str, values: &[C]) -> Result<Vec<T>, Problem> {
        let mut rows = Vec::new();
        for values in values.chunks(ASKED) {
            rows.extend(self.ledger.select(Select::<T>::any_of(column, values)).await?);
        }
        Ok(rows)
    }
}
