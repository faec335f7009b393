use domain::Time;
use domain::event::ERASED;
use domain::id::{EntityId, IdentityId};

use crate::table::record;

record! {
    /// An address under which somebody speaks. Without an entity, nobody knows whose it is. Erasable.
    Identity in "entity_identities" by [platform, identifier], Append, Personal; unique [id] {
        id: IdentityId,
        platform: String,
        identifier: String,
        entity_id: Option<EntityId>,
        account: Option<String>,
        first_seen: Time,
        /// An address of the owner, or of the house itself.
        is_owned: bool,
        /// Whether the owner has made sure that nobody else can speak under it.
        is_verified: bool,
    }
}

impl Identity {
    /// What is left of an address that was erased: that there was one. Nobody outside can send under this name.
    #[must_use]
    pub fn erased(&self) -> Self {
        Self { identifier: format!("{ERASED}{}", self.id), account: None, ..self.clone() }
    }

    #[must_use]
    pub fn is_erased(&self) -> bool {
        self.identifier.starts_with(ERASED)
    }
}
