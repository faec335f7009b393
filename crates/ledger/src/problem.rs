//! What a person is told when the ledger fails or refuses.

use std::sync::Arc;

use domain::problem::{Code, Problem};

use crate::{CommitError, Refusal, StoreError, Unverified};

impl From<&StoreError> for Problem {
    fn from(error: &StoreError) -> Self {
        let problem = |code| Problem::new(code, error.to_string());
        match error {
            StoreError::Full => {
                problem(Code::DISK_FULL).safe("nothing of this was written; everything before it is")
            }
            StoreError::ReadOnly(_) => problem(Code::HOUSE),
            StoreError::Corrupt(_) => problem(Code::DATABASE_DAMAGED),
            StoreError::Newer { .. } => problem(Code::DATABASE_NEWER).safe("the database was not touched"),
            StoreError::Older { .. } => problem(Code::UPGRADE_REFUSED).safe("the database was not touched"),
            StoreError::Foreign(_) => problem(Code::DATABASE_FOREIGN).safe("what is there was not touched"),
            StoreError::Busy => problem(Code::DATABASE_BUSY).safe("nothing was written"),
            StoreError::Unreachable(_) | StoreError::Lost(_) => problem(Code::DATABASE_AWAY)
                .safe("what was acknowledged is safe; nothing half-written is left"),
            StoreError::Crowded(_) => problem(Code::DATABASE_CROWDED).safe("nothing was written"),
            StoreError::Denied(_) => problem(Code::DATABASE_DENIED).safe("nothing was written"),
            StoreError::TooOld { .. } => problem(Code::DATABASE_OLD).safe("the database was not touched"),
            StoreError::Vault(_) => problem(Code::KEY),
            StoreError::Unverified(why) => return Problem::from(why),
            StoreError::Replaced => problem(Code::REPLACED).safe("nothing was written"),
            StoreError::RowsLost { .. } => problem(Code::DATABASE).safe("nothing was written"),
            StoreError::Other(_) | StoreError::BadCell(_) | StoreError::Duplicate(_) => {
                problem(Code::DATABASE)
            }
        }
        .remedy("regent doctor")
    }
}

impl From<&Unverified> for Problem {
    fn from(why: &Unverified) -> Self {
        if *why == Unverified::NoKey {
            return Problem::new(Code::DATABASE_MISMATCH, why.to_string())
                .safe("nothing was written, and no call was started")
                .remedy("regent explain R4036");
        }
        Problem::new(Code::AUTHORITY, why.to_string())
            .safe("no call was started, and nothing was decided by it")
            .remedy("regent audit verify --complete")
            .remedy("regent authority reset")
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Problem::from(&error)
    }
}

impl From<CommitError> for Problem {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Store(error) => Problem::from(Arc::as_ref(&error)),
            CommitError::Refused(Refusal::TailMoved) => {
                Problem::new(Code::TAIL_MOVED, Refusal::TailMoved.to_string())
                    .safe("nothing was written")
                    .remedy("regent audit verify")
            }
            CommitError::Refused(refusal @ Refusal::UsedElsewhere) => {
                Problem::new(Code::DATABASE_MISMATCH, refusal.to_string())
                    .safe("nothing was written")
                    .remedy("regent explain R4036")
            }
            CommitError::Refused(refusal @ Refusal::OtherHouse { .. }) => {
                Problem::new(Code::OTHER_HOUSE, refusal.to_string())
                    .safe("nothing was written")
                    .remedy("regent explain R4022")
            }
            CommitError::Refused(Refusal::Unverified(why)) => Problem::from(&why),
            CommitError::Refused(refusal @ Refusal::Fenced { .. }) => {
                Problem::new(Code::DRIVEN_ELSEWHERE, refusal.to_string())
                    .safe("nothing was written")
                    .remedy("regent tasks list")
            }
            CommitError::Refused(Refusal::Gone { .. }) => {
                Problem::new(Code::ERASED, "whoever this belongs to was erased meanwhile")
                    .safe("nothing was written")
            }
            CommitError::Refused(refusal @ Refusal::Exhausted { .. }) => {
                Problem::new(Code::BUDGET, refusal.to_string()).safe("nothing was written")
            }
            CommitError::Refused(refusal) => {
                Problem::new(Code::INTERNAL, refusal.to_string()).safe("nothing was written")
            }
            CommitError::Closed => Problem::new(Code::INTERNAL, "the ledger was closed too early"),
        }
    }
}
