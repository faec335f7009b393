//! Who is speaking, as far as it is known.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::EntityId;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Principal {
    Owner {
        entity: EntityId,
    },
    Known {
        entity: EntityId,
    },
    Unknown,
    System,
    /// By the name that the house has for it.
    Webhook {
        name: String,
    },
    Agent {
        id: String,
    },
}

impl Principal {
    #[must_use]
    pub const fn is_owner(&self) -> bool {
        matches!(self, Self::Owner { .. })
    }

    #[must_use]
    pub const fn entity(&self) -> Option<EntityId> {
        match self {
            Self::Owner { entity } | Self::Known { entity } => Some(*entity),
            Self::Unknown | Self::System | Self::Webhook { .. } | Self::Agent { .. } => None,
        }
    }
}

/// Never a name or an address: this text may stand in an append-only row.
impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner { .. } => f.write_str("owner"),
            Self::Known { entity } => write!(f, "known:{entity}"),
            Self::Unknown => f.write_str("unknown"),
            Self::System => f.write_str("system"),
            Self::Webhook { name } => write!(f, "webhook:{name}"),
            Self::Agent { id } => write!(f, "agent:{id}"),
        }
    }
}
