use domain::id::EntityId;
use domain::{Time, Trust};
use serde::{Deserialize, Serialize};

use crate::table::record;
use crate::value::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    Person,
    Persona,
    Agent,
    Webhook,
    System,
}
words!(EntityKind);

record! {
    /// Somebody. Erasable.
    Entity in "entities" by [id], Replace, Personal; unique [is_owner] where is_owner == 1 {
        id: EntityId,
        kind: EntityKind,
        name: Option<String>,
        is_owner: bool,
        relationship: Option<String>,
        trust: Option<Trust>,
        created_at: Time,
    }
}

impl Entity {
    /// What is left of somebody who was erased: that there was somebody.
    #[must_use]
    pub fn erased(&self) -> Self {
        Self { name: None, relationship: None, trust: None, ..self.clone() }
    }
}
