//! `run` and `resume`: one request through the whole journey.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::event::{CLI, ContainerKind, Direction, Incoming, TERMINAL};
use domain::id::{Id, kind};
use domain::limits::REQUEST_BYTES;
use domain::source::{Source, Text};
use domain::task::Status;
use engine::task::Opening;
use ledger::Found;
use ledger::records::{AgentTask, Event, Lease};
use policy::admit::{Effect, MAIN};

use super::{App, Report};
use crate::pipeline::{self, Cast, Desk, Driver, Ended, Held, Setting, Surface, Watch};
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
            container_kind: ContainerKind::Dm,
            container_id: None,
            sender: "owner".into(),
            content: request.text.clone(),
            content_type: None,
            occurred_at: None,
            metadata: Some(serde_json::json!({ "workspace": request.workspace.to_string_lossy() })),
        };
        let ingested = pipeline::ingest(&desk, &incoming, || self.cast(&desk)).await?;
        let event = ingested.event;
        let cast = match ingested.new {
            Some(cast) => cast,
            None => self.cast_of(&desk, &event).await?,
        };
        let held = Held { epoch: pipeline::FIRST_EPOCH, from: None };
        let ended = self.begin(&desk, &event, cast, held, &request).await?;
        self.report(&event, ended, desk.now().since(started)).await
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
            Some(task) if task.status.is_over() => self.stored(&desk, &task).await?,
            task => {
                let held = self.take(&desk, &event).await?;
                let cast = self.cast_of(&desk, &event).await?;
                let (text, workspace) = self.as_asked(&desk, &event).await?;
                let request = Request { text, workspace, surface, watch };
                match task {
                    Some(task) if task.status == Status::Running => {
                        self.go_on(&desk, &event, cast, held, &request).await?
                    }
                    _ => self.begin(&desk, &event, cast, held, &request).await?,
                }
            }
        };
        self.report(&event, ended, desk.now().since(started)).await
    }

    /// The owner asks, the main agent answers, and this process is at it.
    async fn cast(&self, desk: &Desk) -> Result<Cast, ledger::StoreError> {
        let user = self.parts.host.user();
        let sender = pipeline::owner(desk, &user, self.parts.settings.get("owner.name")).await?;
        let agent = Some(pipeline::agent(desk, MAIN).await?);
        Ok(Cast { sender, agent, driver: Some(self.parts.host.holder()) })
    }

    /// Who takes part in an event that was written down before.
    async fn cast_of(&self, desk: &Desk, event: &Event) -> Result<Cast, Problem> {
        let identity = desk.ledger.identity(event.sender).await?;
        let identity = identity.ok_or_else(|| Problem::new(Code::ERASED, "whoever sent this was erased"))?;
        let sender = pipeline::sender(desk, &identity.platform, &identity.identifier).await?;
        Ok(Cast { sender, agent: Some(pipeline::agent(desk, MAIN).await?), driver: None })
    }

    /// The right to drive what an event leads to, taken from whoever had it, if they are gone.
    async fn take(&self, desk: &Desk, event: &Event) -> Result<Held, Problem> {
        let task = pipeline::task_of(event);
        let lease: Option<Lease> = desk.ledger.lease(&task.to_string()).await?;
        let Some(lease) = lease else { return Ok(Held { epoch: pipeline::FIRST_EPOCH, from: Some(0) }) };
        let mine = lease.holder == self.parts.host.holder();
        let alive = self.parts.host.is_alive(&lease.holder).unwrap_or(desk.now() < lease.until);
        if alive && !mine {
            let what = format!("{} is being worked on by another process", self.short(task).await?);
            return Err(Problem::new(Code::DRIVEN_ELSEWHERE, what)
                .safe("it goes on there")
                .remedy("regent tasks list"));
        }
        Ok(Held { epoch: lease.epoch + 1, from: Some(lease.epoch) })
    }

    /// From an event that is durable to the end of its task.
    async fn begin(
        &self,
        desk: &Desk,
        event: &Event,
        cast: Cast,
        held: Held,
        request: &Request,
    ) -> Result<Ended, Problem> {
        let mut batch = desk.batch();
        let (admission, tags) = pipeline::admitted(desk, event, &cast.sender, &mut batch)?;
        if admission.effect == Effect::Deny {
            desk.ledger.commit(batch).await?;
            return Err(self.not_admitted(event, &admission).await?);
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
        let setting = self.setting(desk, event, cast, held, request)?;
        Driver::open(setting, opening, batch)?.drive().await
    }

    /// From the journal that another process left to the end of the task. Authority is asked again: what the policy
    /// of now does not allow is not done, whatever was allowed before.
    async fn go_on(
        &self,
        desk: &Desk,
        event: &Event,
        cast: Cast,
        held: Held,
        request: &Request,
    ) -> Result<Ended, Problem> {
        let admission = pipeline::admission(event, &cast.sender);
        if admission.effect == Effect::Deny {
            return Err(self.not_admitted(event, &admission).await?);
        }
        let steps = pipeline::load(&desk.ledger, pipeline::task_of(event)).await?;
        let mut task = pipeline::fold(&steps)?;
        let opening = task.opening();
        let same = opening.request.text == request.text
            && opening.workspace == request.workspace.to_string_lossy()
            && opening.principal == admission.principal;
        if !same {
            let what = "the journal does not belong to the request that it hangs on";
            return Err(Problem::new(Code::DATABASE_DAMAGED, what)
                .safe("nothing was done")
                .remedy("regent audit verify"));
        }
        task.narrow(admission.trust, &admission.tools);
        let setting = self.setting(desk, event, cast, held, request)?;
        Driver::take_over(setting, task).await?.drive().await
    }

    async fn not_admitted(
        &self,
        event: &Event,
        admission: &policy::admit::Admission,
    ) -> Result<Problem, Problem> {
        let why: Vec<String> = admission.reasons.iter().map(ToString::to_string).collect();
        let short = self.short(event.id).await?;
        Ok(Problem::new(Code::NOT_ADMITTED, format!("not let in: {}", why.join("; ")))
            .safe("the event is kept, nothing was done with it")
            .remedy(format!("regent why {short}")))
    }

    fn setting(
        &self,
        desk: &Desk,
        event: &Event,
        cast: Cast,
        held: Held,
        request: &Request,
    ) -> Result<Setting, Problem> {
        let silent = || Problem::new(Code::INTERNAL, "nobody is there to answer");
        Ok(Setting {
            desk: desk.clone(),
            surface: Arc::clone(&request.surface),
            watch: Arc::clone(&request.watch),
            holder: self.parts.host.holder(),
            held,
            event: event.clone(),
            salt: cast.sender.salt,
            agent: cast.agent.ok_or_else(silent)?.identity.id,
        })
    }

    /// A task that is over: what it came to, from its journal. Nothing runs.
    async fn stored(&self, desk: &Desk, task: &AgentTask) -> Result<Ended, Problem> {
        let steps = pipeline::load(&desk.ledger, task.task_id).await?;
        let folded = pipeline::fold(&steps)?;
        Ok(Ended { status: folded.status(), result: folded.result().cloned(), worked: false })
    }

    async fn resumable(&self, id: &str) -> Result<(Event, Option<AgentTask>), Problem> {
        let ledger = self.ledger().await?;
        let nothing = |what: String| Problem::new(Code::NOTHING_TO_RESUME, what).remedy("regent tasks list");
        match self.find(id).await? {
            Found::Task(task) => {
                let event = ledger.event(task.payload).await?;
                let event =
                    event.ok_or_else(|| Problem::new(Code::DATABASE_DAMAGED, "the task's event is gone"))?;
                Ok((event, Some(*task)))
            }
            Found::Event(event) if event.direction == Direction::Out => {
                Err(nothing(format!("`{id}` is an answer, there is nothing to go on with")))
            }
            Found::Event(event) => {
                let task = ledger.task(pipeline::task_of(&event)).await?;
                if task.is_none() && ledger.admission_of(event.id).await?.is_some() {
                    let what = format!("`{id}` was not let in, so there is nothing to go on with");
                    return Err(Problem::new(Code::NOT_ADMITTED, what).remedy(format!("regent why {id}")));
                }
                Ok((*event, task))
            }
            _ => Err(nothing(format!("`{id}` is neither a task nor an event"))),
        }
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

    /// The request and the workspace as they were written down with the event. Only what the terminal wrote names a
    /// workspace: nobody outside chooses where the work is done.
    async fn as_asked(&self, desk: &Desk, event: &Event) -> Result<(String, PathBuf), Problem> {
        let gone = || Problem::new(Code::ERASED, "the text of this request was erased");
        let text = desk.ledger.text(&event.body).await?.ok_or_else(gone)?;
        let Some(metadata) = event.metadata.filter(|_| event.adapter == CLI) else {
            return Ok((text, PathBuf::new()));
        };
        let metadata = desk.ledger.body(&metadata).await?.ok_or_else(gone)?;
        let unreadable = |error: serde_json::Error| Problem::new(Code::DATABASE_DAMAGED, error.to_string());
        let metadata: serde_json::Value = serde_json::from_slice(&metadata).map_err(unreadable)?;
        let workspace = metadata.get("workspace").and_then(serde_json::Value::as_str);
        let workspace = workspace
            .ok_or_else(|| Problem::new(Code::DATABASE_DAMAGED, "the request names no workspace"))?;
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
