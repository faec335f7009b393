//! The typed use cases. A surface (the command line now; HTTP, chat and MCP later) turns its input into one of these
//! calls and shows what comes back; it adds no behaviour of its own.

mod approvals;
mod audit;
mod authority;
mod bus;
mod cancel;
mod codes;
mod cost;
mod events;
mod forget;
mod grants;
mod halt;
mod history;
mod house;
mod ids;
mod journal;
mod keeping;
mod knocks;
mod pending;
mod people;
mod policies;
mod recheck;
mod replay;
mod report;
mod resume;
mod run;
mod tasks;
mod thinking;
mod tools;
mod undo;
mod vpols;
mod why;

use std::sync::Arc;

use domain::probe::Probe;
use domain::{Clock, IdSource, Stop};
use ledger::Ledger;
use ledger::chain::PublicKey;
use llm::Provider;
use tokio::sync::OnceCell;

use crate::bus::Bus;
use crate::clock;
use crate::duties;
use crate::duties::{DutyLine, Kept, Pace};
use crate::host::Host;
use crate::house::House;
use crate::minds::Minds;
use crate::pipeline::{Desk, Driven, approve};
pub use crate::pipeline::{Foreseen, Planned, Rehearsal};
use crate::problem::Problem;
use crate::settings::Settings;

pub use engine::task::SAID_NO;

pub use approvals::{Act, ApprovalView, CodeView, Coverage};
pub use audit::{Anchored, AuditLine, AuditReport, Check, StreamReport};
pub use authority::{AuthorityReport, AuthorityReset};
pub use bus::bus_events;
pub use cost::RoleCost;
pub use events::{BadLine, EventLine, Receipt, WatermarkLine};
pub use forget::{Counts, Forget, Forgotten};
pub use grants::{GrantLine, GrantState, GrantView, NewGrant};
pub use halt::{Halted, Lifted};
pub use house::{Diagnosis, Explained, Paths, StatusReport};
pub use journal::{Played, PlayedStep};
pub use knocks::{Admitted, Introduction, KnockAnswer, KnockView, STRANGER_BECOMES, Waiting};
pub use pending::{PendingItem, PendingList};
pub use people::{AddressView, Because, Changes, NewPerson, PersonView};
pub use policies::{AclChange, AclCheck, AclLine, AclReport, AclView, Apply};
pub use replay::{Replay, Replayed};
pub use report::{Report, shortcoming};
pub use run::{Patience, Request};
pub use tasks::{CallLine, StepLine, TaskLine, TaskView};
pub use thinking::Thinking;
pub use tools::{DirectRequest, ToolLine, ToolView};
pub use undo::{Before, Left, Note, Obstacle, PutBack, Undo, Undone};
pub use why::{Branch, OriginLine, PolicyLine, Proof, ReasonLine, Why};

/// What the program's edge brings along.
pub struct Parts {
    pub house: House,
    pub settings: Settings,
    /// What is wrong with the settings, where the program goes on all the same; `doctor` says it.
    pub mistakes: Vec<String>,
    pub host: Arc<dyn Host>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub probe: Arc<dyn Probe>,
    /// The zone that times are shown in.
    pub zone: jiff::tz::TimeZone,
    pub pace: Pace,
    /// Whoever is asked first, unless a person asks for a call by name.
    pub provider: Arc<dyn Provider>,
    /// Whoever thinks about what is beyond that.
    pub minds: Arc<dyn Minds>,
}

pub struct App {
    parts: Parts,
    ledger: OnceCell<Arc<Ledger>>,
    bus: Bus,
    driven: Driven,
    stop: Stop,
    latest: clock::Latest,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts")
            .field("house", &self.house)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("house", &self.parts.house).finish_non_exhaustive()
    }
}

impl App {
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self {
            parts,
            ledger: OnceCell::new(),
            bus: Bus::default(),
            driven: Driven::default(),
            stop: Stop::default(),
            latest: clock::Latest::default(),
        }
    }

    /// The ledger, opened when the first use case needs it.
    async fn ledger(&self) -> Result<&Arc<Ledger>, Problem> {
        self.ledger.get_or_try_init(async || self.parts.host.open().await.map(Arc::new)).await
    }

    async fn desk(&self) -> Result<Desk, Problem> {
        let ledger = self.ledger().await?;
        if let Some(since) = ledger.seal().vault().halt_request().map_err(ledger::StoreError::from)? {
            halt::carry_out(ledger, &*self.parts.host, &*self.parts.ids, since).await?;
        }
        let desk = Desk {
            ledger: Arc::clone(ledger),
            clock: Arc::clone(&self.parts.clock),
            ids: Arc::clone(&self.parts.ids),
            probe: Arc::clone(&self.parts.probe),
            pace: self.parts.pace,
            bus: self.bus.clone(),
        };
        clock::watch(&desk, &self.latest).await?;
        Ok(desk)
    }

    /// Does the duties that are due.
    ///
    /// # Errors
    /// If the ledger fails; that a duty failed is a line.
    pub async fn tick(&self) -> Result<Vec<DutyLine>, Problem> {
        approve::sweep(&self.desk().await?).await?;
        let desk = self.desk().await?;
        let kept = Kept { days: self.parts.settings.retention(), until: self.latest.confirmed(desk.now()) };
        duties::tick(&desk, &*self.parts.host, &kept).await
    }

    /// This process is to end: what runs is told, and what it came to is kept. Says whether it is at work at all.
    pub fn stop(&self) -> bool {
        self.stop.now();
        self.driven.any()
    }

    #[must_use]
    pub fn now(&self) -> domain::Time {
        self.parts.clock.now()
    }

    /// The audit's root, if this process has set up the house: it is to be shown, once.
    #[must_use]
    pub fn new_root(&self) -> Option<PublicKey> {
        self.parts.host.new_root()
    }

    /// Whether this process found the audit damaged, and went on in a new epoch.
    #[must_use]
    pub fn healed(&self) -> bool {
        self.ledger.get().is_some_and(|ledger| ledger.healed())
    }

    /// How many durable transactions this process has waited for.
    #[must_use]
    pub fn barriers(&self) -> u64 {
        self.ledger.get().map_or(0, |ledger| ledger.barriers())
    }
}
