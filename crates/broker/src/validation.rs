//! Under which validation policies a call is decided: the one that was frozen when its chain started, and the one that such
//! a chain would come under now. Both are given; the stricter word counts.

use domain::id::VpolId;
use domain::{Digest, Tier};
use ledger::records::Blob;
use policy::vpol::{Circumstances, Vpol};
use serde::{Deserialize, Serialize};

use crate::budget::Limits;
use crate::tool::{Reach, ToolSpec};

#[derive(Clone, Copy, Debug, Default)]
pub struct Policies<'a> {
    /// Nothing if nobody knows it; then nothing runs.
    pub frozen: Option<&'a Vpol>,
    /// Nothing where it is the frozen one.
    pub of_now: Option<&'a Vpol>,
}

/// The policies, and what their rules ask about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Validation<'a> {
    pub policies: Policies<'a>,
    /// As they are for the frozen one. Whether a change can be taken back is found out by the broker.
    pub circumstances: Circumstances,
    /// Governed calls that were started in the window of the rate of the policy of now.
    pub started_now: u32,
}

/// What is kept of the policy of now, where it is another than the frozen one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfNow {
    /// A body of its own.
    pub rules: Digest,
    #[serde(default)]
    pub started: u32,
}

impl<'a> Validation<'a> {
    /// Nobody sits at it, nothing was started, nobody knows what time it is.
    #[must_use]
    pub const fn frozen(vpol: &'a Vpol) -> Self {
        let circumstances = Circumstances { local: None, started: 0, attended: false, reversible: false };
        Self { policies: Policies { frozen: Some(vpol), of_now: None }, circumstances, started_now: 0 }
    }

    /// The same for a chain that names this policy: another one is not known to it.
    pub(crate) fn of_chain(mut self, id: VpolId) -> Self {
        let Policies { frozen, of_now } = self.policies;
        let frozen = frozen.filter(|vpol| vpol.id() == id);
        self.policies = Policies { frozen, of_now: of_now.filter(|now| Some(*now) != frozen) };
        self
    }

    /// What a decision is made from: nothing that no rule asks about.
    pub(crate) fn circumstances(&self, reversible: bool) -> Circumstances {
        let ruled = self.policies.iter().any(|vpol| !vpol.rules.is_empty());
        if ruled { Circumstances { reversible, ..self.circumstances } } else { Circumstances::default() }
    }

    pub(crate) fn of_now(&self) -> Option<(OfNow, Blob)> {
        let rules = Blob::public(self.policies.of_now?.bytes());
        Some((OfNow { rules: rules.hash, started: self.started_now }, rules))
    }
}

impl<'a> Policies<'a> {
    pub(crate) fn iter(self) -> impl Iterator<Item = &'a Vpol> {
        self.frozen.into_iter().chain(self.of_now)
    }

    /// Whether one of them says how much a chain may use.
    #[must_use]
    pub fn are_budgeted(self) -> bool {
        self.iter().any(|vpol| !vpol.rules.budget.is_empty())
    }

    /// What the chain may use, where these policies leave it less than the settings do.
    pub(crate) fn limits(self, settings: &Limits, tool: &ToolSpec, tier: Tier) -> Limits {
        let governs = |vpol: &&Vpol| {
            tool.reach != Reach::Origin && vpol.governs.covers(tool.id.as_str(), tier, tool.data_class)
        };
        self.iter()
            .filter(governs)
            .fold(settings.clone(), |limits, vpol| limits.within(&vpol.rules.budget, &vpol.name))
    }
}
