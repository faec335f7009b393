//! `vpol`: the validation policies, shown, checked and asked. Nothing is written.

mod list;
mod show;
mod test;
mod validate;

use std::path::PathBuf;

use kernel::Problem;
use policy::vpol::{Listed, VpolSet, load, shipped};
use serde::{Serialize, Serializer};

use super::named_files::read_policy_files;
use super::{Policies, in_force};
use crate::operation::{OperationEntry, OperationGroup, OperationIo};

pub use list::{ListVpols, VpolList};
pub use show::ShowVpol;
pub use test::TestVpols;
pub use validate::ValidateVpols;

pub const GROUP: OperationGroup = OperationGroup::new(
    "vpol",
    "Validation policies: how closely calls are looked at, and whose",
    &["regent vpol show unattended"],
    &[
        OperationEntry::of::<ListVpols>(),
        OperationEntry::of::<ShowVpol>(),
        OperationEntry::of::<ValidateVpols>(),
        OperationEntry::of::<TestVpols>(),
    ],
);

/// One validation policy, as a file would say it.
#[derive(Clone, Debug)]
pub struct VpolView(pub Listed);

impl Serialize for VpolView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.written().serialize(serializer)
    }
}

impl Policies<'_> {
    /// The set that counts at this moment: chains that start are given one of it, and calls are held to it besides what was
    /// frozen for their chain. In a place without a house, what ships; it makes no house.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "policies.vpols", skip_all)]
    pub async fn vpols(self) -> Result<VpolSet, Problem> {
        if self.app.instance().exists() {
            return Ok(in_force::active(&self.app.kernel.services().await?, &*self.app.host).await?.set);
        }
        shipped::defaults().map(|loaded| loaded.set).map_err(Problem::internal)
    }

    /// The policies of these files and no others; those that count, if none is named.
    async fn vpols_of(self, io: &dyn OperationIo, files: &[PathBuf]) -> Result<VpolSet, Problem> {
        if files.is_empty() {
            return self.vpols().await;
        }
        read_policy_files(io, files, load).map(|loaded| loaded.set)
    }
}
