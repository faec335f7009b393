//! Authority that does not come back with a house: what has happened since the backup is not known to it.

use domain::Time;
use domain::approval::Fate;
use ledger::records::{Approval, ApprovalCode, Grant, GrantEvent};
use ledger::{Batch, Entry, Ledger, StoreError};
use serde_json::json;

use crate::pipeline::approve;

/// What somebody had said in advance, as a backup has it.
#[derive(Debug, Default)]
pub struct Lapsed {
    /// Yeses that no call had used then.
    leaves: Vec<Approval>,
    codes: Vec<ApprovalCode>,
    /// Grants that held then; who knows whether they were revoked since.
    grants: Vec<Grant>,
}

impl Lapsed {
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn in_house(ledger: &Ledger) -> Result<Self, StoreError> {
        Ok(Self {
            leaves: ledger.unspent_approvals().await?,
            codes: ledger.approval_codes().await?,
            grants: ledger.live_grants().await?,
        })
    }

    /// How many grants have to be given anew.
    #[must_use]
    pub const fn grants(&self) -> usize {
        self.grants.len()
    }

    /// INVARIANT (once): a yes is good for one call. Whoever still wants the call is asked again; what nobody had answered
    /// stays open.
    pub fn enter(&self, now: Time, batch: &mut Batch) {
        for leave in &self.leaves {
            let detail = json!({ "call": leave.call_id, "leave": leave.leave, "restored": true });
            batch.expect_present::<Approval>("stamp", &leave.stamp).put(&leave.spent(Fate::Void)).audit(
                Entry {
                    origin_id: Some(leave.o_tag),
                    reason_id: Some(leave.r_tag),
                    vpol_id: Some(leave.vpol_id),
                    ..Entry::of_house("approval.voided", leave.id.to_string(), now, detail)
                },
            );
        }
        for grant in &self.grants {
            let detail = json!({ "tool": grant.tool_id, "restored": true });
            batch
                .put(&Grant { live: None, revoked_at: Some(now), ..grant.clone() })
                .put(&approve::log(grant.id, GrantEvent::Revoked, now))
                .audit(Entry::of_house("grant.revoked", grant.id.to_string(), now, detail));
        }
        batch.erase::<ApprovalCode, _>("number", self.codes.iter().map(|code| &code.number));
    }
}
