//! Background jobs: each has a row that says when it is due, and a lease, so that any process may run it and none is run
//! twice. No daemon has to run. The kernel has jobs of its own (`own.rs`); a feature brings its jobs as [`BackgroundJob`]s.

mod own;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use domain::Time;
use domain::limits::{LEASE, MODEL};
use domain::probe::Point;
use ledger::audit_event::SYSTEM;
use ledger::records::{Duty, Lease};
use ledger::{AuditEvent, Batch, CommitError, Refusal};
use serde::Serialize;

use crate::host::Host;
use crate::lease::TaskLease;
use crate::services::Services;
use domain::problem::Problem;
use own::{Checkpoint, Scrub, Upkeep};
pub use own::{demand_scrub, scrub};

/// How long things may take. Only tests change it.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// How long a driver may be silent.
    pub lease: Duration,
    /// How often each job is due, if not as often as it says itself.
    pub jobs: Option<Duration>,
    /// How long a model may take to answer.
    pub model: Duration,
    /// Whether calls that were begun together are heard together, so that equal histories leave equal journals.
    pub in_step: bool,
}

impl Default for Timing {
    fn default() -> Self {
        Self { lease: LEASE, jobs: None, model: MODEL, in_step: false }
    }
}

/// Something that is done now and then, without being asked for.
#[async_trait]
pub trait BackgroundJob: Send + Sync {
    fn name(&self) -> &'static str;

    /// How long until it is due again.
    fn pause(&self, timing: Timing, done: bool) -> Duration;

    /// Whether there is anything to do at all, and whether so much that it is due before its time.
    ///
    /// # Errors
    /// If the ledger fails.
    async fn demand(&self, services: &Services, row: Option<&Duty>) -> Result<JobDemand, Problem>;

    /// Does it. What is recorded of it, beyond that it was done, goes into `done`, the batch that says so.
    ///
    /// # Errors
    /// Why it could not be done; it is tried again later.
    async fn run(&self, context: &JobContext<'_>, done: &mut Batch) -> Result<(), Problem>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobDemand {
    No,
    InTime,
    Now,
}

/// What a job works with.
#[derive(Clone, Copy)]
pub struct JobContext<'a> {
    pub services: &'a Services,
    pub host: &'a dyn Host,
    /// The time, as far as it is certain: what erases by age goes by this.
    pub confirmed: Time,
}

impl std::fmt::Debug for JobContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobContext").field("confirmed", &self.confirmed).finish_non_exhaustive()
    }
}

/// What came of one job, or when it is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JobReport {
    pub duty: &'static str,
    #[serde(flatten)]
    pub state: JobState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum JobState {
    Done {
        next_due: Time,
    },
    Failed {
        why: String,
        next_due: Time,
    },
    /// Not due yet.
    Waits {
        next_due: Time,
    },
    /// Another process is at it.
    Elsewhere,
    /// There is nothing to do.
    Idle,
}

/// Looks at every job, and runs what is due. Signing comes after what the others record, scrubbing last: what they erase is
/// gone from the files with the same tick.
pub(crate) async fn tick(
    context: &JobContext<'_>,
    jobs: &[Arc<dyn BackgroundJob>],
) -> Result<Vec<JobReport>, Problem> {
    let mut reports = vec![report(context, &Upkeep).await?];
    for job in jobs {
        reports.push(report(context, &**job).await?);
    }
    reports.push(report(context, &Checkpoint).await?);
    reports.push(report(context, &Scrub).await?);
    Ok(reports)
}

async fn report(context: &JobContext<'_>, job: &dyn BackgroundJob) -> Result<JobReport, Problem> {
    Ok(JobReport { duty: job.name(), state: run_if_due(context, job).await? })
}

async fn run_if_due(context: &JobContext<'_>, job: &dyn BackgroundJob) -> Result<JobState, Problem> {
    let JobContext { services, host, .. } = *context;
    let subject = format!("duty:{}", job.name());
    // The lease first: if it is still so when the batch is written, the row is, too.
    let seen: Option<Lease> = services.ledger.lease(&subject).await?;
    let row: Option<Duty> = services.ledger.duty(job.name()).await?;
    let now = services.now();
    let early = row.as_ref().filter(|row| !row.is_due(now, job.pause(services.timing, true)));
    match (job.demand(services, row.as_ref()).await?, early) {
        (JobDemand::No, _) => return Ok(JobState::Idle),
        (JobDemand::InTime, Some(row)) => return Ok(JobState::Waits { next_due: row.next_due }),
        (JobDemand::InTime | JobDemand::Now, _) => {}
    }
    let attended = seen.as_ref().is_some_and(|lease| {
        let is_other = lease.holder != host.holder() && host.is_alive(&lease.holder) != Some(false);
        is_other && lease.is_running(now, services.timing.lease)
    });
    if attended {
        return Ok(JobState::Elsewhere);
    }
    let (held, beats) = (TaskLease::after(seen.clone()), seen.as_ref().map_or(0, |lease| lease.beats) + 1);
    let lease = Lease {
        subject: subject.clone(),
        epoch: held.epoch,
        holder: host.holder(),
        until: now.plus(services.timing.lease),
        beats,
    };
    let mut claim = services.batch();
    claim
        .expect_lease(subject.clone(), seen)
        .put(&lease)
        .audit(AuditEvent::JobStarted { job: job.name() }.entry(SYSTEM, now));
    match services.ledger.commit(claim).await {
        Err(CommitError::Refused(Refusal::Fenced { .. })) => return Ok(JobState::Elsewhere),
        claimed => claimed?,
    };

    let due = row.as_ref().map_or_else(|| "first".to_owned(), |row| row.next_due.to_string());
    services.probe.reached(Point::Running { tool: &subject, call: &due });
    let mut done = services.batch();
    let result = job.run(context, &mut done).await;
    services.probe.reached(Point::Ran { tool: &subject, call: &due });

    let now = services.now();
    // From now, not from when it was due: what was missed while nothing ran is not made up for.
    let next_due = now.plus(job.pause(services.timing, result.is_ok()));
    let outcome = if result.is_ok() { Duty::DONE } else { Duty::FAILED };
    let name = job.name().to_owned();
    let runs = row.map_or(0, |row| row.runs) + 1;
    let ended = Duty { name, next_due, last_run: Some(now), outcome: Some(outcome.into()), runs };
    let entry = match &result {
        Ok(()) => AuditEvent::JobDone(&ended).entry(SYSTEM, now),
        // A code is a word of ours; what a database said may not be, and an entry is for ever.
        Err(problem) => AuditEvent::JobFailed(&ended).entry(SYSTEM, now).with("code", problem.code),
    };
    done.fence(subject, held.epoch)
        .put(&ended)
        .put(&Lease { until: now, beats: beats + 1, ..lease })
        .audit(entry);
    match services.ledger.commit(done).await {
        Err(CommitError::Refused(Refusal::Fenced { .. })) => return Ok(JobState::Elsewhere),
        written => written?,
    };
    Ok(match result {
        Ok(()) => JobState::Done { next_due },
        Err(problem) => {
            tracing::warn!(job = job.name(), code = %problem.code, "the background job failed");
            JobState::Failed { why: problem.what, next_due }
        }
    })
}
