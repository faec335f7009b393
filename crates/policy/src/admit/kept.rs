//! An admission as it is kept.

use domain::By;
use serde::{Deserialize, Serialize};

use super::Admission;
use crate::acl::{Credentials, DataLevel, Effect, Permissions};

/// The first rules by which policies decide. Before, only the owner at their terminal was let in, with everything.
const BY_POLICIES: u32 = 3;

/// What it was made from stands in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Admitted {
    pub decision: Admission,
    /// Nothing where it was kept before this was.
    pub by: Option<By>,
}

impl Admitted {
    #[must_use]
    pub fn now(decision: Admission) -> Self {
        Self { decision, by: Some(By::this(crate::RULES)) }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    Whole { decision: Box<Admission>, by: By },
    Bare(Box<Admission>),
}

impl From<Kept> for Admitted {
    fn from(kept: Kept) -> Self {
        let (mut decision, by) = match kept {
            Kept::Whole { decision, by } => (*decision, Some(by)),
            Kept::Bare(decision) => (*decision, None),
        };
        let before = by.as_ref().is_none_or(|by| by.rules < BY_POLICIES);
        if before && decision.effect == Effect::Allow {
            let tools = decision.tools.clone();
            decision.permissions =
                Permissions::allowing("admission", tools, Credentials::All, DataLevel::Full);
        }
        Self { decision, by }
    }
}
