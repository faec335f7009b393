//! How far somebody goes, in a form that can be kept, asked about one tool, and shrunk.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use domain::glob;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::credentials::Credentials;
use super::policy::DataLevel;

/// What several policies say together, and what stands above that. It is made by `decide`, and gets only smaller by
/// [`Permissions::within`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permissions {
    pub own: Bounds,
    /// Those of whoever this works for. A tool has to pass each of them, too.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub within: Vec<Bounds>,
    pub credentials: Credentials,
    pub data: DataLevel,
}

/// Nothing allowed is the least there is, and what it starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// One of them has to allow a tool …
    #[serde(default)]
    pub allow: Vec<Said>,
    /// … and one of each of these, which allowed it when the chain began …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Vec<Said>>,
    /// … none of them may deny it …
    #[serde(default)]
    pub deny: Vec<Said>,
    /// … and each of them has to allow it.
    #[serde(default)]
    pub ceilings: Vec<Said>,
}

/// Globs, and who said them. Made once per policy and shared by every decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said(Arc<Words>);

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    policy: String,
    tools: Vec<String>,
}

impl Said {
    #[must_use]
    pub fn new(policy: impl Into<String>, tools: Vec<String>) -> Self {
        Self(Arc::new(Words { policy: policy.into(), tools }))
    }

    #[must_use]
    pub fn policy(&self) -> &str {
        &self.0.policy
    }

    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.0.tools
    }

    fn covers(&self, tool: &str) -> bool {
        self.tools().iter().any(|globbed| glob::matches(globbed, tool))
    }
}

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Words::deserialize(deserializer).map(|words| Self(Arc::new(words)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    May { by: String },
    MayNot(WhyNot),
}

impl Verdict {
    #[must_use]
    pub const fn is_yes(&self) -> bool {
        matches!(self, Self::May { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyNot {
    NobodyAllows,
    Denied { by: String },
    BeyondCeiling { by: String },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::May { by } => write!(f, "`{by}` allows it"),
            Self::MayNot(why) => why.fmt(f),
        }
    }
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NobodyAllows => f.write_str("no policy allows it"),
            Self::Denied { by } => write!(f, "`{by}` denies it"),
            Self::BeyondCeiling { by } => {
                write!(f, "it is beyond what `{by}` lets through, whoever allows it")
            }
        }
    }
}

impl Permissions {
    #[must_use]
    pub fn none() -> Self {
        let own = Bounds::default();
        Self { own, within: Vec::new(), credentials: Credentials::NONE, data: DataLevel::None }
    }

    /// What one voice allows, with nothing that keeps it back.
    #[must_use]
    pub fn allowing(who: &str, tools: Vec<String>, credentials: Credentials, data: DataLevel) -> Self {
        let allow = if tools.is_empty() { Vec::new() } else { vec![Said::new(who, tools)] };
        Self { own: Bounds { allow, ..Bounds::default() }, within: Vec::new(), credentials, data }
    }

    /// Every glob that some policy allows, whatever else keeps it back.
    #[must_use]
    pub fn allowed(&self) -> Vec<String> {
        let globs = self.own.allow.iter().flat_map(|said| said.tools().iter().cloned());
        globs.collect::<BTreeSet<_>>().into_iter().collect()
    }

    #[must_use]
    pub fn may(&self, tool: &str) -> Verdict {
        let above = self.within.iter().find_map(|bounds| bounds.judge(tool).err());
        match (self.own.judge(tool), above) {
            (Ok(by), None) => Verdict::May { by: by.to_owned() },
            (Err(why), _) | (Ok(_), Some(why)) => Verdict::MayNot(why),
        }
    }

    /// INVARIANT (only-shrinks): what comes out may do nothing that one of the two may not. A worker is `within` its
    /// manager, what it spawns within it, and so on.
    #[must_use]
    pub fn within(&self, outer: &Self) -> Self {
        let mut within = self.within.clone();
        for bounds in std::iter::once(&outer.own).chain(&outer.within) {
            // Also where it is like our own: what is granted to us later is not granted to them.
            if !within.contains(bounds) {
                within.push(bounds.clone());
            }
        }
        Self {
            own: self.own.clone(),
            within,
            credentials: self.credentials.clone().and(&outer.credentials),
            data: self.data.min(outer.data),
        }
    }

    /// The same of somebody who was let in with `then`, and goes no further than that. Not as [`Permissions::within`]: it is
    /// the same principal, and what is granted to them is granted to both.
    #[must_use]
    pub fn no_further_than(&self, then: &Self) -> Self {
        let mut narrowed = self.clone();
        let own = &mut narrowed.own;
        for group in std::iter::once(&then.own.allow).chain(&then.own.before) {
            if *group != own.allow && !own.before.contains(group) {
                own.before.push(group.clone());
            }
        }
        add_missing(&mut own.deny, &then.own.deny);
        add_missing(&mut own.ceilings, &then.own.ceilings);
        add_missing(&mut narrowed.within, &then.within);
        narrowed.credentials = narrowed.credentials.and(&then.credentials);
        narrowed.data = narrowed.data.min(then.data);
        narrowed
    }

    /// The same with a live grant. It adds to what is allowed, and passes no deny, no ceiling and nobody above.
    #[must_use]
    pub fn and_granted(mut self, grant: &str, tools: Vec<String>) -> Self {
        let granted = Said::new(grant, tools);
        self.own.before.iter_mut().for_each(|group| group.push(granted.clone()));
        self.own.allow.push(granted);
        self
    }
}

fn add_missing<T: Clone + PartialEq>(to: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !to.contains(one) {
            to.push(one.clone());
        }
    }
}

impl Bounds {
    /// Who allows it.
    fn judge(&self, tool: &str) -> Result<&str, WhyNot> {
        if let Some(said) = self.deny.iter().find(|said| said.covers(tool)) {
            return Err(WhyNot::Denied { by: said.policy().to_owned() });
        }
        if let Some(said) = self.ceilings.iter().find(|said| !said.covers(tool)) {
            return Err(WhyNot::BeyondCeiling { by: said.policy().to_owned() });
        }
        let allowed_before = self.before.iter().all(|group| group.iter().any(|said| said.covers(tool)));
        let allowing = self.allow.iter().find(|said| said.covers(tool)).filter(|_| allowed_before);
        allowing.map(Said::policy).ok_or(WhyNot::NobodyAllows)
    }
}
