//! `acl validate`.

use std::path::PathBuf;

use clap::Args;
use kernel::Problem;
use policy::acl::{Loaded, PolicySet, load};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Requirements,
};
use crate::policies::in_force::{self, PolicyFiles, PolicyKind};
use crate::policies::named_files::read_policy_files;
use crate::policies::{Policies, PolicyCheck, loaded, noted, wrong};

/// Say everything that is wrong with these files, or that nothing is
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ValidateAccessPolicies {
    /// The policies, in YAML; those of the house, if none is named
    #[arg(value_name = "FILE")]
    #[serde(default)]
    pub files: Vec<PathBuf>,
}

impl Operation for ValidateAccessPolicies {
    const SPEC: OperationSpec = OperationSpec::new(
        "acl validate",
        OperationAccess::READ,
        &["regent acl validate people.yaml groups.yaml", "regent acl validate          those of the house"],
    )
    .route(HttpMethod::Get, "/acl/check")
    .notes("All fields: docs/access.md");
    type Output = PolicyCheck;

    fn requirements(&self) -> Requirements {
        Requirements { instance: self.files.is_empty(), settings: false }
    }

    async fn run(self, context: &OperationContext<'_>) -> Result<PolicyCheck, OperationError> {
        if self.files.is_empty() {
            return Ok(context.app.policies().check()?);
        }
        let Loaded { set, notes, .. } = read_policy_files(context.io, &self.files, load)?;
        Ok(PolicyCheck::new(set.iter().count(), self.files.len(), &notes))
    }
}

impl Policies<'_> {
    /// What is wrong with the files of the house, or how many policies there are with what is to be known about them.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn check(self) -> Result<PolicyCheck, Problem> {
        let made = PolicyFiles::of::<PolicySet>(self.app.host.policies(PolicyKind::Acl));
        let loaded = loaded(&made).map_err(|mistakes| wrong(&mistakes))?;
        let own = loaded.files.values().filter(|file| !file.starts_with(in_force::SHIPPED)).count();
        Ok(PolicyCheck { policies: own, files: made.files.len(), notes: noted(&loaded.notes) })
    }
}
