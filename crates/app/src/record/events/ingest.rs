//! `events ingest`.

use clap::Args;
use domain::event::Incoming;
use domain::id::EventId;
use domain::limits::EVENT_BODY_BYTES;
use kernel::{EventParties, IngestedEvent, Problem, parties};
use ledger::records::{Blob, Event};
use ledger::{Ledger, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Events;
use crate::operation::{
    LineFilter, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, StreamEnd,
    answer_lines,
};

/// Take in events, one JSON object per line on standard input
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct IngestEvents {}

impl Operation for IngestEvents {
    const SPEC: OperationSpec = OperationSpec::new(
        "events ingest",
        OperationAccess::RUN,
        &[
            r#"echo '{"adapter":"demo","source_id":"1","sender":"lea","content":"hello"}' | regent events ingest"#,
        ],
    )
    .notes(
        r#"Each line is answered once it is durable: {"key","id","new"}; a bad one with {"error","line"}.
A line may say how far its adapter has read: "watermark". It is kept with the event, or not at all."#,
    );
    type Output = StreamEnd;

    async fn run(self, context: &OperationContext<'_>) -> Result<StreamEnd, OperationError> {
        answer_lines(context, "all other lines were taken in", IngestFilter(context.app.events())).await
    }
}

/// Answers a line only once its event is durable.
struct IngestFilter<'a>(Events<'a>);

impl LineFilter for IngestFilter<'_> {
    type Answer = Receipt;

    async fn answer(&mut self, line: String) -> Result<Result<Receipt, String>, OperationError> {
        Ok(self.0.ingest(&line).await?.map_err(|bad| bad.to_string()))
    }
}

/// The answer to an adapter, given only once the event is durable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Receipt {
    pub key: String,
    pub id: EventId,
    pub new: bool,
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

impl Events<'_> {
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
}
