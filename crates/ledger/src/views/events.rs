use domain::id::EventId;

use crate::committer::Ledger;
use crate::query::{Op, Select};
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
        if let Some(event) = self.event(Event::id_of(key)).await? {
            return Ok(Some(event));
        }
        // Houses that are older than this rule have events whose id was drawn; there the key has an index of its own.
        self.first(Select::by("key", &key.to_owned())).await
    }

    /// Oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn events(&self, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.select(Select::all().ascending("seq").limit(limit)).await
    }

    /// The events after this sequence number, in the order they were committed.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn events_after(&self, seq: i64, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.select(Select::all().filter("seq", Op::Gt, &seq).ascending("seq").limit(limit)).await
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
