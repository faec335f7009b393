//! May this caller use a tool of this tier? The second and third of the three authorisation layers.

use std::fmt;

use domain::{Tier, Trust};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Execute,
    Review(Why),
    Deny(Why),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    TrustTooLow { has: Trust, needs: Trust },
    OneStepShort { has: Trust, needs: Trust },
    Destructive,
    ChangesTheHouse,
    OnlyTheOwnerDirectly,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TrustTooLow { has, needs } => {
                write!(f, "the caller's trust is {has}, this tier needs {needs}")
            }
            Self::OneStepShort { has, needs } => {
                write!(f, "the caller's trust is {has}, one step short of {needs}: a person decides")
            }
            Self::Destructive => f.write_str("it can destroy something, so a person confirms it first"),
            Self::ChangesTheHouse => {
                f.write_str("it changes the house itself, so the owner confirms it first")
            }
            Self::OnlyTheOwnerDirectly => {
                f.write_str("only the owner, acting directly, may do this; an agent never")
            }
        }
    }
}

/// Who stands behind a call, as far as these two layers care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    pub trust: Trust,
    /// Somebody in `people`, the owner included.
    pub known: bool,
    /// The owner's own hand, without an agent in between.
    pub owner_directly: bool,
}

/// Layer 2: does the trust reach the tier's?
#[must_use]
pub fn trust(caller: Caller, tier: Tier) -> Verdict {
    let has = caller.trust;
    // The owner's own hand needs no more than the owner has, and no less: a trust that was lowered stays low.
    let needs = if tier == Tier::Admin && caller.owner_directly { Trust::Operator } else { tier.needs() };
    if has >= needs {
        return Verdict::Execute;
    }
    let one_step = Trust::ALL.windows(2).any(|pair| pair == [has, needs]);
    if caller.known && one_step && tier != Tier::Admin {
        Verdict::Review(Why::OneStepShort { has, needs })
    } else {
        Verdict::Deny(Why::TrustTooLow { has, needs })
    }
}

/// Layer 3: what does the tier itself ask for?
#[must_use]
pub fn tier(caller: Caller, tier: Tier) -> Verdict {
    match tier {
        Tier::ReadOnly | Tier::WriteSafe => Verdict::Execute,
        Tier::WriteDestructive => Verdict::Review(Why::Destructive),
        // Never less than what the tier below it asks for.
        Tier::Admin if caller.owner_directly => Verdict::Review(Why::ChangesTheHouse),
        Tier::Admin => Verdict::Deny(Why::OnlyTheOwnerDirectly),
    }
}

#[cfg(test)]
mod tests {
    use super::{Caller, Verdict, tier, trust};
    use domain::{Tier, Trust};

    /// One letter per tier, in order: e(xecute), r(eview), d(eny); the stricter of the two layers.
    fn row(caller: Caller) -> String {
        let rank = |verdict| match verdict {
            Verdict::Execute => 'e',
            Verdict::Review(_) => 'r',
            Verdict::Deny(_) => 'd',
        };
        let strictest = |a: char, b: char| ['d', 'r', 'e'].into_iter().find(|&c| c == a || c == b).unwrap();
        Tier::ALL.map(|t| strictest(rank(trust(caller, t)), rank(tier(caller, t)))).iter().collect()
    }

    /// ari's permission tiers, for a caller nobody knows and through an agent.
    #[test]
    fn the_permission_table_of_the_seed() {
        let table = [
            (Trust::Hostile, "eddd"),
            (Trust::Untrusted, "eddd"),
            (Trust::Standard, "eedd"),
            (Trust::Verified, "eedd"),
            (Trust::Operator, "eerd"),
            (Trust::System, "eerd"),
        ];
        for (trust, expected) in table {
            assert_eq!(row(Caller { trust, known: false, owner_directly: false }), expected, "{trust}");
        }
    }

    #[test]
    fn a_known_person_one_step_short_is_asked_about() {
        let known = |trust| row(Caller { trust, known: true, owner_directly: false });
        assert_eq!(known(Trust::Untrusted), "erdd");
        assert_eq!(known(Trust::Verified), "eerd");
        assert_eq!(known(Trust::Standard), "eedd");
    }

    #[test]
    fn admin_is_for_the_owners_own_hand() {
        let owner = |trust| row(Caller { trust, known: true, owner_directly: true });
        assert_eq!(owner(Trust::Operator), "eerr");
        assert_eq!(owner(Trust::System), "eerr");
        // Somebody has lowered it.
        assert_eq!(owner(Trust::Verified), "eerd");
        assert_eq!(owner(Trust::Standard), "eedd");
    }
}
