use domain::Time;
use domain::approval::Status;
use domain::id::{EventId, IdentityId, KnockId};

use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::records::{Access, Cursor, Event, Knock, Watermark};
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

    /// The sequence number of the newest event; 0 if there is none.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn newest_event(&self) -> Result<i64, StoreError> {
        let newest: Option<Event> = self.first(Select::all().descending("seq")).await?;
        Ok(newest.and_then(|event| event.seq.0).unwrap_or(0))
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

    /// The decision about an event that counts: the newest.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn admission_of(&self, event: EventId) -> Result<Option<Access>, StoreError> {
        self.first(Select::by("event_id", &event).descending("n")).await
    }

    /// Every decision about these events.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn admissions_of(&self, events: &[EventId]) -> Result<Vec<Access>, StoreError> {
        self.select(Select::any_of("event_id", events).ascending("n")).await
    }

    /// The decisions that wait behind a question, oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn admissions_behind(&self, knock: KnockId) -> Result<Vec<Access>, StoreError> {
        self.select(Select::by("knock_id", &knock).ascending("at")).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn knock(&self, id: KnockId) -> Result<Option<Knock>, StoreError> {
        self.first(Select::by("id", &id)).await
    }

    /// Who waits for an answer, next to expire first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn open_knocks(&self, now: Time, limit: u32) -> Result<Vec<Knock>, StoreError> {
        self.open(Select::by("status", &Status::Pending), now, limit, |knock: &Knock| knock.is_open(now))
            .await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn count_open_knocks(&self, now: Time) -> Result<u64, StoreError> {
        self.count_open(Select::by("status", &Status::Pending), now, |knock: &Knock| knock.is_open(now)).await
    }

    /// What was not answered in time, and is not known to have expired yet.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn overdue_knocks(&self, now: Time, limit: u32) -> Result<Vec<Knock>, StoreError> {
        self.overdue(Select::by("status", &Status::Pending), now, limit, |knock: &Knock| knock.is_open(now))
            .await
    }

    /// The access requests of these senders that wait for an answer.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn open_knocks_of(&self, senders: &[IdentityId]) -> Result<Vec<Knock>, StoreError> {
        let waiting: Vec<String> = senders.iter().map(ToString::to_string).collect();
        self.select(Select::any_of("waiting", &waiting)).await
    }

    /// Every question that was ever asked about a sender, newest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn knocks_of(&self, sender: IdentityId) -> Result<Vec<Knock>, StoreError> {
        self.select(Select::by("sender", &sender).descending("created_at")).await
    }

    /// Up to which event everything was looked at.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn cursor(&self, name: &str) -> Result<i64, StoreError> {
        let cursor: Option<Cursor> = self.first(Select::by("name", &name.to_owned())).await?;
        Ok(cursor.map_or(0, |cursor| cursor.seq))
    }
}
