//! Ingest: the event is written down before anything else looks at it. From here on it cannot be lost.

use domain::canonical;
use domain::event::{Direction, Incoming};
use ledger::records::{Blob, Event, Lease, Origin, Place, Watermark};
use ledger::table::Record as _;
use ledger::value::Seq;
use ledger::{AuditEvent, Batch, CommitError, Entry, Refusal, StoreError};
use serde_json::{Value, json};

use crate::admit::task_of;
use crate::journal;
use crate::lease::FIRST_EPOCH;
use crate::parties::Party;
use crate::services::Services;
use domain::problem::Problem;

/// An event that is durable.
#[derive(Clone, Debug)]
pub struct IngestedEvent {
    pub event: Event,
    /// Who takes part, if it was written now; the same key twice is the same event.
    pub new: Option<EventParties>,
}

/// Who takes part in an event.
#[derive(Clone, Debug)]
pub struct EventParties {
    pub sender: Party,
    /// Who will answer, where that is known already.
    pub agent: Option<Party>,
    /// The process that is at it, if it is begun at once. Then it stands on the board from its first moment.
    pub driver: Option<String>,
}

const EVENTS: &str = Event::TABLE.name;

/// How often to look again when another process wrote the same person or place at the same moment.
const TRIES: usize = 4;

/// `cast` says who takes part; whoever of them is new is written with the event. It is asked again when another
/// process was faster.
///
/// # Errors
/// If the ledger fails.
pub async fn ingest<P>(
    services: &Services,
    incoming: &Incoming,
    parties: impl Fn() -> P,
) -> Result<IngestedEvent, Problem>
where
    P: Future<Output = Result<EventParties, StoreError>>,
{
    let key = incoming.key();
    for tried in 1.. {
        let people = parties().await?;
        match write(services, incoming, &key, &people).await {
            Ok(event) => return Ok(IngestedEvent { event, new: Some(people) }),
            Err(CommitError::Refused(
                Refusal::Present { table: EVENTS, .. } | Refusal::Duplicate { table: EVENTS },
            )) if tried < TRIES => {
                if let Some(event) = services.ledger.event_by_key(&key).await? {
                    return Ok(IngestedEvent { event, new: None });
                }
            }
            Err(CommitError::Refused(refusal)) if may_pass(&refusal) && tried < TRIES => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::new(domain::problem::Code::INTERNAL, "an event could not be written"))
}

/// Whether another try may succeed: another process met the same person or place at the same moment, or they were erased, or
/// an event before this one has to be tried again.
pub(crate) const fn may_pass(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::Present { .. } | Refusal::Duplicate { .. } | Refusal::Gone { .. } | Refusal::OutOfOrder
    )
}

async fn write(
    services: &Services,
    incoming: &Incoming,
    key: &str,
    parties: &EventParties,
) -> Result<Event, CommitError> {
    let mut batch = services.batch();
    let place = find_place(services, incoming).await.map_err(|error| CommitError::Store(error.into()))?;
    let event = enter(services, incoming, key, parties, &place, &mut batch)?;
    services.ledger.commit(batch).await?;
    Ok(event)
}

/// The event as it would be written, and with it in a batch that nobody has to commit.
pub(crate) async fn draft(
    services: &Services,
    incoming: &Incoming,
    parties: &EventParties,
    batch: &mut Batch,
) -> Result<Event, Problem> {
    let place = find_place(services, incoming).await?;
    Ok(enter(services, incoming, &incoming.key(), parties, &place, batch)?)
}

/// Puts everything that is known of an event into a batch.
pub(crate) fn enter(
    services: &Services,
    incoming: &Incoming,
    key: &str,
    parties: &EventParties,
    EventPlace { place, is_new }: &EventPlace,
    batch: &mut Batch,
) -> Result<Event, CommitError> {
    let EventParties { sender, agent, driver } = parties;
    let now = services.now();
    [Some(sender), agent.as_ref()].into_iter().flatten().for_each(|person| person.enter(batch));
    if *is_new {
        batch.put(place);
    }
    let body = Blob::personal(incoming.content.clone().into_bytes(), &sender.salt);
    let metadata = metadata(incoming).as_ref().map(canonical::bytes).transpose();
    let metadata =
        metadata.map_err(|error| CommitError::Store(StoreError::Other(error.to_string()).into()))?;
    let metadata = metadata.map(|bytes| Blob::personal(bytes, &sender.salt));
    let event = Event {
        seq: Seq(None),
        id: Event::id_of(key),
        key: key.into(),
        adapter: incoming.adapter.clone(),
        platform: incoming.platform().into(),
        container_kind: incoming.container_kind,
        place: place.id,
        sender: sender.identity.id,
        direction: Direction::In,
        body: body.hash,
        content_type: incoming.kept_type().into(),
        metadata: metadata.as_ref().map(|blob| blob.hash),
        occurred_at: incoming.occurred_at.unwrap_or(now),
        received_at: now,
        origin_id: services.dated_id(),
        answers: None,
    };
    let origin = Origin {
        id: event.origin_id,
        origin_type: "message".into(),
        source_ref: event.id,
        timestamp: event.occurred_at,
    };
    batch.put(&body).put(&origin).put(&event).expect_absent::<Event>("id", &event.id);
    if let Some(metadata) = &metadata {
        batch.put(metadata);
    }
    if let Some(position) = &incoming.watermark {
        batch.put(&Watermark {
            adapter: incoming.adapter.clone(),
            account: incoming.account.clone().unwrap_or_default(),
            position: position.clone(),
            at: now,
        });
    }
    let received = AuditEvent::EventReceived(&event).entry(format!("adapter:{}", event.adapter), now);
    batch.audit(Entry { origin_id: Some(origin.id), ..received });
    if let Some(holder) = driver {
        let (task, until) = (task_of(&event), now.plus(services.timing.lease));
        let subject = task.to_string();
        batch.expect_lease(subject.clone(), None).put(&Lease {
            subject,
            epoch: FIRST_EPOCH,
            holder: holder.clone(),
            until,
            beats: 0,
        });
        batch.put(&journal::queued(task, &event));
    }
    Ok(event)
}

/// What was given, and a media type that does not stand in the row as it was given.
fn metadata(incoming: &Incoming) -> Option<Value> {
    let unusual = incoming.content_type.as_deref().filter(|given| *given != incoming.kept_type());
    match (incoming.metadata.clone(), unusual) {
        (metadata, None) => metadata,
        (None, Some(given)) => Some(json!({ "content_type": given })),
        (Some(Value::Object(mut metadata)), Some(given)) => {
            metadata.entry("content_type").or_insert_with(|| given.into());
            Some(Value::Object(metadata))
        }
        (Some(other), Some(given)) => Some(json!({ "content_type": given, "metadata": other })),
    }
}

/// Where an event happened.
#[derive(Clone, Debug)]
pub(crate) struct EventPlace {
    pub(crate) place: Place,
    /// Whether it has to be written with the event.
    pub(crate) is_new: bool,
}

pub(crate) async fn find_place(services: &Services, incoming: &Incoming) -> Result<EventPlace, StoreError> {
    let place = Place {
        id: services.id(),
        platform: incoming.platform().into(),
        account: incoming.account.clone().unwrap_or_default(),
        container: incoming.container_id.clone().unwrap_or_default(),
        thread: String::new(),
    };
    let known = services.ledger.place_like(&place).await?;
    let is_new = known.is_none();
    Ok(EventPlace { place: known.unwrap_or(place), is_new })
}
