//! Which validation policy a chain comes under, decided when it starts.

use std::fmt;

use domain::Digest;
use domain::id::EventId;
use serde::{Deserialize, Serialize};

use super::Vpol;
use super::set::{Listed, VpolSet};
use crate::acl::case::Who;

/// A chain that starts. What is not known stays empty, and fits no policy that asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    pub principal: Who,
    /// Who is to do the work.
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<String>,
    /// Whether somebody sits at it.
    pub attended: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picked {
    pub vpol: Vpol,
    pub why: Why,
}

/// A pick as it is kept: with all that it was made from. It is of one event, so that it can go when that goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub event: EventId,
    pub chain: Chain,
    /// The set, which is a body of its own.
    pub set: Digest,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It applies, and of those that do it is heard first.
    Applies {
        name: String,
        priority: u8,
        before: Vec<String>,
    },
    NothingApplies,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Applies { name, priority, before } => {
                write!(f, "`{name}` applies, with priority {priority}")?;
                let before: Vec<String> = before.iter().map(|name| format!("`{name}`")).collect();
                if before.is_empty() { Ok(()) } else { write!(f, ", and comes before {}", before.join(", ")) }
            }
            Self::NothingApplies => {
                let name = Vpol::STRICTEST;
                write!(
                    f,
                    "no validation policy applies, so `{name}` counts: the owner is asked about every call"
                )
            }
        }
    }
}

impl VpolSet {
    /// The one with the highest priority that applies; of equal priorities the one that came first.
    ///
    /// INVARIANT (never-without): every chain gets one, and where none applies the strictest.
    #[must_use]
    pub fn pick(&self, chain: &Chain) -> Picked {
        let mut applying = self.iter().filter(|listed| listed.applies_to.fits(chain));
        let Some(Listed { vpol, priority, .. }) = applying.next() else {
            return Picked { vpol: Vpol::strictest(), why: Why::NothingApplies };
        };
        let (name, priority) = (vpol.name.clone().into_owned(), *priority);
        let before = applying.map(|listed| listed.vpol.name.clone().into_owned()).collect();
        Picked { vpol: vpol.clone(), why: Why::Applies { name, priority, before } }
    }
}
