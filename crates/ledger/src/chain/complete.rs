//! Integrity is not completeness: whether everything that was done has its entry, and every entry its effect.
//!
//! Each row says which entry it expects, and with what in it; each entry is expected by a row. Where an entry comes twice (a call that was asked
//! for again after a crash) the last one counts.

use std::collections::HashMap;

use domain::event::Direction;
use domain::id::TaskId;
use domain::task::Status;
use domain::{Digest, approval};
use serde_json::Value;

use super::walk::Link;
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

/// Kinds of entries that a row must stand for, and what of their detail the row repeats.
const EFFECTS: [(&str, &[&str]); 29] = [
    ("event.received", &["body", "sender", "place"]),
    ("event.sent", &["body", "answers"]),
    ("admission.decided", &["effect", "principal", "decision"]),
    ("admission.decided_again", &["effect", "principal", "decision"]),
    ("knock.asked", &["kind", "sender"]),
    ("knock.approved", &["entity", "events"]),
    ("knock.rejected", &["entity", "events"]),
    ("knock.expired", &["entity", "events"]),
    ("call.waiting", &["tool", "task", "input", "decision"]),
    ("call.refused", &["tool", "task", "input", "decision"]),
    ("call.started", &["tool", "task", "input", "decision"]),
    ("call.finished", &["tool", "task", "output", "duration_ms"]),
    ("call.failed", &["tool", "task", "output", "duration_ms"]),
    ("call.unknown", &["tool", "task", "output", "duration_ms"]),
    (RULE_VIOLATED, &["tool", "task", "input", "decision"]),
    ("task.opened", &["event"]),
    ("task.ended", &["status", "directive", "steps"]),
    ("approval.requested", &["call", "question", "fingerprint"]),
    ("approval.escalated", &["to", "timeout_at"]),
    ("approval.approved", &["leave", "answer"]),
    ("approval.modified", &["leave", "answer"]),
    ("approval.rejected", &["leave", "answer"]),
    ("approval.expired", &["leave", "answer"]),
    ("approval.used", &["leave"]),
    ("approval.voided", &["leave"]),
    ("grant.created", &["tool", "terms", "expires_at"]),
    ("grant.revoked", &["tool"]),
    ("grant.expired", &["tool"]),
    (GRANT_USED, &["call"]),
];
/// A call that violated several rules has an entry for each; the last one counts.
const RULE_VIOLATED: &str = "governance.rule_violated";
/// A grant is used again and again: each use has an entry and a row of its own.
const GRANT_USED: &str = "grant.used";

struct Said {
    seq: u64,
    kind: &'static str,
    what: Digest,
    /// What a task's steps come to, where the entry says so.
    journal: Option<Digest>,
    claimed: bool,
}

/// The audit on one side, what was done on the other.
#[derive(Default)]
pub struct Ledgers {
    said: HashMap<(usize, String), Said>,
    duties: HashMap<(String, String), u64>,
    journals: HashMap<TaskId, Trail>,
    gaps: Vec<Gap>,
}

impl std::fmt::Debug for Ledgers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledgers").field("gaps", &self.gaps).finish_non_exhaustive()
    }
}

fn kind_of(kind: &str) -> Option<usize> {
    EFFECTS.iter().position(|(known, _)| *known == kind)
}

/// One use of a grant, by one call.
fn use_of(grant: &str, call: &str) -> String {
    format!("{grant}/{call}")
}

/// What is compared, as one digest. Empty and missing are the same.
fn what<'v>(values: impl Iterator<Item = Option<&'v Value>>) -> Digest {
    let values: Vec<&Value> = values.map(|value| value.unwrap_or(&Value::Null)).collect();
    Digest::of(serde_json::to_string(&values).unwrap_or_default().as_bytes())
}

impl Ledgers {
    pub fn entry(&mut self, link: &Link<'_>) {
        let Some(detail) = link.detail() else { return }; // the walk names it
        if let (Some(outcome), Some(runs)) =
            (link.kind.strip_prefix("duty."), detail.get("runs").and_then(Value::as_u64))
        {
            self.duties.insert((link.subject.to_owned(), outcome.to_owned()), runs);
        }
        let Some(at) = kind_of(link.kind) else { return };
        let Some((kind, fields)) = EFFECTS.get(at) else { return };
        let journal = detail.get("journal").and_then(Value::as_str).and_then(|digest| digest.parse().ok());
        let what = what(fields.iter().map(|field| detail.get(*field)));
        let said = Said { seq: link.seq, kind, what, journal, claimed: false };
        let subject = match (*kind, detail.get("call").and_then(Value::as_str)) {
            (GRANT_USED, Some(call)) => use_of(link.subject, call),
            _ => link.subject.to_owned(),
        };
        self.said.insert((at, subject), said);
    }

    pub fn event(&mut self, event: &Event) {
        let Event { id, body, sender, place, answers, direction, .. } = event;
        match direction {
            Direction::In => self.expect("event.received", id, &serde_json::json!([body, sender, place])),
            Direction::Out => self.expect("event.sent", id, &serde_json::json!([body, answers])),
        };
    }

    pub fn admission(&mut self, access: &Access) {
        let Access { event_id, effect, principal, decision, n, .. } = access;
        let kind = if *n == 0 { "admission.decided" } else { "admission.decided_again" };
        self.expect(kind, event_id, &serde_json::json!([effect, principal, decision]));
    }

    pub fn knock(&mut self, knock: &Knock) {
        let Knock { id, kind, sender, entity_id, events, status, .. } = knock;
        self.expect("knock.asked", id, &serde_json::json!([kind, sender]));
        if !status.is_open() {
            let ended = format!("knock.{}", status.name());
            self.expect(&ended, id, &serde_json::json!([entity_id, events]));
        }
    }

    pub fn call(&mut self, call: &ToolCall) {
        let ToolCall { id, tool_id, task_id, input, output, decision, duration_ms, status, .. } = call;
        let asked = serde_json::json!([tool_id, task_id, input, decision]);
        let came_of_it = serde_json::json!([tool_id, task_id, output, duration_ms]);
        // A call may be asked about, started, asked about again, and refused: the last of these is what its row says.
        let (last, before): (_, &[&str]) = match status {
            CallStatus::Waiting => ("call.waiting", &["call.started"]),
            CallStatus::Refused => ("call.refused", &["call.waiting", "call.started"]),
            _ => ("call.started", &["call.waiting"]),
        };
        self.expect(last, id, &asked);
        // Whether it should have one only its decision knows; one without a refused call is nobody's.
        if *status == CallStatus::Refused && self.says(RULE_VIOLATED, id) {
            self.expect(RULE_VIOLATED, id, &asked);
        }
        for kind in before {
            self.superseded(kind, last, id);
        }
        match status {
            CallStatus::Refused | CallStatus::Waiting | CallStatus::Started => {}
            CallStatus::Finished | CallStatus::Failed | CallStatus::Unknown => {
                self.expect(&format!("call.{}", status.name()), id, &came_of_it);
            }
        }
    }

    pub fn approval(&mut self, approval: &Approval) {
        let Approval { id, call_id, question, fingerprint, status, leave, answer, fate, .. } = approval;
        self.expect("approval.requested", id, &serde_json::json!([call_id, question, fingerprint]));
        if *status == approval::Status::Escalated || self.says("approval.escalated", id) {
            let Approval { authority, timeout_at, .. } = approval;
            self.expect("approval.escalated", id, &serde_json::json!([authority, timeout_at]));
        }
        if !status.is_open() {
            self.expect(&format!("approval.{}", status.name()), id, &serde_json::json!([leave, answer]));
        }
        if let Some(fate) = fate {
            self.expect(&format!("approval.{}", fate.name()), id, &serde_json::json!([leave]));
        }
    }

    pub fn grant(&mut self, grant: &Grant) {
        let Grant { id, live, tool_id, terms, expires_at, revoked_at, .. } = grant;
        self.expect("grant.created", id, &serde_json::json!([tool_id, terms, expires_at]));
        match (revoked_at, live) {
            (Some(_), _) => drop(self.expect("grant.revoked", id, &serde_json::json!([tool_id]))),
            (None, None) => drop(self.expect("grant.expired", id, &serde_json::json!([tool_id]))),
            (None, Some(_)) => {}
        }
    }

    pub fn grant_log(&mut self, log: &GrantLog) {
        if let (GrantEvent::Used, Some(call)) = (log.event, &log.call_id) {
            let subject = use_of(&log.grant_id.to_string(), &call.to_string());
            self.expect(GRANT_USED, &subject, &serde_json::json!([call]));
        }
    }

    pub fn task(&mut self, task: &AgentTask) {
        let AgentTask { task_id, status, payload, directive, steps, .. } = task;
        // What was not let in is over before it began.
        if *status != Status::Queued && !(status.is_over() && *steps == 0) {
            self.expect("task.opened", task_id, &serde_json::json!([payload]));
        }
        if status.is_over() {
            let journal = self.expect("task.ended", task_id, &serde_json::json!([status, directive, steps]));
            let trail = self.journals.remove(task_id).unwrap_or(Trail::of([]));
            if let Some((seq, journal)) = journal
                && journal != trail.digest()
            {
                self.gaps.push(Gap::Differs {
                    kind: "task.ended".into(),
                    subject: format!("the journal of {task_id}"),
                    seq,
                });
            }
        }
    }

    /// Before the tasks, in the order of the ledger.
    pub fn step(&mut self, step: &TaskStep) {
        let trail = self.journals.entry(step.task).or_insert(Trail::of([]));
        *trail = trail.and(step.body);
    }

    /// A duty is done again and again: its row knows the last time only.
    pub fn duty(&mut self, duty: &Duty) {
        let Some(outcome) = &duty.outcome else { return };
        let subject = format!("duty:{}", duty.name);
        let kind = format!("duty.{outcome}");
        match self.duties.get(&(subject.clone(), outcome.clone())) {
            Some(runs) if *runs == duty.runs => {}
            _ => self.gaps.push(Gap::NoEntry { kind, subject }),
        }
    }

    fn says(&self, kind: &str, subject: &impl ToString) -> bool {
        kind_of(kind).is_some_and(|at| self.said.contains_key(&(at, subject.to_string())))
    }

    /// An earlier entry about the same subject, which a later one has overtaken.
    fn superseded(&mut self, earlier: &str, later: &str, subject: &impl ToString) {
        let subject = subject.to_string();
        let seq = kind_of(later).and_then(|at| self.said.get(&(at, subject.clone()))).map(|said| said.seq);
        let said = kind_of(earlier).and_then(|at| self.said.get_mut(&(at, subject)));
        if let Some(said) = said.filter(|said| Some(said.seq) < seq) {
            said.claimed = true;
        }
    }

    fn expect(&mut self, kind: &str, subject: &impl ToString, values: &Value) -> Option<(u64, Digest)> {
        let (kind, subject) = (kind.to_owned(), subject.to_string());
        let expected = what(values.as_array().into_iter().flatten().map(Some));
        match kind_of(&kind).and_then(|at| self.said.get_mut(&(at, subject.clone()))) {
            None => {
                self.gaps.push(Gap::NoEntry { kind, subject });
                None
            }
            Some(said) => {
                said.claimed = true;
                if said.what != expected {
                    self.gaps.push(Gap::Differs { kind, subject, seq: said.seq });
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
            .map(|((_, subject), said)| Gap::NoEffect { kind: said.kind.into(), subject, seq: said.seq })
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
