use domain::id::EntityId;

use crate::table::record;

record! {
    /// What the owner has said of somebody: `role:billing`, `hook:trusted`. Erasable.
    EntityTag in "entity_tags" by [entity_id, tag], Keep, Personal {
        entity_id: EntityId,
        tag: String,
    }
}
