//! Who could have meant a text. Every text in a task carries its source from the first day, because a
//! source cannot be found out afterwards.

use serde::{Deserialize, Serialize};

use crate::id::{CallId, EntityId};
use crate::trust::Trust;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Source {
    /// The owner's own words: the verbatim request, or text the owner wrote as policy or standing note.
    Owner,
    /// Somebody else's words.
    Principal { entity: Option<EntityId>, trust: Trust },
    /// Ours: fixed by the program or by the origin of the chain.
    System,
    /// Came back from a tool; `field` says where in its record, empty for the whole.
    Tool { call: CallId, field: String },
    /// A provider said it. Restating does not launder: a plan that repeats the owner's words is this.
    Model,
}

/// A text with its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    pub text: String,
    pub source: Source,
}

impl Text {
    #[must_use]
    pub fn new(text: impl Into<String>, source: Source) -> Self {
        Self { text: text.into(), source }
    }

    #[must_use]
    pub fn model(text: impl Into<String>) -> Self {
        Self::new(text, Source::Model)
    }
}
