//! All that waits for the owner, as one list.

use domain::Time;
use serde::Serialize;

use super::{ApprovalView, Approvals};
use crate::people::AccessRequestView;
use kernel::Problem;

/// What waits for the owner, next to expire first, and how much there is in all.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct PendingList {
    pub items: Vec<ApprovalItem>,
    /// How many items were asked for at most.
    #[serde(skip)]
    pub limit: u32,
    /// Calls that wait, listed or not.
    #[serde(skip)]
    pub calls: u64,
    /// Senders that want in, listed or not.
    #[serde(skip)]
    pub senders: u64,
}

/// An approval request for a call, or an access request.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ApprovalItem {
    Call(Box<ApprovalView>),
    AccessRequest(Box<AccessRequestView>),
}

impl ApprovalItem {
    /// The shortest form of its id.
    pub(super) fn short(&self) -> &str {
        match self {
            Self::Call(view) => &view.short,
            Self::AccessRequest(view) => &view.short,
        }
    }

    #[must_use]
    pub const fn timeout_at(&self) -> Time {
        match self {
            Self::Call(view) => view.timeout_at,
            Self::AccessRequest(view) => view.timeout_at,
        }
    }
}

impl Approvals<'_> {
    /// At most `limit` items, and at most `senders` of them access requests: strangers, however many write, do not hide a
    /// call that waits. What is not shown is counted by the database.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "approvals.pending", skip_all)]
    pub async fn pending(self, limit: u32, senders: u32) -> Result<PendingList, Problem> {
        let services = self.app.kernel.services().await?;
        let calls = self.open(&services, limit).await?;
        let wanting = self.app.access_requests().open(&services, limit.min(senders)).await?;
        let calls = calls.into_iter().map(|view| ApprovalItem::Call(Box::new(view)));
        let wanting = wanting.into_iter().map(|view| ApprovalItem::AccessRequest(Box::new(view)));
        let mut items: Vec<ApprovalItem> = calls.chain(wanting).collect();
        items.sort_by_key(ApprovalItem::timeout_at);
        items.truncate(limit as usize);
        let now = services.now();
        Ok(PendingList {
            items,
            limit,
            calls: services.ledger.count_open_approvals(now).await?,
            senders: services.ledger.count_open_knocks(now).await?,
        })
    }
}
