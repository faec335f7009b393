//! What counts as the owner's word in the database: shown, and decided anew after another program has changed it.

mod reset;
mod rows;
mod show;

pub use reset::{AuthorityReset, ResetAuthority};
pub use show::{AuthorityReport, ShowAuthority};

use crate::operation::{OperationEntry, OperationGroup};

pub const GROUP: OperationGroup = OperationGroup::new(
    "authority",
    "Check or reset what counts as your word in the database",
    &["regent authority show", "regent authority reset --dry-run"],
    &[OperationEntry::of::<ShowAuthority>(), OperationEntry::of::<ResetAuthority>()],
);
