//! `run`: one request through the whole journey.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::event::{CLI, ContainerKind, Incoming, TERMINAL};
use domain::id::{Id, kind};
use domain::limits::REQUEST_BYTES;
use domain::source::{Source, Text};
use engine::task::Opening;
use ledger::records::Event;
use ledger::{CommitError, Refusal};
use policy::admit::{Effect, MAIN};

use super::{App, Report};
use crate::pipeline::{self, Cast, Claim, Desk, Driver, Ended, Held, Setting, Surface, Watch};
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

/// An event that is durable, who takes part, the right to drive what it leads to, and what was asked.
pub(super) struct Errand<'a> {
    pub(super) desk: &'a Desk,
    pub(super) event: &'a Event,
    pub(super) cast: Cast,
    pub(super) held: Held,
    pub(super) request: &'a Request,
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
        let source_id: Id<kind::Batch> = desk.dated_id();
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
            watermark: None,
        };
        let ingested = pipeline::ingest(&desk, &incoming, || self.cast(&desk)).await?;
        let event = ingested.event;
        let cast = match ingested.new {
            Some(cast) => cast,
            None => self.cast_of(&desk, &event).await?,
        };
        let held = Held { epoch: pipeline::FIRST_EPOCH, claim: Claim::Ours };
        let errand = Errand { desk: &desk, event: &event, cast, held, request: &request };
        let ended = self.begin(errand).await?;
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
    pub(super) async fn cast_of(&self, desk: &Desk, event: &Event) -> Result<Cast, Problem> {
        let identity = desk.ledger.identity(event.sender).await?;
        let identity = identity.filter(|identity| !identity.is_erased());
        let identity = identity.ok_or_else(|| Problem::new(Code::ERASED, "whoever sent this was erased"))?;
        let sender = pipeline::sender(desk, &identity.platform, &identity.identifier).await?;
        Ok(Cast { sender, agent: Some(pipeline::agent(desk, MAIN).await?), driver: None })
    }

    /// From an event that is durable to the end of its task.
    pub(super) async fn begin(&self, errand: Errand<'_>) -> Result<Ended, Problem> {
        let Errand { desk, event, cast, request, .. } = &errand;
        let mut batch = desk.batch();
        let (admission, tags) = pipeline::admitted(desk, event, &cast.sender, &mut batch)?;
        if admission.effect == Effect::Deny {
            match desk.ledger.commit(batch).await {
                // Somebody else looked at it at the same moment, and wrote the same down.
                Ok(_) | Err(CommitError::Refused(Refusal::Present { .. })) => {}
                Err(error) => return Err(error.into()),
            }
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
        let setting = self.setting(errand)?;
        Driver::open(setting, opening, batch)?.drive().await
    }

    /// From the journal that another process left to the end of the task. Authority is asked again: what the policy
    /// of now does not allow is not done, whatever was allowed before.
    pub(super) async fn go_on(&self, errand: Errand<'_>) -> Result<Ended, Problem> {
        let Errand { desk, event, cast, request, .. } = &errand;
        let admission = pipeline::admission(event, &cast.sender);
        if admission.effect == Effect::Deny {
            return Err(self.not_admitted(event, &admission).await?);
        }
        let steps = pipeline::load(&desk.ledger, pipeline::task_of(event)).await?;
        let mut task = pipeline::fold(&steps)?;
        if task.status().is_over() {
            return Ok(Ended { status: task.status(), result: task.result().cloned(), worked: false });
        }
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
        let setting = self.setting(errand)?;
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

    fn setting(&self, errand: Errand<'_>) -> Result<Setting, Problem> {
        let Errand { desk, event, cast, held, request } = errand;
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
            driving: self.driven.begin(pipeline::task_of(event)),
        })
    }

    pub(super) async fn report(
        &self,
        event: &Event,
        ended: Ended,
        elapsed: Duration,
    ) -> Result<Report, Problem> {
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
