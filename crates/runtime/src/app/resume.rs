//! `resume`: what was interrupted is found, taken over if nobody is at it any more, and gone on with.

use std::path::PathBuf;
use std::sync::Arc;

use domain::event::{CLI, Direction};
use domain::id::TaskId;
use domain::task::Status;
use ledger::records::{AgentTask, Event, Lease};
use ledger::{Found, StoreError, Unverified};

use super::run::{Begun, Errand, Wish};
use super::undo::{Unshown, is_undo};
use super::{App, Patience, Report, Request, Thinking};
use crate::pipeline::{self, Desk, Ended, Held, Surface, Watch};
use crate::problem::{Code, Problem};

impl App {
    /// Goes on with a task, or with a request that was written down and never looked at. Without an id: with the
    /// only one there is. An answer is for the question that it asks.
    ///
    /// # Errors
    /// If there is nothing to go on with, another process is at it, or the ledger fails.
    pub async fn resume(
        &self,
        id: Option<&str>,
        answer: Option<&str>,
        surface: Arc<dyn Surface>,
        watch: Watch,
        patience: Patience,
    ) -> Result<Report, Problem> {
        if let Some(answer) = answer {
            self.holds_no_secret(answer)?;
        }
        let wish = answer.map_or(Wish::GoOn, |answer| Wish::Answer(answer.to_owned()));
        let desk = self.desk().await?;
        let started = desk.now();
        let (event, task) = match id {
            Some(id) => self.resumable(id).await?,
            None => self.only_unfinished().await?,
        };
        let over = async |task: Option<AgentTask>| match task.filter(|task| task.status.is_over()) {
            Some(task) => self.stored(&desk, &task).await.map(Some),
            None => Ok(None),
        };
        if let Some(ended) = over(task).await? {
            return self.report(&event, ended, desk.now().since(started)).await;
        }
        let held = self.take(&desk, &event).await?;
        // Looked at again: it may have gone on until a moment ago. From here on the lease says whether it does.
        let task = desk.ledger.task(pipeline::task_of(&event)).await?;
        self.is_ours(&event, task.as_ref()).await?;
        let running =
            task.as_ref().is_some_and(|task| matches!(task.status, Status::Running | Status::Waiting));
        let ended = match over(task).await? {
            Some(ended) => ended,
            None => {
                let cast = self.cast_of(&desk, &event).await?;
                let (text, workspace) = self.as_asked(&desk, &event).await?;
                let surface = if is_undo(&event, &text) { Arc::new(Unshown) } else { surface };
                let request =
                    Request { text, workspace, surface, watch, patience, thinking: Thinking::default() };
                let errand = Errand { desk: &desk, event: &event, cast, held, request: &request, wish };
                self.drive(errand, if running { Begun::Yes } else { Begun::No }).await?
            }
        };
        self.report(&event, ended, desk.now().since(started)).await
    }

    /// The right to drive what an event leads to, taken from whoever had it, if they are gone.
    pub(super) async fn take(&self, desk: &Desk, event: &Event) -> Result<Held, Problem> {
        let task = pipeline::task_of(event);
        let lease: Option<Lease> = desk.ledger.lease(&task.to_string()).await?;
        if lease.as_ref().is_some_and(|lease| self.is_at_it(desk, task, lease)) {
            let what = format!("{} is being worked on by another process", self.short(task).await?);
            return Err(Problem::new(Code::DRIVEN_ELSEWHERE, what)
                .safe("it goes on there")
                .remedy("regent tasks list"));
        }
        Ok(Held::after(lease))
    }

    /// Whether the holder of a lease still drives. One that lives says so often enough; one that is silent for longer is
    /// stopped or hangs, and what it still tries is refused.
    fn is_at_it(&self, desk: &Desk, task: TaskId, lease: &Lease) -> bool {
        let host = &self.parts.host;
        if lease.holder == host.holder() {
            self.driven.holds(task)
        } else {
            host.is_alive(&lease.holder) != Some(false) && lease.is_running(desk.now(), desk.pace.lease)
        }
    }

    /// Whether some process is at a task, and will go on with it by itself.
    pub(super) async fn is_driven(&self, desk: &Desk, task: TaskId) -> Result<bool, Problem> {
        let lease = desk.ledger.lease(&task.to_string()).await?;
        Ok(lease.is_some_and(|lease| self.is_at_it(desk, task, &lease)))
    }

    /// A task that is over: what it came to, from its journal. Nothing runs.
    async fn stored(&self, desk: &Desk, task: &AgentTask) -> Result<Ended, Problem> {
        let steps = pipeline::load(&desk.ledger, task.task_id).await?;
        let folded = pipeline::fold(&steps)?;
        let (status, result) = (folded.status(), folded.result().cloned());
        Ok(Ended { status, result, question: None, worked: false })
    }

    pub(super) async fn resumable(&self, id: &str) -> Result<(Event, Option<AgentTask>), Problem> {
        let ledger = self.ledger().await?;
        let nothing = |what: String| Problem::new(Code::NOTHING_TO_RESUME, what).remedy("regent tasks list");
        match self.find(id).await? {
            Found::Task(task) => {
                let event = ledger.event(task.payload).await?;
                let event =
                    event.ok_or_else(|| Problem::new(Code::DATABASE_DAMAGED, "the task's event is gone"))?;
                self.is_let_in(&event, Some(&task), id).await?;
                Ok((event, Some(*task)))
            }
            Found::Event(event) if event.direction == Direction::Out => {
                Err(nothing(format!("`{id}` is an answer, there is nothing to go on with")))
            }
            Found::Event(event) => {
                let task = ledger.task(pipeline::task_of(&event)).await?;
                let admission = ledger.admission_of(event.id).await?;
                let known =
                    ledger.shown_identity(event.sender).await?.is_some_and(|sender| !sender.is_erased());
                if admission.is_none() && known && !event.is_from_terminal() {
                    // What comes from outside is decided about in its turn, and the owner is asked as always.
                    self.admit_waiting().await?;
                }
                self.is_let_in(&event, task.as_ref(), id).await?;
                Ok((*event, task))
            }
            _ => Err(nothing(format!("`{id}` is neither a task nor an event"))),
        }
    }

    /// Nothing is begun or gone on with but what this instance took down: whoever can write the database could have put a
    /// request of the owner there.
    async fn is_ours(&self, event: &Event, task: Option<&AgentTask>) -> Result<(), Problem> {
        let from_outside = task.is_none() && !event.is_from_terminal();
        if from_outside || task.is_some_and(|task| task.status.is_over()) {
            return Ok(()); // nothing runs
        }
        let id = pipeline::task_of(event);
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
    async fn is_let_in(&self, event: &Event, task: Option<&AgentTask>, id: &str) -> Result<(), Problem> {
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
    pub(super) async fn as_asked(&self, desk: &Desk, event: &Event) -> Result<(String, PathBuf), Problem> {
        let gone = || Problem::new(Code::ERASED, "the text of this request was erased");
        let text = desk.ledger.text(&event.body).await?.ok_or_else(gone)?;
        let workspace = self.workspace_of(desk, event).await?.ok_or_else(gone)?;
        Ok((text, workspace))
    }

    /// The workspace alone, which may be known for longer than the words; nothing if it was erased. Only what the terminal
    /// wrote names one: nobody outside chooses where the work is done.
    pub(super) async fn workspace_of(&self, desk: &Desk, event: &Event) -> Result<Option<PathBuf>, Problem> {
        let Some(metadata) = event.metadata.filter(|_| event.adapter == CLI) else {
            return Ok(Some(PathBuf::new()));
        };
        let Some(metadata) = desk.ledger.body(&metadata).await? else { return Ok(None) };
        let unreadable = |error: serde_json::Error| Problem::new(Code::DATABASE_DAMAGED, error.to_string());
        let metadata: serde_json::Value = serde_json::from_slice(&metadata).map_err(unreadable)?;
        let workspace = metadata.get("workspace").and_then(serde_json::Value::as_str);
        let unnamed = || Problem::new(Code::DATABASE_DAMAGED, "the request names no workspace");
        workspace.ok_or_else(unnamed).map(|workspace| Some(PathBuf::from(workspace)))
    }
}
