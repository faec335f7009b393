//! What kind of data something is.

use serde::{Deserialize, Serialize};

/// What kind of data a tool handles: a principal's data level says which of these they reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataClass {
    Logistics,
    Clinical,
    Finance,
    Pii,
}

impl DataClass {
    pub const ALL: &[Self] = &[Self::Logistics, Self::Clinical, Self::Finance, Self::Pii];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Logistics => "logistics",
            Self::Clinical => "clinical",
            Self::Finance => "finance",
            Self::Pii => "pii",
        }
    }
}
