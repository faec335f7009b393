//! How a model is spoken to: the one place where whoever may be asked becomes somebody who is.

use std::sync::Arc;

use domain::ask::Unanswered;
use llm::{Completing, Listen, Model, Prompt};
use models::Endpoint;
use runtime::Problem;

/// Who may be asked, one after the other, as one model.
///
/// # Errors
/// If nobody can be spoken to from here.
#[expect(clippy::unnecessary_wraps, reason = "the wire that comes here can fail to be made")]
pub(crate) fn line(endpoints: Vec<Endpoint>) -> Result<Arc<dyn Model>, Problem> {
    Ok(Arc::new(Unconnected(endpoints)))
}

/// Stands where the wire will be.
struct Unconnected(Vec<Endpoint>);

impl Model for Unconnected {
    fn name(&self) -> String {
        self.0.first().map(Endpoint::name).unwrap_or_default()
    }

    fn complete(&self, _prompt: Prompt, _listen: Listen) -> Completing {
        Box::pin(async { Err(Unanswered::unreachable("this build cannot speak to models yet")) })
    }
}
