//! `people show`.

use clap::Args;
use kernel::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ABSENT, People, PersonView, Who, nobody, view};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// Everything that is known of one person
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ShowPerson {
    /// A name, `owner`, an address that is linked, or any unique beginning of an id
    pub who: String,
}

impl Operation for ShowPerson {
    const SPEC: OperationSpec = OperationSpec::new(
        "people show",
        OperationAccess::READ,
        &["regent people show Lea", "regent people show p-k7q2 --json"],
    )
    .route(HttpMethod::Get, "/people/{who}");
    type Output = PersonView;

    async fn run(self, context: &OperationContext<'_>) -> Result<PersonView, OperationError> {
        Ok(context.app.people().show(&self.who).await?)
    }
}

impl People<'_> {
    /// # Errors
    /// If nobody is called like this, or the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "people.show", skip_all)]
    pub async fn show(self, who: &str) -> Result<PersonView, Problem> {
        let services = self.app.kernel.services().await?;
        match self.who(&services, who).await? {
            Who { new: Some(_), .. } => Err(nobody(ABSENT)),
            Who { entity, new: None } => view::person(&services.ledger, entity).await,
        }
    }
}
