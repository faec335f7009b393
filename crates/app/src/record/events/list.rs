//! `events list`.

use clap::Args;
use domain::Time;
use domain::event::Direction;
use domain::id::EventId;
use kernel::Problem;
use ledger::records::Event;
use present::{Page, Style, shorten};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Events;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    default_limit, json_each,
};

/// Oldest first
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListEvents {
    /// How many at the most
    #[arg(long, default_value_t = default_limit())]
    #[serde(default = "default_limit")]
    pub limit: u32,
}

impl Operation for ListEvents {
    const SPEC: OperationSpec =
        OperationSpec::new("events list", OperationAccess::READ, &["regent events list --limit 10"])
            .route(HttpMethod::Get, "/events");
    type Output = EventList;

    async fn run(self, context: &OperationContext<'_>) -> Result<EventList, OperationError> {
        Ok(EventList(context.app.events().list(self.limit).await?))
    }
}

#[derive(Debug, Serialize)]
pub struct EventList(pub Vec<EventLine>);

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

impl EventLine {
    /// The event on one line.
    fn row(&self, style: &Style<'_>) -> String {
        let or_erased = |text: &Option<String>, most| shorten(text.as_deref().unwrap_or("(erased)"), most);
        format!(
            "{:<8} {:<3} {:<10} {:<14} {:<40} {}",
            self.short,
            self.direction.to_string(),
            shorten(&self.platform, 10),
            or_erased(&self.sender, 14),
            or_erased(&self.content, 40),
            self.received_at.date_time(style.zone)
        )
    }
}

impl Output for EventList {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_all(self.0.iter().map(|event| event.row(style)));
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.0)
    }
}

impl Events<'_> {
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

    async fn line(self, event: Event) -> Result<EventLine, Problem> {
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
