//! The validation policies that count.

use policy::vpol::{VpolSet, shipped};

use super::App;
use crate::policies;
use crate::problem::Problem;

impl App {
    /// The set that counts at this moment: chains that start are given one of it, and calls are held to it besides what was
    /// frozen for their chain. In a place without a house, what ships; it makes no house.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn vpols(&self) -> Result<VpolSet, Problem> {
        if self.is_furnished() {
            return Ok(policies::active(&self.desk().await?, &*self.parts.host).await?.set);
        }
        shipped::defaults().map(|loaded| loaded.set).map_err(Problem::internal)
    }
}
