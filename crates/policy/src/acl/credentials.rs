//! Names of credentials, and what several policies leave of them.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::policy::ALL;

/// Names of credentials, one by one; or all of them, written `*`. No other globs: so the intersection of two lists is a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeSet<String>", into = "BTreeSet<String>")]
pub enum Credentials {
    All,
    Only(BTreeSet<String>),
}

impl Credentials {
    pub const NONE: Self = Self::Only(BTreeSet::new());

    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
        }
    }

    /// What both have.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, one) => one.clone(),
            (one, Self::All) => one,
            (Self::Only(mut names), Self::Only(others)) => {
                // Looked at first: policies mostly name the same, and taking out of a set costs even if nothing goes.
                let stays = |name: &String| others.contains(name);
                if !names.iter().all(stays) {
                    names.retain(stays);
                }
                Self::Only(names)
            }
        }
    }
}

impl FromIterator<String> for Credentials {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        names.into_iter().collect::<BTreeSet<_>>().into()
    }
}

impl fmt::Display for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => write!(f, "[{ALL}]"),
            Self::Only(names) => {
                write!(f, "[{}]", names.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl From<BTreeSet<String>> for Credentials {
    fn from(names: BTreeSet<String>) -> Self {
        if names.contains(ALL) { Self::All } else { Self::Only(names) }
    }
}

impl From<Credentials> for BTreeSet<String> {
    fn from(credentials: Credentials) -> Self {
        match credentials {
            Credentials::All => Self::from([ALL.to_owned()]),
            Credentials::Only(names) => names,
        }
    }
}
