//! `acl`: the access policies: what is in force, what is applied and taken back, files checked, cases asked. Checking files
//! and asking need no instance, and make none.

mod apply;
mod change;
mod list;
mod remove;
mod replay;
mod show;
mod switch;
mod test;
mod validate;

use policy::acl::Effect;
use present::{Style, Tone, inline};
use serde::Serialize;

use crate::operation::{OperationEntry, OperationGroup};

pub use apply::ApplyPolicyFile;
pub use change::{AclChange, PolicyFileChange};
pub use list::{AclReport, ListAccessPolicies};
pub use remove::RemovePolicyFile;
pub use replay::{PolicyReplay, Replay, Replayed};
pub use show::{AclView, ShowAccessPolicy};
pub use switch::{DisablePolicy, EnablePolicy, PolicySwitchResult};
pub use test::{PolicyTest, TestAccessPolicies};
pub use validate::ValidateAccessPolicies;

pub const GROUP: OperationGroup = OperationGroup::new(
    "acl",
    "Access policies: who is let in, with what; put in force, checked and asked",
    &["regent acl list", "regent acl apply people.yaml"],
    &[
        OperationEntry::of::<ListAccessPolicies>(),
        OperationEntry::of::<ShowAccessPolicy>(),
        OperationEntry::of::<ApplyPolicyFile>(),
        OperationEntry::of::<RemovePolicyFile>(),
        OperationEntry::of::<EnablePolicy>(),
        OperationEntry::of::<DisablePolicy>(),
        OperationEntry::of::<ValidateAccessPolicies>(),
        OperationEntry::of::<TestAccessPolicies>(),
    ],
);

/// One policy in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AclLine {
    pub name: String,
    pub effect: Option<Effect>,
    pub ceiling: bool,
    pub priority: u8,
    pub enabled: bool,
    pub shipped: bool,
    /// The file it stands in; nothing where nobody knows any more.
    pub file: Option<String>,
}

impl AclLine {
    fn row(&self, style: &Style<'_>) -> String {
        let state = match self.enabled {
            true => style.theme.paint("on ", Tone::Good),
            false => style.theme.paint("off", Tone::Attention),
        };
        let effect = self.effect.map_or("-", Effect::name);
        let kind = if self.ceiling { "ceiling" } else { "" };
        let file = self.file.as_deref().unwrap_or("a file that is not there any more");
        format!("{state}  {:>3}  {effect:<5}  {kind:<7}  {:<24} {}", self.priority, self.name, inline(file))
    }
}
