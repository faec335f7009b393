//! The validation policies that count.

use policy::vpol::{VpolSet, shipped};

use super::{Policies, in_force};
use kernel::Problem;

impl Policies<'_> {
    /// The set that counts at this moment: chains that start are given one of it, and calls are held to it besides what was
    /// frozen for their chain. In a place without a house, what ships; it makes no house.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "policies.vpols", skip_all)]
    pub async fn vpols(self) -> Result<VpolSet, Problem> {
        if self.app.instance().exists() {
            return Ok(in_force::active(&self.app.kernel.services().await?, &*self.app.host).await?.set);
        }
        shipped::defaults().map(|loaded| loaded.set).map_err(Problem::internal)
    }
}
