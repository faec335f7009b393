//! `events ingest`.

use clap::Args;
use domain::event::Incoming;
use domain::id::EventId;
use domain::limits::EVENT_BODY_BYTES;
use kernel::{IngestPipeline, IngestedEvent, Problem};
use ledger::records::{Blob, Event};
use ledger::{Ledger, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Events;
use crate::App;
use crate::operation::{
    LinePipeline, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, StreamEnd,
    pipe_lines,
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
        let pipeline = context.app.events().pipeline();
        pipe_lines(context, "all other lines were taken in", pipeline).await
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

impl<'a> Events<'a> {
    /// Takes events in, many at a time. What is done with them is decided later.
    #[must_use]
    pub fn pipeline(self) -> EventPipeline<'a> {
        EventPipeline { app: self.app, events: IngestPipeline::new(&self.app.kernel) }
    }

    /// Takes one event in.
    ///
    /// # Errors
    /// Inside: what is wrong with the line. Outside: the ledger failed, and nothing more can be taken in.
    #[tracing::instrument(level = "info", name = "events.ingest", skip_all)]
    pub async fn ingest(self, line: &str) -> Result<Result<Receipt, BadLine>, Problem> {
        let mut pipeline = self.pipeline();
        match pipeline.take_event(line).await? {
            Ok(()) => pipeline.receipt().await,
            Err(bad) => Ok(Err(bad)),
        }
    }
}

/// Answers each line once its event is durable, in order.
#[derive(Debug)]
pub struct EventPipeline<'a> {
    app: &'a App,
    events: IngestPipeline<'a>,
}

impl EventPipeline<'_> {
    async fn take_event(&mut self, line: &str) -> Result<Result<(), BadLine>, Problem> {
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
        if let Some(name) = incoming.webhook()
            && kernel::admit::webhook(&self.app.kernel.services().await?.ledger, name).await?.is_none()
        {
            return Ok(Err(BadLine::UnknownWebhook { name: name.to_owned() }));
        }
        Ok(Ok(self.events.take(incoming).await?))
    }

    async fn receipt(&mut self) -> Result<Result<Receipt, BadLine>, Problem> {
        let next = self.events.next().await?;
        let (incoming, IngestedEvent { event, new }) =
            next.ok_or_else(|| Problem::internal("no event is in flight"))?;
        if new.is_none() && !is_repeated(&self.app.kernel.services().await?.ledger, &event, &incoming).await?
        {
            return Ok(Err(BadLine::KeyTaken { key: event.key, id: event.id }));
        }
        Ok(Ok(Receipt { key: event.key, id: event.id, new: new.is_some() }))
    }
}

impl LinePipeline for EventPipeline<'_> {
    type Answer = Receipt;

    fn has_room(&self) -> bool {
        self.events.has_room()
    }

    async fn take(&mut self, line: String) -> Result<Result<(), String>, OperationError> {
        Ok(self.take_event(&line).await?.map_err(|bad| bad.to_string()))
    }

    async fn decided(&mut self) {
        self.events.decided().await;
    }

    async fn answer(&mut self) -> Result<Result<Receipt, String>, OperationError> {
        Ok(self.receipt().await?.map_err(|bad| bad.to_string()))
    }
}
