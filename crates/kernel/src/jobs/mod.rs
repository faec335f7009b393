//! What the house does by itself now and then: each duty is a row that says when it is due, and a lease, so that
//! whatever process lives may do it and none is done twice. There is no daemon that has to run.

mod retention;

use std::collections::BTreeMap;
use std::time::Duration;

use domain::Time;
use domain::limits::{CHECKPOINT_ENTRIES, LEASE, MODEL};
use domain::probe::Point;
use ledger::chain::DAMAGED;
use ledger::records::{Duty, Lease};
use ledger::{Batch, CommitError, Entry, Ledger, Refusal, StoreError};
use serde::Serialize;
use serde_json::json;

use crate::host::Host;
use crate::lease::TaskLease;
use crate::services::Services;
use domain::problem::Problem;

/// How fast things go. Only tests want another pace than the default.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// How long a driver may be silent.
    pub lease: Duration,
    /// How often each duty is due, if not as often as it says itself.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackgroundJob {
    /// Statistics for the database's planner, its log folded in.
    Upkeep,
    /// What was recorded is signed, and the epoch ends.
    Checkpoint,
    /// The words of channels that the owner has set a limit for, if they are older.
    Retention,
    /// The database's own files, after something was erased; due only when somebody asks for it.
    Scrub,
}

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Until somebody asks.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

impl BackgroundJob {
    /// Signing comes after what the others record, scrubbing last: what they erase is gone from the files with the same tick.
    const ALL: [Self; 4] = [Self::Upkeep, Self::Retention, Self::Checkpoint, Self::Scrub];

    const fn name(self) -> &'static str {
        match self {
            Self::Upkeep => "upkeep",
            Self::Checkpoint => "checkpoint",
            Self::Retention => "retention",
            Self::Scrub => "scrub",
        }
    }

    /// How long until it is due again.
    fn pause(self, timing: Timing, done: bool) -> Duration {
        match self {
            Self::Upkeep | Self::Retention => timing.jobs.unwrap_or(DAY),
            Self::Checkpoint => timing.jobs.unwrap_or(HOUR),
            Self::Scrub if done => NEVER,
            // Whoever was in the way may be gone by the next tick.
            Self::Scrub => Duration::ZERO,
        }
    }

    /// Whether there is anything to do at all, and whether so much that it is due before its time.
    async fn wanted(
        self,
        services: &Services,
        row: Option<&Duty>,
        limits: &RetentionLimits,
    ) -> Result<JobDemand, Problem> {
        let some = |is_wanted| if is_wanted { JobDemand::InTime } else { JobDemand::No };
        Ok(match self {
            Self::Upkeep => JobDemand::InTime,
            Self::Retention => some(!limits.days.is_empty()),
            Self::Scrub if row.is_some_and(is_demanded) => JobDemand::Now,
            Self::Scrub => JobDemand::No,
            Self::Checkpoint => match unsigned(&services.ledger).await? {
                ..=OWN_ENTRIES => JobDemand::No,
                CHECKPOINT_ENTRIES.. => JobDemand::Now,
                _ => JobDemand::InTime,
            },
        })
    }

    /// Does it; what is recorded of it, beyond that it was done, goes into the batch that says so.
    async fn run(
        self,
        services: &Services,
        host: &dyn Host,
        limits: &RetentionLimits,
        done: &mut Batch,
    ) -> Result<(), Problem> {
        match self {
            Self::Upkeep => Ok(services.ledger.upkeep().await?),
            Self::Retention => retention::keep(services, host, limits).await,
            Self::Checkpoint => sign(services, done).await,
            Self::Scrub => Ok(services.ledger.scrub().await?),
        }
    }
}

/// Whether scrubbing was asked for since it was last done. No clock has a say in this: only a run that was done puts the next
/// one off for ever.
fn is_demanded(row: &Duty) -> bool {
    let is_put_off = row.last_run.is_some_and(|last| row.next_due.since(last) >= NEVER);
    row.outcome.as_deref() != Some(DONE) || !is_put_off
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobDemand {
    No,
    InTime,
    Now,
}

/// What the duty itself writes down: that it began, and that it is done. An idle house does not sign that it has signed.
const OWN_ENTRIES: u64 = 2;

/// Entries that no checkpoint has signed yet.
async fn unsigned(ledger: &Ledger) -> Result<u64, Problem> {
    let Some(head) = ledger.audit_head().await? else { return Ok(0) };
    let last = ledger.seal().last_checkpoint().map_err(StoreError::from)?;
    let signed = last.and_then(|last| last.heads.into_iter().find(|signed| signed.stream == head.stream));
    Ok(head.seq.saturating_sub(signed.map_or(0, |signed| signed.seq)))
}

/// Before anything is signed it is looked at: what is damaged is named in the record, and signed as damaged.
async fn sign(services: &Services, done: &mut Batch) -> Result<(), Problem> {
    let ledger = &services.ledger;
    let verdict = ledger.verify_since_checkpoint().await?;
    if !verdict.faults.is_empty() {
        let faults: Vec<String> = verdict.faults.iter().map(ToString::to_string).collect();
        let detail = json!({ "faults": faults, "more": verdict.more });
        done.audit(Entry::of_house(DAMAGED, verdict.stream.to_string(), services.now(), detail));
    }
    ledger.catch_up().await?;
    done.end_epoch();
    Ok(())
}

const DONE: &str = "done";

/// For how many days the words of an adapter's events are limits, and up to when they are counted.
#[derive(Debug)]
pub(crate) struct RetentionLimits {
    pub(crate) days: BTreeMap<String, u32>,
    pub(crate) until: Time,
}

/// What came of one duty, or when it is due.
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

/// Looks at every duty, and does what is due.
pub(crate) async fn tick(
    services: &Services,
    host: &dyn Host,
    limits: &RetentionLimits,
) -> Result<Vec<JobReport>, Problem> {
    let mut lines = Vec::new();
    for job in BackgroundJob::ALL {
        lines.push(JobReport { duty: job.name(), state: run_if_due(services, host, job, limits).await? });
    }
    Ok(lines)
}

/// Makes scrubbing due, in the batch that erases something. Whoever is at it now has begun before that, so their word that it is
/// done does not count any more.
pub async fn demand_scrub(services: &Services, host: &dyn Host, batch: &mut Batch) -> Result<(), Problem> {
    let name = BackgroundJob::Scrub.name();
    let subject = format!("duty:{name}");
    let seen: Option<Lease> = services.ledger.lease(&subject).await?;
    let row: Option<Duty> = services.ledger.duty(name).await?;
    let now = services.now();
    let epoch = TaskLease::after(seen.clone()).epoch;
    let beats = seen.as_ref().map_or(0, |lease| lease.beats) + 1;
    batch
        .expect_lease(subject.clone(), seen)
        .put(&Lease { subject, epoch, holder: host.holder(), until: now, beats })
        .put(&match row {
            Some(row) => Duty { next_due: now, ..row },
            None => Duty { name: name.into(), next_due: now, last_run: None, outcome: None, runs: 0 },
        });
    Ok(())
}

/// Scrubs, if it is due. Whether the files are clean now.
pub async fn scrub(services: &Services, host: &dyn Host) -> Result<bool, Problem> {
    let limits = RetentionLimits { days: BTreeMap::new(), until: services.now() };
    let state = run_if_due(services, host, BackgroundJob::Scrub, &limits).await?;
    Ok(matches!(state, JobState::Done { .. } | JobState::Idle))
}

async fn run_if_due(
    services: &Services,
    host: &dyn Host,
    job: BackgroundJob,
    limits: &RetentionLimits,
) -> Result<JobState, Problem> {
    let subject = format!("duty:{}", job.name());
    // The lease first: if it is still so when the batch is written, the row is, too.
    let seen: Option<Lease> = services.ledger.lease(&subject).await?;
    let row: Option<Duty> = services.ledger.duty(job.name()).await?;
    let now = services.now();
    let early = row.as_ref().filter(|row| !row.is_due(now, job.pause(services.timing, true)));
    match (job.wanted(services, row.as_ref(), limits).await?, early) {
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
    claim.expect_lease(subject.clone(), seen).put(&lease).audit(entry(job, "duty.started", now, json!({})));
    match services.ledger.commit(claim).await {
        Err(CommitError::Refused(Refusal::Fenced { .. })) => return Ok(JobState::Elsewhere),
        claimed => claimed?,
    };

    let due = row.as_ref().map_or_else(|| "first".to_owned(), |row| row.next_due.to_string());
    services.probe.reached(Point::Running { tool: &subject, call: &due });
    let mut done = services.batch();
    let result = job.run(services, host, limits, &mut done).await;
    services.probe.reached(Point::Ran { tool: &subject, call: &due });

    let now = services.now();
    // From now, not from when it was due: what was missed while nothing ran is not made up for.
    let next_due = now.plus(job.pause(services.timing, result.is_ok()));
    let outcome = if result.is_ok() { DONE } else { "failed" };
    let name = job.name().to_owned();
    let runs = row.map_or(0, |row| row.runs) + 1;
    done.fence(subject, held.epoch)
        .put(&Duty { name, next_due, last_run: Some(now), outcome: Some(outcome.into()), runs })
        .put(&Lease { until: now, beats: beats + 1, ..lease })
        .audit(entry(job, &format!("duty.{outcome}"), now, detail(runs, &result)));
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

/// A code is a word of ours; what a database said may not be, and an entry is for ever.
fn detail(runs: u64, result: &Result<(), Problem>) -> serde_json::Value {
    match result {
        Ok(()) => json!({ "runs": runs }),
        Err(problem) => json!({ "runs": runs, "code": problem.code }),
    }
}

fn entry(job: BackgroundJob, what: &str, at: Time, detail: serde_json::Value) -> Entry {
    Entry::of_house(what, format!("duty:{}", job.name()), at, detail)
}
