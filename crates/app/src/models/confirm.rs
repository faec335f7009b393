//! `model confirm`.

use clap::Args;
use present::{Page, Style, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Let a provider's key go to a host that is not the provider's own, a proxy for instance
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ConfirmModelHost {
    /// Whose key: `anthropic`, `openai`, …
    pub provider: String,
    /// Where it may go, from now on
    pub host: String,
}

impl Operation for ConfirmModelHost {
    // The owner's alone: whoever may do this gets the key.
    const SPEC: OperationSpec = OperationSpec::new(
        "model confirm",
        OperationAccess::OWNER,
        &["regent model confirm anthropic proxy.example.org", "regent model confirm openai 127.0.0.1:4000"],
    )
    .route(HttpMethod::Post, "/models/confirmed-hosts");
    type Output = ConfirmedHost;

    async fn run(self, context: &OperationContext<'_>) -> Result<ConfirmedHost, OperationError> {
        Ok(context.app.model_admin.confirm_host(&self.provider, &self.host)?)
    }
}

/// A host that may get a provider's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfirmedHost {
    pub provider: String,
    pub host: String,
    pub file: String,
}

impl Output for ConfirmedHost {
    fn render(&self, _: &Style<'_>) -> Page {
        let Self { provider, host, file } = self;
        let mut page = Page::new();
        page.add(format!("the key of {provider} may go to {host} from now on; kept in {}", inline(file)));
        page
    }
}
