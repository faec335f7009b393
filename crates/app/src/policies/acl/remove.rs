//! `acl remove`.

use clap::Args;
use kernel::{Code, Problem};
use policy::acl::PolicySet;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{AclChange, PolicyFileChange};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};
use crate::policies::in_force::{self, PolicyFiles, PolicyKind};
use crate::policies::{Apply, Policies, loaded, noted};

/// Take a file of policies out again
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct RemovePolicyFile {
    /// The name it was applied under
    pub file: String,
    /// Only say what would change, and change nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
}

impl Operation for RemovePolicyFile {
    const SPEC: OperationSpec =
        OperationSpec::new("acl remove", OperationAccess::ADMIN, &["regent acl remove people.yaml"])
            .route(HttpMethod::Delete, "/acl/files/{file}");
    type Output = PolicyFileChange;

    async fn run(self, context: &OperationContext<'_>) -> Result<PolicyFileChange, OperationError> {
        let apply = Apply::from_dry_run(self.dry_run);
        let change = context.app.policies().remove(&self.file, apply).await?;
        PolicyFileChange::new(context, change).await
    }
}

impl Policies<'_> {
    /// Takes a file of policies out again.
    ///
    /// # Errors
    /// If there is none of this name, or it cannot be taken away.
    #[tracing::instrument(level = "info", name = "policies.remove", skip_all)]
    pub async fn remove(self, file: &str, apply: Apply) -> Result<AclChange, Problem> {
        let mut files = self.app.host.policies(PolicyKind::Acl);
        if !files.iter().any(|known| known.name == file && !file.is_empty()) {
            return Err(Problem::new(
                Code::NO_SUCH_POLICY,
                format!("there is no file `{file}` in policies/acl"),
            )
            .safe("nothing was changed")
            .remedy("regent acl list"));
        }
        files.retain(|known| known.name != file);
        let services = self.app.kernel.services().await?;
        let before = self.look_at_acl(&services).await?;
        let switches = services.ledger.policy_switches().await?;
        let made = PolicyFiles::of::<PolicySet>(files);
        let mut change = match loaded(&made) {
            Ok(loaded) => {
                let after = in_force::PolicyRules::switched(loaded.set, &switches);
                AclChange { notes: noted(&loaded.notes), ..AclChange::between(&before.set, &after) }
            }
            // The rest is no better: what is in force stays so, but for what stands in this file.
            Err(mistakes) => {
                let after = before.set.clone().without(&made.deleted(&before.set));
                AclChange { mistakes, ..AclChange::between(&before.set, &after) }
            }
        };
        if apply == Apply::Really {
            self.app.host.take_policies(PolicyKind::Acl, file)?;
            self.put_in_force(&services, &mut change).await?;
        }
        Ok(change)
    }
}
