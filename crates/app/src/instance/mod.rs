//! The house itself: where it is, how it is set, whether it is well, what needs its owner.

mod authority;
pub mod backup;
mod carried;
mod doctor;
mod expired;
mod explain;
mod halt;
mod init;
mod keep;
mod make_backup;
pub mod paths;
mod restore;
mod resume_all;
pub(crate) mod retention;
pub mod settings;
mod show_paths;
mod show_settings;
mod status;
mod tick;
mod upgrade;

use ledger::chain::PublicKey;

pub use authority::{AuthorityReport, AuthorityReset, GROUP as AUTHORITY, ResetAuthority, ShowAuthority};
pub use backup::KeptBackup;
pub use carried::AuthoritySnapshot;
pub use doctor::{Diagnosis, ExamineInstance};
pub use expired::ExpiredAuthority;
pub use explain::{ExplainCode, Explained, Explanation};
pub use halt::{HaltInstance, Halted};
pub use init::{SetUpInstance, SetUpReport};
pub use make_backup::MakeBackup;
pub use restore::RestoreBackup;
pub use resume_all::{LiftHalt, Lifted};
pub(crate) use settings::duration as read_duration;
pub use show_paths::{Paths, ShowPaths};
pub use show_settings::{SettingsView, ShowSettings};
pub use status::{ShowStatus, StatusReport};
pub use tick::{AdmissionReport, JobList, RunJobs};
pub use upgrade::UpgradeInstance;

use crate::App;
use crate::operation::{OperationEntry, OperationGroup};
use crate::tools::ToolLine;

pub const COMMANDS: OperationGroup = OperationGroup::of_one_word(&[
    OperationEntry::of::<HaltInstance>(),
    OperationEntry::of::<LiftHalt>(),
    OperationEntry::of::<ShowStatus>(),
    OperationEntry::of::<ExamineInstance>(),
    OperationEntry::of::<ShowPaths>(),
    OperationEntry::of::<SetUpInstance>(),
    OperationEntry::of::<RunJobs>(),
    OperationEntry::of::<UpgradeInstance>(),
    OperationEntry::of::<MakeBackup>(),
    OperationEntry::of::<RestoreBackup>(),
    OperationEntry::of::<ExplainCode>(),
]);

pub const CONFIG: OperationGroup = OperationGroup::new(
    "config",
    "The settings that count",
    &["regent config show --origin"],
    &[OperationEntry::of::<ShowSettings>()],
);

/// The instance itself.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    pub(crate) app: &'a App,
}

impl Instance<'_> {
    /// The audit's root, if this process has set up the instance: it is to be shown, once.
    #[must_use]
    pub fn new_root(self) -> Option<PublicKey> {
        self.app.host.new_root()
    }

    /// Whether this process found the audit damaged, and went on in a new epoch.
    #[must_use]
    pub fn healed(self) -> bool {
        self.app.kernel.opened_ledger().is_some_and(|ledger| ledger.healed())
    }

    /// How many durable transactions this process has waited for.
    #[must_use]
    pub fn barriers(self) -> u64 {
        self.app.kernel.opened_ledger().map_or(0, |ledger| ledger.barriers())
    }

    /// What `tool-access.json` switches that is none of these tools: a slip there switches nothing off.
    #[must_use]
    pub fn unknown_switches(self, tools: &[ToolLine]) -> Vec<String> {
        let ids = || tools.iter().map(|line| line.tool.as_str());
        let switches = self.app.host.switches();
        let strangers = switches.named().filter(|name| ids().all(|id| id != name.as_str()));
        let told = strangers.map(|name| {
            let hint = crate::nearest::find_nearest(name.as_str(), ids());
            let hint = hint.map_or_else(String::new, |id| format!("; did you mean `{id}`?"));
            format!("tool-access.json: there is no tool `{name}`{hint}")
        });
        told.collect()
    }

    /// Whether there is a house already.
    #[must_use]
    pub fn exists(self) -> bool {
        self.app.host.is_furnished()
    }
}
