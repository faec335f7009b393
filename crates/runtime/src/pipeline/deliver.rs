//! Deliver: the answer goes back to where the chain began, through the same door as any other effect.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use broker::{Authorized, Handler, Level, ToolSpec};
use domain::Tier;
use domain::call::{Call, Failure, Outcome};
use domain::id::TaskId;
use domain::task::FinalResult;
use engine::task::DELIVER;
use serde::Deserialize;
use serde_json::{Value, json};

/// Where an answer is shown: a terminal, later a channel or a page.
pub trait Surface: Send + Sync {
    /// Hands the result to the person. An error means that they did not get it.
    fn show(&self, task: TaskId, result: &FinalResult) -> Result<(), String>;
}

pub(super) struct Deliver {
    spec: ToolSpec,
    surface: Arc<dyn Surface>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    result: FinalResult,
}

/// How long a surface may take; a pager that nobody scrolls is not a reason to lose the answer.
const DELIVERY: Duration = Duration::from_secs(24 * 60 * 60);

impl Deliver {
    pub(super) fn new(surface: Arc<dyn Surface>) -> Option<Self> {
        let spec = ToolSpec {
            id: DELIVER.parse().ok()?,
            description: "hands the answer back to whoever asked".into(),
            tier: Tier::WriteSafe,
            level: Level::ReviewedAfter,
            sinks: Vec::new(),
            // The same answer shown again after a crash is the same answer.
            idempotent: true,
            to_origin: true,
            timeout: DELIVERY,
        };
        Some(Self { spec, surface })
    }
}

#[async_trait]
impl Handler for Deliver {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn accepts(&self, args: &Value) -> Result<(), String> {
        Args::deserialize(args).map(drop).map_err(|error| error.to_string())
    }

    async fn call(&self, call: Authorized<Call>) -> Outcome {
        let Args { result } = call.args()?;
        let (surface, task) = (Arc::clone(&self.surface), call.call().task);
        // On a thread of its own: a pipe that nobody reads must not keep the program from being stopped.
        #[expect(clippy::disallowed_methods, reason = "writing to a terminal or a pipe blocks")]
        let shown = tokio::task::spawn_blocking(move || surface.show(task, &result)).await;
        let broke = |_panicked| Failure::logical("showing the answer broke down; this is a bug");
        shown.map_err(broke)?.map_err(Failure::environmental)?;
        Ok(json!({ "delivered": true }))
    }
}
