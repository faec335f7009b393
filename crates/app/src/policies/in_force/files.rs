//! What a set is made from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use domain::{Digest, canonical};
use ledger::records::PolicySwitch;
use policy::acl::limits::FILES;
use policy::acl::load::{Origin, Source};
use policy::yaml::may_name;
use serde::Serialize;

use super::{LOADING, PolicyRules, sources};
use kernel::Problem;

/// What a policy is about, and so in which folder it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyKind {
    /// Who is let in, with what.
    Acl,
    /// Under which authority a chain runs.
    Vpol,
}

impl PolicyKind {
    pub const ALL: [Self; 2] = [Self::Acl, Self::Vpol];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acl => "acl",
            Self::Vpol => "vpol",
        }
    }
}

/// A policy file of the house.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// Without its folder; empty where it is the folder that cannot be relied on.
    pub name: String,
    /// What it says, or why that cannot be relied on.
    pub text: Result<String, String>,
}

/// One thing that keeps the files from being used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyMistake {
    pub file: String,
    /// With the file and the place in it.
    pub what: String,
}

impl fmt::Display for PolicyMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// What the names of files that ship begin with, where people read them.
pub(crate) const SHIPPED: &str = "shipped/";

/// How a file of the house is called where people read it.
fn label(kind: PolicyKind, name: &str) -> String {
    let folder = format!("policies/{}", kind.name());
    if name.is_empty() { folder } else { format!("{folder}/{name}") }
}

/// Everything that one set is made from, but the switches.
#[derive(Debug)]
pub(crate) struct PolicyFiles {
    kind: PolicyKind,
    shipped: &'static [Source<'static>],
    /// Of the house.
    pub files: Vec<PolicyFile>,
}

impl PolicyFiles {
    pub(crate) fn of<S: PolicyRules>(files: Vec<PolicyFile>) -> Self {
        Self { kind: S::KIND, shipped: S::shipped(), files }
    }

    /// The texts with the names that people read, what ships first; those that cannot be relied on are left out.
    pub(crate) fn labelled(&self) -> Vec<(String, &str, Origin)> {
        let shipped = self
            .shipped
            .iter()
            .map(|source| (format!("{SHIPPED}{}", source.file), source.text, Origin::Shipped));
        let own = self
            .files
            .iter()
            .filter_map(|file| Some((label(self.kind, &file.name), file.text.as_deref().ok()?, Origin::Own)));
        shipped.chain(own).collect()
    }

    pub(crate) fn unreadable(&self) -> Vec<PolicyMistake> {
        let unreadable = self.files.iter().filter_map(|file| {
            let (why, file) = (file.text.as_ref().err()?, label(self.kind, &file.name));
            Some(PolicyMistake { what: format!("{file}: {why}"), file })
        });
        unreadable.collect()
    }

    /// Whether a file of the house is there, under the name that people read; also one that cannot be read. Nothing if that
    /// cannot be known: the folder cannot be read, or has more files than are looked at.
    pub(crate) fn has(&self, file: &str) -> Option<bool> {
        if self.files.len() > FILES || self.files.iter().any(|file| file.name.is_empty()) {
            return None;
        }
        Some(self.files.iter().any(|known| label(self.kind, &known.name) == file))
    }

    /// Which policies of a set that was made before are gone: their file is, and no other file has a policy of that name. So
    /// one that was moved to another file is not gone.
    pub(crate) fn deleted<S: PolicyRules>(&self, set: &S) -> BTreeSet<String> {
        let is_elsewhere =
            |name: &str| self.files.iter().flat_map(|file| &file.text).any(|text| may_name(text, name));
        let gone = set.files().iter().filter(|(_, file)| self.has(file) == Some(false));
        gone.map(|(name, _)| name.clone()).filter(|name| !is_elsewhere(name)).collect()
    }

    /// Names everything that the set is made from; nothing if that cannot be known.
    pub(crate) fn digest(&self, switches: &[PolicySwitch]) -> Result<Option<Digest>, Problem> {
        #[derive(Serialize)]
        struct From<'a> {
            loading: u32,
            kind: PolicyKind,
            files: Vec<(&'a str, Digest)>,
            /// In order, whatever a database takes for one.
            switches: BTreeMap<&'a str, bool>,
        }
        if self.files.iter().any(|file| file.text.is_err()) {
            return Ok(None);
        }
        let labelled = self.labelled();
        let from = From {
            loading: LOADING,
            kind: self.kind,
            files: labelled
                .iter()
                .map(|(file, text, _)| (file.as_str(), Digest::of(text.as_bytes())))
                .collect(),
            switches: switches.iter().map(|switch| (switch.name.as_str(), switch.enabled)).collect(),
        };
        let bytes = canonical::bytes(&from).map_err(Problem::internal)?;
        Ok(Some(Digest::of(&bytes)))
    }

    /// # Errors
    /// What cannot be relied on; if that is nothing, everything that is wrong with the rest.
    pub(crate) fn load<S: PolicyRules>(&self) -> Result<S, Vec<PolicyMistake>> {
        let unreadable = self.unreadable();
        if unreadable.is_empty() { S::load(&sources(&self.labelled())) } else { Err(unreadable) }
    }
}
