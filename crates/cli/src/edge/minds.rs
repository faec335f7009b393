//! Whoever thinks about what is beyond the reflexes: chosen when the first request needs it, once per process. Before anything
//! leaves the machine the owner has been told what goes where.

use std::sync::Arc;

use async_trait::async_trait;
use llm::Model;
use models::Chosen;
use runtime::{Minds, Problem};
use tokio::sync::OnceCell;

use super::line::tiers;

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

    async fn made(&self) -> Result<Option<Arc<dyn Model>>, Problem> {
        let chosen = (self.choice)().await?;
        if chosen.is_reflex() { Ok(None) } else { Ok(Some(Arc::new(tiers(&chosen)?))) }
    }
}

#[async_trait]
impl Minds for OwnersMinds {
    async fn choose(&self) -> Result<Option<Arc<dyn Model>>, Problem> {
        let chosen = self.chosen.get_or_try_init(async || self.made().await);
        chosen.await.cloned()
    }
}
