//! Who thinks about a request: a recording, the reflexes, or a model.

use std::sync::Arc;

use broker::access::Switch;
use broker::{Reach, Registry, ToolSpec};
use domain::event::CLI;
use domain::source::{Source, Text};
use llm::{Direct, Listen, Provider};

use super::App;
use super::run::{DIRECT, Errand};
use crate::minds;
use crate::problem::{Code, Problem};

/// How a request is thought about.
#[derive(Clone)]
pub struct Thinking {
    /// Whether the reflexes are asked first.
    pub reflex: bool,
    /// Whoever answers instead of everybody else: a recording.
    pub instead: Option<Arc<dyn Provider>>,
    /// Hears what a model says while it says it.
    pub listen: Listen,
}

impl std::fmt::Debug for Thinking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Thinking").field("reflex", &self.reflex).finish_non_exhaustive()
    }
}

impl Default for Thinking {
    fn default() -> Self {
        Self { reflex: true, instead: None, listen: Arc::new(|_| ()) }
    }
}

/// What kind of provider a task is driven with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One that knows one way.
    First,
    Steered,
    /// Nobody is asked any more.
    Over,
}

impl App {
    /// Who answers what the machine asks about an event. A task goes on with the kind of provider that it began with.
    pub(super) async fn provider(
        &self,
        errand: &Errand<'_>,
        source: Source,
        tools: &Registry,
        begun: Option<Kind>,
    ) -> Result<Arc<dyn Provider>, Problem> {
        let Errand { desk, event, request, .. } = errand;
        if event.adapter == CLI && event.content_type == DIRECT {
            return Ok(Arc::new(Direct::knowing(&request.text, |tool| tools.digest(tool))));
        }
        if let Some(instead) = &request.thinking.instead {
            return Ok(Arc::clone(instead));
        }
        let first = &self.parts.provider;
        let text = Text::new(request.text.clone(), source);
        let alone = || first.knows_another_way() || minds::understands(&**first, &text, desk.now());
        match begun {
            Some(Kind::First | Kind::Over) => return Ok(Arc::clone(first)),
            Some(Kind::Steered) if first.knows_another_way() => return Ok(Arc::clone(first)),
            None if request.thinking.reflex && alone() => return Ok(Arc::clone(first)),
            Some(Kind::Steered) | None => {}
        }
        match (self.parts.minds.choose().await?, begun) {
            (Some(model), _) => {
                let listen = Arc::clone(&request.thinking.listen);
                // What is switched off would only be refused.
                let switches = self.parts.host.switches();
                let choosable = |spec: &&ToolSpec| is_choosable(spec) && switches.of(&spec.id) == Switch::On;
                Ok(minds::worded(model, tools, choosable, &self.parts.zone, listen))
            }
            (None, Some(_)) => {
                Err(Problem::new(Code::NEEDS_MODEL, "a model has begun this, and there is none now")
                    .safe("nothing was done; what there is of it is kept")
                    .remedy("regent model list"))
            }
            // It says itself what is beyond it.
            (None, None) => Ok(Arc::clone(first)),
        }
    }
}

/// Whether a plan can choose it: handing the answer over and asking a model are the loop's own.
pub(super) fn is_choosable(spec: &&ToolSpec) -> bool {
    !matches!(spec.reach, Reach::Origin | Reach::Model)
}
