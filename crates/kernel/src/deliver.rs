//! Deliver: the answer goes back to where the chain began, through the same door as any other effect.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use broker::{Authorized, Category, Handler, Reach, Returned, ToolSpec};
use domain::call::{Call, Failure, Outcome, ToolId};
use domain::id::TaskId;
use domain::task::FinalResult;
use domain::{Tier, Trust};
use serde::Deserialize;
use serde_json::{Value, json};

/// Where an answer is shown: a terminal, later a channel or a page.
pub trait Surface: Send + Sync {
    /// Hands the result to the person. An error means that they did not get it.
    fn show(&self, task: TaskId, result: &FinalResult) -> Result<(), String>;
}

pub(crate) struct Deliver {
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
    pub(crate) const fn new(surface: Arc<dyn Surface>) -> Self {
        Self { surface }
    }

    pub(crate) fn spec(id: ToolId) -> ToolSpec {
        ToolSpec {
            category: Category::Comms,
            data_class: None,
            // The same answer shown again after a crash is the same answer.
            idempotent: true,
            reach: Reach::Origin,
            timeout: DELIVERY,
            output_trust: Trust::System,
            ..ToolSpec::shipped(id, "hands the answer back to whoever asked", Tier::WriteSafe)
        }
    }
}

#[async_trait]
impl Handler for Deliver {
    fn accepts(&self, args: &Value) -> Result<(), String> {
        Args::deserialize(args).map(drop).map_err(|error| error.to_string())
    }

    fn is_typed(&self) -> bool {
        true
    }

    async fn call(&self, call: Authorized<Call>) -> Returned {
        self.show(call).await.into()
    }
}

impl Deliver {
    async fn show(&self, call: Authorized<Call>) -> Outcome {
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
