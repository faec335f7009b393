//! `acl apply`.

use std::path::PathBuf;

use clap::Args;
use kernel::{Code, Problem};
use policy::acl::PolicySet;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{AclChange, PolicyFileChange};
use crate::operation::{Operation, OperationAccess, OperationContext, OperationError, OperationSpec};
use crate::policies::in_force::{self, PolicyFile, PolicyFiles, PolicyKind};
use crate::policies::named_files::{name_policy_file, read_policy_text};
use crate::policies::{Apply, Policies, loaded, noted, wrong};

/// Put a file of policies in force, in place of what was applied under its name
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ApplyPolicyFile {
    /// The policies, in YAML
    pub file: PathBuf,
    /// Only say what would change, and change nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
}

// No route: it reads a file of this machine.
impl Operation for ApplyPolicyFile {
    const SPEC: OperationSpec = OperationSpec::new(
        "acl apply",
        OperationAccess::ADMIN,
        &["regent acl apply people.yaml --dry-run", "regent acl apply people.yaml"],
    )
    .notes("It is checked together with everything else first; with a mistake anywhere nothing is written.\nAll fields: docs/access.md");
    type Output = PolicyFileChange;

    async fn run(self, context: &OperationContext<'_>) -> Result<PolicyFileChange, OperationError> {
        let name = name_policy_file(&self.file)?;
        let text = read_policy_text(context.io, &self.file)?;
        let change = context.app.policies().apply(&name, &text, Apply::from_dry_run(self.dry_run)).await?;
        PolicyFileChange::new(context, change).await
    }
}

impl Policies<'_> {
    /// Puts a file of policies in force, in place of whatever was applied under its name.
    ///
    /// # Errors
    /// Everything that is wrong with it or with the files beside it; or if it cannot be written.
    #[tracing::instrument(level = "info", name = "policies.apply", skip_all)]
    pub async fn apply(self, file: &str, text: &str, apply: Apply) -> Result<AclChange, Problem> {
        is_a_name(file)?;
        let mut files = self.app.host.policies(PolicyKind::Acl);
        files.retain(|known| known.name != file);
        files.push(PolicyFile { name: file.to_owned(), text: Ok(text.to_owned()) });
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let made = PolicyFiles::of::<PolicySet>(files);
        let loaded = loaded(&made).map_err(|mistakes| wrong(&mistakes))?;
        let services = self.app.kernel.services().await?;
        let before = self.look_at_acl(&services).await?;
        let switches = services.ledger.policy_switches().await?;
        let after = in_force::PolicyRules::switched(loaded.set, &switches);
        let mut change = AclChange::between(&before.set, &after);
        change.notes = noted(&loaded.notes);
        if apply == Apply::Really {
            self.app.host.put_policies(PolicyKind::Acl, file, text)?;
            self.put_in_force(&services, &mut change).await?;
        }
        Ok(change)
    }
}

/// A file that is applied must be one that is read afterwards, and nowhere else than in its folder.
pub(super) fn is_a_name(file: &str) -> Result<(), Problem> {
    const LONGEST: usize = 100;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let ends = file.ends_with(".yaml") || file.ends_with(".yml");
    if ends && file.len() <= LONGEST && !file.starts_with('.') && file.chars().all(plain) {
        return Ok(());
    }
    let what = format!("`{file}` is no name for a policy file; call it like `people.yaml`");
    Err(Problem::new(Code::BAD_POLICY, what).safe("nothing was changed").remedy("regent explain R2023"))
}
