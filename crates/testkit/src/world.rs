//! The test world: a house, a folder to work in, and a person at a terminal.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use app::instance::backup::{KeptBackup, Occasion};
use app::instance::paths::InstancePaths;
use app::instance::settings::{Layers, Settings};
use app::tasks::Report;
use app::tools::DirectRequest;
use app::{App, Parts, PolicyKind, Problem, Surface};
use app::{ModelOptions, RunRequest, WaitMode};
use domain::Clock as _;
use domain::id::TaskId;
use domain::probe::{Probe, Silent};
use domain::task::FinalResult;
use ledger::Store;
use ledger::chain::{MemoryVault, Seal};
use ledger::memory::MemoryStore;
use llm::{Model, Provider, Reflex};
use tempfile::TempDir;

use crate::host::{Place, Policies, ProbeBox};
use crate::{CountingIds, ManualClock, TestHost};

/// Which store a product test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    InMemory,
    InSqlite,
    InPostgres,
}

impl Kept {
    /// For what is about the database: order, locks, several processes at once.
    pub const ALL: [Self; 3] = [Self::InMemory, Self::InSqlite, Self::InPostgres];

    /// For everything else: all of them with `cargo xtask test --full`, and without PostgreSQL every day. That both databases do the
    /// same is the conformance suite's to show.
    pub fn each() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kept| *kept != Self::InPostgres || services::is_full())
    }
}

/// A new database on the shared server, its schema made already.
///
/// # Errors
/// If there is no server, or it refuses.
pub async fn database() -> Result<String, String> {
    let template = format!("schema_{}", ledger_sql::PostgresStore::known_schema());
    let fill = async |url: &str| {
        ledger_sql::PostgresStore::open(url).await.map(drop).map_err(|error| error.to_string())
    };
    services::shared(services::Flavour::Plain)?.create_database_from(&template, fill).await
}

pub struct World {
    pub app: App,
    pub clock: Arc<ManualClock>,
    pub folder: TempDir,
    shown: Arc<Shown>,
    place: Place,
    alive: Arc<Mutex<BTreeSet<String>>>,
    processes: u64,
    setup: Setup,
}

/// How the house is set up, for every process that starts on it.
#[derive(Clone)]
struct Setup {
    settings: Settings,
    backups: Vec<KeptBackup>,
    vault: Arc<MemoryVault>,
    provider: Arc<dyn Provider>,
    models: Arc<dyn app::ModelSource>,
    access: Arc<Mutex<Option<String>>>,
    policies: Policies,
    zone: jiff::tz::TimeZone,
    timing: app::Timing,
}

/// A model that is always there.
struct Somebody(Arc<dyn Model>);

#[async_trait::async_trait]
impl app::ModelSource for Somebody {
    async fn choose(&self) -> Result<Option<Arc<dyn Model>>, Problem> {
        Ok(Some(Arc::clone(&self.0)))
    }
}

/// What the person has seen.
#[derive(Debug, Default)]
struct Shown(Mutex<Vec<FinalResult>>);

impl Surface for Shown {
    fn show(&self, _task: TaskId, result: &FinalResult) -> Result<(), String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(result.clone());
        Ok(())
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl World {
    pub async fn new(kept: Kept) -> Self {
        Self::probed(kept, Arc::new(Silent)).await
    }

    /// A world on a store of the test's own: one that lacks a guard.
    #[must_use]
    pub fn on(store: Arc<dyn Store>) -> Self {
        Self::at(tempfile::tempdir().expect("a folder"), Place::Given(store), Arc::new(Silent))
    }

    /// A world in which somebody watches the named points.
    pub async fn probed(kept: Kept, probe: Arc<dyn Probe>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = match kept {
            Kept::InMemory => Place::Given(Arc::new(MemoryStore::default())),
            Kept::InSqlite => Place::File(folder.path().join(".regent.db")),
            Kept::InPostgres => Place::Url(database().await.expect("a database")),
        };
        Self::at(folder, place, probe)
    }

    fn at(folder: TempDir, place: Place, probe: Arc<dyn Probe>) -> Self {
        let clock = Arc::new(ManualClock::at("2026-11-15T08:30:00Z"));
        let alive = Arc::default();
        let setup = Setup {
            settings: Settings::default(),
            backups: Vec::new(),
            vault: Arc::new(MemoryVault::new([7; 32])),
            provider: Arc::new(Reflex::default()),
            models: Arc::new(app::NoModels),
            access: Arc::default(),
            policies: Policies::default(),
            zone: jiff::tz::TimeZone::UTC,
            timing: app::Timing::default(),
        };
        let app = app(&place, &clock, &alive, &folder, 1, probe, &setup);
        Self { app, clock, folder, shown: Arc::default(), place, alive, processes: 1, setup }
    }

    /// The process dies, and another one starts on the same house.
    pub fn restart(&mut self) {
        self.restart_probed(Arc::new(Silent));
    }

    pub fn restart_probed(&mut self, probe: Arc<dyn Probe>) {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.start_another(probe);
    }

    /// Another process starts on the same house while the first one lives.
    pub fn start_another(&mut self, probe: Arc<dyn Probe>) {
        self.app = self.another(probe);
    }

    /// One more process, beside the one of this world.
    pub fn another(&mut self, probe: Arc<dyn Probe>) -> App {
        self.processes += 1;
        app(&self.place, &self.clock, &self.alive, &self.folder, self.processes, probe, &self.setup)
    }

    /// The settings file says this from now on, and another process has read it.
    pub fn set(&mut self, text: &str) {
        let file = Some(("regent.toml".to_owned(), text.to_owned()));
        self.setup.settings = Settings::layer(&Layers { file, ..Layers::default() }).expect("settings");
        self.restart();
    }

    /// Another provider answers from now on, in another process.
    pub fn think(&mut self, provider: Arc<dyn Provider>) {
        self.setup.provider = provider;
        self.restart();
    }

    /// This model thinks about what is beyond the reflexes from now on, in another process.
    pub fn think_with(&mut self, model: Arc<dyn Model>) {
        self.setup.models = Arc::new(Somebody(model));
        self.restart();
    }

    /// Nobody thinks about what is beyond the reflexes any more, in another process.
    pub fn think_with_nobody(&mut self) {
        self.setup.models = Arc::new(app::NoModels);
        self.restart();
    }

    /// A model may take no longer than this from now on, in another process.
    pub fn impatient(&mut self, model: std::time::Duration) {
        self.setup.timing.model = model;
        self.restart();
    }

    /// Calls that begin together are heard together from now on, in another process.
    pub fn in_step(&mut self) {
        self.setup.timing.in_step = true;
        self.restart();
    }

    /// The owner lives in this zone from now on, and another process knows.
    pub fn live_in(&mut self, zone: &str) {
        self.setup.zone = jiff::tz::TimeZone::get(zone).expect("a zone");
        self.restart();
    }

    /// A backup was made, and another process knows of it.
    pub fn backed_up(&mut self, path: &str) {
        self.setup.backups.push(KeptBackup {
            folder: path.into(),
            at: self.clock.now(),
            occasion: Occasion::Asked,
            manifest: None,
            there: true,
            unfinished: false,
        });
        self.restart();
    }

    /// Somebody has written an access policy file of the house, by hand; or nobody can read it, and why.
    pub fn policy(&self, file: &str, text: Result<&str, &str>) -> &Self {
        let mut files = self.setup.policies.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert((PolicyKind::Acl, file.to_owned()), text.map(str::to_owned).map_err(str::to_owned));
        drop(files);
        self
    }

    /// Somebody has written a file of validation policies, by hand.
    pub fn vpol(&self, file: &str, text: &str) -> &Self {
        let mut files = self.setup.policies.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert((PolicyKind::Vpol, file.to_owned()), Ok(text.to_owned()));
        drop(files);
        self
    }

    /// Somebody has deleted it.
    pub fn no_policy(&self, file: &str) -> &Self {
        let mut files = self.setup.policies.lock().unwrap_or_else(PoisonError::into_inner);
        files.remove(&(PolicyKind::Acl, file.to_owned()));
        drop(files);
        self
    }

    /// The same for a file of validation policies.
    pub fn no_vpol(&self, file: &str) -> &Self {
        let mut files = self.setup.policies.lock().unwrap_or_else(PoisonError::into_inner);
        files.remove(&(PolicyKind::Vpol, file.to_owned()));
        drop(files);
        self
    }

    pub fn file(&self, path: &str, content: &str) -> &Self {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("a file");
        self
    }

    #[must_use]
    pub fn request(&self, text: &str) -> RunRequest {
        let surface: Arc<dyn Surface> = Arc::<Shown>::clone(&self.shown);
        RunRequest {
            text: text.into(),
            workspace: self.folder.path().into(),
            surface,
            wait: WaitMode::Leave,
            options: ModelOptions::default(),
        }
    }

    /// # Errors
    /// As [`App::run`].
    pub async fn run(&self, text: &str) -> Result<Report, Problem> {
        self.app.tasks().run(self.request(text)).await
    }

    /// A call by the owner's own hand.
    ///
    /// # Errors
    /// As [`App::call`].
    pub async fn call(
        &self,
        tool: &str,
        args: serde_json::Value,
        confirmed: bool,
    ) -> Result<Report, Problem> {
        let RunRequest { workspace, surface, .. } = self.request("");
        let tool = tool.to_owned();
        self.app
            .tools()
            .call(DirectRequest { tool, args, confirmed, workspace, surface, wait: WaitMode::Leave })
            .await
    }

    /// # Errors
    /// As [`App::resume`].
    pub async fn resume(&self, id: Option<&str>) -> Result<Report, Problem> {
        let surface: Arc<dyn Surface> = Arc::<Shown>::clone(&self.shown);
        self.app.tasks().resume(id, None, surface, WaitMode::Leave).await
    }

    /// Answers the question that a task asks.
    ///
    /// # Errors
    /// As [`App::resume`].
    pub async fn answer(&self, id: &str, answer: &str) -> Result<Report, Problem> {
        let surface: Arc<dyn Surface> = Arc::<Shown>::clone(&self.shown);
        self.app.tasks().resume(Some(id), Some(answer), surface, WaitMode::Leave).await
    }

    /// The texts that were delivered, in order.
    #[must_use]
    pub fn seen(&self) -> Vec<String> {
        let shown = self.shown.0.lock().unwrap_or_else(PoisonError::into_inner);
        shown.iter().map(|result| result.text.clone()).collect()
    }

    /// Where its ledger is.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// The seal of this house, with what it keeps beside its database.
    #[must_use]
    pub fn seal(&self) -> Seal {
        Seal::new(domain::id::NodeId::from_bits(1), Arc::<MemoryVault>::clone(&self.setup.vault))
    }

    /// The database, for whoever wants to look at it from outside.
    pub async fn store(&self) -> Arc<dyn Store> {
        self.place.open().await
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn app(
    place: &Place,
    clock: &Arc<ManualClock>,
    alive: &Arc<Mutex<BTreeSet<String>>>,
    folder: &TempDir,
    process: u64,
    probe: Arc<dyn Probe>,
    setup: &Setup,
) -> App {
    let holder = format!("process-{process}");
    alive.lock().unwrap_or_else(PoisonError::into_inner).insert(holder.clone());
    let host = TestHost {
        place: place.clone(),
        holder,
        alive: Arc::clone(alive),
        sighted: true,
        probe: ProbeBox(Arc::clone(&probe)),
        vault: Arc::<MemoryVault>::clone(&setup.vault),
        backups: setup.backups.clone(),
        access: Arc::clone(&setup.access),
        policies: Arc::clone(&setup.policies),
    };
    App::new(Parts {
        // Apart from what its tools work on: they do not reach it.
        paths: InstancePaths::under(&folder.path().join(".house")),
        settings: setup.settings.clone(),
        mistakes: Vec::new(),
        host: Arc::new(host),
        clock: Arc::<ManualClock>::clone(clock),
        ids: Arc::new(CountingIds::seeded(process)),
        probe,
        zone: setup.zone.clone(),
        timing: setup.timing,
        provider: Arc::clone(&setup.provider),
        models: Arc::clone(&setup.models),
        model_admin: Arc::new(app::models::NoModelAdmin),
    })
}
