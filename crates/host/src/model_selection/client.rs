//! How a model is called over HTTP: the endpoints that may be asked become one model that asks them.

use std::sync::Arc;

use app::{Code, Problem};
use llm::{Model, Tiers};
use models::{Chosen, Endpoint, Line, Pace, Surroundings, Wire};

use crate::SystemClock;

/// Makes one model of these endpoints. It asks them one after the other until one answers.
///
/// # Errors
/// If there is no HTTP client.
pub(super) fn connect(endpoints: Vec<Endpoint>) -> Result<Arc<dyn Model>, Problem> {
    Ok(make_model(endpoints, &make_http_client()?))
}

/// Makes one model of everything that was chosen. Each role asks its own endpoints.
///
/// # Errors
/// If there is no HTTP client.
pub(super) fn connect_tiers(chosen: &Chosen) -> Result<Tiers, Problem> {
    let client = make_http_client()?;
    let connect = |endpoints: &[Endpoint]| make_model(endpoints.to_vec(), &client);
    Ok(Tiers {
        brain: connect(&chosen.brain),
        hands: connect(&chosen.hands),
        judge: connect(&chosen.judges()),
    })
}

fn make_http_client() -> Result<Arc<Wire>, Problem> {
    let unmade = |why: models::NoClient| {
        Problem::new(Code::NO_MODEL_ANSWERED, why.to_string()).safe("nothing left this machine")
    };
    Wire::new(Pace::default()).map(Arc::new).map_err(unmade)
}

fn make_model(endpoints: Vec<Endpoint>, client: &Arc<Wire>) -> Arc<dyn Model> {
    let (chance, listener) = (Arc::new(draw_chance), Arc::new(super::loopback::find_listener));
    let around = Surroundings { clock: Arc::new(SystemClock), chance, listener };
    Arc::new(Line::new(endpoints, Arc::clone(client), around))
}

/// Draws a number in [0, 1). Without randomness it is 0.5: every process waits equally long.
#[expect(clippy::disallowed_methods, reason = "the edge, where randomness comes from")]
fn draw_chance() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0),
        Err(_) => 0.5,
    }
}
