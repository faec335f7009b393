//! Who made a decision: which program, and which of its rules.

use serde::{Deserialize, Serialize};

/// Kept with every decision, so that whoever computes it again years later knows whether the same code does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// The version of the program.
    pub program: String,
    /// The number of the deciding code; it is raised whenever that code can decide something differently.
    pub rules: u32,
}

impl By {
    /// This program, with these rules of it.
    #[must_use]
    pub fn this(rules: u32) -> Self {
        Self { program: env!("CARGO_PKG_VERSION").into(), rules }
    }
}
