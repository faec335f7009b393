//! What the broker knows of a tool, and how it is reached.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::Tier;
use domain::call::{Call, Outcome, ToolId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::door::Authorized;

/// How much a tool is watched: 0 reviews every call, 4 none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    ReviewAll,
    Sampled,
    ReviewedAfter,
    SpotChecked,
    Autonomous,
}

/// What is known of a tool. A decision names the digest of it, and it is kept: a registry that says something else
/// later does not change what was decided from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub id: ToolId,
    pub description: String,
    pub tier: Tier,
    pub level: Level,
    /// Arguments that decide where something goes, what is touched, how much.
    pub sinks: Vec<String>,
    /// Running it twice does the same as running it once.
    pub idempotent: bool,
    /// It speaks only to whoever the chain began with; the address is fixed by the origin.
    pub to_origin: bool,
    pub timeout: Duration,
}

impl ToolSpec {
    /// After a crash, a call that was started and not finished may be run again only if that cannot do
    /// harm. Any other is unknown, and a person is told.
    #[must_use]
    pub fn may_run_again(&self) -> bool {
        self.tier == Tier::ReadOnly || self.idempotent
    }
}

/// A tool. Only the broker calls it (clippy's list guards that inside our own code, the type everywhere).
#[async_trait]
pub trait Handler: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    /// Whether these arguments have the form that the tool takes; the reason if not.
    fn accepts(&self, args: &Value) -> Result<(), String>;

    async fn call(&self, call: Authorized<Call>) -> Outcome;
}

/// The tools there are.
#[derive(Clone, Default)]
pub struct Registry {
    handlers: BTreeMap<ToolId, Arc<dyn Handler>>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.handlers.keys()).finish()
    }
}

impl Registry {
    #[must_use]
    pub fn with(mut self, handler: Arc<dyn Handler>) -> Self {
        self.handlers.insert(handler.spec().id.clone(), handler);
        self
    }

    #[must_use]
    pub fn handler(&self, id: &ToolId) -> Option<&Arc<dyn Handler>> {
        self.handlers.get(id)
    }

    #[must_use]
    pub fn spec(&self, id: &ToolId) -> Option<&ToolSpec> {
        self.handlers.get(id).map(|handler| handler.spec())
    }

    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.handlers.values().map(|handler| handler.spec())
    }
}
