//! Resume: a task that was interrupted is found, taken over if no process drives it any more, and driven to its end.

use std::path::PathBuf;
use std::sync::Arc;

use domain::event::{CLI, Direction};
use domain::id::TaskId;
use domain::task::Status;
use ledger::records::{AgentTask, Event, Lease};
use ledger::{Found, StoreError, Unverified};
use llm::DirectCalls;

use super::{DIRECT_CALL, ModelOptions, RequestedAction, RunContext, RunRequest, Unshown, WaitMode};
use crate::admit::task_of;
use crate::deliver::Surface;
use crate::drive::DriveOutcome;
use crate::journal;
use crate::kernel::Kernel;
use crate::lease::TaskLease;
use crate::services::Services;
use domain::problem::{Code, Problem};

impl Kernel {
    /// Goes on with a task, or with a request that was ingested and not decided about. Without an id: with the only one
    /// there is. An answer is for the question that the task asked back.
    ///
    /// # Errors
    /// If there is nothing to go on with, another process drives it, or the ledger fails.
    #[tracing::instrument(level = "info", name = "resume", skip_all)]
    pub async fn resume(
        &self,
        id: Option<&str>,
        answer: Option<&str>,
        surface: Arc<dyn Surface>,
        wait: WaitMode,
    ) -> Result<(Event, DriveOutcome), Problem> {
        if let Some(answer) = answer {
            self.check_for_secrets(answer)?;
        }
        let action =
            answer.map_or(RequestedAction::Continue, |answer| RequestedAction::Answer(answer.to_owned()));
        let services = &self.services().await?;
        let (event, task) = match id {
            Some(id) => self.resumable(id).await?,
            None => self.only_unfinished().await?,
        };
        let over = async |task: Option<AgentTask>| match task.filter(|task| task.status.is_over()) {
            Some(task) => stored_outcome(services, &task).await.map(Some),
            None => Ok(None),
        };
        if let Some(outcome) = over(task).await? {
            return Ok((event, outcome));
        }
        let lease = self.claim(services, &event).await?;
        // Read again: it may have gone on until a moment ago. From here on the lease says whether it does.
        let task = services.ledger.task(task_of(&event)).await?;
        self.check_ours(&event, task.as_ref()).await?;
        let begun =
            task.as_ref().is_some_and(|task| matches!(task.status, Status::Running | Status::Waiting));
        if let Some(outcome) = over(task).await? {
            return Ok((event, outcome));
        }
        let parties = self.parties_of(services, &event).await?;
        let (text, workspace) = self.request_of(services, &event).await?;
        let surface = if is_undo(&event, &text) { Arc::new(Unshown) } else { surface };
        let request = RunRequest { text, workspace, surface, wait, options: ModelOptions::default() };
        let context =
            RunContext { kernel: self, services, event: &event, parties, lease, request: &request, action };
        let outcome = context.drive(begun).await?;
        Ok((event, outcome))
    }

    /// The lease to drive what an event leads to, taken from a process that is gone.
    ///
    /// # Errors
    /// If another process drives it, or the ledger fails.
    pub async fn claim(&self, services: &Services, event: &Event) -> Result<TaskLease, Problem> {
        let task = task_of(event);
        let lease: Option<Lease> = services.ledger.lease(&task.to_string()).await?;
        if lease.as_ref().is_some_and(|lease| self.still_drives(services, task, lease)) {
            let what = format!("{} is being worked on by another process", self.short(task).await?);
            return Err(Problem::new(Code::DRIVEN_ELSEWHERE, what)
                .safe("it goes on there")
                .remedy("regent tasks list"));
        }
        Ok(TaskLease::after(lease))
    }

    /// Whether the holder of a lease still drives. One that lives says so often enough; one that is silent for longer is
    /// stopped or hangs, and what it still tries is refused.
    fn still_drives(&self, services: &Services, task: TaskId, lease: &Lease) -> bool {
        let host = &self.parts.host;
        if lease.holder == host.holder() {
            self.active.holds(task)
        } else {
            host.is_alive(&lease.holder) != Some(false)
                && lease.is_running(services.now(), services.timing.lease)
        }
    }

    /// Whether some process drives a task, and will go on with it by itself.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn is_driven(&self, services: &Services, task: TaskId) -> Result<bool, Problem> {
        let lease = services.ledger.lease(&task.to_string()).await?;
        Ok(lease.is_some_and(|lease| self.still_drives(services, task, &lease)))
    }

    pub(super) async fn resumable(&self, id: &str) -> Result<(Event, Option<AgentTask>), Problem> {
        let ledger = self.ledger().await?;
        let nothing = |what: String| Problem::new(Code::NOTHING_TO_RESUME, what).remedy("regent tasks list");
        match self.find(id).await? {
            Found::Task(task) => {
                let event = ledger.event(task.payload).await?;
                let event =
                    event.ok_or_else(|| Problem::new(Code::DATABASE_DAMAGED, "the task's event is gone"))?;
                self.check_admitted(&event, Some(&task), id).await?;
                Ok((event, Some(*task)))
            }
            Found::Event(event) if event.direction == Direction::Out => {
                Err(nothing(format!("`{id}` is an answer, there is nothing to go on with")))
            }
            Found::Event(event) => {
                let task = ledger.task(task_of(&event)).await?;
                let admission = ledger.admission_of(event.id).await?;
                let known =
                    ledger.shown_identity(event.sender).await?.is_some_and(|sender| !sender.is_erased());
                if admission.is_none() && known && !event.is_from_terminal() {
                    // What comes from outside is decided about in its turn, and the owner is asked as always.
                    self.admit_waiting().await?;
                }
                self.check_admitted(&event, task.as_ref(), id).await?;
                Ok((*event, task))
            }
            _ => Err(nothing(format!("`{id}` is neither a task nor an event"))),
        }
    }

    /// Nothing is begun or gone on with but what this instance took down: whoever can write the database could have put a
    /// request of the owner there.
    async fn check_ours(&self, event: &Event, task: Option<&AgentTask>) -> Result<(), Problem> {
        let from_outside = task.is_none() && !event.is_from_terminal();
        if from_outside || task.is_some_and(|task| task.status.is_over()) {
            return Ok(()); // nothing runs
        }
        let id = task_of(event);
        let verified = self.ledger().await?.verify_work(event, id).await;
        let missing = || StoreError::from(Unverified::Missing { kind: "task" });
        match verified.and_then(|found| found.ok_or_else(missing)) {
            Ok(_) => Ok(()),
            Err(StoreError::Unverified(why)) => {
                let remedy = vec![format!("regent cancel {}", self.short(id).await?)];
                Err(Problem { remedy, ..Problem::from(&why) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What was decided about and did not begin is not gone on with: the decision stands.
    async fn check_admitted(&self, event: &Event, task: Option<&AgentTask>, id: &str) -> Result<(), Problem> {
        if task.is_some_and(|task| task.steps > 0) {
            return Ok(());
        }
        let Some(admission) = self.ledger().await?.admission_of(event.id).await? else { return Ok(()) };
        let what = match admission.effect.as_str() {
            "allow" if event.is_from_terminal() => return Ok(()),
            "allow" => format!("`{id}` was let in; nobody answers messages from outside yet"),
            "ask" => format!("`{id}` waits until you say whether to let it in"),
            _ => format!("`{id}` was not let in, so there is nothing to go on with; ask again"),
        };
        Err(Problem::new(Code::NOT_ADMITTED, what)
            .safe("nothing was done")
            .remedy(format!("regent why {}", self.short(event.id).await?)))
    }

    async fn only_unfinished(&self) -> Result<(Event, Option<AgentTask>), Problem> {
        const SHOWN: u32 = 5;
        let found = self.ledger().await?.unfinished(SHOWN).await?;
        match found.as_slice() {
            [] => {
                Err(Problem::new(Code::NOTHING_TO_RESUME, "nothing is unfinished")
                    .remedy("regent tasks list"))
            }
            [only] => self.resumable(&only.task_id.to_string()).await,
            several => {
                let what = format!("{} are unfinished; say which", several.len());
                let mut problem = Problem::new(Code::NOTHING_TO_RESUME, what);
                for task in several {
                    problem = problem.remedy(format!("regent resume {}", self.short(task.task_id).await?));
                }
                Err(problem)
            }
        }
    }

    /// The request and the workspace as they were written down with the event.
    /// # Errors
    /// If it was erased, or the ledger fails.
    pub async fn request_of(&self, services: &Services, event: &Event) -> Result<(String, PathBuf), Problem> {
        let gone = || Problem::new(Code::ERASED, "the text of this request was erased");
        let text = services.ledger.text(&event.body).await?.ok_or_else(gone)?;
        let workspace = self.workspace_of(services, event).await?.ok_or_else(gone)?;
        Ok((text, workspace))
    }

    /// The workspace alone, which may be known for longer than the words; nothing if it was erased. Only what the terminal
    /// wrote names one: nobody outside chooses where the work is done.
    /// # Errors
    /// If what is kept of it is unreadable, or the ledger fails.
    pub async fn workspace_of(&self, services: &Services, event: &Event) -> Result<Option<PathBuf>, Problem> {
        let Some(metadata) = event.metadata.filter(|_| event.adapter == CLI) else {
            return Ok(Some(PathBuf::new()));
        };
        let Some(metadata) = services.ledger.body(&metadata).await? else { return Ok(None) };
        let unreadable = |error: serde_json::Error| Problem::new(Code::DATABASE_DAMAGED, error.to_string());
        let metadata: serde_json::Value = serde_json::from_slice(&metadata).map_err(unreadable)?;
        let workspace = metadata.get("workspace").and_then(serde_json::Value::as_str);
        let unnamed = || Problem::new(Code::DATABASE_DAMAGED, "the request names no workspace");
        workspace.ok_or_else(unnamed).map(|workspace| Some(PathBuf::from(workspace)))
    }
}

/// A task that is over: what it came to, from its journal. Nothing runs.
async fn stored_outcome(services: &Services, task: &AgentTask) -> Result<DriveOutcome, Problem> {
    let steps = journal::load(&services.ledger, task.task_id).await?;
    let folded = journal::fold(&steps)?;
    let (status, result) = (folded.status(), folded.result().cloned());
    Ok(DriveOutcome { status, result, question: None, worked: false })
}

/// The task class of an undo, and how its intent begins.
pub const UNDO_CLASS: &str = "undo";
pub const UNDO_INTENT: &str = "undo ";

/// Whether a request is an undo. Its caller reports what was reverted, so its answer is not shown.
#[must_use]
pub fn is_undo(event: &Event, text: &str) -> bool {
    let direct = event.adapter == CLI && event.content_type == DIRECT_CALL;
    direct
        && DirectCalls::read(text)
            .is_ok_and(|asked| asked.task_class == UNDO_CLASS && asked.intent.starts_with(UNDO_INTENT))
}
