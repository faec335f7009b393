//! The audit: verified and listed.

use domain::id::NodeId;
use domain::{Digest, Time, Trust};
use ledger::records::AuditEntry;
use serde::Serialize;

use super::App;
use crate::problem::Problem;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// Without a pinned root nobody can say more than this: whoever owns the machine could have begun again.
    pub consistent: bool,
    pub entries: u64,
    pub streams: Vec<StreamReport>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StreamReport {
    pub stream: NodeId,
    pub entries: u64,
    /// The first thing that is wrong.
    pub fault: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct AuditLine {
    pub stream: NodeId,
    pub seq: u64,
    pub at: Time,
    pub kind: String,
    pub actor: String,
    pub subject: String,
    pub trust: Option<Trust>,
    pub hash: Digest,
    pub detail: serde_json::Value,
}

impl App {
    /// # Errors
    /// If the ledger cannot be read; a broken chain is a report.
    pub async fn audit_verify(&self) -> Result<AuditReport, Problem> {
        let verification = self.ledger().await?.verify_audit().await?;
        let consistent = verification.is_consistent();
        let streams: Vec<StreamReport> = verification
            .streams
            .into_iter()
            .map(|verdict| StreamReport {
                stream: verdict.stream,
                entries: verdict.entries,
                fault: verdict.fault.map(|fault| fault.to_string()),
            })
            .collect();
        Ok(AuditReport { consistent, entries: streams.iter().map(|stream| stream.entries).sum(), streams })
    }

    /// The newest entries, oldest of them first.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn audit_list(&self, limit: u32) -> Result<Vec<AuditLine>, Problem> {
        Ok(self.ledger().await?.audit_tail(limit).await?.into_iter().map(line).collect())
    }
}

pub(super) fn line(entry: AuditEntry) -> AuditLine {
    let full: Option<ledger::Entry> = serde_json::from_slice(&entry.bytes).ok();
    let AuditEntry { stream, seq, at, kind, actor, subject, trust, hash, .. } = entry;
    AuditLine {
        stream,
        seq,
        at,
        kind,
        actor,
        subject,
        trust,
        hash,
        detail: full.map(|entry| entry.detail).unwrap_or_default(),
    }
}
