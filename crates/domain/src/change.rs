//! What a call changes, as it was looked at before: shown to whoever is asked, compared right before it is made, and
//! kept so that it can be taken back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Time;
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
    /// A file that is too large to be looked through. It is told from another by its size, its permission bits and when
    /// anything about it was changed the last time, and cannot be put back.
    Large {
        bytes: u64,
        mode: u32,
        changed_at: Time,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// SHA-256 of the bytes.
    pub digest: Digest,
    pub bytes: u64,
    /// The permission bits.
    pub mode: u32,
    /// User and group; of what is still to be made they are not known, nor were they always kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<(u32, u32)>,
    /// Whether it has an access control list: then the bits of the group say what that allows to all who are on it.
    #[serde(default, skip_serializing_if = "is_not")]
    pub listed: bool,
    /// Whether it holds the value of a secret, so that its bytes cannot be kept.
    #[serde(default, skip_serializing_if = "is_not")]
    pub secret: bool,
    /// The blob that holds the bytes, where they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Digest>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks it like this")]
const fn is_not(flag: &bool) -> bool {
    !*flag
}

impl Content {
    /// Bytes that nobody has kept yet, of a file that is nobody's yet.
    #[must_use]
    pub const fn new(digest: Digest, bytes: u64, mode: u32) -> Self {
        Self { digest, bytes, mode, owner: None, listed: false, secret: false, kept: None }
    }

    /// Whether it is the same file, whoever owns it and wherever its bytes are kept.
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
    /// Where it takes something away: the permission bits of the folders on the way, in case they have to be made again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modes: BTreeMap<String, u32>,
}

impl Change {
    #[must_use]
    pub const fn new(path: String, from: Standing, to: Standing) -> Self {
        Self { path, from, to, folders: Vec::new(), modes: BTreeMap::new() }
    }
}
