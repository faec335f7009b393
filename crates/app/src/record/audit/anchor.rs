//! `audit anchor`.

use ledger::AuditEvent;
use std::io;

use clap::Args;
use kernel::Problem;
use ledger::StoreError;
use ledger::chain::PublicKey;
use ledger::records::Checkpoint;
use present::{Page, Style, inline, pluralize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Record;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Copy the signed checkpoints to where whoever takes this machine does not reach
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct AnchorAudit {
    /// A file, a folder, or a folder in a git repository (there it is committed)
    #[arg(long, value_name = "PLACE")]
    pub to: String,
}

impl Operation for AnchorAudit {
    const SPEC: OperationSpec = OperationSpec::new(
        "audit anchor",
        OperationAccess::OWNER,
        &["regent audit anchor --to /media/stick"],
    )
    .route(HttpMethod::Post, "/audit/anchors");
    type Output = Anchored;

    async fn run(self, context: &OperationContext<'_>) -> Result<Anchored, OperationError> {
        Ok(context.app.record().anchor(&self.to).await?)
    }
}

/// A copy of the checkpoints that lies elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Anchored {
    pub to: String,
    pub checkpoints: u64,
    pub entries: u64,
    pub root: Option<PublicKey>,
}

impl Output for Anchored {
    fn render(&self, _: &Style<'_>) -> Page {
        let checkpoints = pluralize(self.checkpoints, "checkpoint", "checkpoints");
        let mut page = Page::new();
        page.add(format!("{checkpoints} up to entry {} in {}", self.entries, inline(&self.to)));
        page
    }
}

impl Record<'_> {
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
}
