//! A simulated process: an `App` on a runtime of its own, which is dropped with everything on it when it crashes.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use app::instance::paths::InstancePaths;
use app::instance::settings::Settings;
use app::record::{BadLine, Receipt};
use app::tasks::Report;
use app::{App, Parts, Problem, Surface};
use app::{ModelOptions, RunRequest, WaitMode};
use domain::id::TaskId;
use domain::probe::{Probe, Silent};
use domain::task::FinalResult;
use ledger::Store;
use ledger::chain::MemoryVault;
use tokio::runtime::{Builder, Runtime};

use super::dice::Dice;
use super::flaky::{Facts, Fate, Flaky, Gate, Gates};
use crate::host::{Place, ProbeBox};
use crate::{CountingIds, ManualClock, TestHost};

/// What a process can be asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    Ingest { line: String },
    Run { text: String },
    Resume { id: Option<String> },
    Verify,
}

/// What came of it.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time is made, and taken apart at once")]
pub(super) enum Answer {
    Taken(Result<Result<Receipt, BadLine>, Problem>),
    Ended(Result<Report, Problem>),
    Verified(Result<bool, Problem>),
}

/// The processes that live.
pub(super) type Alive = Arc<Mutex<BTreeSet<String>>>;

/// What all processes share.
#[derive(Clone, Debug)]
pub(super) struct Ground<'a> {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) alive: Alive,
    pub(super) shown: Arc<Shown>,
    pub(super) folder: &'a Path,
    pub(super) vault: Arc<MemoryVault>,
}

/// What the person has seen, whichever process showed it.
#[derive(Debug, Default)]
pub(super) struct Shown(Mutex<Vec<(TaskId, FinalResult)>>);

impl Shown {
    pub(super) fn take(&self) -> Vec<(TaskId, FinalResult)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Surface for Shown {
    fn show(&self, task: TaskId, result: &FinalResult) -> Result<(), String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((task, result.clone()));
        Ok(())
    }
}

/// Somebody who only looks, past every fault.
pub(super) fn onlooker(ground: &Ground<'_>) -> App {
    let host = TestHost {
        place: Place::Given(Arc::clone(&ground.store)),
        holder: "onlooker".into(),
        alive: Arc::clone(&ground.alive),
        sighted: true,
        probe: ProbeBox(Arc::new(Silent)),
        vault: Arc::<MemoryVault>::clone(&ground.vault),
        backups: Vec::new(),
        access: Arc::default(),
        policies: Arc::default(),
    };
    app(ground, host, Arc::new(CountingIds::seeded(0)))
}

fn app(ground: &Ground<'_>, host: TestHost, ids: Arc<CountingIds>) -> App {
    let probe = Arc::clone(&host.probe.0);
    App::new(Parts {
        paths: InstancePaths::under(&ground.folder.join(".house")),
        settings: Settings::default(),
        mistakes: Vec::new(),
        host: Arc::new(host),
        clock: Arc::<ManualClock>::clone(&ground.clock),
        ids,
        probe,
        zone: jiff::tz::TimeZone::UTC,
        // A seed is a history: what began together is heard together.
        timing: app::Timing { in_step: true, ..app::Timing::default() },
        provider: Arc::new(llm::Reflex::default()),
        models: Arc::new(app::NoModels),
        model_admin: Arc::new(app::models::NoModelAdmin),
    })
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) name: String,
    pub(super) gates: Arc<Gates>,
    pub(super) facts: Arc<Facts>,
    /// Steps for which it is not let on.
    pub(super) asleep: usize,
    app: Arc<App>,
    at_work: Vec<(Errand, Arc<Mutex<Option<Answer>>>)>,
    runtime: Runtime,
}

impl Process {
    /// `sighted`: it can tell whether another process lives.
    pub(super) fn start(ground: &Ground<'_>, number: u64, seed: u64, sighted: bool) -> Self {
        let mut dice = Dice::seeded(seed ^ number.wrapping_mul(0x9e37_79b9));
        let (gates, facts) = (Arc::<Gates>::default(), Arc::<Facts>::default());
        let name = format!("p{number}");
        ground.alive.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
        let ids = Arc::new(CountingIds::seeded(dice.throw()));
        let store = Flaky {
            inner: Arc::clone(&ground.store),
            gates: Arc::clone(&gates),
            facts: Arc::clone(&facts),
            dice: Mutex::new(dice),
        };
        let probe: Arc<dyn Probe> = Arc::<Facts>::clone(&facts);
        let host = TestHost {
            place: Place::Given(Arc::new(store)),
            holder: name.clone(),
            alive: Arc::clone(&ground.alive),
            sighted,
            probe: ProbeBox(probe),
            vault: Arc::<MemoryVault>::clone(&ground.vault),
            backups: Vec::new(),
            access: Arc::default(),
            policies: Arc::default(),
        };
        let app = Arc::new(app(ground, host, ids));
        let runtime =
            Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        Self { name, gates, facts, asleep: 0, app, at_work: Vec::new(), runtime }
    }

    /// Counts the steps it sleeps through.
    pub(super) const fn is_awake(&mut self) -> bool {
        let awake = self.asleep == 0;
        self.asleep = self.asleep.saturating_sub(1);
        awake
    }

    pub(super) fn is_idle(&self) -> bool {
        self.at_work.is_empty()
    }

    pub(super) const fn errands(&self) -> usize {
        self.at_work.len()
    }

    pub(super) fn begin(&mut self, errand: Errand, ground: &Ground<'_>) {
        let (app, slot) = (Arc::clone(&self.app), Arc::new(Mutex::new(None)));
        self.at_work.push((errand.clone(), Arc::clone(&slot)));
        let shown: Arc<dyn Surface> = Arc::<Shown>::clone(&ground.shown);
        let workspace = ground.folder.to_owned();
        drop(self.runtime.spawn(async move {
            let answer = match errand {
                Errand::Ingest { line } => Answer::Taken(app.events().ingest(&line).await),
                Errand::Run { text } => {
                    let request = RunRequest {
                        text,
                        workspace,
                        surface: shown,
                        wait: WaitMode::Leave,
                        options: ModelOptions::default(),
                    };
                    Answer::Ended(Box::pin(app.tasks().run(request)).await)
                }
                Errand::Resume { id } => Answer::Ended(
                    Box::pin(app.tasks().resume(id.as_deref(), None, shown, WaitMode::Leave)).await,
                ),
                Errand::Verify => Answer::Verified(
                    app.record().verify(&app::record::Check::default()).await.map(|report| report.is_sound()),
                ),
            };
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        }));
        self.settle();
    }

    pub(super) fn waiting(&self) -> Vec<Gate> {
        self.gates.waiting()
    }

    /// Lets one gate open, and everything that follows from it happen up to the next gates.
    pub(super) fn open(&self, at: usize, fate: Fate) {
        self.gates.open(at, fate);
        self.settle();
    }

    /// A clock that stands still moves on only when nothing is left to do, on any thread of the runtime: so this
    /// returns when every task waits at a gate or is done, however long that takes on this machine.
    fn settle(&self) {
        self.runtime.block_on(async { tokio::time::sleep(Duration::from_millis(1)).await });
    }

    /// What is done since the last time.
    pub(super) fn answers(&mut self) -> Vec<(Errand, Answer)> {
        let mut done = Vec::new();
        self.at_work.retain(|(errand, slot)| {
            let answer = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            let open = answer.is_none();
            done.extend(answer.map(|answer| (errand.clone(), answer)));
            open
        });
        done
    }

    /// Its memory is gone: the app, the ledger, every future. Nothing of it is ever polled again.
    pub(super) fn crash(self, ground: &Ground<'_>) {
        ground.alive.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
        self.runtime.shutdown_background();
    }
}
