use domain::id::PlaceId;

use crate::table::record;

record! {
    /// Where an event happened. Erasable, because a chat can say who somebody is.
    /// What a platform does not have is empty.
    Place in "places" by [platform, account, container, thread], Append {
        id: PlaceId,
        platform: String,
        account: String,
        container: String,
        thread: String,
    }
}
