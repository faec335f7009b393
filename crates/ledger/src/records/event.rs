use domain::event::{CLI, ContainerKind, Direction};
use domain::id::{EventId, IdentityId, OriginId, PlaceId};
use domain::{Digest, Time};

use crate::table::record;
use crate::value::Seq;

record! {
    /// Something that came in or went out. For ever, never compacted; sender and place are references
    /// into erasable tables, body and metadata are blobs.
    Event in "events" by [id], Append {
        seq: Seq,
        id: EventId,
        /// `{adapter}:{account}:{source_id}`; the same key is the same event, and has the same id.
        key: String,
        adapter: String,
        platform: String,
        container_kind: ContainerKind,
        place: PlaceId,
        sender: IdentityId,
        direction: Direction,
        body: Digest,
        content_type: String,
        metadata: Option<Digest>,
        occurred_at: Time,
        received_at: Time,
        origin_id: OriginId,
        answers: Option<EventId>,
    }
}

impl Event {
    /// Whether the owner wrote it at their terminal. Nobody outside can say so ([`domain::event::Incoming::check`]).
    #[must_use]
    pub fn is_from_terminal(&self) -> bool {
        self.adapter == CLI
    }

    /// Over everything in it but its place in the ledger.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let Self { seq: _, id, key, adapter, platform, container_kind, place, sender, direction, .. } = self;
        let Self { body, content_type, metadata, occurred_at, received_at, origin_id, answers, .. } = self;
        let form = serde_json::json!([
            id,
            key,
            adapter,
            platform,
            container_kind,
            place,
            sender,
            direction,
            body,
            content_type,
            metadata,
            occurred_at,
            received_at,
            origin_id,
            answers
        ]);
        Digest::of(form.to_string().as_bytes())
    }

    /// An event's id follows from its key: that one of them is unique makes the other so.
    #[must_use]
    pub fn id_of(key: &str) -> EventId {
        EventId::named(key)
    }
}
