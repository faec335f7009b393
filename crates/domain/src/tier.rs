//! What a tool can do to the world, in four steps, and what each of them asks for.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::trust::Trust;

/// Ordered: a later one can do more harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    ReadOnly,
    WriteSafe,
    WriteDestructive,
    Admin,
}

/// The word for a tier in the rabs seed; derived, never stored beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskLevel {
    Read,
    Write,
    Critical,
}

impl RiskLevel {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Critical => "critical",
        }
    }
}

impl Tier {
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::WriteSafe, Self::WriteDestructive, Self::Admin];

    /// The least trust that may use it. INVARIANT (tier-trust): never lower for a higher tier.
    #[must_use]
    pub const fn needs(self) -> Trust {
        match self {
            Self::ReadOnly => Trust::Hostile,
            Self::WriteSafe => Trust::Standard,
            Self::WriteDestructive => Trust::Operator,
            Self::Admin => Trust::System,
        }
    }

    #[must_use]
    pub const fn risk_level(self) -> RiskLevel {
        match self {
            Self::ReadOnly => RiskLevel::Read,
            Self::WriteSafe => RiskLevel::Write,
            Self::WriteDestructive | Self::Admin => RiskLevel::Critical,
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::WriteSafe => "write_safe",
            Self::WriteDestructive => "write_destructive",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{RiskLevel, Tier};

    #[test]
    fn a_higher_tier_never_needs_less_trust() {
        assert!(Tier::ALL.is_sorted_by_key(|tier| tier.needs()));
    }

    #[test]
    fn the_level_of_the_rabs_seed_is_derived() {
        let levels = Tier::ALL.map(Tier::risk_level);
        assert_eq!(levels, [RiskLevel::Read, RiskLevel::Write, RiskLevel::Critical, RiskLevel::Critical]);
    }
}
