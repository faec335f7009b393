//! Authority that does not come back with a house: what has happened since the backup is not known to it.

use domain::Time;
use domain::limits::APPROVAL_TOKEN;
use ledger::audit_event::SYSTEM;
use ledger::records::{Approval, ApprovalCode, Grant, GrantEvent};
use ledger::{AuditEvent, Batch, Ledger, Op, Select, StoreError};

use kernel::approvals as approve;

/// What somebody had said in advance, as a backup has it.
#[derive(Debug, Default)]
pub struct ExpiredAuthority {
    /// Yeses that no call had used then.
    leaves: Vec<Approval>,
    codes: Vec<ApprovalCode>,
    /// Grants that held then; who knows whether they were revoked since.
    grants: Vec<Grant>,
}

impl ExpiredAuthority {
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn in_house(ledger: &Ledger) -> Result<Self, StoreError> {
        // Whoever wrote them: none of them counts any more.
        let live = Select::<Approval>::all().filter("live", Op::Ne, &None::<String>);
        let mut leaves: Vec<Approval> = ledger.select(live).await?;
        leaves.retain(|leave| leave.unspent().is_some());
        Ok(Self {
            leaves,
            codes: ledger.select(Select::all()).await?,
            grants: ledger.select(Select::all().filter("live", Op::Ne, &None::<String>)).await?,
        })
    }

    /// Yeses from before yeses had an end, with one: a day from now. An upgrade enters them.
    pub fn with_an_end(&self, now: Time) -> impl Iterator<Item = Approval> {
        let endless = self.leaves.iter().filter(|leave| leave.token_until.is_none());
        endless.map(move |leave| Approval { token_until: Some(now.plus(APPROVAL_TOKEN)), ..leave.clone() })
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
            approve::void(leave, SYSTEM, "restored", now, batch);
        }
        for grant in &self.grants {
            batch
                .put(&Grant { live: None, revoked_at: Some(now), ..grant.clone() })
                .put(&approve::log(grant.id, GrantEvent::Revoked, now))
                .audit(AuditEvent::GrantRevoked(grant).entry(SYSTEM, now).with("restored", true));
        }
        batch.erase::<ApprovalCode, _>("number", self.codes.iter().map(|code| &code.number));
    }
}
