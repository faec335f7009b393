//! `vpol validate`.

use std::path::PathBuf;

use clap::Args;
use policy::vpol::{Loaded, load};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::operation::{
    Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Requirements,
};
use crate::policies::PolicyCheck;
use crate::policies::named_files::read_policy_files;

/// Say everything that is wrong with these files, or that nothing is
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ValidateVpols {
    /// The policies, in YAML
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

// No route, and no token: it reads files of this machine.
impl Operation for ValidateVpols {
    const SPEC: OperationSpec = OperationSpec::new(
        "vpol validate",
        OperationAccess::OWNER_READ,
        &["regent vpol validate careful.yaml"],
    )
    .notes("All fields: docs/access.md");
    type Output = PolicyCheck;

    fn requirements(&self) -> Requirements {
        Requirements::NONE
    }

    async fn run(self, context: &OperationContext<'_>) -> Result<PolicyCheck, OperationError> {
        let Loaded { set, notes } = read_policy_files(context.io, &self.files, load)?;
        Ok(PolicyCheck::new(set.iter().count(), self.files.len(), &notes))
    }
}
