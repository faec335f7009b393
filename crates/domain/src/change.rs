//! What a call changes, as it was looked at before: shown to whoever is asked, compared right before it is made, and
//! kept so that it can be taken back. A call changes one name or several, each of them once.

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
    /// The name that it was moved from. It must not go again before that is back: nobody else has these bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
}

impl Change {
    #[must_use]
    pub const fn new(path: String, from: Standing, to: Standing) -> Self {
        Self { path, from, to, folders: Vec::new(), modes: BTreeMap::new(), moved_from: None }
    }

    /// Whether it puts something under a name with a dot before it, or into such a folder: shells, editors and git obey
    /// what is there.
    #[must_use]
    pub fn fills_dot_name(&self) -> bool {
        self.to != Standing::Nothing && self.path.split('/').any(|name| name.starts_with('.'))
    }
}

/// All that one call changes, in the order in which it does so. What changes one name is written as that change alone,
/// as it was when no call changed more; several are a list. Either is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Changes(Vec<Change>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    One(Box<Change>),
    Several(Vec<Change>),
}

impl From<Written> for Changes {
    fn from(written: Written) -> Self {
        match written {
            Written::One(change) => Self(vec![*change]),
            Written::Several(changes) => Self(changes),
        }
    }
}

impl From<Changes> for Written {
    fn from(Changes(mut changes): Changes) -> Self {
        match changes.pop() {
            Some(only) if changes.is_empty() => Self::One(Box::new(only)),
            last => Self::Several(changes.into_iter().chain(last).collect()),
        }
    }
}

impl From<Change> for Changes {
    fn from(change: Change) -> Self {
        Self(vec![change])
    }
}

impl FromIterator<Change> for Changes {
    fn from_iter<I: IntoIterator<Item = Change>>(changes: I) -> Self {
        Self(changes.into_iter().collect())
    }
}

impl IntoIterator for Changes {
    type Item = Change;
    type IntoIter = std::vec::IntoIter<Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Changes {
    pub fn iter(&self) -> std::slice::Iter<'_, Change> {
        self.0.iter()
    }

    #[must_use]
    pub fn as_slice(&self) -> &[Change] {
        &self.0
    }

    /// What becomes of this name, where it is one of them.
    #[must_use]
    pub fn of(&self, path: &str) -> Option<&Change> {
        self.iter().find(|change| change.path == path)
    }
}

impl<'a> IntoIterator for &'a Changes {
    type Item = &'a Change;
    type IntoIter = std::slice::Iter<'a, Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Changes, Standing};
    use serde_json::{from_value, json, to_value};

    #[test]
    fn one_name_is_written_as_it_always_was_and_both_forms_are_read() {
        let one = |path: &str| json!({ "path": path, "from": "nothing", "to": { "link": { "to": "x" } } });
        let change =
            |path: &str| Change::new(path.into(), Standing::Nothing, Standing::Link { to: "x".into() });
        let table = [
            (one("a"), Changes::from(change("a"))),
            (json!([one("a"), one("b")]), ["a", "b"].map(change).into_iter().collect()),
            (json!([]), Changes::from_iter([])),
        ];
        for (written, changes) in table {
            assert_eq!(to_value(&changes).unwrap(), written);
            assert_eq!(from_value::<Changes>(written).unwrap(), changes);
        }
        assert_eq!(from_value::<Changes>(json!([one("a")])).unwrap(), Changes::from(change("a")));
    }
}
