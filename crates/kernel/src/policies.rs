//! The policies that decide about events. The kernel asks for them; the feature `policies` makes them from files.

use async_trait::async_trait;
use domain::Digest;
use domain::problem::Problem;
use ledger::Batch;
use policy::acl::PolicySet;
use policy::vpol::VpolSet;

use crate::services::Services;

/// The access and validation policies that decide now, each with the digest that it is kept under.
pub trait PoliciesInForce: Send + Sync {
    fn acl(&self) -> (&PolicySet, Digest);

    fn vpol(&self) -> (&VpolSet, Digest);

    /// Enters what is new of them into the batch of the decision that they make.
    fn enter(&self, batch: &mut Batch);
}

/// Where policies come from.
#[async_trait]
pub trait PolicySource: Send + Sync {
    /// # Errors
    /// If the ledger fails.
    async fn in_force(&self, services: &Services) -> Result<Box<dyn PoliciesInForce>, Problem>;
}
