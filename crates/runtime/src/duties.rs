//! What the house does by itself now and then: each duty is a row that says when it is due, and a lease, so that
//! whatever process lives may do it and none is done twice. There is no daemon that has to run.

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
use crate::pipeline::{Desk, Held};
use crate::problem::Problem;
use crate::retention;

/// How fast things go. Only tests want another pace than the default.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How long a driver may be silent.
    pub lease: Duration,
    /// How often each duty is due, if not as often as it says itself.
    pub duties: Option<Duration>,
    /// How long a model may take to answer.
    pub model: Duration,
    /// Whether calls that were begun together are heard together, so that equal histories leave equal journals.
    pub in_step: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self { lease: LEASE, duties: None, model: MODEL, in_step: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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

impl Kind {
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
    fn pause(self, pace: Pace, done: bool) -> Duration {
        match self {
            Self::Upkeep | Self::Retention => pace.duties.unwrap_or(DAY),
            Self::Checkpoint => pace.duties.unwrap_or(HOUR),
            Self::Scrub if done => NEVER,
            // Whoever was in the way may be gone by the next tick.
            Self::Scrub => Duration::ZERO,
        }
    }

    /// Whether there is anything to do at all, and whether so much that it is due before its time.
    async fn wanted(self, desk: &Desk, row: Option<&Duty>, kept: &Kept) -> Result<Wanted, Problem> {
        let some = |is_wanted| if is_wanted { Wanted::InTime } else { Wanted::No };
        Ok(match self {
            Self::Upkeep => Wanted::InTime,
            Self::Retention => some(!kept.days.is_empty()),
            Self::Scrub if row.is_some_and(is_demanded) => Wanted::Now,
            Self::Scrub => Wanted::No,
            Self::Checkpoint => match unsigned(&desk.ledger).await? {
                ..=OWN_ENTRIES => Wanted::No,
                CHECKPOINT_ENTRIES.. => Wanted::Now,
                _ => Wanted::InTime,
            },
        })
    }

    /// Does it; what is recorded of it, beyond that it was done, goes into the batch that says so.
    async fn run(self, desk: &Desk, host: &dyn Host, kept: &Kept, done: &mut Batch) -> Result<(), Problem> {
        match self {
            Self::Upkeep => Ok(desk.ledger.upkeep().await?),
            Self::Retention => retention::keep(desk, host, kept).await,
            Self::Checkpoint => sign(desk, done).await,
            Self::Scrub => Ok(desk.ledger.scrub().await?),
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
enum Wanted {
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
async fn sign(desk: &Desk, done: &mut Batch) -> Result<(), Problem> {
    let ledger = &desk.ledger;
    let verdict = ledger.verify_since_checkpoint().await?;
    if !verdict.faults.is_empty() {
        let faults: Vec<String> = verdict.faults.iter().map(ToString::to_string).collect();
        let detail = json!({ "faults": faults, "more": verdict.more });
        done.audit(Entry::of_house(DAMAGED, verdict.stream.to_string(), desk.now(), detail));
    }
    ledger.catch_up().await?;
    done.end_epoch();
    Ok(())
}

const DONE: &str = "done";

/// For how many days the words of an adapter's events are kept, and up to when they are counted.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) days: BTreeMap<String, u32>,
    pub(crate) until: Time,
}

/// What came of one duty, or when it is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DutyLine {
    pub duty: &'static str,
    #[serde(flatten)]
    pub state: DutyState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum DutyState {
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
pub(crate) async fn tick(desk: &Desk, host: &dyn Host, kept: &Kept) -> Result<Vec<DutyLine>, Problem> {
    let mut lines = Vec::new();
    for kind in Kind::ALL {
        lines.push(DutyLine { duty: kind.name(), state: attend(desk, host, kind, kept).await? });
    }
    Ok(lines)
}

/// Makes scrubbing due, in the batch that erases something. Whoever is at it now has begun before that, so their word that it is
/// done does not count any more.
pub(crate) async fn demand_scrub(desk: &Desk, host: &dyn Host, batch: &mut Batch) -> Result<(), Problem> {
    let name = Kind::Scrub.name();
    let subject = format!("duty:{name}");
    let seen: Option<Lease> = desk.ledger.lease(&subject).await?;
    let row: Option<Duty> = desk.ledger.duty(name).await?;
    let now = desk.now();
    let epoch = Held::after(seen.clone()).epoch;
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
pub(crate) async fn scrub(desk: &Desk, host: &dyn Host) -> Result<bool, Problem> {
    let kept = Kept { days: BTreeMap::new(), until: desk.now() };
    let state = attend(desk, host, Kind::Scrub, &kept).await?;
    Ok(matches!(state, DutyState::Done { .. } | DutyState::Idle))
}

async fn attend(desk: &Desk, host: &dyn Host, kind: Kind, kept: &Kept) -> Result<DutyState, Problem> {
    let subject = format!("duty:{}", kind.name());
    // The lease first: if it is still so when the batch is written, the row is, too.
    let seen: Option<Lease> = desk.ledger.lease(&subject).await?;
    let row: Option<Duty> = desk.ledger.duty(kind.name()).await?;
    let now = desk.now();
    let early = row.as_ref().filter(|row| !row.is_due(now, kind.pause(desk.pace, true)));
    match (kind.wanted(desk, row.as_ref(), kept).await?, early) {
        (Wanted::No, _) => return Ok(DutyState::Idle),
        (Wanted::InTime, Some(row)) => return Ok(DutyState::Waits { next_due: row.next_due }),
        (Wanted::InTime | Wanted::Now, _) => {}
    }
    let attended = seen.as_ref().is_some_and(|lease| {
        let is_other = lease.holder != host.holder() && host.is_alive(&lease.holder) != Some(false);
        is_other && lease.is_running(now, desk.pace.lease)
    });
    if attended {
        return Ok(DutyState::Elsewhere);
    }
    let (held, beats) = (Held::after(seen.clone()), seen.as_ref().map_or(0, |lease| lease.beats) + 1);
    let lease = Lease {
        subject: subject.clone(),
        epoch: held.epoch,
        holder: host.holder(),
        until: now.plus(desk.pace.lease),
        beats,
    };
    let mut claim = desk.batch();
    claim.expect_lease(subject.clone(), seen).put(&lease).audit(entry(kind, "duty.started", now, json!({})));
    match desk.ledger.commit(claim).await {
        Err(CommitError::Refused(Refusal::Fenced { .. })) => return Ok(DutyState::Elsewhere),
        claimed => claimed?,
    };

    let due = row.as_ref().map_or_else(|| "first".to_owned(), |row| row.next_due.to_string());
    desk.probe.reached(Point::Running { tool: &subject, call: &due });
    let mut done = desk.batch();
    let result = kind.run(desk, host, kept, &mut done).await;
    desk.probe.reached(Point::Ran { tool: &subject, call: &due });

    let now = desk.now();
    // From now, not from when it was due: what was missed while nothing ran is not made up for.
    let next_due = now.plus(kind.pause(desk.pace, result.is_ok()));
    let outcome = if result.is_ok() { DONE } else { "failed" };
    let name = kind.name().to_owned();
    let runs = row.map_or(0, |row| row.runs) + 1;
    done.fence(subject, held.epoch)
        .put(&Duty { name, next_due, last_run: Some(now), outcome: Some(outcome.into()), runs })
        .put(&Lease { until: now, beats: beats + 1, ..lease })
        .audit(entry(kind, &format!("duty.{outcome}"), now, detail(runs, &result)));
    match desk.ledger.commit(done).await {
        Err(CommitError::Refused(Refusal::Fenced { .. })) => return Ok(DutyState::Elsewhere),
        written => written?,
    };
    Ok(match result {
        Ok(()) => DutyState::Done { next_due },
        Err(problem) => DutyState::Failed { why: problem.what, next_due },
    })
}

/// A code is a word of ours; what a database said may not be, and an entry is for ever.
fn detail(runs: u64, result: &Result<(), Problem>) -> serde_json::Value {
    match result {
        Ok(()) => json!({ "runs": runs }),
        Err(problem) => json!({ "runs": runs, "code": problem.code }),
    }
}

fn entry(kind: Kind, what: &str, at: Time, detail: serde_json::Value) -> Entry {
    Entry::of_house(what, format!("duty:{}", kind.name()), at, detail)
}
