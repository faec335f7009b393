//! Several models as one: the *brain* understands and plans; the *hands* act and judge the parts; the *judge* of the whole is
//! never weaker than whoever may have planned.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::model::{Completing, Listen, Model, Prompt, Quote, Role};

pub struct Tiers {
    pub brain: Arc<dyn Model>,
    pub hands: Arc<dyn Model>,
    /// Of the brain, those that may judge what it planned.
    pub judge: Arc<dyn Model>,
}

impl Tiers {
    /// Whoever answers in this role.
    #[must_use]
    pub fn of(&self, role: Role) -> &Arc<dyn Model> {
        match role {
            Role::Perceiver | Role::Planner => &self.brain,
            Role::MetaValidator => &self.judge,
            Role::Executor | Role::Validator => &self.hands,
        }
    }
}

impl Model for Tiers {
    fn name(&self) -> String {
        let (brain, hands) = (self.brain.name(), self.hands.name());
        if brain == hands { brain } else { format!("{brain} and {hands}") }
    }

    fn quote(&self, prompt: &Prompt) -> Option<Quote> {
        self.of(prompt.place.role).quote(prompt)
    }

    fn complete(&self, prompt: Prompt, listen: Listen) -> Completing {
        self.of(prompt.place.role).complete(prompt, listen)
    }

    fn redact(&self, value: &mut Value) {
        [&self.brain, &self.hands, &self.judge].into_iter().for_each(|model| model.redact(value));
    }
}

impl fmt::Debug for Tiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (brain, hands) = (self.brain.name(), self.hands.name());
        f.debug_struct("Tiers").field("brain", &brain).field("hands", &hands).finish()
    }
}
