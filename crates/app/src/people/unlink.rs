//! `people unlink`.

use clap::Args;
use kernel::Problem;
use kernel::people_revision::{PeopleRevision, REVISION_TRIES};
use present::{Page, Style, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AddressView, People, addresses, busy, nobody, view, words};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Take a link back; what came from the address stays with the address
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct UnlinkAddress {
    #[arg(value_name = "PLATFORM:IDENTIFIER")]
    pub address: String,
}

impl Operation for UnlinkAddress {
    const SPEC: OperationSpec = OperationSpec::new(
        "people unlink",
        OperationAccess::ADMIN,
        &["regent people unlink mail:lea@example.org"],
    )
    .route(HttpMethod::Delete, "/addresses/{address}");
    type Output = UnlinkedAddress;

    async fn run(self, context: &OperationContext<'_>) -> Result<UnlinkedAddress, OperationError> {
        Ok(UnlinkedAddress(context.app.people().unlink(&self.address).await?))
    }
}

/// An address that belongs to no person any more.
#[derive(Debug, Serialize)]
pub struct UnlinkedAddress(pub AddressView);

impl Output for UnlinkedAddress {
    fn render(&self, _: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(format!("{} is nobody's now", inline(&self.0.address)));
        page
    }
}

impl People<'_> {
    /// Takes a link back. What was written from this address stays with the address.
    ///
    /// # Errors
    /// If it is nobody's, or the ledger fails.
    #[tracing::instrument(level = "info", name = "people.unlink", skip_all)]
    pub async fn unlink(self, address: &str) -> Result<AddressView, Problem> {
        let (platform, identifier) = words::address(address)?;
        let services = self.app.kernel.services().await?;
        let free = || nobody(format!("`{address}` is linked to nobody"));
        for _ in 0..REVISION_TRIES {
            let (turn, mut batch) = (PeopleRevision::begin(&services).await?, services.batch());
            let identity = services.ledger.identity_of(platform, identifier).await?;
            let linked = identity.and_then(|identity| Some((identity.entity_id?, identity)));
            let (id, identity) = linked.ok_or_else(free)?;
            let entity = services.ledger.entity(id).await?.ok_or_else(free)?;
            let unlinked = addresses::unlink(&services, &identity, &entity, &mut batch).await?;
            if self.is_written(&services, &turn, batch).await? {
                return view::address(&services.ledger, &unlinked).await;
            }
        }
        Err(busy())
    }
}
