//! What the use cases need of the machine they run on. The program's edge implements it; tests have one of their own.

use async_trait::async_trait;
use domain::Time;
use ledger::Ledger;
use serde::Serialize;

use crate::problem::Problem;

/// The operating system's user: whoever is this user is the owner of the house.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: u32,
    pub name: Option<String>,
}

impl User {
    #[must_use]
    pub const fn is_root(&self) -> bool {
        self.id == 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ok,
    /// Worth knowing; nothing is broken.
    Warn,
    Bad,
}

/// One thing that was looked at, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub name: &'static str,
    pub state: State,
    pub what: String,
    pub remedy: Option<String>,
}

/// What setting up the house found and made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Furnished {
    /// Files that were made, in order; empty if the house was complete.
    pub made: Vec<String>,
}

/// A copy of the house that was put aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptBackup {
    pub path: String,
    pub at: Time,
}

#[async_trait]
pub trait Host: Send + Sync {
    fn user(&self) -> User;

    /// Names this process, so that another one can tell whether it is still there.
    fn holder(&self) -> String;

    /// Whether a holder still lives; nothing if this machine cannot know.
    fn is_alive(&self, holder: &str) -> Option<bool>;

    /// Whether there is a house already.
    fn is_furnished(&self) -> bool;

    /// Looks at folders, files and permissions, and changes nothing.
    fn inspect(&self) -> Vec<Finding>;

    /// Makes what is missing of the house: folders, keys, a settings file with the owner's name if one is given.
    fn furnish(&self, name: &str) -> Result<Furnished, Problem>;

    /// The backups that this machine knows of.
    fn backups(&self) -> Vec<KeptBackup> {
        Vec::new()
    }

    /// Furnishes, and opens the ledger.
    async fn open(&self) -> Result<Ledger, Problem>;
}
