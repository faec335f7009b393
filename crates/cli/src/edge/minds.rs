//! Whoever thinks about what is beyond the reflexes: chosen when the first request needs it, once per process. Before anything
//! leaves the machine the owner has been told what goes where.

use std::sync::Arc;

use async_trait::async_trait;
use llm::{Model, Tiers};
use models::{Chosen, Pace, Wire};
use runtime::{Code, Minds, Problem};
use tokio::sync::OnceCell;

use super::line::over;

/// Says who may be asked, and tells the owner.
pub(crate) type Choice = Box<dyn Fn() -> Choosing + Send + Sync>;
pub(crate) type Choosing = std::pin::Pin<Box<dyn Future<Output = Result<Chosen, Problem>> + Send>>;

pub(crate) struct OwnersMinds {
    choice: Choice,
    chosen: OnceCell<Option<Arc<dyn Model>>>,
}

impl OwnersMinds {
    pub(crate) fn new(choice: Choice) -> Self {
        Self { choice, chosen: OnceCell::new() }
    }
}

#[async_trait]
impl Minds for OwnersMinds {
    async fn choose(&self) -> Result<Option<Arc<dyn Model>>, Problem> {
        let chosen =
            self.chosen.get_or_try_init(async || (self.choice)().await.and_then(|chosen| tiers(&chosen)));
        chosen.await.cloned()
    }
}

fn tiers(chosen: &Chosen) -> Result<Option<Arc<dyn Model>>, Problem> {
    if chosen.is_reflex() {
        return Ok(None);
    }
    let wire = Wire::new(Pace::default())
        .map_err(|why| Problem::new(Code::NO_ANSWER, why.to_string()).safe("nothing left this machine"))?;
    let wire = Arc::new(wire);
    let (brain, hands) = (over(chosen.brain.clone(), &wire), over(chosen.hands.clone(), &wire));
    let judge = over(chosen.judges(), &wire);
    Ok(Some(Arc::new(Tiers { brain, hands, judge })))
}
