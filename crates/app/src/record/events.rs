//! The events ledger: taking events in from adapters, and listing them.

use domain::Time;
use domain::event::{Direction, Incoming};
use domain::id::EventId;
use domain::limits::EVENT_BODY_BYTES;
use ledger::records::{Blob, Event, Watermark};
use ledger::{Ledger, StoreError};
use serde::Serialize;

use kernel::admit::AdmissionCounts;
use kernel::{EventParties, IngestedEvent, parties};

use crate::App;
use kernel::Problem;

/// The answer to an adapter, given only once the event is durable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Receipt {
    pub key: String,
    pub id: EventId,
    pub new: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct EventLine {
    pub seq: Option<i64>,
    pub id: EventId,
    #[serde(skip)]
    pub short: String,
    pub key: String,
    pub platform: String,
    pub direction: Direction,
    /// Nothing if they were erased.
    pub sender: Option<String>,
    pub content: Option<String>,
    pub content_type: String,
    pub occurred_at: Time,
    pub received_at: Time,
    pub answers: Option<EventId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatermarkLine {
    pub adapter: String,
    pub account: String,
    pub position: String,
    pub at: Time,
}

/// Why a line did not become an event; the lines after it are read all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    #[error("not JSON: column {column} makes no sense")]
    NotJson { column: usize },
    #[error("not an event: {0}")]
    NotAnEvent(String),
    #[error("{0}")]
    Unusable(#[from] domain::event::NotAnEvent),
    #[error("the content is longer than {EVENT_BODY_BYTES} bytes")]
    TooLong,
    #[error(
        "`{key}` was taken in before, as {id}, with another content or from another sender; that one is kept, and this one is not: an event of its own needs a `source_id` of its own"
    )]
    KeyTaken { key: String, id: EventId },
    #[error(
        "no webhook is called `{name}`; register it with `regent people add NAME --kind webhook --link webhook:{name}`"
    )]
    UnknownWebhook { name: String },
}

fn parse(line: &str) -> Result<Incoming, BadLine> {
    let unreadable = |error: serde_json::Error| match error.classify() {
        serde_json::error::Category::Data => BadLine::NotAnEvent(domain::json::reason(&error)),
        _ => BadLine::NotJson { column: error.column() },
    };
    let value: serde_json::Value = domain::json::from_str(line).map_err(unreadable)?;
    if !value.is_object() {
        return Err(BadLine::NotAnEvent("an object is needed".into()));
    }
    serde_json::from_value(value).map_err(|error| BadLine::NotAnEvent(error.to_string()))
}

/// Whether the same event came again: from the same sender, with the content whose digest was kept. Where the sender was
/// erased there is nothing left to compare with, and it counts as the same.
async fn is_repeated(ledger: &Ledger, kept: &Event, incoming: &Incoming) -> Result<bool, StoreError> {
    let Some(salt) = ledger.salt_of(&kept.sender.to_string()).await? else { return Ok(true) };
    let sender = ledger.identity_of(incoming.platform(), &incoming.sender).await?;
    let body = Blob::personal(incoming.content.clone().into_bytes(), &salt);
    Ok(sender.is_some_and(|sender| sender.id == kept.sender) && body.hash == kept.body)
}

/// The events of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Events<'a> {
    pub(crate) app: &'a App,
}

impl Events<'_> {
    /// Decides about every event from outside that has no admission yet.
    ///
    /// # Errors
    /// If the ledger fails; what was decided until then is durable.
    #[tracing::instrument(level = "info", name = "events.admit_waiting", skip_all)]
    pub async fn admit_waiting(self) -> Result<AdmissionCounts, Problem> {
        self.app.kernel.admit_waiting().await
    }

    /// Takes one event in. What is done with it is for whoever drives the house.
    ///
    /// # Errors
    /// Inside: what is wrong with the line. Outside: the ledger failed, and nothing more can be taken in.
    #[tracing::instrument(level = "info", name = "events.ingest", skip_all)]
    pub async fn ingest(self, line: &str) -> Result<Result<Receipt, BadLine>, Problem> {
        let incoming = match parse(line) {
            Ok(incoming) => incoming,
            Err(bad) => return Ok(Err(bad)),
        };
        if let Err(unusable) = incoming.check() {
            return Ok(Err(unusable.into()));
        }
        if incoming.content.len() > EVENT_BODY_BYTES {
            return Ok(Err(BadLine::TooLong));
        }
        let services = self.app.kernel.services().await?;
        if let Some(name) = incoming.webhook()
            && kernel::admit::webhook(&services.ledger, name).await?.is_none()
        {
            return Ok(Err(BadLine::UnknownWebhook { name: name.to_owned() }));
        }
        let parties = async || {
            let sender = parties::sender(&services, incoming.platform(), &incoming.sender).await?;
            Ok(EventParties { sender, agent: None, driver: None })
        };
        let IngestedEvent { event, new } = kernel::ingest::ingest(&services, &incoming, parties).await?;
        if new.is_none() && !is_repeated(&services.ledger, &event, &incoming).await? {
            return Ok(Err(BadLine::KeyTaken { key: event.key, id: event.id }));
        }
        Ok(Ok(Receipt { key: event.key, id: event.id, new: new.is_some() }))
    }

    /// Oldest first.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "events.list", skip_all)]
    pub async fn list(self, limit: u32) -> Result<Vec<EventLine>, Problem> {
        let mut lines = Vec::new();
        for event in self.app.kernel.ledger().await?.events(limit).await? {
            lines.push(self.line(event).await?);
        }
        Ok(lines)
    }

    /// How far each adapter has read at its source.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "events.watermarks", skip_all)]
    pub async fn watermarks(self) -> Result<Vec<WatermarkLine>, Problem> {
        let line =
            |Watermark { adapter, account, position, at }| WatermarkLine { adapter, account, position, at };
        Ok(self.app.kernel.ledger().await?.watermarks().await?.into_iter().map(line).collect())
    }

    pub(super) async fn line(self, event: Event) -> Result<EventLine, Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let sender = ledger.shown_identity(event.sender).await?.filter(|identity| !identity.is_erased());
        let sender = sender.map(|identity| identity.identifier);
        let content = ledger.text(&event.body).await?;
        let short = self.app.kernel.short(event.id).await?;
        let Event {
            seq, id, key, platform, direction, content_type, occurred_at, received_at, answers, ..
        } = event;
        Ok(EventLine {
            seq: seq.0,
            id,
            short,
            key,
            platform,
            direction,
            sender,
            content,
            content_type,
            occurred_at,
            received_at,
            answers,
        })
    }
}
