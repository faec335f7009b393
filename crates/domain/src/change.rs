//! What a call changes, as it was looked at before: shown to whoever is asked, compared right before it is made, and
//! kept so that it can be taken back.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// What stands under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Nothing,
    File(Content),
    /// A link, which is what is changed, and not what it leads to.
    Link {
        to: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// SHA-256 of the bytes.
    pub digest: Digest,
    pub bytes: u64,
    /// The permission bits.
    pub mode: u32,
    /// The blob that holds the bytes, where they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Digest>,
}

impl Content {
    /// Whether it is the same file, wherever its bytes are kept.
    #[must_use]
    pub fn is_as(&self, other: &Self) -> bool {
        (self.digest, self.bytes, self.mode) == (other.digest, other.bytes, other.mode)
    }
}

impl Standing {
    /// Whether the same stands there, wherever its bytes are kept.
    #[must_use]
    pub fn is_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(this), Self::File(other)) => this.is_as(other),
            (this, other) => this == other,
        }
    }
}

/// One name in the workspace, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Relative to the workspace, tidied.
    pub path: String,
    pub from: Standing,
    pub to: Standing,
    /// Folders that have to be made for it, outermost first. Where it takes something away: those that go with it, if
    /// nothing else is in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
}
