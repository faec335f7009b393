//! What the features need of the machine, beyond what the kernel needs: the instance's files, backups, upgrades.

use std::path::Path;

use async_trait::async_trait;
use domain::Time;
use domain::call::ToolId;
use domain::id::NodeId;
use kernel::{Code, Host, Problem};
use ledger::chain::PublicKey;
use serde::Serialize;

use crate::instance::backup::{Backup, How, KeptBackup, Restored, Upgrade};
use crate::policies::{PolicyFile, PolicyKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    Ok,
    /// Worth knowing; nothing is broken.
    Warn,
    Bad,
}

/// One thing that `doctor` looked at, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub name: &'static str,
    pub state: FindingState,
    pub what: String,
    pub remedy: Option<String>,
}

/// What setting up the instance found and made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstanceSetup {
    /// Files that were made, in order; empty if the instance was complete.
    pub made: Vec<String>,
    /// The audit's root, if the instance is new: it is shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<PublicKey>,
}

/// The machine as the features see it.
#[async_trait]
pub trait InstanceHost: Host {
    /// Whether there is a house already.
    fn is_furnished(&self) -> bool;

    /// Whether another process has the keys for itself at this moment, so that whoever opens the database would wait.
    fn keys_are_locked(&self) -> bool {
        false
    }

    /// Where the keys of the database lie, as far as that is known without asking it.
    fn keys_folder(&self) -> Option<std::path::PathBuf> {
        None
    }

    /// Looks at folders, files and permissions, and changes nothing.
    fn inspect(&self) -> Vec<Finding>;

    /// Makes what is missing of the house: folders, keys, a settings file with the owner's name if one is given.
    async fn furnish(&self, name: &str) -> Result<InstanceSetup, Problem>;

    /// The audit's root, if this process has set up the house.
    fn new_root(&self) -> Option<PublicKey> {
        None
    }

    /// Turns one switch, durably, before it says so.
    ///
    /// # Errors
    /// If the file cannot be read or written; then it is as it was.
    fn turn(&self, _tool: &ToolId, _enabled: bool) -> Result<(), Problem> {
        Err(unable("told which tools are on"))
    }

    /// Writes down, durably and outside the database, that everything is to stand still.
    ///
    /// # Errors
    /// If it cannot be written.
    fn request_halt(&self, _at: Time) -> Result<(), Problem> {
        Err(unable("halted without its database"))
    }

    /// The policy files of one kind, in the order of their names, as they stand now. What is there and cannot be relied on
    /// is among them; a folder that is not there holds none.
    fn policies(&self, _kind: PolicyKind) -> Vec<PolicyFile> {
        Vec::new()
    }

    /// Puts a policy file in place of whatever has its name, whole and durable.
    ///
    /// # Errors
    /// If it cannot be written; then what was there still is.
    fn put_policies(&self, _kind: PolicyKind, _file: &str, _text: &str) -> Result<(), Problem> {
        Err(unable("given policies"))
    }

    /// Takes a policy file away, durably.
    ///
    /// # Errors
    /// If it cannot be taken away; then it is still there.
    fn take_policies(&self, _kind: PolicyKind, _file: &str) -> Result<(), Problem> {
        Err(unable("relieved of policies"))
    }

    /// Keeps a copy of the checkpoints at a place that the owner names, and says where exactly it lies.
    ///
    /// # Errors
    /// If it cannot be kept there, or what lies there already is not the beginning of it.
    fn keep_anchor(&self, to: &str, stream: NodeId, lines: &[String]) -> Result<String, Problem>;

    /// Brings the ledger forward, without opening it.
    async fn upgrade(&self, _how: How) -> Result<Upgrade, Problem> {
        Err(unable("upgraded"))
    }

    /// Copies the house, and tries the copy.
    async fn backup(&self, _to: Option<&Path>, _how: How) -> Result<Backup, Problem> {
        Err(unable("backed up"))
    }

    /// Puts a backup in the place of the house.
    async fn restore(&self, _from: &Path, _how: How) -> Result<Restored, Problem> {
        Err(unable("restored"))
    }

    /// Every copy of the instance that is known of, oldest first: those of upgrades and restores, and unfinished ones that
    /// could not be removed.
    fn backups(&self) -> Result<Vec<KeptBackup>, Problem> {
        Ok(Vec::new())
    }

    /// What opening the ledger brought forward, if anything.
    fn upgraded(&self) -> Option<Upgrade> {
        None
    }
}

/// A host without files, as tests have it.
fn unable(done: &str) -> Problem {
    Problem::new(Code::HOUSE, format!("a house without files cannot be {done}")).safe("nothing was done")
}
