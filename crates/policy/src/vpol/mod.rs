//! Validation policies (V-Pols): under which authority a chain runs.
//!
//! They are YAML that the owner writes ([`load()`]). Of all of them ([`VpolSet`]) one is picked when a chain starts
//! ([`VpolSet::pick`]), and that one is frozen for the chain. It is asked about every call ([`Vpol::judge`]).
//!
//! In a file one `applies_to` says both whom and what a policy is about. Here these are two things, because they are asked
//! at two moments: [`Whose`] says which chains come under it, [`Calls`] which calls of such a chain it governs. Only what
//! governs is part of [`Vpol`], whose id is the digest of what it says; whom it was picked for stands in the set.
//!
//! What the specification leaves open is decided so that it shrinks:
//!
//! - **No policy applies**: the chain gets [`Vpol::strictest`], which asks the owner about every call.
//! - **What is not known** (who, which bucket, what time it is) fits nothing that asks for it.
//! - **A grant** answers `intercept` in a person's place, and nothing else.
//! - **Handing a result back** is governed by the mode, and not by the rules: whatever came of the work may be told.
//!
//! Nothing here reads a file, a clock or a message. Start reading at [`VpolSet::pick`], then [`Vpol::judge`].

pub mod case;
pub mod filter;
mod judge;
pub mod load;
mod page;
pub mod pick;
pub mod rules;
pub mod scope;
pub mod set;
pub mod shipped;

use std::borrow::Cow;

use domain::id::{Id, VpolId};
use domain::{Digest, Tier, canonical};
use serde::{Deserialize, Serialize};

pub use judge::{Answer, Asked, Circumstances, Word};
pub use load::{Loaded, load};
pub use pick::{Chain, Picked};
pub use rules::{Per, Rate, Requirement, Rules};
pub use scope::{Calls, Whose};
pub use set::{Listed, NotASet, VpolSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    pub const ALL: [Self; 3] = [Self::Monitor, Self::Intercept, Self::Strict];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monitor => "monitor",
            Self::Intercept => "intercept",
            Self::Strict => "strict",
        }
    }
}

/// What one validation policy says about calls. Its id is the digest of that: another text is another policy. Fields that
/// were added later are left out where they say nothing, so that what was kept before has the id that it had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vpol {
    pub name: Cow<'static, str>,
    pub mode: Mode,
    /// The highest tier that this mode leaves alone.
    pub up_to: Tier,
    /// The calls that its mode and its rules are about.
    #[serde(default, skip_serializing_if = "Calls::are_all")]
    pub governs: Calls,
    #[serde(default, skip_serializing_if = "Rules::is_empty")]
    pub rules: Rules,
}

impl Vpol {
    pub const DEFAULT_OWNER: Self = Self::plain("default-owner", Mode::Monitor, Tier::Admin);
    pub const DEFAULT_OTHERS: Self = Self::plain("default-others", Mode::Intercept, Tier::WriteSafe);
    /// For work that nobody attends.
    pub const UNATTENDED: Self = Self::plain("unattended", Mode::Strict, Tier::WriteSafe);
    pub const SHIPPED: [Self; 3] = [Self::DEFAULT_OWNER, Self::DEFAULT_OTHERS, Self::UNATTENDED];

    /// The name of [`Vpol::strictest`], which no other has.
    pub const STRICTEST: &str = "strictest";

    const fn plain(name: &'static str, mode: Mode, up_to: Tier) -> Self {
        Self { name: Cow::Borrowed(name), mode, up_to, governs: Calls::ALL, rules: Rules::NONE }
    }

    /// What counts where no policy applies: the owner is asked about every call.
    #[must_use]
    pub fn strictest() -> Self {
        let rules = Rules { requires: vec![Requirement::Approval], ..Rules::NONE };
        Self { rules, ..Self::plain(Self::STRICTEST, Mode::Strict, Tier::ReadOnly) }
    }

    /// What is kept of it: the canonical bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        canonical::bytes(self).unwrap_or_default() // texts and small numbers always have a canonical form
    }

    #[must_use]
    pub fn id(&self) -> VpolId {
        Id::from_digest(Digest::of(&self.bytes()))
    }

    /// Whether a person has to look at a call of this tier first.
    #[must_use]
    pub fn reviews(&self, tier: Tier) -> bool {
        self.mode != Mode::Monitor && tier > self.up_to
    }
}

#[cfg(test)]
mod tests;
