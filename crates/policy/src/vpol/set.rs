//! All validation policies together, in the order in which they are heard.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Digest, canonical};
use serde::{Deserialize, Serialize};

use super::Vpol;
use super::scope::Whose;
use crate::yaml::limits::{POLICIES, TOP};

/// By priority, the highest first; the same priority in the order of the files. It is kept in the ledger under the digest
/// of its canonical JSON, and what was kept is checked again when it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Kept")]
pub struct VpolSet {
    policies: Vec<Listed>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
}

/// One of them, and which chains come under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    pub vpol: Vpol,
    #[serde(default)]
    pub applies_to: Whose,
    /// 0 to 100; the highest is heard first.
    pub priority: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    policies: Vec<Listed>,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotASet {
    #[error("there are {0} validation policies, and {POLICIES} are the most")]
    TooMany(usize),
    #[error("two validation policies are called `{0}`")]
    Twice(String),
    #[error("the priority of `{0}` is above {TOP}")]
    Priority(String),
    #[error("`{0}` is the name of the policy that counts where no other applies")]
    Reserved(String),
}

impl VpolSet {
    /// # Errors
    /// The first policy that cannot stand in a set.
    pub fn new(mut policies: Vec<Listed>) -> Result<Self, NotASet> {
        if policies.len() > POLICIES {
            return Err(NotASet::TooMany(policies.len()));
        }
        let mut names = BTreeSet::new();
        for Listed { vpol, priority, .. } in &policies {
            let name = || vpol.name.clone().into_owned();
            if !names.insert(vpol.name.as_ref()) {
                return Err(NotASet::Twice(name()));
            }
            if *priority > TOP {
                return Err(NotASet::Priority(name()));
            }
            if vpol.name == Vpol::STRICTEST {
                return Err(NotASet::Reserved(name()));
            }
        }
        policies.sort_by_key(|listed| std::cmp::Reverse(listed.priority)); // stable
        Ok(Self { policies, files: BTreeMap::new() })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Listed> {
        self.policies.iter()
    }

    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Listed> {
        self.iter().find(|listed| listed.vpol.name == name)
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
        self.policies.retain(|listed| !names.contains(listed.vpol.name.as_ref()));
        self.files.retain(|name, _| !names.contains(name));
        self
    }

    /// What it is kept under.
    ///
    /// # Errors
    /// Never for a set that [`VpolSet::new`] made: it is plain texts, flags and small numbers.
    pub fn digest(&self) -> Result<Digest, canonical::NotCanonical> {
        canonical::bytes(self).map(|bytes| Digest::of(&bytes))
    }
}

impl TryFrom<Kept> for VpolSet {
    type Error = NotASet;

    fn try_from(kept: Kept) -> Result<Self, NotASet> {
        Ok(Self::new(kept.policies)?.from_files(kept.files))
    }
}
