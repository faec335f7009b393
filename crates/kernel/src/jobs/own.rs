//! The kernel's own jobs: upkeep of the database, signing of the audit, and scrubbing of what was erased.

use std::time::Duration;

use async_trait::async_trait;
use domain::limits::CHECKPOINT_ENTRIES;
use ledger::audit_event::SYSTEM;
use ledger::records::{Duty, Lease};
use ledger::{AuditEvent, Batch, Ledger, StoreError};

use super::{BackgroundJob, JobContext, JobDemand, JobState, Timing, run_if_due};
use crate::host::Host;
use crate::lease::TaskLease;
use crate::services::Services;
use domain::problem::Problem;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Until it is asked for.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Statistics for the database's planner, its log folded in.
pub(super) struct Upkeep;

#[async_trait]
impl BackgroundJob for Upkeep {
    fn name(&self) -> &'static str {
        "upkeep"
    }

    fn pause(&self, timing: Timing, _: bool) -> Duration {
        timing.jobs.unwrap_or(DAY)
    }

    async fn demand(&self, _: &Services, _: Option<&Duty>) -> Result<JobDemand, Problem> {
        Ok(JobDemand::InTime)
    }

    async fn run(&self, context: &JobContext<'_>, _: &mut Batch) -> Result<(), Problem> {
        Ok(context.services.ledger.upkeep().await?)
    }
}

/// What was recorded is signed, and the epoch of the audit ends.
pub(super) struct Checkpoint;

#[async_trait]
impl BackgroundJob for Checkpoint {
    fn name(&self) -> &'static str {
        "checkpoint"
    }

    fn pause(&self, timing: Timing, _: bool) -> Duration {
        timing.jobs.unwrap_or(HOUR)
    }

    async fn demand(&self, services: &Services, _: Option<&Duty>) -> Result<JobDemand, Problem> {
        Ok(match unsigned(&services.ledger).await? {
            ..=OWN_ENTRIES => JobDemand::No,
            CHECKPOINT_ENTRIES.. => JobDemand::Now,
            _ => JobDemand::InTime,
        })
    }

    async fn run(&self, context: &JobContext<'_>, done: &mut Batch) -> Result<(), Problem> {
        sign(context.services, done).await
    }
}

/// The database's own files are cleaned of what was erased. Due only if that was asked for: [`demand_scrub`].
pub(super) struct Scrub;

#[async_trait]
impl BackgroundJob for Scrub {
    fn name(&self) -> &'static str {
        SCRUB
    }

    fn pause(&self, _: Timing, done: bool) -> Duration {
        // If it failed, the process that was in the way may be gone by the next tick.
        if done { NEVER } else { Duration::ZERO }
    }

    async fn demand(&self, _: &Services, row: Option<&Duty>) -> Result<JobDemand, Problem> {
        Ok(if row.is_some_and(is_demanded) { JobDemand::Now } else { JobDemand::No })
    }

    async fn run(&self, context: &JobContext<'_>, _: &mut Batch) -> Result<(), Problem> {
        Ok(context.services.ledger.scrub().await?)
    }
}

const SCRUB: &str = "scrub";

/// Whether scrubbing was asked for since it was last done. No clock has a say in this: only a run that was done puts the next
/// one off for ever.
fn is_demanded(row: &Duty) -> bool {
    let is_put_off = row.last_run.is_some_and(|last| row.next_due.since(last) >= NEVER);
    row.outcome.as_deref() != Some(Duty::DONE) || !is_put_off
}

/// What the job itself writes down: that it began, and that it is done. An idle instance does not sign that it has signed.
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
        let damaged =
            AuditEvent::AuditDamaged { stream: verdict.stream, faults: &faults, more: verdict.more };
        done.audit(damaged.entry(SYSTEM, services.now()));
    }
    ledger.catch_up().await?;
    done.end_epoch();
    Ok(())
}

/// Makes scrubbing due, in the batch that erases something. Whoever is at it now has begun before that, so their word that it is
/// done does not count any more.
///
/// # Errors
/// If the ledger fails.
pub async fn demand_scrub(services: &Services, host: &dyn Host, batch: &mut Batch) -> Result<(), Problem> {
    let subject = format!("duty:{SCRUB}");
    let seen: Option<Lease> = services.ledger.lease(&subject).await?;
    let row: Option<Duty> = services.ledger.duty(SCRUB).await?;
    let now = services.now();
    let epoch = TaskLease::after(seen.clone()).epoch;
    let beats = seen.as_ref().map_or(0, |lease| lease.beats) + 1;
    batch
        .expect_lease(subject.clone(), seen)
        .put(&Lease { subject, epoch, holder: host.holder(), until: now, beats })
        .put(&match row {
            Some(row) => Duty { next_due: now, ..row },
            None => Duty { name: SCRUB.into(), next_due: now, last_run: None, outcome: None, runs: 0 },
        });
    Ok(())
}

/// Scrubs, if it is due. Says whether the files are clean now.
///
/// # Errors
/// If the ledger fails.
pub async fn scrub(services: &Services, host: &dyn Host) -> Result<bool, Problem> {
    let context = JobContext { services, host, confirmed: services.now() };
    let state = run_if_due(&context, &Scrub).await?;
    Ok(matches!(state, JobState::Done { .. } | JobState::Idle))
}
