//! What a validation policy applies to: which chains come under it, and which of their calls it governs.

use domain::{DataClass, Tier, glob};
use serde::{Deserialize, Serialize};

use super::judge::Asked;
use super::pick::Chain;
use crate::acl::policy::Whom;

/// Which chains come under it, asked when they start. What is not given fits every chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Whose {
    /// Any of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub principals: Vec<Whom>,
    /// Globs over the names of agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<String>,
    /// Whether somebody sits at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attended: Option<bool>,
}

impl Whose {
    #[must_use]
    pub fn fits(&self, chain: &Chain) -> bool {
        let Self { principals, agents, buckets, attended } = self;
        let bucket = chain.bucket.as_ref();
        (principals.is_empty() || principals.iter().any(|whom| whom.is(&chain.principal)))
            && (agents.is_empty() || agents.iter().any(|glob| glob::matches(glob, &chain.agent)))
            && (buckets.is_empty() || bucket.is_some_and(|bucket| buckets.contains(bucket)))
            && attended.is_none_or(|attended| attended == chain.attended)
    }

    /// Whether every chain comes under it.
    #[must_use]
    pub fn is_everybodys(&self) -> bool {
        let anybody = self.principals.is_empty() || self.principals.contains(&Whom::default());
        anybody && self.agents.is_empty() && self.buckets.is_empty() && self.attended.is_none()
    }
}

/// Which calls of a chain it governs. What is not given fits every call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// Globs over tool ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Tier>,
    /// A tool that handles no data of anybody is of no class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_classes: Vec<DataClass>,
}

impl Calls {
    pub const ALL: Self = Self { tools: Vec::new(), tiers: Vec::new(), data_classes: Vec::new() };

    #[must_use]
    pub fn are_all(&self) -> bool {
        *self == Self::ALL
    }

    /// Whether a tool is one of them, whatever its calls can do.
    #[must_use]
    pub fn names(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|glob| glob::matches(glob, tool))
    }

    #[must_use]
    pub fn cover(&self, call: &Asked<'_>) -> bool {
        self.covers(call.tool, call.tier, call.data_class)
    }

    #[must_use]
    pub fn covers(&self, tool: &str, tier: Tier, data_class: Option<DataClass>) -> bool {
        let Self { tiers, data_classes, .. } = self;
        self.names(tool)
            && (tiers.is_empty() || tiers.contains(&tier))
            && (data_classes.is_empty() || data_class.is_some_and(|class| data_classes.contains(&class)))
    }
}
