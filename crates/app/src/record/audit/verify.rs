//! `audit verify`.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use kernel::{Code, Problem};
use ledger::chain::{Anchor, Exported, NotAnExport, Pinned};
use ledger::{AuditFindings, AuditScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AuditReport, Record};
use crate::operation::{
    FileLines, HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationIo,
    OperationSpec,
};

/// Check that nothing in the record was changed; exit 0 if so, 1 if not
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct VerifyAudit {
    /// Compare with what you kept elsewhere: the root key, or a file made by `audit anchor`
    #[arg(long, value_name = "KEY|FILE")]
    pub root: Option<String>,
    /// Also check that every effect has its entry, and every entry its effect
    #[arg(long, conflicts_with = "export")]
    #[serde(default)]
    pub complete: bool,
    /// Also compare every body (texts and results) with its digest
    #[arg(long, conflicts_with = "export")]
    #[serde(default)]
    pub bodies: bool,
    /// Check an exported record instead of this house's own
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
}

impl Operation for VerifyAudit {
    const SPEC: OperationSpec = OperationSpec::new(
        "audit verify",
        OperationAccess::READ,
        &[
            "regent audit verify && echo good",
            "regent audit verify --root ~/anchors/regent.jsonl --complete --bodies",
            "regent audit verify --export record.jsonl --root 64 digits",
        ],
    )
    .route(HttpMethod::Get, "/audit/verification");
    type Output = AuditVerification;

    async fn run(self, context: &OperationContext<'_>) -> Result<AuditVerification, OperationError> {
        let Self { root, complete, bodies, export } = self;
        let (record, io) = (context.app.record(), context.io);
        if export.is_some() && (complete || bodies) {
            let what = "an export has no effects and no bodies to compare its entries with";
            return Err(Problem::new(Code::BAD_ARGUMENTS, what).safe("nothing was done").into());
        }
        let pinned = root.map(|root| read_pinned(io, &root)).transpose()?;
        let report = match &export {
            Some(file) => record.verify_export(read_export(io, file)?, pinned.as_ref())?,
            None => record.verify(&Check { pinned, complete, bodies }).await?,
        };
        Ok(AuditVerification { report, of_export: export.is_some() })
    }
}

/// What verifying an audit found.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct AuditVerification {
    pub report: AuditReport,
    /// Whether it was an exported audit, which has no seal beside it.
    #[serde(skip)]
    pub of_export: bool,
}

fn read_export(io: &dyn OperationIo, file: &Path) -> Result<FileLines, Problem> {
    let unreadable = |error| Problem::new(Code::EXPORT, format!("cannot read {}: {error}", file.display()));
    io.read_file_lines(file).map_err(unreadable)
}

/// A key as it was shown, or a file with checkpoints.
fn read_pinned(io: &dyn OperationIo, root: &str) -> Result<Pinned, Problem> {
    if let Ok(key) = root.parse() {
        return Ok(Pinned::Root(key));
    }
    let neither = |why: String| {
        let what = format!(
            "`{root}` is neither a root key (64 hexadecimal digits) nor a file of checkpoints: {why}"
        );
        Problem::new(Code::PIN, what).remedy("regent explain R2015")
    };
    let text = io.read_file(Path::new(root)).map_err(|error| neither(error.to_string()))?;
    let text = text.ok_or_else(|| neither("it is not there".into()))?;
    Anchor::parse(&text).map(Pinned::Anchor).map_err(|error| neither(error.to_string()))
}

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
}
