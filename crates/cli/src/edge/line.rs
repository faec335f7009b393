//! How a model is spoken to: the one place where whoever may be asked becomes somebody who is.

use std::sync::Arc;

use domain::ask::Unanswered;
use llm::{Completing, Listen, Model, Prompt};
use models::{Endpoint, Line, NoClient, Pace, Surroundings, Wire};

use super::SystemClock;

/// Who may be asked, one after the other, as one model.
pub(crate) fn line(endpoints: Vec<Endpoint>) -> Arc<dyn Model> {
    match Wire::new(Pace::default()) {
        Ok(wire) => over(endpoints, &Arc::new(wire)),
        Err(why) => Arc::new(Unconnected(why)),
    }
}

/// The same, over connections that others use as well.
pub(super) fn over(endpoints: Vec<Endpoint>, wire: &Arc<Wire>) -> Arc<dyn Model> {
    let around = Surroundings { clock: Arc::new(SystemClock), chance: Arc::new(chance) };
    Arc::new(Line::new(endpoints, Arc::clone(wire), around))
}

/// In [0, 1). Where there is no randomness nobody waits longer than anybody else.
#[expect(clippy::disallowed_methods, reason = "the edge, where randomness comes from")]
fn chance() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0),
        Err(_) => 0.5,
    }
}

/// Nobody can be spoken to from here.
struct Unconnected(NoClient);

impl Model for Unconnected {
    fn name(&self) -> String {
        "nobody".into()
    }

    fn complete(&self, _prompt: Prompt, _listen: Listen) -> Completing {
        let why = self.0.to_string();
        Box::pin(async { Err(Unanswered::unreachable(why)) })
    }
}
