//! The features, a folder each: what a person or a program can ask of an instance. A surface (the command line now; HTTP,
//! chat and MCP later) turns its input into one of these operations and shows what comes back.
//!
//! A feature uses the kernel. It may call the public operations of another feature, never what is inside it: the modules
//! of a feature are private to its folder. It does not read the clock, the environment or files by itself, and it knows
//! no terminal: what it needs of the machine comes through [`InstanceHost`].
//!
//! Start reading at [`App`], then at the folder of the feature.

pub mod approvals;
pub mod filters;
pub mod grants;
mod host;
pub mod instance;
pub mod instructions;
pub mod models;
mod nearest;
pub mod operation;
pub mod people;
pub mod policies;
pub mod record;
pub mod tasks;
pub mod tools;

use std::sync::Arc;

use domain::probe::Probe;
use domain::{Clock, IdSource, Time};
use kernel::{Kernel, KernelParts};
use llm::Provider;

pub use engine::task::SAID_NO;
pub use host::{Finding, FindingState, InstanceHost, InstanceSetup};
pub use kernel::admit::AdmissionCounts;
pub use kernel::{
    Bus, CODES, Code, DisplayEvent, DryRun, Host, JobReport, JobState, JournalTap, ModelDelta, ModelOptions,
    ModelSource, NoModels, OsUser, PlannedCall, PlannedSubtask, Problem, PublishedStep, RunRequest,
    RunSettings, StepFeed, Surface, TappedLine, TappedStep, Timing, WaitMode, page,
};

pub use policies::{PolicyFile, PolicyKind, PolicyMistake, PolicyStatus};

use approvals::Approvals;
use grants::Grants;
use instance::Instance;
use instance::paths::InstancePaths;
use instance::retention::Retention;
use instance::settings::Settings;
use instructions::Instructions;
use models::ModelAdmin;
use people::{AccessRequests, People};
use policies::Policies;
use policies::in_force::FilePolicies;
use record::{Events, Record};
use tasks::Tasks;
use tools::Tools;

/// Every operation of every feature, in the order of the help.
pub(crate) const GROUPS: &[&operation::OperationGroup] = &[
    &tasks::COMMANDS,
    &approvals::GROUP,
    &grants::GROUP,
    &instructions::GROUP,
    &tools::GROUP,
    &models::GROUP,
    &filters::COMMANDS,
    &filters::GROUP,
    &policies::acl::GROUP,
    &people::GROUP,
    &policies::vpol::GROUP,
    &instance::AUTHORITY,
    &tasks::GROUP,
    &record::COMMANDS,
    &record::EVENTS,
    &record::AUDIT,
    &people::COMMANDS,
    &instance::COMMANDS,
    &instance::CONFIG,
];

/// What the composition root gives the features and the kernel.
pub struct Parts {
    pub paths: InstancePaths,
    pub settings: Settings,
    /// What is wrong with the settings, where the program goes on all the same; `doctor` shows it.
    pub mistakes: Vec<String>,
    pub host: Arc<dyn InstanceHost>,
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
    /// Shows and changes which models are asked.
    pub model_admin: Arc<dyn ModelAdmin>,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts")
            .field("paths", &self.paths)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// One instance, as this process sees it.
pub struct App {
    pub(crate) kernel: Kernel,
    pub(crate) host: Arc<dyn InstanceHost>,
    pub(crate) model_admin: Arc<dyn ModelAdmin>,
    pub(crate) paths: InstancePaths,
    pub(crate) settings: Settings,
    pub(crate) mistakes: Vec<String>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("paths", &self.paths).finish_non_exhaustive()
    }
}

impl App {
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let Parts { paths, settings, mistakes, host, model_admin, .. } = parts;
        let Parts { clock, ids, probe, zone, timing, provider, models, .. } = parts;
        let kernel = Kernel::new(KernelParts {
            host: Arc::<dyn InstanceHost>::clone(&host),
            clock,
            ids,
            probe,
            zone,
            timing,
            provider,
            models,
            policies: Arc::new(FilePolicies(Arc::clone(&host))),
            jobs: vec![Arc::new(Retention { days: settings.retention() })],
            guarded: paths.guarded(),
            settings: settings.for_runs(),
        });
        Self { kernel, host, model_admin, paths, settings, mistakes }
    }

    #[must_use]
    pub const fn approvals(&self) -> Approvals<'_> {
        Approvals { app: self }
    }

    #[must_use]
    pub const fn grants(&self) -> Grants<'_> {
        Grants { app: self }
    }

    #[must_use]
    pub const fn instructions(&self) -> Instructions<'_> {
        Instructions { app: self }
    }

    #[must_use]
    pub const fn people(&self) -> People<'_> {
        People { app: self }
    }

    #[must_use]
    pub const fn access_requests(&self) -> AccessRequests<'_> {
        AccessRequests { app: self }
    }

    #[must_use]
    pub const fn record(&self) -> Record<'_> {
        Record { app: self }
    }

    #[must_use]
    pub const fn events(&self) -> Events<'_> {
        Events { app: self }
    }

    #[must_use]
    pub const fn policies(&self) -> Policies<'_> {
        Policies { app: self }
    }

    #[must_use]
    pub const fn tools(&self) -> Tools<'_> {
        Tools { app: self }
    }

    #[must_use]
    pub const fn tasks(&self) -> Tasks<'_> {
        Tasks { app: self }
    }

    #[must_use]
    pub const fn instance(&self) -> Instance<'_> {
        Instance { app: self }
    }

    /// Stops what this process drives; what it came to is kept. Says whether it drives anything.
    pub fn stop(&self) -> bool {
        self.kernel.stop()
    }

    #[must_use]
    pub fn now(&self) -> Time {
        self.kernel.now()
    }

    #[must_use]
    pub const fn zone(&self) -> &jiff::tz::TimeZone {
        self.kernel.zone()
    }

    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The shortest form of an id that a person can type back.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn short(&self, id: impl ToString) -> Result<String, Problem> {
        self.kernel.short(id).await
    }
}
