//! Language models: which ones are asked and why, whether they answer, and the owner's choice. The selection itself is above
//! this crate: the host implements [`ModelAdmin`].

mod admin;
mod choice;
mod confirm;
mod list;
mod set;
mod test;

pub use admin::{ModelAdmin, ModelDisclosure, NoModelAdmin, PreparedTests, ShowDisclosure};
pub use choice::{ModelChoice, ModelPrice, ModelView, PriceListing, UnavailableModel};
pub use confirm::{ConfirmModelHost, ConfirmedHost};
pub use list::{ListModels, ModelList, ProviderView};
pub use set::{ModelSetting, ModelTier, SetModels};
pub use test::{ModelCapabilities, ModelTest, TestModels};

use crate::operation::{OperationEntry, OperationGroup};

pub const GROUP: OperationGroup = OperationGroup::new(
    "model",
    "Language models: who is asked and why, whether they answer, who is to be",
    &["regent model list", "regent model set brain anthropic/claude-sonnet-5-5"],
    &[
        OperationEntry::of::<ListModels>(),
        OperationEntry::of::<TestModels>(),
        OperationEntry::of::<SetModels>(),
        OperationEntry::of::<ConfirmModelHost>(),
    ],
)
.notes("Set-up for each provider: docs/models.md");
