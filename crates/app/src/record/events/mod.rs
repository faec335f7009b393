//! The events ledger: taking events in from adapters, and listing them.

mod ingest;
mod list;
mod watermarks;

use kernel::Problem;
use kernel::admit::AdmissionCounts;

pub use ingest::{BadLine, EventPipeline, IngestEvents, Receipt};
pub use list::{EventLine, EventList, ListEvents};
pub use watermarks::{ListWatermarks, WatermarkLine, WatermarkList};

use crate::App;
use crate::operation::{OperationEntry, OperationGroup};

pub const GROUP: OperationGroup = OperationGroup::new(
    "events",
    "What came in and what went out",
    &["regent events list --json | head -1"],
    &[
        OperationEntry::of::<IngestEvents>(),
        OperationEntry::of::<ListWatermarks>(),
        OperationEntry::of::<ListEvents>(),
    ],
);

/// The events of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Events<'a> {
    pub(crate) app: &'a App,
}

impl Events<'_> {
    /// Decides about every event from outside that has no admission yet.
    ///
    /// # Errors
    /// If the ledger fails; what was decided until then is durable.
    #[tracing::instrument(level = "info", name = "events.admit_waiting", skip_all)]
    pub async fn admit_waiting(self) -> Result<AdmissionCounts, Problem> {
        self.app.kernel.admit_waiting().await
    }
}
