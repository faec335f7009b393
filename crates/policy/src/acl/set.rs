//! All policies together, in the order in which they are heard.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Digest, canonical};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

use super::limits::POLICIES;
use super::name::Name;
use super::permissions::Said;
use super::policy::{ALL, Policy, Tools};

/// By priority, the highest first; the same priority in the order of the files. It is kept in the ledger under the digest
/// of its canonical JSON, and what was kept is checked again when it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Kept")]
pub struct PolicySet {
    pub(super) rules: Vec<Rule>,
    files: BTreeMap<String, String>,
}

/// A policy with what every decision would otherwise have to copy out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) policy: Policy,
    pub(super) name: Name,
    pub(super) allow: Option<Said>,
    /// Without `*`, which makes it closed instead.
    pub(super) deny: Option<Said>,
    /// Nothing beyond this gets through. A ceiling without any tool stays one.
    pub(super) cap: Option<Said>,
}

impl Rule {
    fn new(policy: Policy) -> Self {
        let Tools { allow, deny } = &policy.permissions.tools;
        let closed = policy.ceiling || deny.iter().any(|glob| glob == ALL);
        let said = |globs: Vec<String>| Said::new(&policy.name, globs);
        let unless_empty = |globs: Vec<String>| (!globs.is_empty()).then(|| said(globs));
        Self {
            allow: unless_empty(allow.clone()),
            deny: unless_empty(deny.iter().filter(|glob| *glob != ALL).cloned().collect()),
            cap: closed.then(|| said(allow.clone())),
            name: Name::from(policy.name.as_str()),
            policy,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    policies: Vec<Policy>,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotASet {
    #[error("there are {0} policies, and {POLICIES} are the most")]
    TooMany(usize),
    #[error("two policies are called `{0}`")]
    Twice(String),
    #[error("the priority of `{0}` is above {TOP}")]
    Priority(String),
    #[error("`{0}` has no effect and is no ceiling")]
    NoEffect(String),
}

pub use crate::yaml::limits::TOP;

impl PolicySet {
    /// # Errors
    /// The first policy that cannot stand in a set.
    pub fn new(mut policies: Vec<Policy>) -> Result<Self, NotASet> {
        if policies.len() > POLICIES {
            return Err(NotASet::TooMany(policies.len()));
        }
        let mut names = BTreeSet::new();
        for policy in &policies {
            let name = || policy.name.clone();
            if !names.insert(policy.name.as_str()) {
                return Err(NotASet::Twice(name()));
            }
            if policy.priority > TOP {
                return Err(NotASet::Priority(name()));
            }
            if policy.effect.is_none() && !policy.ceiling {
                return Err(NotASet::NoEffect(name()));
            }
        }
        policies.sort_by_key(|policy| std::cmp::Reverse(policy.priority)); // stable
        Ok(Self { rules: policies.into_iter().map(Rule::new).collect(), files: BTreeMap::new() })
    }

    /// Switched off ones included.
    pub fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.rules.iter().map(|rule| &rule.policy)
    }

    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Policy> {
        self.iter().find(|policy| policy.name == name)
    }

    /// The same set with one policy switched; nothing if there is none of this name.
    #[must_use]
    pub fn switched(&self, name: &str, to: Switch) -> Option<Self> {
        let mut set = self.clone();
        let rule = set.rules.iter_mut().find(|rule| rule.policy.name == name)?;
        rule.policy.enabled = to == Switch::On;
        Some(set)
    }

    /// The same set with the file of the owner in which each policy stands, by its name. What ships has none.
    #[must_use]
    pub fn from_files(mut self, files: BTreeMap<String, String>) -> Self {
        self.files = files;
        self
    }

    /// In which file of the owner each policy stood when the set was made. Sets of older programs do not say.
    #[must_use]
    pub const fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// The same set without these policies.
    #[must_use]
    pub fn without(mut self, names: &BTreeSet<String>) -> Self {
        self.rules.retain(|rule| !names.contains(&rule.policy.name));
        self.files.retain(|name, _| !names.contains(name));
        self
    }

    /// What it is kept under.
    ///
    /// # Errors
    /// Never for a set that [`PolicySet::new`] made: it is plain texts, flags and small numbers.
    pub fn digest(&self) -> Result<Digest, canonical::NotCanonical> {
        canonical::bytes(self).map(|bytes| Digest::of(&bytes))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    On,
    Off,
}

impl Serialize for PolicySet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut kept = serializer.serialize_struct("PolicySet", 2)?;
        kept.serialize_field("policies", &self.iter().collect::<Vec<_>>())?;
        match self.files.is_empty() {
            true => kept.skip_field("files")?,
            false => kept.serialize_field("files", &self.files)?,
        }
        kept.end()
    }
}

impl TryFrom<Kept> for PolicySet {
    type Error = NotASet;

    fn try_from(kept: Kept) -> Result<Self, NotASet> {
        Ok(Self::new(kept.policies)?.from_files(kept.files))
    }
}
