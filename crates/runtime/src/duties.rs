//! What the house does by itself now and then: each duty is a row that says when it is due, and a lease, so that
//! whatever process lives may do it and none is done twice. There is no daemon that has to run.

use std::time::Duration;

use domain::Time;
use domain::limits::{CHECKPOINT_ENTRIES, LEASE};
use domain::probe::Point;
use ledger::records::{Duty, Lease};
use ledger::{Batch, CommitError, Entry, Ledger, Refusal, StoreError};
use serde::Serialize;
use serde_json::json;

use crate::host::Host;
use crate::pipeline::{Desk, Held};
use crate::problem::Problem;

/// How fast things go. Only tests want another pace than the default.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How long a driver may be silent.
    pub lease: Duration,
    /// How often each duty is due, if not as often as it says itself.
    pub duties: Option<Duration>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { lease: LEASE, duties: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Statistics for the database's planner, its log folded in.
    Upkeep,
    /// What was recorded is signed, and the epoch ends.
    Checkpoint,
}

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Kind {
    const ALL: [Self; 2] = [Self::Upkeep, Self::Checkpoint];

    const fn name(self) -> &'static str {
        match self {
            Self::Upkeep => "upkeep",
            Self::Checkpoint => "checkpoint",
        }
    }

    const fn every(self) -> Duration {
        match self {
            Self::Upkeep => DAY,
            Self::Checkpoint => HOUR,
        }
    }

    /// Whether there is anything to do, once it is due; and whether so much that it is due before its time.
    async fn wanted(self, desk: &Desk) -> Result<Wanted, Problem> {
        match self {
            Self::Upkeep => Ok(Wanted::InTime),
            Self::Checkpoint => {
                let unsigned = unsigned(&desk.ledger).await?;
                Ok(match unsigned {
                    ..=OWN_ENTRIES => Wanted::No,
                    CHECKPOINT_ENTRIES.. => Wanted::Now,
                    _ => Wanted::InTime,
                })
            }
        }
    }

    /// Does it; what is recorded of it, beyond that it was done, goes into the batch that says so.
    async fn run(self, desk: &Desk, done: &mut Batch) -> Result<(), Problem> {
        match self {
            Self::Upkeep => Ok(desk.ledger.upkeep().await?),
            Self::Checkpoint => sign(desk, done).await,
        }
    }
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
    let last = ledger.last_checkpoint().await?.and_then(|last| last.statement());
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
        done.audit(Entry::of_house("audit.damaged", verdict.stream.to_string(), desk.now(), detail));
    }
    // What an earlier checkpoint could not do outside the database any more, because its process died.
    let (checkpoints, seal) = (ledger.checkpoints().await?, ledger.seal());
    seal.catch_up(&checkpoints).map_err(StoreError::from)?;
    done.end_epoch();
    Ok(())
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
}

/// Looks at every duty, and does what is due.
pub(crate) async fn tick(desk: &Desk, host: &dyn Host) -> Result<Vec<DutyLine>, Problem> {
    let mut lines = Vec::new();
    for kind in Kind::ALL {
        lines.push(DutyLine { duty: kind.name(), state: attend(desk, host, kind).await? });
    }
    Ok(lines)
}

async fn attend(desk: &Desk, host: &dyn Host, kind: Kind) -> Result<DutyState, Problem> {
    let subject = format!("duty:{}", kind.name());
    // The lease first: if it is still so when the batch is written, the row is, too.
    let seen: Option<Lease> = desk.ledger.lease(&subject).await?;
    let row: Option<Duty> = desk.ledger.duty(kind.name()).await?;
    let now = desk.now();
    let next_due = row.as_ref().map_or(now, |row| row.next_due);
    let waits = match kind.wanted(desk).await? {
        Wanted::No => true,
        Wanted::InTime => next_due > now,
        Wanted::Now => false,
    };
    if waits {
        return Ok(DutyState::Waits { next_due });
    }
    let attended = seen.as_ref().is_some_and(|lease| {
        lease.until > now && lease.holder != host.holder() && host.is_alive(&lease.holder) != Some(false)
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
    let result = kind.run(desk, &mut done).await;
    desk.probe.reached(Point::Ran { tool: &subject, call: &due });

    let now = desk.now();
    // From now, not from when it was due: what was missed while nothing ran is not made up for.
    let next_due = now.plus(desk.pace.duties.unwrap_or(kind.every()));
    let outcome = if result.is_ok() { "done" } else { "failed" };
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
