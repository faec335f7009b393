//! `events watermarks`.

use clap::Args;
use domain::Time;
use kernel::Problem;
use ledger::records::Watermark;
use present::{Page, Style, shorten};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Events;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    json_each,
};

/// How far each adapter has read at its source
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListWatermarks {}

impl Operation for ListWatermarks {
    const SPEC: OperationSpec =
        OperationSpec::new("events watermarks", OperationAccess::READ, &["regent events watermarks --json"])
            .route(HttpMethod::Get, "/events/watermarks");
    type Output = WatermarkList;

    async fn run(self, context: &OperationContext<'_>) -> Result<WatermarkList, OperationError> {
        Ok(WatermarkList(context.app.events().watermarks().await?))
    }
}

#[derive(Debug, Serialize)]
pub struct WatermarkList(pub Vec<WatermarkLine>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatermarkLine {
    pub adapter: String,
    pub account: String,
    pub position: String,
    pub at: Time,
}

impl Output for WatermarkList {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_all(self.0.iter().map(|WatermarkLine { adapter, account, position, at }| {
            let (position, when) = (shorten(position, 40), at.date_time(style.zone));
            format!("{adapter:<14} {account:<14} {position:<40} {when}")
        }));
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.0)
    }
}

impl Events<'_> {
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
}
