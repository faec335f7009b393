//! `run` and `resume`: one request through the whole journey.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::event::{CLI, Incoming, TERMINAL};
use domain::id::{EventId, Id, TaskId, kind};
use domain::limits::REQUEST_BYTES;
use domain::source::{Source, Text};
use domain::task::{Cause, Directive, FinalResult, Status};
use engine::task::Opening;
use ledger::Found;
use ledger::records::{AgentTask, Event};
use policy::admit::{Effect, MAIN};
use serde::Serialize;

use super::App;
use crate::pipeline::{self, Cast, Desk, Driver, Ended, Surface, Watch};
use crate::problem::{Code, Problem};

/// What a person asks for, and where.
#[derive(Clone)]
pub struct Request {
    pub text: String,
    /// The folder that the work is confined to.
    pub workspace: PathBuf,
    pub surface: Arc<dyn Surface>,
    pub watch: Watch,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("text", &self.text)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub task: TaskId,
    /// The shortest form of the id that can be typed back.
    pub short: String,
    pub event: EventId,
    pub status: Status,
    pub result: Option<FinalResult>,
    /// Whether anything was left to do.
    pub worked: bool,
    #[serde(skip)]
    pub elapsed: Duration,
}

impl Report {
    /// What a script is told: the code of what is not as it should be, if anything.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        let result = self.result.as_ref()?;
        let why = result.reason.clone().unwrap_or_else(|| "too little of it could be met".into());
        let why_command = format!("regent why {}", self.short);
        if self.status == Status::Stopped && result.directive != Directive::Abandon {
            let what = "the result is there, but it could not be handed over";
            return Some(
                Problem::new(Code::OUTPUT, what).remedy(format!("regent tasks show {}", self.short)),
            );
        }
        match (result.directive, result.cause) {
            (Directive::Accept, _) => None,
            (Directive::Success, _) => {
                let unmet: Vec<String> = result
                    .unmet()
                    .map(|verdict| format!("{} ({})", verdict.criterion, verdict.evidence))
                    .collect();
                Some(
                    Problem::new(Code::UNMET, format!("delivered, but not met: {}", unmet.join("; ")))
                        .remedy(why_command),
                )
            }
            (Directive::Abandon, Some(Cause::NeedsModel)) => {
                let what = "I need a model for that; this version has none yet";
                Some(
                    Problem::new(Code::NEEDS_MODEL, what)
                        .tried(format!("my own reflexes: {why}"))
                        .remedy("regent explain R4010"),
                )
            }
            (Directive::Abandon, Some(Cause::Refused)) => {
                Some(Problem::new(Code::REFUSED, why).safe("the call did not run").remedy(why_command))
            }
            (Directive::Abandon, Some(Cause::Failed | Cause::Unplannable) | None) => {
                Some(Problem::new(Code::STOPPED, format!("stopped: {why}")).remedy(why_command))
            }
        }
    }
}

impl App {
    /// One request through the whole journey.
    ///
    /// # Errors
    /// If it cannot be taken in or let in, or the ledger fails. That the work itself failed is a report.
    pub async fn run(&self, request: Request) -> Result<Report, Problem> {
        check(&request)?;
        let desk = self.desk().await?;
        let started = desk.now();
        let source_id: Id<kind::Batch> = desk.id();
        let incoming = Incoming {
            adapter: CLI.into(),
            source_id: source_id.to_string(),
            platform: Some(TERMINAL.into()),
            account: None,
            container_kind: domain::event::ContainerKind::Dm,
            container_id: None,
            sender: "owner".into(),
            content: request.text.clone(),
            content_type: None,
            occurred_at: None,
            metadata: Some(serde_json::json!({ "workspace": request.workspace.to_string_lossy() })),
        };
        let ingested = pipeline::ingest(&desk, &incoming, || self.cast(&desk)).await?;
        let cast = match ingested.new {
            Some(cast) => cast,
            None => self.cast_of(&desk, &ingested.event).await?,
        };
        let ended = self.begin(&desk, &ingested.event, cast, &request).await?;
        self.report(&ingested.event, ended, desk.now().since(started)).await
    }

    /// Goes on with a task, or with a request that was written down and never looked at. Without an id: with the
    /// only one there is.
    ///
    /// # Errors
    /// If there is nothing to go on with, another process is at it, or the ledger fails.
    pub async fn resume(
        &self,
        id: Option<&str>,
        surface: Arc<dyn Surface>,
        watch: Watch,
    ) -> Result<Report, Problem> {
        let desk = self.desk().await?;
        let started = desk.now();
        let (event, task) = match id {
            Some(id) => self.resumable(id).await?,
            None => self.only_unfinished().await?,
        };
        let ended = match task {
            Some(task) if task.status != Status::Running => self.stored(&desk, &task).await?,
            Some(task) => self.go_on(&desk, &event, &task, surface, watch).await?,
            None => {
                let (text, workspace) = self.as_asked(&desk, &event).await?;
                let cast = self.cast_of(&desk, &event).await?;
                self.begin(&desk, &event, cast, &Request { text, workspace, surface, watch }).await?
            }
        };
        self.report(&event, ended, desk.now().since(started)).await
    }

    /// The owner asks, the main agent answers.
    async fn cast(&self, desk: &Desk) -> Result<Cast, ledger::StoreError> {
        let user = self.parts.host.user();
        let sender = pipeline::owner(desk, &user, self.parts.settings.get("owner.name")).await?;
        Ok(Cast { sender, agent: Some(pipeline::agent(desk, MAIN).await?) })
    }

    /// Who takes part in an event that was written down before.
    async fn cast_of(&self, desk: &Desk, event: &Event) -> Result<Cast, Problem> {
        let identity = desk.ledger.identity(event.sender).await?;
        let identity = identity.ok_or_else(|| Problem::new(Code::ERASED, "whoever sent this was erased"))?;
        let sender = pipeline::sender(desk, &identity.platform, &identity.identifier).await?;
        Ok(Cast { sender, agent: Some(pipeline::agent(desk, MAIN).await?) })
    }

    /// From an event that is durable to the end of its task.
    async fn begin(
        &self,
        desk: &Desk,
        event: &Event,
        cast: Cast,
        request: &Request,
    ) -> Result<Ended, Problem> {
        let mut batch = desk.batch();
        let (admission, tags) = pipeline::admitted(desk, event, &cast.sender, &mut batch)?;
        if admission.effect == Effect::Deny {
            desk.ledger.commit(batch).await?;
            let why: Vec<String> = admission.reasons.iter().map(ToString::to_string).collect();
            let short = self.short(event.id).await?;
            return Err(Problem::new(Code::NOT_ADMITTED, format!("not let in: {}", why.join("; ")))
                .safe("the event is kept, nothing was done with it")
                .remedy(format!("regent why {short}")));
        }
        let opening = Opening {
            task: pipeline::task_of(event),
            agent: MAIN.into(),
            tags,
            principal: admission.principal.clone(),
            trust: admission.trust,
            tools: admission.tools.clone(),
            request: Text::new(request.text.clone(), source(&admission)),
            workspace: request.workspace.to_string_lossy().into_owned(),
        };
        let setting =
            self.setting(desk, event, cast, Arc::clone(&request.surface), Arc::clone(&request.watch))?;
        Driver::open(setting, opening, batch)?.drive().await
    }

    async fn go_on(
        &self,
        desk: &Desk,
        event: &Event,
        task: &AgentTask,
        surface: Arc<dyn Surface>,
        watch: Watch,
    ) -> Result<Ended, Problem> {
        let lease = desk.ledger.lease(&task.task_id.to_string()).await?;
        let lease = lease.ok_or_else(|| Problem::new(Code::DATABASE_DAMAGED, "the task has no lease"))?;
        let alive = self.parts.host.is_alive(&lease.holder);
        let mine = lease.holder == self.parts.host.holder();
        if !mine && alive.unwrap_or(desk.now() < lease.until) {
            let what = format!("{} is being worked on by another process", self.short(task.task_id).await?);
            return Err(Problem::new(Code::DRIVEN_ELSEWHERE, what)
                .safe("it goes on there")
                .remedy("regent tasks list"));
        }
        let cast = self.cast_of(desk, event).await?;
        let steps = pipeline::load(&desk.ledger, task.task_id).await?;
        let setting = self.setting(desk, event, cast, surface, watch)?;
        Driver::take_over(setting, &steps, lease).await?.drive().await
    }

    fn setting(
        &self,
        desk: &Desk,
        event: &Event,
        cast: Cast,
        surface: Arc<dyn Surface>,
        watch: Watch,
    ) -> Result<pipeline::Setting, Problem> {
        let silent = || Problem::new(Code::INTERNAL, "nobody is there to answer");
        let agent = cast.agent.ok_or_else(silent)?.identity.id;
        let (desk, holder, event) = (desk.clone(), self.parts.host.holder(), event.clone());
        Ok(pipeline::Setting { desk, surface, watch, holder, event, salt: cast.sender.salt, agent })
    }

    /// A task that is over: what it came to, from its journal. Nothing runs.
    async fn stored(&self, desk: &Desk, task: &AgentTask) -> Result<Ended, Problem> {
        let steps = pipeline::load(&desk.ledger, task.task_id).await?;
        let folded = pipeline::fold(&steps)?;
        Ok(Ended { status: folded.status(), result: folded.result().cloned(), worked: false })
    }

    async fn resumable(&self, id: &str) -> Result<(Event, Option<AgentTask>), Problem> {
        let ledger = self.ledger().await?;
        match self.find(id).await? {
            Found::Task(task) => {
                let event = ledger.event(task.payload).await?;
                let event =
                    event.ok_or_else(|| Problem::new(Code::DATABASE_DAMAGED, "the task's event is gone"))?;
                Ok((event, Some(*task)))
            }
            Found::Event(event) => {
                if let Some(task) = ledger.task(pipeline::task_of(&event)).await? {
                    return Ok((*event, Some(task)));
                }
                if ledger.admission_of(event.id).await?.is_some() {
                    let what = format!("`{id}` was not let in, so there is nothing to go on with");
                    return Err(Problem::new(Code::NOT_ADMITTED, what).remedy(format!("regent why {id}")));
                }
                Ok((*event, None))
            }
            _ => Err(Problem::new(Code::NOTHING_TO_RESUME, format!("`{id}` is neither a task nor an event"))
                .remedy("regent tasks list")),
        }
    }

    async fn only_unfinished(&self) -> Result<(Event, Option<AgentTask>), Problem> {
        const SHOWN: u32 = 5;
        let ledger = self.ledger().await?;
        let mut found = Vec::new();
        for task in ledger.tasks_in(Status::Running, SHOWN).await? {
            found.push(task.task_id.to_string());
        }
        for event in ledger.undecided(CLI).await? {
            found.push(event.id.to_string());
        }
        match found.as_slice() {
            [] => {
                Err(Problem::new(Code::NOTHING_TO_RESUME, "nothing is unfinished")
                    .remedy("regent tasks list"))
            }
            [only] => self.resumable(only).await,
            several => {
                let mut problem = Problem::new(
                    Code::NOTHING_TO_RESUME,
                    format!("{} are unfinished; say which", several.len()),
                );
                for id in several {
                    problem = problem.remedy(format!("regent resume {}", self.short(id).await?));
                }
                Err(problem)
            }
        }
    }

    /// The request and the workspace as they were written down with the event.
    async fn as_asked(&self, desk: &Desk, event: &Event) -> Result<(String, PathBuf), Problem> {
        let gone = || Problem::new(Code::ERASED, "the text of this request was erased");
        let text = desk.ledger.text(&event.body).await?.ok_or_else(gone)?;
        let metadata = match &event.metadata {
            Some(digest) => desk.ledger.body(digest).await?.ok_or_else(gone)?,
            None => Vec::new(),
        };
        let metadata: serde_json::Value = serde_json::from_slice(&metadata).unwrap_or_default();
        let workspace = metadata.get("workspace").and_then(serde_json::Value::as_str).unwrap_or_default();
        Ok((text, PathBuf::from(workspace)))
    }

    async fn report(&self, event: &Event, ended: Ended, elapsed: Duration) -> Result<Report, Problem> {
        let task = pipeline::task_of(event);
        let Ended { status, result, worked } = ended;
        Ok(Report { task, short: self.short(task).await?, event: event.id, status, result, worked, elapsed })
    }
}

/// The owner's typed words are the owner's; anybody else's carry who they are.
fn source(admission: &policy::admit::Admission) -> Source {
    if admission.principal.is_owner() {
        Source::Owner
    } else {
        Source::Principal { entity: admission.principal.entity(), trust: admission.trust }
    }
}

/// What can be known to be wrong before anything is written.
fn check(request: &Request) -> Result<(), Problem> {
    let Request { text, workspace, .. } = request;
    if text.trim().is_empty() {
        return Err(Problem::new(Code::EMPTY_REQUEST, "the request is empty")
            .safe("nothing was written")
            .remedy("regent run \"how many Rust files are here?\""));
    }
    if text.len() > REQUEST_BYTES {
        let what = format!("the request has {} bytes, more than {REQUEST_BYTES}", text.len());
        return Err(Problem::new(Code::REQUEST_TOO_LONG, what).safe("nothing was written"));
    }
    let unusable = |why: String| Problem::new(Code::WORKSPACE, why).safe("nothing was written");
    // It is kept as text, and a name that is changed on the way would be another folder.
    let name = workspace.display();
    workspace.to_str().ok_or_else(|| unusable(format!("the name of `{name}` is not UTF-8")))?;
    tools::Workspace::new(workspace.clone()).map_err(|failure| unusable(failure.message))?;
    Ok(())
}
