//! How a model is spoken to: the one place where whoever may be asked becomes somebody who is.

use std::sync::Arc;

use llm::{Model, Tiers};
use models::{Chosen, Endpoint, Line, Pace, Surroundings, Wire};
use runtime::{Code, Problem};

use super::SystemClock;

/// Who may be asked, one after the other, as one model.
///
/// # Errors
/// If nobody can be spoken to from here.
pub(crate) fn line(endpoints: Vec<Endpoint>) -> Result<Arc<dyn Model>, Problem> {
    Ok(over(endpoints, &wire()?))
}

/// Everybody who was chosen, as one model: each role asks its own.
///
/// # Errors
/// If nobody can be spoken to from here.
pub(super) fn tiers(chosen: &Chosen) -> Result<Tiers, Problem> {
    let wire = wire()?;
    let over = |endpoints: &[Endpoint]| over(endpoints.to_vec(), &wire);
    Ok(Tiers { brain: over(&chosen.brain), hands: over(&chosen.hands), judge: over(&chosen.judges()) })
}

fn wire() -> Result<Arc<Wire>, Problem> {
    let unmade = |why: models::NoClient| {
        Problem::new(Code::NO_MODEL_ANSWERED, why.to_string()).safe("nothing left this machine")
    };
    Wire::new(Pace::default()).map(Arc::new).map_err(unmade)
}

fn over(endpoints: Vec<Endpoint>, wire: &Arc<Wire>) -> Arc<dyn Model> {
    let (chance, listener) = (Arc::new(chance), Arc::new(super::shop::listener));
    let around = Surroundings { clock: Arc::new(SystemClock), chance, listener };
    Arc::new(Line::new(endpoints, Arc::clone(wire), around))
}

/// In [0, 1). Where there is no randomness, nobody waits longer than anybody else.
#[expect(clippy::disallowed_methods, reason = "the edge, where randomness comes from")]
fn chance() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0),
        Err(_) => 0.5,
    }
}
