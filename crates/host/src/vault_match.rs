//! Whether a vault belongs to a database. The two know each other by an id and an incarnation that stand on both sides.

use ledger::chain::Standing;
use ledger::records::DatabaseStamp;

/// Why a database is not used with these keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VaultMismatch {
    #[error("the keys beside it belong to another database")]
    Other,
    #[error("it is another state than the one that the keys beside it belong to")]
    Incarnation,
    #[error("it was sealed with other keys than those of this instance")]
    Sealed,
}

/// INVARIANT (one-vault): a database is used with the vault that has its id and incarnation. A vault without an id takes that of the
/// database only if the head of the audit was sealed with its keys, or nothing was ever sealed. `local`: the file lies beside its
/// vault, so a head of its own stream that was damaged is still its own; it is healed, and named.
pub(crate) fn check_match(
    database: &DatabaseStamp,
    vault: Option<&DatabaseStamp>,
    head: Option<Standing>,
    local: bool,
) -> Result<(), VaultMismatch> {
    match (vault, head) {
        (Some(known), _) if known == database => Ok(()),
        (Some(known), _) if known.id == database.id => Err(VaultMismatch::Incarnation),
        (Some(_), _) => Err(VaultMismatch::Other),
        (None, None | Some(Standing::Ours)) => Ok(()),
        (None, Some(Standing::Forged | Standing::NoSecret)) if local => Ok(()),
        (None, Some(Standing::Forged | Standing::NoSecret)) => Err(VaultMismatch::Sealed),
    }
}

#[cfg(test)]
mod tests {
    use super::VaultMismatch::{Incarnation, Other, Sealed};
    use super::check_match;
    use ledger::chain::Standing::{Forged, NoSecret, Ours};
    use ledger::records::DatabaseStamp;

    #[test]
    fn keys_are_used_with_their_database_and_with_no_other() {
        let database = DatabaseStamp::new("a", 2);
        for head in [None, Some(Ours), Some(Forged), Some(NoSecret)] {
            for local in [true, false] {
                let found = |vault: Option<(&str, u64)>| {
                    let vault = vault.map(|(id, incarnation)| DatabaseStamp::new(id, incarnation));
                    check_match(&database, vault.as_ref(), head, local)
                };
                assert_eq!(found(Some(("a", 2))), Ok(()));
                assert_eq!(found(Some(("a", 1))), Err(Incarnation));
                assert_eq!(found(Some(("a", 3))), Err(Incarnation));
                assert_eq!(found(Some(("b", 2))), Err(Other));
                let adopts = local || matches!(head, None | Some(Ours));
                assert_eq!(
                    found(None),
                    if adopts { Ok(()) } else { Err(Sealed) },
                    "{head:?}, local: {local}"
                );
            }
        }
    }
}
