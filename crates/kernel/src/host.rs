//! What the kernel needs of the machine it runs on. The crate `host` implements it; tests have one of their own.

use std::time::Duration;

use async_trait::async_trait;
use broker::Registry;
use broker::access::Switches;
use broker::budget::Limits;
use broker::secrets::Secrets;
use domain::gradient::Params;
use ledger::Ledger;

use domain::problem::Problem;

/// The operating system's user. The user that owns the instance's files is the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsUser {
    pub id: u32,
    pub name: Option<String>,
}

impl OsUser {
    #[must_use]
    pub const fn is_root(&self) -> bool {
        self.id == 0
    }
}

/// The settings that decide about runs and approvals.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// How the owner wants to be called; empty if they did not say.
    pub owner_name: String,
    pub budgets: Limits,
    /// Who is asked for an approval, in order.
    pub approvers: Vec<String>,
    /// How long an approval request stays open.
    pub approval_time: Duration,
    pub steering: Params,
}

#[async_trait]
pub trait Host: Send + Sync {
    /// The settings as they are now; `None` if those that the process began with are still the newest.
    ///
    /// # Errors
    /// If the settings file has a mistake.
    fn run_settings(&self) -> Result<Option<RunSettings>, Problem> {
        Ok(None)
    }

    fn user(&self) -> OsUser;

    /// Names this process, so that another one can tell whether it is still there.
    fn holder(&self) -> String;

    /// Whether a holder still lives; nothing if this machine cannot know.
    fn is_alive(&self, holder: &str) -> Option<bool>;

    /// The tools of a chain, with those that only this machine has. They come through the same door.
    fn tools(&self, registry: Registry) -> Registry {
        registry
    }

    /// Which tools are switched on, as it stands now.
    fn switches(&self) -> Switches {
        Switches::default()
    }

    /// Takes that back: the halt is in the ledger.
    ///
    /// # Errors
    /// If it cannot be taken back; then everything still stands.
    fn withdraw_halt_request(&self) -> Result<(), Problem> {
        Ok(())
    }

    /// What tools are given at the boundary, and what must never come back from them.
    ///
    /// # Errors
    /// If one of them cannot be read, or others than the owner can read it.
    fn secrets(&self) -> Result<Secrets, Problem> {
        Ok(Secrets::default())
    }

    /// Furnishes, and opens the ledger. One of an older schema is brought forward: rehearsed first, and a copy kept.
    async fn open(&self) -> Result<Ledger, Problem>;
}
