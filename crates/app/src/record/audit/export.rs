//! `audit export`.

use ledger::AuditEvent;
use std::io;
use std::ops::ControlFlow;

use clap::Args;
use kernel::{Code, Problem};
use present::{Page, pluralize};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Record;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, StreamEnd,
};

/// Print the whole record for somebody who need not trust this program
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ExportAudit {
    /// Do not sign a checkpoint first
    #[arg(long)]
    #[serde(default)]
    pub as_is: bool,
}

impl Operation for ExportAudit {
    // It signs a checkpoint first: that changes nothing that the record says.
    const SPEC: OperationSpec = OperationSpec::new(
        "audit export",
        OperationAccess::OWNER_READ,
        &["regent audit export > record.jsonl && python3 docs/verify/verify.py record.jsonl"],
    )
    .route(HttpMethod::Get, "/audit/export");
    type Output = StreamEnd;

    async fn run(self, context: &OperationContext<'_>) -> Result<StreamEnd, OperationError> {
        let mut broken = None;
        let write = |line: &str| {
            let written = context.io.emit_verbatim(line);
            written.inspect_err(|error| broken = Some(error.kind()))
        };
        let lines = context.app.record().export(self.as_is, write).await?;
        if let Some(kind) = broken {
            return Err(io::Error::from(kind).into());
        }
        let mut page = Page::new();
        let lines = pluralize(lines, "line", "lines");
        page.add_note(format!("{lines}, to be checked with docs/verify/verify.py"));
        context.io.note(&page);
        Ok(StreamEnd::default())
    }
}

impl Record<'_> {
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
}
