//! `people link`.

use clap::Args;
use kernel::Problem;
use kernel::people_revision::{PeopleRevision, REVISION_TRIES};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{IdentityStatus, People, PersonView, Who, busy, view, words};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// Say whose an address is
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct LinkAddress {
    /// A name, `owner`, an address that is linked, or any unique beginning of an id
    pub who: String,
    /// The address, exactly as events bring it
    #[arg(value_name = "PLATFORM:IDENTIFIER")]
    pub address: String,
    /// You have made sure that nobody else can write from it
    #[arg(long)]
    #[serde(default)]
    pub verified: bool,
}

impl Operation for LinkAddress {
    const SPEC: OperationSpec = OperationSpec::new(
        "people link",
        OperationAccess::ADMIN,
        &[
            "regent people link Lea mail:lea@example.org",
            "regent people link owner matrix:@me:example.org --verified",
        ],
    )
    .route(HttpMethod::Post, "/people/{who}/addresses");
    type Output = PersonView;

    async fn run(self, context: &OperationContext<'_>) -> Result<PersonView, OperationError> {
        let status = if self.verified { IdentityStatus::Verified } else { IdentityStatus::Unverified };
        Ok(context.app.people().link(&self.who, &self.address, status).await?)
    }
}

impl People<'_> {
    /// Says whose an address is; one that somebody wrote from already, or one that they will write from.
    ///
    /// # Errors
    /// If nobody is called like this, it cannot be an address, it is somebody else's, it would speak for the owner and is not
    /// verified, or the ledger fails.
    #[tracing::instrument(level = "info", name = "people.link", skip_all)]
    pub async fn link(self, who: &str, address: &str, surety: IdentityStatus) -> Result<PersonView, Problem> {
        let address = words::address(address)?;
        let services = self.app.kernel.services().await?;
        for _ in 0..REVISION_TRIES {
            let (turn, mut batch) = (PeopleRevision::begin(&services).await?, services.batch());
            let Who { entity, new } = self.who(&services, who).await?;
            if let Some(new) = new {
                new.enter(&mut batch);
            }
            self.linking(&services, address, &entity, surety, &mut batch).await?;
            if self.is_written(&services, &turn, batch).await? {
                return view::person(&services.ledger, entity).await;
            }
        }
        Err(busy())
    }
}
