//! Who thinks about what the reflexes do not understand.

use std::sync::Arc;

use async_trait::async_trait;
use broker::{Registry, ToolSpec};
use domain::Time;
use domain::ask::{Ask, Perception, Reply, Want};
use domain::source::Text;
use llm::{Answer, Listen, Model, Provider, ToolText, Worded};

use crate::problem::Problem;

/// Where models come from. It is asked only when one is needed: looking for one takes time, and may need a key.
#[async_trait]
pub trait Minds: Send + Sync {
    /// Nothing where there is none.
    ///
    /// # Errors
    /// What is wrong with how they are set up.
    async fn choose(&self) -> Result<Option<Arc<dyn Model>>, Problem>;
}

/// Nobody: what the reflexes do not understand is not done.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

#[async_trait]
impl Minds for Nobody {
    async fn choose(&self) -> Result<Option<Arc<dyn Model>>, Problem> {
        Ok(None)
    }
}

/// Whether whoever is asked first can do it alone.
pub(crate) fn understands(first: &dyn Provider, request: &Text, now: Time) -> bool {
    let want = Want::Perceive { request: request.clone(), history: Vec::new(), clarified: None };
    let ask = Ask { want, round: 0, now, workspace: String::new(), repair: None };
    !matches!(first.ask(&ask), Answer::Now(Reply::Perceived(Perception::Beyond { .. })))
}

/// A model that is told of these tools.
pub(crate) fn worded(
    model: Arc<dyn Model>,
    registry: &Registry,
    choosable: impl Fn(&&ToolSpec) -> bool,
    zone: &jiff::tz::TimeZone,
    listen: Listen,
) -> Arc<dyn Provider> {
    let told = |spec: &ToolSpec| ToolText {
        id: spec.id.clone(),
        description: spec.description.clone(),
        input_schema: spec.input_schema.clone(),
        data_class: spec.data_class,
    };
    let tools = registry.specs().filter(choosable).map(told).collect();
    let zone = zone.clone();
    Arc::new(Worded::new(model, tools, Box::new(move |now| now.spoken(&zone))).heard_by(listen))
}
