//! What verifying the audit finds.

use domain::Time;
use domain::id::NodeId;
use kernel::{Code, Problem};
use ledger::chain::{Fault, PublicKey, Word};
use ledger::{AuditFindings, BodyReport};
use serde::Serialize;

use crate::instance::AuthorityReport;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// `intact` against something pinned; `consistent` without, because whoever owns the machine could have begun
    /// again; or `broken`.
    pub verdict: Word,
    pub entries: u64,
    /// How many of them a checkpoint has signed.
    pub signed: u64,
    pub checkpoints: u64,
    /// When the last of them was signed.
    pub last_checkpoint: Option<Time>,
    /// The public key that the chain began with.
    pub root: Option<PublicKey>,
    pub streams: Vec<StreamReport>,
    /// Everything that is wrong, in words.
    pub faults: Vec<String>,
    /// How many more faults there are.
    pub more: u64,
    /// What has no counterpart; only if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaps: Option<Vec<String>>,
    /// Bodies that are not what their digest says; only if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bodies: Option<BodyReport>,
    /// Whether this instance wrote the rows that carry authority; only if completeness was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority: Option<AuthorityReport>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StreamReport {
    pub stream: NodeId,
    pub entries: u64,
    pub signed: u64,
}

impl AuditReport {
    pub(super) fn new(findings: AuditFindings) -> Self {
        let AuditFindings { verification, gaps, bodies } = findings;
        let fault = |(stream, fault): (Option<NodeId>, &Fault)| match stream {
            Some(stream) if verification.streams.len() > 1 => format!("{fault} (stream {stream})"),
            _ => fault.to_string(),
        };
        let streams = verification.streams.iter().map(|verdict| StreamReport {
            stream: verdict.stream,
            entries: verdict.entries,
            signed: verdict.signed.min(verdict.entries),
        });
        let streams: Vec<StreamReport> = streams.collect();
        Self {
            verdict: verification.word,
            entries: verification.entries(),
            signed: streams.iter().map(|stream| stream.signed).sum(),
            checkpoints: verification.checkpoints,
            last_checkpoint: verification.signed_at,
            root: verification.root,
            streams,
            faults: verification.all_faults().map(fault).collect(),
            more: verification.streams.iter().map(|stream| stream.more).sum(),
            gaps: gaps.map(|gaps| gaps.iter().map(ToString::to_string).collect()),
            bodies,
            authority: None,
        }
    }

    /// Whether nothing is wrong with the chain.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.verdict != Word::Broken
    }

    /// What is wrong, if anything is.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        if let Some(first) = self.faults.first() {
            let others = self.faults.len() as u64 - 1 + self.more;
            let others = if others == 0 { String::new() } else { format!(", and {others} more") };
            let what = format!("the audit is broken: {first}{others}");
            return Some(Problem::new(Code::AUDIT_BROKEN, what).remedy("regent explain R1001"));
        }
        let gaps = self.gaps.as_deref().unwrap_or_default();
        if let Some(first) = gaps.first() {
            let others =
                if gaps.len() == 1 { String::new() } else { format!(", and {} more", gaps.len() - 1) };
            let what = format!("the audit is not complete: {first}{others}");
            return Some(Problem::new(Code::INCOMPLETE, what).remedy("regent explain R1009"));
        }
        if let Some(problem) = self.authority.as_ref().and_then(AuthorityReport::problem) {
            return Some(problem);
        }
        let bodies = self.bodies.as_ref()?;
        let first = bodies.changed.first()?;
        let others = bodies.changed.len() as u64 - 1 + bodies.more;
        let others = if others == 0 { String::new() } else { format!(", and {others} more") };
        let what = format!("the body {first} was changed in the database{others}");
        Some(Problem::new(Code::BODY_CHANGED, what).remedy("regent explain R1015"))
    }
}
