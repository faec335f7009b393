//! One request through the whole journey: [`Kernel::run`] ingests it, admits it, drives its task and delivers the answer.

mod admitted;
mod authority;
mod cancel;
mod history;
mod instructions;
mod provider;
mod resume;
mod unreadable;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::event::{CLI, ContainerKind, Incoming, TERMINAL};
use domain::id::{Id, IdentityId, TaskId, kind};
use domain::limits::REQUEST_BYTES;
use domain::task::FinalResult;
use domain::{Stop, Time};
use ledger::records::{Event, Salt};
use policy::admit::MAIN;

pub(crate) use authority::AuthoritySnapshot;
pub use history::TaskResult;
pub use instructions::order_instructions;
pub(crate) use instructions::read_instructions;
pub(crate) use provider::ProviderKind;
pub use provider::{ModelOptions, ModelSource, NoModels};
pub use resume::{UNDO_CLASS, UNDO_INTENT, is_undo};

use crate::deliver::Surface;
use crate::drive::{DriveOutcome, DryRun};
use crate::ingest::{self, EventParties};
use crate::kernel::Kernel;
use crate::lease::{LeaseClaim, TaskLease};
use crate::services::Services;
use crate::{admit, parties};
use domain::problem::{Code, Problem};

/// The media type of a request that is a call. Only the owner's terminal sends such.
pub const DIRECT_CALL: &str = "application/json";

/// What a person asks for, and where.
#[derive(Clone)]
pub struct RunRequest {
    pub text: String,
    /// The folder that the work is confined to.
    pub workspace: PathBuf,
    /// Where the answer is delivered.
    pub surface: Arc<dyn Surface>,
    pub wait: WaitMode,
    pub options: ModelOptions,
}

impl std::fmt::Debug for RunRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunRequest")
            .field("text", &self.text)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}

/// What a process does while a task can only go on after an approval.
#[derive(Clone, Debug, Default)]
pub enum WaitMode {
    /// It ends. A later `resume` goes on.
    #[default]
    Leave,
    /// It stays until the answer is there, or until this asks it to stop.
    Stay(Stop),
}

/// A surface that shows nothing: the caller reports the result itself.
#[derive(Clone, Copy, Debug)]
pub struct Unshown;

impl Surface for Unshown {
    fn show(&self, _: TaskId, _: &FinalResult) -> Result<(), String> {
        Ok(())
    }
}

/// What a run is asked to do with its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestedAction {
    Continue,
    /// Answer the question that the task asked back.
    Answer(String),
    Cancel,
}

/// One run: an event that is durable, who takes part, the right to drive its task, and what was asked for.
#[derive(Clone)]
pub(crate) struct RunContext<'k> {
    pub(crate) kernel: &'k Kernel,
    pub(crate) services: &'k Services,
    pub(crate) event: &'k Event,
    pub(crate) parties: EventParties,
    pub(crate) lease: TaskLease,
    pub(crate) request: &'k RunRequest,
    pub(crate) action: RequestedAction,
}

impl RunContext<'_> {
    pub(crate) fn task(&self) -> TaskId {
        admit::task_of(self.event)
    }

    pub(crate) fn now(&self) -> Time {
        self.services.now()
    }

    /// Of the person whose words the chain carries.
    pub(crate) const fn salt(&self) -> &Salt {
        &self.parties.sender.salt
    }

    /// The identity of the agent that answers.
    pub(crate) fn agent(&self) -> Result<IdentityId, Problem> {
        let none = || Problem::new(Code::INTERNAL, "nobody is there to answer");
        Ok(self.parties.agent.as_ref().ok_or_else(none)?.identity.id)
    }
}

impl Kernel {
    /// One request of the owner through the whole journey. Returns its event and what its task came to.
    ///
    /// # Errors
    /// If it cannot be ingested or is not admitted, or the ledger fails. That the work itself failed is an outcome.
    #[tracing::instrument(level = "info", name = "run", skip_all)]
    pub async fn run(
        &self,
        request: &RunRequest,
        content_type: Option<&str>,
    ) -> Result<(Event, DriveOutcome), Problem> {
        let services = &self.services().await?;
        self.check_for_secrets(&request.text)?;
        let incoming = incoming(services, request, content_type);
        let ingested = ingest::ingest(services, &incoming, || self.own_parties(services)).await?;
        let event = ingested.event;
        let parties = match ingested.new {
            Some(parties) => parties,
            None => self.parties_of(services, &event).await?,
        };
        let context = RunContext {
            kernel: self,
            services,
            event: &event,
            parties,
            lease: TaskLease::first(),
            request,
            action: RequestedAction::Continue,
        };
        let outcome = context.drive(false).await?;
        Ok((event, outcome))
    }

    /// What would be done, with which tools, and what would be asked. Models may be asked for the plan; nothing is done,
    /// and nothing is written.
    ///
    /// # Errors
    /// If it would not be admitted, or the ledger fails.
    pub async fn plan(&self, request: &RunRequest) -> Result<DryRun, Problem> {
        check_request(request)?;
        self.check_for_secrets(&request.text)?;
        let services = &self.services().await?;
        let parties = self.own_parties(services).await?;
        let incoming = incoming(services, request, None);
        let mut batch = services.batch();
        let event = &ingest::draft(services, &incoming, &parties, &mut batch).await?;
        let (lease, action) = (TaskLease::first(), RequestedAction::Continue);
        let context = RunContext { kernel: self, services, event, parties, lease, request, action };
        Box::pin(context.dry_run(batch)).await
    }

    /// What the owner types is kept for good, and a secret must not be: checked before anything is written.
    ///
    /// # Errors
    /// If the text holds the value of a secret, or the secrets cannot be read.
    pub fn check_for_secrets(&self, text: &str) -> Result<(), Problem> {
        match self.parts.host.secrets()?.found_in_text(text) {
            None => Ok(()),
            Some(name) => {
                let what = format!("the value of the secret `{name}` stands in what you wrote");
                Err(Problem::new(Code::SECRETS, what)
                    .safe("nothing was written")
                    .remedy("regent explain R4030"))
            }
        }
    }

    /// The owner asks, the main agent answers, and this process drives.
    async fn own_parties(&self, services: &Services) -> Result<EventParties, ledger::StoreError> {
        let user = self.parts.host.user();
        let sender = parties::owner(services, &user, &self.parts.settings.owner_name).await?;
        let agent = Some(parties::agent(services, MAIN).await?);
        Ok(EventParties { sender, agent, driver: Some(self.parts.host.holder()) })
    }

    /// The parties of an event that is in the ledger already.
    ///
    /// # Errors
    /// If the sender was erased, or the ledger fails.
    pub async fn parties_of(&self, services: &Services, event: &Event) -> Result<EventParties, Problem> {
        let identity = services.ledger.identity(event.sender).await?;
        let identity = identity.filter(|identity| !identity.is_erased());
        let identity = identity.ok_or_else(|| Problem::new(Code::ERASED, "whoever sent this was erased"))?;
        let sender = parties::sender(services, &identity.platform, &identity.identifier).await?;
        Ok(EventParties { sender, agent: Some(parties::agent(services, MAIN).await?), driver: None })
    }
}

impl RunContext<'_> {
    /// Drives the task until it is over. If another process used the last of a budget at the same moment, the round was
    /// refused as a whole: the task is read again from the ledger, and the budget then says no.
    async fn drive(mut self, mut begun: bool) -> Result<DriveOutcome, Problem> {
        const TRIES: usize = 4;
        let (services, task) = (self.services, self.task());
        for tried in 1.. {
            let outcome = match begun {
                false => Box::pin(self.clone().begin()).await,
                true => Box::pin(self.clone().go_on()).await,
            };
            match outcome {
                Err(problem) if matches!(problem.code, Code::BUDGET | Code::OVERTAKEN) && tried < TRIES => {
                    begun = !services.ledger.steps(task).await?.is_empty();
                    let lease = services.ledger.lease(&task.to_string()).await?;
                    if lease.is_some_and(|lease| lease.epoch == self.lease.epoch) {
                        self.lease.claim = LeaseClaim::Held;
                    }
                }
                Err(problem) if problem.code == Code::DRIVEN_ELSEWHERE => {
                    return cancel::find_cancelled(services, task).await?.ok_or(problem);
                }
                outcome => return outcome,
            }
        }
        Err(Problem::new(Code::INTERNAL, "the task could not be driven"))
    }
}

/// What the owner typed at their terminal, as an event.
fn incoming(services: &Services, request: &RunRequest, content_type: Option<&str>) -> Incoming {
    let source_id: Id<kind::Batch> = services.dated_id();
    Incoming {
        adapter: CLI.into(),
        source_id: source_id.to_string(),
        platform: Some(TERMINAL.into()),
        account: None,
        container_kind: ContainerKind::Dm,
        container_id: None,
        sender: "owner".into(),
        content: request.text.clone(),
        content_type: content_type.map(Into::into),
        occurred_at: None,
        metadata: Some(serde_json::json!({ "workspace": request.workspace.to_string_lossy() })),
        watermark: None,
    }
}

/// What can be known to be wrong with a request before anything is written.
///
/// # Errors
/// What is wrong.
pub fn check_request(request: &RunRequest) -> Result<(), Problem> {
    let RunRequest { text, workspace, .. } = request;
    if text.trim().is_empty() {
        return Err(Problem::new(Code::EMPTY_REQUEST, "the request is empty")
            .safe("nothing was written")
            .remedy("regent run \"how many Rust files are here?\""));
    }
    if text.len() > REQUEST_BYTES {
        let what = format!("the request has {} bytes, more than {REQUEST_BYTES}", text.len());
        return Err(Problem::new(Code::REQUEST_TOO_LONG, what).safe("nothing was written"));
    }
    check_workspace(workspace)
}

/// Whether a folder can be worked in.
///
/// # Errors
/// Why it cannot.
pub fn check_workspace(workspace: &Path) -> Result<(), Problem> {
    let unusable = |why: String| Problem::new(Code::WORKSPACE, why).safe("nothing was written");
    // It is kept as text, and a name that is changed on the way would be another folder.
    let name = workspace.display();
    workspace.to_str().ok_or_else(|| unusable(format!("the name of `{name}` is not UTF-8")))?;
    tools::Workspace::new(workspace.to_owned()).map_err(|failure| unusable(failure.message))?;
    Ok(())
}
