//! What a planner is told from memory, as data; how it is said in a prompt is the planner's business. Nobody remembers
//! anything yet: the seam is here, and what comes through it is empty.

use serde::{Deserialize, Serialize};

/// What is asked of memory: everything under these tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recall {
    pub tags: Vec<Tag>,
}

/// Under which two words something is remembered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tag {
    pub space: String,
    pub entity: String,
}

impl Tag {
    /// How a kind of work went, here.
    #[must_use]
    pub fn intent(task_class: &str) -> Self {
        Self { space: format!("intent:{task_class}"), entity: "env:local".into() }
    }

    /// How a tool did on a target.
    #[must_use]
    pub fn tool(tool: &str, target: &str) -> Self {
        Self { space: format!("tool:{tool}"), entity: format!("path:{target}") }
    }
}

/// What memory says, tag by tag.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    pub about: Vec<Remembered>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    pub tag: Tag,
    /// What was distilled from many times, first; then what happened most recently.
    pub sops: Vec<String>,
    pub recent: Vec<String>,
    pub potentials: Potentials,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Potentials {
    pub attention: f64,
    pub decision: f64,
    pub action: Inclination,
}

/// What follows from the potentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inclination {
    /// SHOULD PREFER.
    Exploit,
    /// MUST NOT.
    Avoid,
    /// Ask before writing.
    Caution,
    Ignore,
}

impl Recalled {
    /// The tags that memory says to stay away from.
    pub fn avoided(&self) -> impl Iterator<Item = &Tag> {
        self.about.iter().filter(|one| one.potentials.action == Inclination::Avoid).map(|one| &one.tag)
    }
}
