//! Validation policies: under which authority a chain runs. They are frozen for the chain.

use std::borrow::Cow;

use domain::id::{Id, VpolId};
use domain::{Digest, Tier, canonical};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Logs.
    Monitor,
    /// Reviews; a grant satisfies it.
    Intercept,
    /// Asks the owner each time.
    Strict,
}

impl Mode {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monitor => "monitor",
            Self::Intercept => "intercept",
            Self::Strict => "strict",
        }
    }
}

/// One validation policy. Its id is the digest of what it says: another text is another policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vpol {
    pub name: Cow<'static, str>,
    pub mode: Mode,
    /// The highest tier that this mode leaves alone.
    pub up_to: Tier,
}

impl Vpol {
    pub const DEFAULT_OWNER: Self =
        Self { name: Cow::Borrowed("default-owner"), mode: Mode::Monitor, up_to: Tier::Admin };
    pub const DEFAULT_OTHERS: Self =
        Self { name: Cow::Borrowed("default-others"), mode: Mode::Intercept, up_to: Tier::WriteSafe };
    /// For work that nobody attends.
    pub const UNATTENDED: Self =
        Self { name: Cow::Borrowed("unattended"), mode: Mode::Strict, up_to: Tier::WriteSafe };
    pub const SHIPPED: [Self; 3] = [Self::DEFAULT_OWNER, Self::DEFAULT_OTHERS, Self::UNATTENDED];

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::SHIPPED.into_iter().find(|vpol| vpol.name == name)
    }

    #[must_use]
    pub fn by_id(id: VpolId) -> Option<Self> {
        Self::SHIPPED.into_iter().find(|vpol| vpol.id() == id)
    }

    /// What is kept of it: the canonical bytes.
    #[must_use]
    pub fn rules(&self) -> Vec<u8> {
        canonical::bytes(self).unwrap_or_default() // three plain fields always have a canonical form
    }

    #[must_use]
    pub fn id(&self) -> VpolId {
        Id::from_digest(Digest::of(&self.rules()))
    }

    /// Whether a person has to look at a call of this tier first.
    #[must_use]
    pub fn reviews(&self, tier: Tier) -> bool {
        self.mode != Mode::Monitor && tier > self.up_to
    }
}

#[cfg(test)]
mod tests {
    use super::Vpol;
    use domain::Tier;

    #[test]
    fn each_policy_is_known_by_its_content() {
        assert_ne!(Vpol::DEFAULT_OWNER.id(), Vpol::DEFAULT_OTHERS.id());
        for vpol in Vpol::SHIPPED {
            assert_eq!(Vpol::by_id(vpol.id()), Some(vpol));
        }
        let rules = String::from_utf8(Vpol::DEFAULT_OWNER.rules()).unwrap();
        assert_eq!(rules, r#"{"mode":"monitor","name":"default-owner","up_to":"admin"}"#);
    }

    #[test]
    fn others_and_what_nobody_attends_are_looked_at_above_write_safe() {
        for vpol in [Vpol::DEFAULT_OTHERS, Vpol::UNATTENDED] {
            assert_eq!(Tier::ALL.map(|tier| vpol.reviews(tier)), [false, false, true, true], "{}", vpol.name);
        }
        assert_eq!(Tier::ALL.map(|tier| Vpol::DEFAULT_OWNER.reviews(tier)), [false; 4]);
    }
}
