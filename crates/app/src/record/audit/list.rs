//! `audit list`.

use clap::Args;
use domain::id::NodeId;
use domain::{Digest, Time, Trust};
use kernel::Problem;
use ledger::Entry;
use ledger::records::AuditEntry;
use present::{Page, Style, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Record;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    default_limit, json_each,
};

/// The newest entries
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListAuditEntries {
    /// How many at the most
    #[arg(long, default_value_t = default_limit())]
    #[serde(default = "default_limit")]
    pub limit: u32,
}

impl Operation for ListAuditEntries {
    const SPEC: OperationSpec =
        OperationSpec::new("audit list", OperationAccess::READ, &["regent audit list --limit 20"])
            .route(HttpMethod::Get, "/audit");
    type Output = AuditEntryList;

    async fn run(self, context: &OperationContext<'_>) -> Result<AuditEntryList, OperationError> {
        Ok(AuditEntryList(context.app.record().list_audit(self.limit).await?))
    }
}

#[derive(Debug, Serialize)]
pub struct AuditEntryList(pub Vec<AuditLine>);

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
    pub detail: Value,
}

impl Output for AuditEntryList {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_all(self.0.iter().map(|line| {
            let (kind, actor, subject) = (inline(&line.kind), inline(&line.actor), inline(&line.subject));
            let when = line.at.date_time(style.zone);
            format!("{:>6} {kind:<18} {actor:<14} {subject:<28} {when}", line.seq)
        }));
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.0)
    }
}

impl Record<'_> {
    /// The newest entries, oldest of them first.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "record.list_audit", skip_all)]
    pub async fn list_audit(self, limit: u32) -> Result<Vec<AuditLine>, Problem> {
        Ok(self.app.kernel.ledger().await?.audit_tail(limit).await?.into_iter().map(line).collect())
    }
}

pub(in crate::record) fn line(entry: AuditEntry) -> AuditLine {
    let full: Option<Entry> = serde_json::from_slice(&entry.bytes).ok();
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
