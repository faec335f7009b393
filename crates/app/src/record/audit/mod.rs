//! The audit: verified, listed, exported, anchored.

mod anchor;
mod export;
mod list;
mod report;
mod verify;
mod verify_page;

use domain::id::NodeId;
use kernel::Problem;
use ledger::AuditEvent;
use ledger::audit_event::OWNER;

pub use anchor::{AnchorAudit, Anchored};
pub use export::ExportAudit;
pub(super) use list::line;
pub use list::{AuditEntryList, AuditLine, ListAuditEntries};
pub use report::{AuditReport, StreamReport};
pub use verify::{AuditVerification, Check, VerifyAudit};

use super::Record;
use crate::operation::{OperationEntry, OperationGroup};

pub const GROUP: OperationGroup = OperationGroup::new(
    "audit",
    "The record of every decision and every outcome",
    &["regent audit verify"],
    &[
        OperationEntry::of::<VerifyAudit>(),
        OperationEntry::of::<ExportAudit>(),
        OperationEntry::of::<AnchorAudit>(),
        OperationEntry::of::<ListAuditEntries>(),
    ],
);

impl Record<'_> {
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
