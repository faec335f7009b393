use domain::Time;
use domain::id::{EventId, OriginId};

use crate::table::record;

record! {
    /// The O-Tag: what really happened first. Never changes in a chain.
    Origin in "origin_registry" by [id], Append, Unguarded {
        id: OriginId,
        origin_type: String,
        source_ref: EventId,
        timestamp: Time,
    }
}
