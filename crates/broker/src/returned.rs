//! What a handler gives back: the outcome, what it made, what it used.

use domain::Digest;
use domain::call::{Failure, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something a call left in the world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// As the tool names it: a path in the workspace, an address.
    pub name: String,
    /// Of its content; nothing where the artifact is that something is gone.
    pub digest: Option<Digest>,
    pub bytes: Option<u64>,
}

/// What a call really used, as far as its handler knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub money: u64,
    pub tokens: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Returned {
    pub outcome: Outcome,
    pub artifacts: Vec<Artifact>,
    /// Nothing where the handler does not know: then it counts as all that was reserved.
    pub used: Option<Used>,
}

impl From<Outcome> for Returned {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, artifacts: Vec::new(), used: None }
    }
}

impl From<Failure> for Returned {
    fn from(failure: Failure) -> Self {
        Self::from(Outcome::Err(failure))
    }
}

impl Returned {
    #[must_use]
    pub fn made(record: Value, artifacts: Vec<Artifact>) -> Self {
        Self { outcome: Ok(record), artifacts, used: None }
    }
}
