use domain::Time;
use domain::id::{EntityId, IdentityId};

use crate::table::record;

record! {
    /// An address under which somebody speaks. Without an entity, nobody knows whose it is. Erasable.
    Identity in "entity_identities" by [platform, identifier], Append {
        id: IdentityId,
        platform: String,
        identifier: String,
        entity_id: Option<EntityId>,
        account: Option<String>,
        first_seen: Time,
    }
}
