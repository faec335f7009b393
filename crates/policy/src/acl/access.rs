//! The answer to a case, with everything that follows from it and the reason in one sentence.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::key::NoKey;
use super::name::Name;
use super::permissions::Permissions;
use super::policy::{Effect, Modifiers, Pairing};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    pub effect: Effect,
    /// The policies that matched, the highest priority first.
    pub matched: Vec<Name>,
    /// What a policy says about it; without one the caller has its own rule ([`super::key::without_a_policy`]).
    pub session: Option<Placed>,
    /// Nothing, unless the effect is `allow`: what is held or denied uses no tool.
    pub permissions: Permissions,
    pub modifiers: Modifiers,
    /// Whether the owner is to be asked who this denied sender is.
    pub pairing: Option<Pairing>,
    pub why: Why,
}

/// Where an event goes. The key is the policy's own, before it is placed under the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    pub persona: Option<String>,
    pub key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    NothingMatches,
    /// A ceiling without an effect admits nobody.
    OnlyCeilings {
        by: String,
    },
    Denied {
        by: String,
    },
    Asked {
        by: String,
    },
    Allowed {
        by: String,
    },
    /// It would be allowed, and there is no session in which it could be answered.
    NoSession {
        by: String,
        why: NoKey,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingMatches => f.write_str("no policy matches, so the answer is no"),
            Self::OnlyCeilings { by } => {
                write!(f, "only ceilings match, like `{by}`, and a ceiling admits nobody")
            }
            Self::Denied { by } => write!(f, "`{by}` denies it"),
            Self::Asked { by } => write!(f, "`{by}` asks the owner first"),
            Self::Allowed { by } => write!(f, "`{by}` allows it, and no policy denies it"),
            Self::NoSession { by, why: NoKey::Without(variable) } => {
                let variable = variable.name();
                write!(f, "`{by}` makes the session key of `{{{variable}}}`, which is not known here")
            }
            Self::NoSession { by, why: NoKey::TooLong } => {
                write!(f, "the session key that `{by}` makes is too long here")
            }
            Self::NoSession { by, why: NoKey::MainInAGroup } => {
                write!(
                    f,
                    "`{by}` would answer a group in the owner's own session, which is read by nobody else"
                )
            }
            Self::NoSession { by, why: NoKey::Main } => {
                write!(
                    f,
                    "the session key of `{by}` would be the owner's own here, by a name that somebody has"
                )
            }
        }
    }
}
