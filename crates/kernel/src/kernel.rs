//! The kernel as one value: what the composition root gives it, and the services it offers.

use std::path::PathBuf;
use std::sync::Arc;

use broker::{Broker, Registry};
use domain::id::{Id, TaskId};
use domain::probe::Probe;
use domain::{Clock, IdSource, Stop, Time};
use ledger::{Batch, Ledger};
use llm::Provider;
use tokio::sync::OnceCell;

use crate::bus::{Bus, JournalTap, StepFeed};
use crate::clock::{self, ClockWatch};
use crate::host::{Host, RunSettings};
use crate::jobs::{self, BackgroundJob, JobContext, JobReport, Timing};
use crate::lease::ActiveTasks;
use crate::policies::{PoliciesInForce, PolicySource};
use crate::run::ModelSource;
use crate::services::Services;
use crate::{approvals, halt};
use domain::problem::Problem;

/// What the composition root gives the kernel.
pub struct KernelParts {
    pub host: Arc<dyn Host>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub probe: Arc<dyn Probe>,
    /// The zone that times are shown in.
    pub zone: jiff::tz::TimeZone,
    pub timing: Timing,
    /// Answers first, unless a person asks for a call by name: the reflexes.
    pub provider: Arc<dyn Provider>,
    /// Finds a model for what the provider does not understand.
    pub models: Arc<dyn ModelSource>,
    pub policies: Arc<dyn PolicySource>,
    /// The background jobs of features.
    pub jobs: Vec<Arc<dyn BackgroundJob>>,
    /// The instance's own folders. No tool reaches them.
    pub guarded: Vec<PathBuf>,
    /// The settings that the process began with.
    pub settings: RunSettings,
}

pub struct Kernel {
    pub(crate) parts: KernelParts,
    ledger: OnceCell<Arc<Ledger>>,
    bus: Bus,
    pub(crate) active: ActiveTasks,
    pub(crate) stop: Stop,
    clock_watch: ClockWatch,
}

impl std::fmt::Debug for KernelParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KernelParts").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("parts", &self.parts).finish_non_exhaustive()
    }
}

impl Kernel {
    #[must_use]
    pub fn new(parts: KernelParts) -> Self {
        Self {
            parts,
            ledger: OnceCell::new(),
            bus: Bus::default(),
            active: ActiveTasks::default(),
            stop: Stop::default(),
            clock_watch: ClockWatch::default(),
        }
    }

    /// The ledger, opened when the first use case needs it.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub async fn ledger(&self) -> Result<&Arc<Ledger>, Problem> {
        self.ledger.get_or_try_init(async || self.parts.host.open().await.map(Arc::new)).await
    }

    /// The ledger, if a use case has opened it already.
    #[must_use]
    pub fn opened_ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.get()
    }

    /// The services of this process. A halt that waits to be recorded is recorded first, and so is a clock that went back.
    ///
    /// # Errors
    /// If the ledger cannot be opened or written.
    pub async fn services(&self) -> Result<Services, Problem> {
        let ledger = self.ledger().await?;
        if let Some(since) = ledger.seal().vault().halt_request().map_err(ledger::StoreError::from)? {
            halt::record(ledger, &*self.parts.host, &*self.parts.ids, since).await?;
        }
        let services = Services {
            ledger: Arc::clone(ledger),
            clock: Arc::clone(&self.parts.clock),
            ids: Arc::clone(&self.parts.ids),
            probe: Arc::clone(&self.parts.probe),
            timing: self.parts.timing,
            bus: self.bus.clone(),
        };
        clock::watch(&services, &self.clock_watch).await?;
        Ok(services)
    }

    /// Runs the background jobs that are due.
    ///
    /// # Errors
    /// If the ledger fails. A job that failed is a report.
    pub async fn tick(&self) -> Result<Vec<JobReport>, Problem> {
        approvals::sweep(&self.services().await?).await?;
        let services = self.services().await?;
        let (host, confirmed) = (&*self.parts.host, self.clock_watch.confirm(services.now()));
        jobs::tick(&JobContext { services: &services, host, confirmed }, &self.parts.jobs).await
    }

    /// Stops what this process drives; what it came to is kept. Says whether it drives anything.
    pub fn stop(&self) -> bool {
        self.stop.now();
        self.active.any()
    }

    /// Records a halt in the ledger, and withdraws the request for it.
    ///
    /// # Errors
    /// If the ledger cannot be written.
    pub async fn record_halt(&self, since: Time) -> Result<(), Problem> {
        halt::record(self.ledger().await?, &*self.parts.host, &*self.parts.ids, since).await
    }

    /// For a reader that must miss nothing: every step of every process after this sequence number, or from now on.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub async fn tap(&self, after: Option<i64>) -> Result<JournalTap, Problem> {
        let ledger = self.ledger().await?;
        let after = match after {
            Some(after) => after,
            None => ledger.newest_step().await?,
        };
        Ok(self.bus.tap(Arc::clone(ledger), after))
    }

    /// For a display: the steps of this process as they become durable. It may miss some, and then says how many.
    #[must_use]
    pub fn steps(&self) -> StepFeed {
        self.bus.steps()
    }

    /// Whether this process drives a task at this moment.
    #[must_use]
    pub fn drives(&self, task: TaskId) -> bool {
        self.active.holds(task)
    }

    /// The policies that decide now.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn policies(&self, services: &Services) -> Result<Box<dyn PoliciesInForce>, Problem> {
        self.parts.policies.in_force(services).await
    }

    /// A broker over these tools, with the secrets of now.
    ///
    /// # Errors
    /// If the secrets cannot be read.
    pub fn broker(&self, registry: Registry) -> Result<Broker, Problem> {
        let (clock, probe) = (Arc::clone(&self.parts.clock), Arc::clone(&self.parts.probe));
        Ok(Broker::new(registry, Arc::new(self.parts.host.secrets()?), clock, probe))
    }

    /// A batch that is dated like this, without opening the services: for what has to work while they do not.
    #[must_use]
    pub fn batch_at(&self, at: Time) -> Batch {
        Batch::new(Id::dated(at, &*self.parts.ids), at)
    }

    #[must_use]
    pub fn now(&self) -> Time {
        self.parts.clock.now()
    }

    #[must_use]
    pub const fn zone(&self) -> &jiff::tz::TimeZone {
        &self.parts.zone
    }

    #[must_use]
    pub fn host(&self) -> &dyn Host {
        &*self.parts.host
    }

    #[must_use]
    pub fn provider(&self) -> &dyn Provider {
        &*self.parts.provider
    }
}
