//! The audit: verified, listed, exported, anchored.

use std::io;
use std::ops::ControlFlow;

use domain::id::NodeId;
use domain::{Digest, Time, Trust};
use ledger::audit_event::OWNER;
use ledger::chain::{Exported, Fault, NotAnExport, Pinned, PublicKey, Word};
use ledger::records::{AuditEntry, Checkpoint};
use ledger::{AuditEvent, AuditFindings, AuditScope, BodyReport, Entry, StoreError};
use serde::Serialize;

use super::Record;
use crate::instance::AuthorityReport;
use kernel::{Code, Problem};

/// What is to be checked beyond the chain itself.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// What somebody has kept elsewhere, to compare with.
    pub pinned: Option<Pinned>,
    /// Whether every effect has its entry, and every entry its effect.
    pub complete: bool,
    /// Whether every body is what its digest says.
    pub bodies: bool,
}

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
    fn new(findings: AuditFindings) -> Self {
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

/// A copy of the checkpoints that lies elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Anchored {
    pub to: String,
    pub checkpoints: u64,
    pub entries: u64,
    pub root: Option<PublicKey>,
}

impl Record<'_> {
    /// # Errors
    /// If the ledger cannot be read; a broken chain is a report.
    #[tracing::instrument(level = "info", name = "record.verify", skip_all)]
    pub async fn verify(self, check: &Check) -> Result<AuditReport, Problem> {
        let Check { pinned, complete, bodies } = check;
        let scope = AuditScope { pinned: pinned.as_ref(), complete: *complete, bodies: *bodies };
        let mut report = AuditReport::new(self.app.kernel.ledger().await?.examine_audit(scope).await?);
        if *complete {
            report.authority = Some(self.app.instance().verify_authority().await?);
        }
        Ok(report)
    }

    /// Verifies an export, as a stranger would: without anything of the house.
    ///
    /// # Errors
    /// If it is no export.
    pub fn verify_export(
        self,
        lines: impl Iterator<Item = io::Result<String>>,
        pinned: Option<&Pinned>,
    ) -> Result<AuditReport, Problem> {
        let not_one = |error: NotAnExport| {
            Problem::new(Code::EXPORT, format!("this is no export of an audit: {error}"))
        };
        let verification = Exported::verify(lines, pinned).map_err(not_one)?;
        Ok(AuditReport::new(AuditFindings { verification, gaps: None, bodies: None }))
    }

    /// The newest entries, oldest of them first.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "record.list_audit", skip_all)]
    pub async fn list_audit(self, limit: u32) -> Result<Vec<AuditLine>, Problem> {
        Ok(self.app.kernel.ledger().await?.audit_tail(limit).await?.into_iter().map(line).collect())
    }

    /// The whole record, line by line, for somebody who need not trust this program. It is signed first, so that
    /// nothing in it hangs in the air, unless it is wanted as it is.
    ///
    /// # Errors
    /// If the ledger fails, or a line could not be written.
    #[tracing::instrument(level = "info", name = "record.export", skip_all)]
    pub async fn export(
        self,
        as_it_is: bool,
        mut write: impl FnMut(&str) -> io::Result<()> + Send,
    ) -> Result<u64, Problem> {
        if !as_it_is {
            self.sign(|stream| AuditEvent::AuditExported { stream }).await?;
        }
        let (mut lines, mut failed) = (0, None);
        let write = |line: String| match write(&line) {
            Ok(()) => {
                lines += 1;
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        };
        self.app.kernel.ledger().await?.export_audit(write).await?;
        match failed {
            None => Ok(lines),
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(lines),
            Some(error) => Err(Problem::new(Code::OUTPUT, format!("the export cannot be written: {error}"))),
        }
    }

    /// Copies the checkpoints to where whoever takes this machine does not reach, after signing once more.
    ///
    /// # Errors
    /// If the ledger fails, the copy cannot be written, or what lies there already is not the beginning of ours.
    #[tracing::instrument(level = "info", name = "record.anchor", skip_all)]
    pub async fn anchor(self, to: &str) -> Result<Anchored, Problem> {
        self.sign(|stream| AuditEvent::AuditAnchored { stream }).await?;
        let ledger = self.app.kernel.ledger().await?;
        // As they stand outside the database: nobody who can only write that has put one of their own among them.
        let lines = ledger.seal().vault().checkpoints().map_err(StoreError::from)?;
        let read = lines.iter().map(|line| Checkpoint::from_line(line));
        let checkpoints: Vec<Checkpoint> = read.collect::<io::Result<_>>().map_err(StoreError::from)?;
        let to = self.app.host.keep_anchor(to, ledger.seal().stream(), &lines)?;
        let statement = |at: Option<&Checkpoint>| at.and_then(Checkpoint::statement);
        let last = statement(checkpoints.last());
        Ok(Anchored {
            to,
            checkpoints: lines.len() as u64,
            entries: last.map_or(0, |last| last.heads.iter().map(|head| head.seq).sum()),
            root: statement(checkpoints.first()).map(|first| first.public),
        })
    }

    /// Signs a checkpoint now, with an entry that says what for.
    async fn sign(self, event: fn(NodeId) -> AuditEvent<'static>) -> Result<(), Problem> {
        let services = self.app.kernel.services().await?;
        services.ledger.catch_up().await?;
        let mut batch = services.batch();
        let event = event(services.ledger.seal().stream());
        batch.audit(event.entry(OWNER, services.now())).end_epoch();
        services.ledger.commit(batch).await?;
        Ok(())
    }
}

pub(super) fn line(entry: AuditEntry) -> AuditLine {
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
