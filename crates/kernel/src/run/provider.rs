//! What answers the asks of a task: a recording, the reflexes, or a language model.

use std::sync::Arc;

use async_trait::async_trait;
use broker::access::Switch;
use broker::{Reach, Registry, ToolSpec};
use domain::Time;
use domain::ask::{Ask, Perception, Reply, Want};
use domain::event::CLI;
use domain::source::{Source, Text};
use llm::{Answer, Direct, Model, Provider, StandingInstructions, ToolText, Worded};

use super::{DIRECT_CALL, RunContext};
use domain::problem::{Code, Problem};

/// How a request may be answered.
#[derive(Clone)]
pub struct ModelOptions {
    /// Whether the reflexes are asked first.
    pub reflex: bool,
    /// Answers in the place of every other provider: a recording.
    pub replacement: Option<Arc<dyn Provider>>,
}

impl std::fmt::Debug for ModelOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelOptions").field("reflex", &self.reflex).finish_non_exhaustive()
    }
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { reflex: true, replacement: None }
    }
}

/// Where language models come from. It is asked only when a model is needed: finding one takes time, and may need a key.
#[async_trait]
pub trait ModelSource: Send + Sync {
    /// The model to ask, or `None` if there is no model.
    ///
    /// # Errors
    /// What is wrong with the configuration of models.
    async fn choose(&self) -> Result<Option<Arc<dyn Model>>, Problem>;
}

/// No models: what the reflexes do not understand is not done.
#[derive(Clone, Copy, Debug)]
pub struct NoModels;

#[async_trait]
impl ModelSource for NoModels {
    async fn choose(&self) -> Result<Option<Arc<dyn Model>>, Problem> {
        Ok(None)
    }
}

/// What kind of provider a task is driven with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProviderKind {
    /// One that knows one way.
    First,
    Steered,
    /// The task asks nothing any more.
    Over,
}

impl RunContext<'_> {
    /// What answers the asks about this event. A task goes on with the kind of provider that it began with.
    pub(super) async fn provider(
        &self,
        source: Source,
        tools: &Registry,
        begun: Option<ProviderKind>,
        instructions: &StandingInstructions,
    ) -> Result<Arc<dyn Provider>, Problem> {
        let Self { services, event, request, .. } = self;
        let parts = &self.kernel.parts;
        if event.adapter == CLI && event.content_type == DIRECT_CALL {
            return Ok(Arc::new(Direct::knowing(&request.text, |tool| tools.digest(tool))));
        }
        if let Some(replacement) = &request.options.replacement {
            return Ok(Arc::clone(replacement));
        }
        let first = &parts.provider;
        let text = Text::new(request.text.clone(), source);
        let alone = || first.knows_another_way() || understands(&**first, &text, services.now());
        match begun {
            Some(ProviderKind::First | ProviderKind::Over) => return Ok(Arc::clone(first)),
            Some(ProviderKind::Steered) if first.knows_another_way() => return Ok(Arc::clone(first)),
            None if request.options.reflex && alone() => return Ok(Arc::clone(first)),
            Some(ProviderKind::Steered) | None => {}
        }
        match (parts.models.choose().await?, begun) {
            (Some(model), _) => Ok(self.model_with_tools(model, tools, instructions)),
            (None, Some(_)) => {
                Err(Problem::new(Code::NEEDS_MODEL, "a model has begun this, and there is none now")
                    .safe("nothing was done; what there is of it is kept")
                    .remedy("regent model list"))
            }
            // It says itself what is beyond it.
            (None, None) => Ok(Arc::clone(first)),
        }
    }

    /// A model that knows these tools, but for those that are switched off: their calls would only be refused. What it
    /// says while it answers goes to the bus.
    fn model_with_tools(
        &self,
        model: Arc<dyn Model>,
        registry: &Registry,
        instructions: &StandingInstructions,
    ) -> Arc<dyn Provider> {
        let switches = self.kernel.parts.host.switches();
        let choosable = |spec: &&ToolSpec| is_choosable(spec) && switches.of(&spec.id) == Switch::On;
        let text = |spec: &ToolSpec| ToolText {
            id: spec.id.clone(),
            description: spec.description.clone(),
            input_schema: spec.input_schema.clone(),
            data_class: spec.data_class,
        };
        let tools = registry.specs().filter(choosable).map(text).collect();
        let (zone, bus, task) = (self.kernel.zone().clone(), self.services.bus.clone(), self.task());
        let publish = Arc::new(move |piece: llm::Piece<'_>| bus.publish_delta(task, piece));
        let worded = Worded::new(model, tools, Box::new(move |now| now.spoken(&zone)));
        Arc::new(worded.heard_by(publish).with_instructions(instructions.clone()))
    }
}

/// Whether the provider that is asked first can do it alone.
fn understands(first: &dyn Provider, request: &Text, now: Time) -> bool {
    let want = Want::Perceive { request: request.clone(), history: Vec::new(), clarified: None };
    let ask = Ask { want, round: 0, now, workspace: String::new(), repair: None };
    !matches!(first.ask(&ask), Answer::Now(Reply::Perceived(Perception::Beyond { .. })))
}

/// Whether a plan can choose it: delivering the answer and asking a model are the loop's own.
pub(super) fn is_choosable(spec: &&ToolSpec) -> bool {
    !matches!(spec.reach, Reach::Origin | Reach::Model)
}
