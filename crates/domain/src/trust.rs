//! How far somebody is trusted. It is always decided outside the message.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Ordered: a later one is trusted more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    Hostile,
    Untrusted,
    Standard,
    Verified,
    Operator,
    System,
}

impl Trust {
    pub const ALL: [Self; 6] =
        [Self::Hostile, Self::Untrusted, Self::Standard, Self::Verified, Self::Operator, Self::System];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hostile => "hostile",
            Self::Untrusted => "untrusted",
            Self::Standard => "standard",
            Self::Verified => "verified",
            Self::Operator => "operator",
            Self::System => "system",
        }
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
