//! A halt in the ledger: no call starts, in any process, until the owner lifts it.

use domain::id::Id;
use domain::{IdSource, Time};
use ledger::audit_event::OWNER;
use ledger::records::Halt;
use ledger::table::Record as _;
use ledger::{AuditEvent, Batch, CommitError, Ledger, Refusal};

use crate::host::Host;
use domain::problem::Problem;

const HALTS: &str = Halt::TABLE.name;

/// Records a halt in the ledger, and withdraws the request for it.
pub(crate) async fn record(
    ledger: &Ledger,
    host: &dyn Host,
    ids: &dyn IdSource,
    since: Time,
) -> Result<(), Problem> {
    let mut batch = Batch::new(Id::dated(since, ids), since);
    batch
        .put(&Halt { name: Halt::ALL.into(), at: since, by: Halt::OWNER.into() })
        .expect_absent::<Halt>("name", &Halt::ALL.to_owned())
        .audit(AuditEvent::InstanceHalted.entry(OWNER, since));
    match ledger.commit(batch).await {
        Ok(_)
        | Err(CommitError::Refused(
            Refusal::Present { table: HALTS, .. } | Refusal::Duplicate { table: HALTS },
        )) => host.withdraw_halt_request(),
        Err(error) => Err(error.into()),
    }
}
