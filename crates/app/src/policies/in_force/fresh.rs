//! A set that is about to be put in force.

use domain::{Digest, Time, canonical};
use ledger::records::{ActivePolicies, Blob};
use ledger::table::Record as _;
use ledger::{AuditEvent, Batch, CommitError, Refusal};

use super::PolicyRules;
use kernel::Problem;

/// Who puts a set in force that nobody asked for: the house found other files than before.
pub(super) const HOUSE: &str = "system";

/// The records of a set that is put in force.
#[derive(Debug)]
pub(crate) struct PendingActivation {
    set: Blob,
    /// Nothing where the set only has to be there, and the row stays as it is.
    row: Option<ActivePolicies>,
    /// From what the set was made that it replaces.
    before: Option<Digest>,
    /// Whether there is another set in force than before; else it is the same one, made from other files.
    count: Option<usize>,
    /// What every new house begins with: whoever else writes it at the same moment writes the same.
    plain: bool,
}

impl PendingActivation {
    pub(crate) fn of<S: PolicyRules>(
        set: &S,
        kept: Option<&ActivePolicies>,
        sources: Digest,
        plain: bool,
        now: Time,
    ) -> Result<Self, Problem> {
        let blob = Blob::public(canonical::bytes(set).map_err(Problem::internal)?);
        let same = kept.filter(|kept| kept.policies == blob.hash);
        let row = ActivePolicies {
            kind: S::KIND.name().into(),
            policies: blob.hash,
            sources,
            at: same.map_or(now, |kept| kept.at),
        };
        Ok(Self {
            set: blob,
            row: Some(row),
            before: kept.map(|kept| kept.sources),
            count: same.is_none().then(|| set.count()),
            plain: plain && kept.is_none(),
        })
    }

    /// A set that only has to be there for whoever decides by it: what is on record as the last good one stays as it is.
    pub(super) fn without_row<S: PolicyRules>(set: &S) -> Result<Self, Problem> {
        let set = Blob::public(canonical::bytes(set).map_err(Problem::internal)?);
        Ok(Self { set, row: None, before: None, count: None, plain: true })
    }

    pub(super) const fn digest(&self) -> Digest {
        self.set.hash
    }

    pub(super) fn since(&self) -> Option<Time> {
        self.row.as_ref().map(|row| row.at)
    }

    /// Whether somebody could have put something else in force meanwhile, and would have it undone by this.
    pub(super) const fn replaces(&self) -> bool {
        !self.plain
    }

    /// The batch is only written if what this replaces is still in force.
    pub(crate) fn expect(&self, batch: &mut Batch) {
        match (&self.row, &self.before) {
            (Some(_), Some(before)) => {
                batch.expect_present::<ActivePolicies>("sources", before);
            }
            (Some(row), None) => {
                batch.expect_absent::<ActivePolicies>("kind", &row.kind);
            }
            (None, _) => {}
        }
    }

    pub(crate) fn enter(&self, actor: &str, batch: &mut Batch) {
        batch.put(&self.set);
        let Some(row) = &self.row else { return };
        batch.put(row);
        if let Some(count) = self.count {
            let at = batch.at();
            batch.audit(AuditEvent::PoliciesActivated { policies: row, count }.entry(actor, at));
        }
    }
}

/// Whether somebody else has put a set in force meanwhile.
pub(crate) fn is_overtaken(error: &CommitError) -> bool {
    const TABLE: &str = ActivePolicies::TABLE.name;
    matches!(
        error,
        CommitError::Refused(Refusal::Gone { table: TABLE, .. } | Refusal::Present { table: TABLE, .. })
    )
}
