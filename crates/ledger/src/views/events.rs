use domain::id::EventId;

use crate::committer::Ledger;
use crate::query::Select;
use crate::records::{Access, Event, Watermark};
use crate::store::StoreError;

impl Ledger {
    /// # Errors
    /// If the database cannot be read.
    pub async fn event(&self, id: EventId) -> Result<Option<Event>, StoreError> {
        self.first(Select::by("id", &id)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn event_by_key(&self, key: &str) -> Result<Option<Event>, StoreError> {
        self.first(Select::by("key", &key.to_owned())).await
    }

    /// Oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn events(&self, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.select(Select::all().ascending("seq").limit(limit)).await
    }

    /// How far each adapter has read.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn watermarks(&self) -> Result<Vec<Watermark>, StoreError> {
        self.select(Select::all().ascending("adapter")).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn admission_of(&self, event: EventId) -> Result<Option<Access>, StoreError> {
        self.first(Select::by("event_id", &event)).await
    }
}
