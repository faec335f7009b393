//! The revision of people: a change is refused if another process changed people since it looked.

use ledger::records::Lease;
use ledger::{Batch, CommitError, Refusal, StoreError};

use crate::host::Host;
use crate::lease::TaskLease;
use crate::services::Services;

/// One change of people. Whoever begins one looks at everybody after that, and is refused if somebody else has changed
/// people meanwhile: then it is begun again.
#[derive(Debug)]
pub struct PeopleRevision(Option<Lease>);

/// What a turn is written under.
const PEOPLE: &str = "people";
/// How often to look again when somebody else was faster.
pub const REVISION_TRIES: usize = 16;

impl PeopleRevision {
    /// To be called before anybody is looked at.
    pub async fn begin(services: &Services) -> Result<Self, StoreError> {
        Ok(Self(services.ledger.lease(PEOPLE).await?))
    }

    /// The change goes with this batch, once per batch.
    pub fn take(&self, services: &Services, host: &dyn Host, batch: &mut Batch) {
        let (seen, beats) = (self.0.clone(), self.0.as_ref().map_or(0, |lease| lease.beats) + 1);
        let epoch = TaskLease::after(seen.clone()).epoch;
        let lease =
            Lease { subject: PEOPLE.into(), epoch, holder: host.holder(), until: services.now(), beats };
        batch.expect_lease(PEOPLE, seen).put(&lease);
    }

    /// No person is changed, and none may have been meanwhile: what the batch says of people is what is known of them.
    pub fn hold(&self, batch: &mut Batch) {
        batch.expect_lease(PEOPLE, self.0.clone());
    }

    /// Whether somebody else was faster: has changed people, written from this address for the first time, or gone.
    pub const fn is_lost(error: &CommitError) -> bool {
        matches!(
            error,
            CommitError::Refused(
                Refusal::Fenced { .. }
                    | Refusal::Duplicate { .. }
                    | Refusal::Present { .. }
                    | Refusal::Gone { .. }
            )
        )
    }
}
