//! Integrity is not completeness: whether everything that was done has its entry, and every entry its effect.
//!
//! Each row says which entry it expects, and with what in it; each entry is expected by a row. Where an entry comes twice (a call that was asked
//! for again after a crash) the last one counts.

use std::collections::HashMap;

use domain::id::TaskId;
use domain::task::Status;
use domain::{Digest, approval};
use serde_json::{Map, Value};

use super::walk::Link;
use crate::audit_event::{AuditEvent, AuditEventKind};
use crate::records::{
    Access, AgentTask, Approval, CallStatus, Duty, Event, Grant, GrantEvent, GrantLog, Knock, TaskStep,
    ToolCall,
};

/// Something that is recorded in one place and not in the other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Gap {
    #[error("{subject} has no entry `{kind}`")]
    NoEntry { kind: String, subject: String },
    #[error("{subject} is not what entry {seq} (`{kind}`) says of it")]
    Differs { kind: String, subject: String, seq: u64 },
    #[error("entry {seq} (`{kind}`) speaks of {subject}, and there is no such effect")]
    NoEffect { kind: String, subject: String, seq: u64 },
}

struct Said {
    seq: u64,
    what: Digest,
    /// What a task's steps come to, where the entry says so.
    journal: Option<Digest>,
    claimed: bool,
}

/// The audit on one side, what was done on the other.
#[derive(Default)]
pub struct Ledgers {
    said: HashMap<(AuditEventKind, String), Said>,
    journals: HashMap<TaskId, Trail>,
    gaps: Vec<Gap>,
}

impl std::fmt::Debug for Ledgers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledgers").field("gaps", &self.gaps).finish_non_exhaustive()
    }
}

/// What an entry is found by. A grant is used again and again: each use has an entry and a row of its own.
fn key(kind: AuditEventKind, subject: String, call: Option<&Value>) -> (AuditEventKind, String) {
    match (kind, call.and_then(Value::as_str)) {
        (AuditEventKind::GrantUsed, Some(call)) => (kind, format!("{subject}/{call}")),
        _ => (kind, subject),
    }
}

fn key_of(event: &AuditEvent<'_>, detail: &Map<String, Value>) -> (AuditEventKind, String) {
    key(event.kind(), event.subject(), detail.get("call"))
}

/// What is compared, as one digest. Empty and missing are the same.
fn what<'v>(kind: AuditEventKind, field: impl Fn(&str) -> Option<&'v Value>) -> Digest {
    let values = kind.compared().iter().map(|name| field(name).unwrap_or(&Value::Null));
    let values: Vec<&Value> = values.collect();
    Digest::of(serde_json::to_string(&values).unwrap_or_default().as_bytes())
}

/// A job runs again and again, and its row knows the last time only: earlier entries have no row.
const fn is_repeated(kind: AuditEventKind) -> bool {
    matches!(kind, AuditEventKind::JobDone | AuditEventKind::JobFailed)
}

impl Ledgers {
    pub fn entry(&mut self, link: &Link<'_>) {
        let Some(detail) = link.detail() else { return }; // the walk names it
        let kind = AuditEventKind::from_name(link.kind).filter(|kind| !kind.compared().is_empty());
        let Some(kind) = kind else { return };
        let journal = detail.get("journal").and_then(Value::as_str).and_then(|digest| digest.parse().ok());
        let what = what(kind, |field| detail.get(field));
        let said = Said { seq: link.seq, what, journal, claimed: is_repeated(kind) };
        self.said.insert(key(kind, link.subject.to_owned(), detail.get("call")), said);
    }

    pub fn event(&mut self, event: &Event) {
        self.expect(&AuditEvent::of_event(event));
    }

    pub fn admission(&mut self, access: &Access) {
        self.expect(&AuditEvent::of_admission(access));
    }

    pub fn knock(&mut self, knock: &Knock) {
        self.expect(&AuditEvent::AccessRequestOpened(knock));
        if knock.status.is_open() {
            return;
        }
        match AuditEvent::of_access_request(knock) {
            Some(ended) => drop(self.expect(&ended)),
            None => {
                let kind = format!("knock.{}", knock.status.name());
                self.gaps.push(Gap::NoEntry { kind, subject: knock.id.to_string() });
            }
        }
    }

    pub fn call(&mut self, call: &ToolCall) {
        // A call may be asked about, started, asked about again, and refused: the last of these is what its row says.
        let (last, before): (_, &[AuditEvent<'_>]) = match call.status {
            CallStatus::Waiting => (AuditEvent::CallWaiting(call), &[AuditEvent::CallStarted(call)]),
            CallStatus::Refused => (
                AuditEvent::CallRefused(call),
                &[AuditEvent::CallWaiting(call), AuditEvent::CallStarted(call)],
            ),
            _ => (AuditEvent::CallStarted(call), &[AuditEvent::CallWaiting(call)]),
        };
        self.expect(&last);
        // Whether it should have one only its decision knows; one without a refused call is nobody's.
        let violated = AuditEvent::RuleViolated(call);
        if call.status == CallStatus::Refused && self.says(&violated) {
            self.expect(&violated);
        }
        for earlier in before {
            self.supersede(earlier, &last);
        }
        match call.status {
            CallStatus::Refused | CallStatus::Waiting | CallStatus::Started => {}
            CallStatus::Finished | CallStatus::Failed | CallStatus::Unknown => {
                self.expect(&AuditEvent::of_call(call));
            }
        }
    }

    pub fn approval(&mut self, approval: &Approval) {
        self.expect(&AuditEvent::ApprovalRequested(approval));
        let escalated = AuditEvent::ApprovalEscalated(approval);
        if approval.status == approval::Status::Escalated || self.says(&escalated) {
            self.expect(&escalated);
        }
        if !approval.status.is_open() {
            self.expect(&AuditEvent::of_approval(approval));
        }
        if let Some(fate) = approval.fate {
            self.expect(&AuditEvent::of_token(approval, fate));
        }
    }

    pub fn grant(&mut self, grant: &Grant) {
        self.expect(&AuditEvent::GrantCreated(grant));
        match (grant.revoked_at, &grant.live) {
            (Some(_), _) => drop(self.expect(&AuditEvent::GrantRevoked(grant))),
            (None, None) => drop(self.expect(&AuditEvent::GrantExpired(grant))),
            (None, Some(_)) => {}
        }
    }

    pub fn grant_log(&mut self, log: &GrantLog) {
        if log.event == GrantEvent::Used && log.call_id.is_some() {
            self.expect(&AuditEvent::GrantUsed(log));
        }
    }

    pub fn task(&mut self, task: &AgentTask) {
        let AgentTask { task_id, status, steps, .. } = task;
        // What was not let in is over before it began.
        if *status != Status::Queued && !(status.is_over() && *steps == 0) {
            self.expect(&AuditEvent::opening(task));
        }
        if status.is_over() {
            let ended = AuditEvent::TaskEnded(task);
            let journal = self.expect(&ended);
            let trail = self.journals.remove(task_id).unwrap_or(Trail::of([]));
            if let Some((seq, journal)) = journal
                && journal != trail.digest()
            {
                let subject = format!("the journal of {task_id}");
                self.gaps.push(Gap::Differs { kind: ended.kind().name().into(), subject, seq });
            }
        }
    }

    /// Before the tasks, in the order of the ledger.
    pub fn step(&mut self, step: &TaskStep) {
        let trail = self.journals.entry(step.task).or_insert(Trail::of([]));
        *trail = trail.and(step.body);
    }

    /// A row that differs from the newest entry is one without an entry.
    pub fn duty(&mut self, duty: &Duty) {
        let Some(outcome) = &duty.outcome else { return };
        let event = AuditEvent::of_job(duty);
        let said = event.and_then(|event| {
            let detail = event.detail();
            let expected = what(event.kind(), |field| detail.get(field));
            self.said.get(&key_of(&event, &detail)).filter(|said| said.what == expected)
        });
        if said.is_none() {
            let subject = AuditEvent::JobDone(duty).subject();
            self.gaps.push(Gap::NoEntry { kind: format!("duty.{outcome}"), subject });
        }
    }

    fn says(&self, event: &AuditEvent<'_>) -> bool {
        self.said.contains_key(&key_of(event, &event.detail()))
    }

    /// An earlier entry about the same subject, which a later one has overtaken.
    fn supersede(&mut self, earlier: &AuditEvent<'_>, later: &AuditEvent<'_>) {
        let seq = self.said.get(&key_of(later, &later.detail())).map(|said| said.seq);
        let said = self.said.get_mut(&key_of(earlier, &earlier.detail()));
        if let Some(said) = said.filter(|said| Some(said.seq) < seq) {
            said.claimed = true;
        }
    }

    fn expect(&mut self, event: &AuditEvent<'_>) -> Option<(u64, Digest)> {
        let detail = event.detail();
        let expected = what(event.kind(), |field| detail.get(field));
        let key = key_of(event, &detail);
        let kind = event.kind().name().to_owned();
        match self.said.get_mut(&key) {
            None => {
                self.gaps.push(Gap::NoEntry { kind, subject: key.1 });
                None
            }
            Some(said) => {
                said.claimed = true;
                if said.what != expected {
                    self.gaps.push(Gap::Differs { kind, subject: key.1, seq: said.seq });
                }
                said.journal.map(|journal| (said.seq, journal))
            }
        }
    }

    /// What has no counterpart.
    #[must_use]
    pub fn finish(mut self) -> Vec<Gap> {
        let alone = self.said.into_iter().filter(|(_, said)| !said.claimed);
        let mut alone: Vec<Gap> = alone
            .map(|((kind, subject), said)| Gap::NoEffect { kind: kind.name().into(), subject, seq: said.seq })
            .collect();
        alone.sort_by_key(|gap| match gap {
            Gap::NoEffect { seq, .. } | Gap::Differs { seq, .. } => *seq,
            Gap::NoEntry { .. } => 0,
        });
        self.gaps.extend(alone);
        self.gaps
    }
}

/// One digest over the bodies of a task's journal, in order. It stands in the audit when the task is over: from then on no
/// step can be changed or taken away unseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trail(Digest);

impl Trail {
    pub fn of(bodies: impl IntoIterator<Item = Digest>) -> Self {
        bodies.into_iter().fold(Self(Digest::ZERO), Self::and)
    }

    #[must_use]
    pub fn and(self, body: Digest) -> Self {
        Self(Digest::of_parts(&[self.0.as_bytes(), body.as_bytes()]))
    }

    #[must_use]
    pub const fn digest(self) -> Digest {
        self.0
    }
}
