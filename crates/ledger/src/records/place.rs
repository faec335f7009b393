use domain::event::ERASED;
use domain::id::PlaceId;

use crate::table::record;

record! {
    /// Where an event happened. Erasable, because a chat can say who somebody is.
    /// What a platform does not have is empty.
    Place in "places" by [platform, account, container, thread], Append, Personal; unique [id] {
        id: PlaceId,
        platform: String,
        account: String,
        container: String,
        thread: String,
    }
}

impl Place {
    /// What is left of a place that was erased.
    #[must_use]
    pub fn erased(&self) -> Self {
        let container = format!("{ERASED}{}", self.id);
        Self { account: String::new(), container, thread: String::new(), ..self.clone() }
    }

    /// Whether it says no more than which platform and which account of ours: then there is nothing to erase.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.thread.is_empty() && (self.container.is_empty() || self.container.starts_with(ERASED))
    }
}
