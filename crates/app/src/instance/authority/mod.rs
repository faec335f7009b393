//! What counts as the owner's word in the database: shown, and decided anew after another program has changed it.

mod reset;
mod rows;
mod show;

pub use reset::{AuthorityReset, ResetAuthority};
pub use show::{AuthorityReport, ShowAuthority};

use crate::operation::{OperationEntry, OperationGroup};

pub const GROUP: OperationGroup = OperationGroup {
    name: "authority",
    about: "Check or reset what counts as your word in the database",
    examples: &["regent authority show", "regent authority reset --dry-run"],
    operations: &[OperationEntry::of::<ShowAuthority>(), OperationEntry::of::<ResetAuthority>()],
};
