//! `run`: one request through the whole journey.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use broker::{Registry, ToolSpec};
use domain::call::ToolCard;
use domain::event::{CLI, ContainerKind, Incoming, TERMINAL};
use domain::id::{Id, kind};
use domain::limits::REQUEST_BYTES;
use domain::source::{Source, Text};
use domain::task::Status;
use domain::{Stop, Tags};
use engine::task::Opening;
use ledger::records::{CallStatus, Event};
use ledger::{Batch, CommitError, Ledger, Refusal};
use policy::acl::{Effect, Permissions};
use policy::admit::{Admission, Admitted, MAIN};
use policy::vpol::Vpol;

use super::thinking::{Kind, Thinking, is_choosable};
use super::{App, Report};
use crate::pipeline::{
    self, AskModel, Authority, Basis, Cast, Claim, Desk, Driver, Ended, Ground, Held, Rehearsal, Rights,
    Setting, Sitting, Surface, Turn, Watch,
};
use crate::policies::InForce;
use crate::problem::{Code, Problem};
use crate::toolbox::Toolbox;

/// The media type of a request that is a call: only the owner's terminal has such.
pub(super) const DIRECT: &str = "application/json";

/// What a person asks for, and where.
#[derive(Clone)]
pub struct Request {
    pub text: String,
    /// The folder that the work is confined to.
    pub workspace: PathBuf,
    pub surface: Arc<dyn Surface>,
    pub watch: Watch,
    pub patience: Patience,
    pub thinking: Thinking,
}

/// What a process does while nothing can go on before a person has answered.
#[derive(Clone, Debug, Default)]
pub enum Patience {
    /// It ends; whoever resumes the task goes on.
    #[default]
    Leave,
    /// It stays until they have, or until this is asked to stop.
    Stay(Stop),
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("text", &self.text)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}

/// Whether a task has a journal already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    No,
    Yes,
}

/// An event that is durable, who takes part, the right to drive what it leads to, and what was asked.
#[derive(Clone)]
pub(super) struct Errand<'a> {
    pub(super) desk: &'a Desk,
    pub(super) event: &'a Event,
    pub(super) cast: Cast,
    pub(super) held: Held,
    pub(super) request: &'a Request,
    pub(super) wish: Wish,
}

/// What is wanted of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    GoOn,
    /// This is what its question is answered with.
    Answer(String),
    Cancel,
}

impl App {
    /// One request through the whole journey.
    ///
    /// # Errors
    /// If it cannot be taken in or let in, or the ledger fails. That the work itself failed is a report.
    pub async fn run(&self, request: Request) -> Result<Report, Problem> {
        check(&request)?;
        self.carry(&request, None).await
    }

    /// From the owner's words at their terminal to the report about them.
    pub(super) async fn carry(
        &self,
        request: &Request,
        content_type: Option<&str>,
    ) -> Result<Report, Problem> {
        let desk = &self.desk().await?;
        self.holds_no_secret(&request.text)?;
        let started = desk.now();
        let incoming = incoming(desk, request, content_type);
        let ingested = pipeline::ingest(desk, &incoming, || self.cast(desk)).await?;
        let event = &ingested.event;
        let cast = match ingested.new {
            Some(cast) => cast,
            None => self.cast_of(desk, event).await?,
        };
        let held = Held { epoch: pipeline::FIRST_EPOCH, claim: Claim::Ours };
        let errand = Errand { desk, event, cast, held, request, wish: Wish::GoOn };
        let ended = self.drive(errand, Begun::No).await?;
        self.report(event, ended, desk.now().since(started)).await
    }

    /// Before anything is written: what the owner types is kept, and a secret must not be.
    pub(super) fn holds_no_secret(&self, text: &str) -> Result<(), Problem> {
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

    /// Until the task is over. Where another process spent the last of a budget at the same moment, nothing of the round
    /// was written: it is taken up again from what is durable, and then the budget says no.
    pub(super) async fn drive(&self, errand: Errand<'_>, begun: Begun) -> Result<Ended, Problem> {
        const TRIES: usize = 4;
        let (desk, task) = (errand.desk, pipeline::task_of(errand.event));
        let (mut errand, mut begun) = (errand, begun);
        for tried in 1.. {
            let ended = match begun {
                Begun::No => Box::pin(self.begin(errand.clone())).await,
                Begun::Yes => Box::pin(self.go_on(errand.clone())).await,
            };
            match ended {
                Err(problem) if matches!(problem.code, Code::BUDGET | Code::OVERTAKEN) && tried < TRIES => {
                    let steps = desk.ledger.steps(task).await?;
                    begun = if steps.is_empty() { Begun::No } else { Begun::Yes };
                    let lease = desk.ledger.lease(&task.to_string()).await?;
                    if lease.is_some_and(|lease| lease.epoch == errand.held.epoch) {
                        errand.held.claim = Claim::Ours;
                    }
                }
                Err(problem) if problem.code == Code::DRIVEN_ELSEWHERE => {
                    return self.cancelled_meanwhile(desk, task).await?.ok_or(problem);
                }
                ended => return ended,
            }
        }
        Err(Problem::new(Code::INTERNAL, "the task could not be driven"))
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
    async fn begin(&self, errand: Errand<'_>) -> Result<Ended, Problem> {
        let Errand { desk, event, cast, .. } = &errand;
        let policies = self.in_force(desk).await?;
        let mut batch = desk.batch();
        policies.enter(&mut batch);
        let admission = pipeline::admission(self.sitting(desk, &policies), event, &cast.sender).await?;
        let first = (Turn::First, None);
        let salt = Some(&cast.sender.salt);
        let tags = pipeline::enter(desk, event, salt, &admission, first, &mut batch)?;
        if admission.effect != Effect::Allow {
            pipeline::never_begun(desk, event, &errand.held, tags, &mut batch);
            match desk.ledger.commit(batch).await {
                // Somebody else looked at it at the same moment, and wrote the same down.
                Ok(_) | Err(CommitError::Refused(Refusal::Present { .. })) => {}
                Err(error) => return Err(error.into()),
            }
            return Err(self.not_admitted(event, &admission).await?);
        }
        let then = admission.permissions.clone();
        let moment = Moment { app: self, errand: &errand, then, begun: OnceLock::new() };
        let mut driver = self.opened(&moment, &admission, tags, batch).await?;
        if errand.wish == Wish::Cancel {
            driver.cancel(BY_OWNER)?;
        }
        driver.drive().await
    }

    /// A driver for a new task, with nothing written yet.
    async fn opened<'a>(
        &'a self,
        moment: &'a Moment<'a>,
        admission: &Admission,
        tags: Tags,
        batch: Batch,
    ) -> Result<Driver<'a>, Problem> {
        let Errand { desk, event, request, .. } = moment.errand;
        let vpol = admission.picked.as_ref().map(|picked| picked.vpol.clone());
        let setting = self.setting(moment, vpol).await?;
        let steered = setting.basis.provider.knows_another_way();
        moment.begun.get_or_init(|| if steered { Kind::Steered } else { Kind::First });
        let opening = Opening {
            task: pipeline::task_of(event),
            agent: admission.persona.clone(),
            tags,
            principal: admission.principal.clone(),
            trust: admission.trust,
            tools: admission.tools.clone(),
            request: Text::new(request.text.clone(), source(admission)),
            workspace: request.workspace.to_string_lossy().into_owned(),
            steering: steered.then(|| self.parts.settings.steering()),
            cards: if steered { cards(&setting.basis.authority.registry) } else { Vec::new() },
            history: if steered { self.history(desk, &request.workspace).await? } else { Vec::new() },
            assessment: None,
        };
        Driver::open(setting, opening, batch)
    }

    /// What would be done, with which tools, and what would be asked. Models may be asked for the plan; nothing is done,
    /// and nothing is written.
    ///
    /// # Errors
    /// If it would not be let in, or the ledger fails.
    pub async fn plan(&self, request: &Request) -> Result<Rehearsal, Problem> {
        check(request)?;
        self.holds_no_secret(&request.text)?;
        let desk = &self.desk().await?;
        let cast = self.cast(desk).await?;
        let incoming = incoming(desk, request, None);
        let mut batch = desk.batch();
        let event = &pipeline::draft(desk, &incoming, &cast, &mut batch).await?;
        let policies = self.in_force(desk).await?;
        let admission = pipeline::admission(self.sitting(desk, &policies), event, &cast.sender).await?;
        let salt = Some(&cast.sender.salt);
        let tags = pipeline::enter(desk, event, salt, &admission, (Turn::First, None), &mut batch)?;
        if admission.effect != Effect::Allow {
            let why: Vec<String> = admission.reasons.iter().map(ToString::to_string).collect();
            let what = format!("it would not be let in: {}", why.join("; "));
            return Err(Problem::new(Code::NOT_ADMITTED, what).safe("nothing was done"));
        }
        let held = Held { epoch: pipeline::FIRST_EPOCH, claim: Claim::Ours };
        let errand = Errand { desk, event, cast: cast.clone(), held, request, wish: Wish::GoOn };
        let then = admission.permissions.clone();
        let moment = Moment { app: self, errand: &errand, then, begun: OnceLock::new() };
        Box::pin(self.opened(&moment, &admission, tags, batch).await?.rehearse()).await
    }

    /// From the journal that another process left to the end of the task. Authority is asked again: what the policy
    /// of now does not allow is not done, whatever was allowed before.
    async fn go_on(&self, errand: Errand<'_>) -> Result<Ended, Problem> {
        let Errand { desk, event, cast, request, .. } = &errand;
        let policies = self.in_force(desk).await?;
        let admission = pipeline::admission(self.sitting(desk, &policies), event, &cast.sender).await?;
        if admission.effect != Effect::Allow {
            return Err(self.not_admitted(event, &admission).await?);
        }
        let steps = pipeline::load(&desk.ledger, pipeline::task_of(event)).await;
        let mut task = match steps.and_then(|steps| pipeline::fold(&steps)) {
            Err(problem) if problem.code == Code::DATABASE_DAMAGED => {
                if errand.wish != Wish::Cancel {
                    let short = self.short(pipeline::task_of(event)).await?;
                    return Err(problem.remedy(format!("regent cancel {short}")));
                }
                let by = (MAIN, admission.trust, &cast.sender.salt);
                return pipeline::end_unread(desk, event, &errand.held, &self.parts.host.holder(), by).await;
            }
            task => task?,
        };
        let question = task.question().map(str::to_owned);
        let as_it_is = |question| {
            let (status, result) = (task.status(), task.result().cloned());
            Ok(Ended { status, result, question, worked: false })
        };
        match (&errand.wish, &question) {
            _ if task.status().is_over() => return as_it_is(None),
            (Wish::GoOn, Some(_)) => return as_it_is(question),
            (Wish::Answer(_), None) => {
                let what = format!("{} asks nothing", self.short(task.id()).await?);
                return Err(Problem::new(Code::NOTHING_ASKED, what)
                    .safe("nothing was done")
                    .remedy("regent tasks list"));
            }
            (Wish::GoOn | Wish::Cancel, _) | (Wish::Answer(_), Some(_)) => {}
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
        let begun = match (&errand.wish, task.opening().steering) {
            (Wish::Cancel, _) => Kind::Over,
            _ if task.result().is_some() => Kind::Over,
            (_, Some(_)) => Kind::Steered,
            (_, None) => Kind::First,
        };
        let then = self.permitted(event).await?;
        let moment = Moment { app: self, errand: &errand, then, begun: OnceLock::from(begun) };
        let frozen = pipeline::kept(&desk.ledger, task.opening().tags.vpol).await?;
        let setting = self.setting(&moment, frozen).await?;
        task.narrow(setting.basis.trust, &setting.basis.tools);
        let mut driver = match errand.wish {
            Wish::Cancel => Driver::put_an_end_to(setting, task, BY_OWNER).await?,
            Wish::GoOn | Wish::Answer(_) => Box::pin(Driver::take_over(setting, task)).await?,
        };
        if let Wish::Answer(answer) = &errand.wish {
            driver.clarify(Text::new(answer.clone(), source(&admission)))?;
        }
        driver.drive().await
    }

    /// How far the chain was let go when it began.
    async fn permitted(&self, event: &Event) -> Result<Permissions, Problem> {
        let gone = || Problem::new(Code::ERASED, "the admission of this request was erased");
        let ledger = self.ledger().await?;
        let row = ledger.admission_of(event.id).await?.ok_or_else(gone)?;
        let body = ledger.body(&row.decision).await?.ok_or_else(gone)?;
        let admitted: Admitted = serde_json::from_slice(&body).map_err(|error| {
            Problem::new(Code::DATABASE_DAMAGED, format!("an admission is unreadable: {error}"))
        })?;
        Ok(admitted.decision.permissions)
    }

    pub(super) async fn in_force(&self, desk: &Desk) -> Result<InForce, Problem> {
        InForce::now(desk, &*self.parts.host).await
    }

    pub(super) fn sitting<'a>(&'a self, desk: &'a Desk, policies: &'a InForce) -> Sitting<'a> {
        Sitting { desk, policies, zone: &self.parts.zone }
    }

    async fn not_admitted(&self, event: &Event, admission: &Admission) -> Result<Problem, Problem> {
        let why: Vec<String> = admission.reasons.iter().map(ToString::to_string).collect();
        let short = self.short(event.id).await?;
        Ok(Problem::new(Code::NOT_ADMITTED, format!("not let in: {}", why.join("; ")))
            .safe("the event is kept, nothing was done with it")
            .remedy(format!("regent why {short}")))
    }

    async fn setting<'a>(
        &'a self,
        moment: &'a Moment<'a>,
        frozen: Option<Vpol>,
    ) -> Result<Setting<'a>, Problem> {
        let Errand { desk, event, cast, held, request, .. } = moment.errand;
        let silent = || Problem::new(Code::INTERNAL, "nobody is there to answer");
        Ok(Setting {
            desk: (*desk).clone(),
            ground: moment,
            basis: moment.basis().await?,
            frozen,
            stop: self.stop.clone(),
            watch: Arc::clone(&request.watch),
            patience: request.patience.clone(),
            holder: self.parts.host.holder(),
            held: held.clone(),
            event: (*event).clone(),
            salt: cast.sender.salt.clone(),
            agent: cast.agent.as_ref().ok_or_else(silent)?.identity.id,
            driving: self.driven.begin(pipeline::task_of(event)),
        })
    }

    pub(super) async fn authority(
        &self,
        ledger: &Arc<Ledger>,
        workspace: &Path,
        surface: Arc<dyn Surface>,
    ) -> Result<Authority, Problem> {
        let without = self.parts.house.guarded();
        let Toolbox { registry, models, .. } = Toolbox::open(ledger, workspace, &without, surface).await?;
        self.authority_over(self.parts.host.tools(registry), models)
    }

    pub(super) fn authority_over(
        &self,
        registry: Registry,
        models: Arc<AskModel>,
    ) -> Result<Authority, Problem> {
        let of_now = self.parts.host.settings()?;
        let settings = of_now.as_ref().unwrap_or(&self.parts.settings);
        Ok(Authority {
            registry,
            models,
            secrets: Arc::new(self.parts.host.secrets()?),
            limits: settings.budgets(),
            zone: self.parts.zone.clone(),
            host: Arc::clone(&self.parts.host),
            chain: settings.approval_chain(),
            open_for: settings.approval_time(),
        })
    }

    pub(super) async fn report(
        &self,
        event: &Event,
        ended: Ended,
        elapsed: Duration,
    ) -> Result<Report, Problem> {
        let task = pipeline::task_of(event);
        let Ended { status, result, question, worked } = ended;
        let waiting = if status == Status::Waiting { self.questions_of(task).await? } else { Vec::new() };
        let calls = self.ledger().await?.calls_of(task).await?;
        let changed = calls
            .iter()
            .filter(|call| status.is_over() && call.status == CallStatus::Finished && call.change.is_some());
        Ok(Report {
            can_undo: changed.count(),
            task,
            short: self.short(task).await?,
            event: event.id,
            status,
            result,
            waiting,
            question,
            cost: self.cost_of(task, &calls).await?,
            worked,
            elapsed,
        })
    }
}

/// What the house says about one errand at this moment.
struct Moment<'a> {
    app: &'a App,
    errand: &'a Errand<'a>,
    /// How far the chain was let go when it began: never again further.
    then: Permissions,
    /// Who has begun it; nothing as long as nobody has.
    begun: OnceLock<Kind>,
}

#[async_trait]
impl Ground for Moment<'_> {
    async fn basis(&self) -> Result<Basis, Problem> {
        let Self { app, errand: Errand { desk, event, cast, request, .. }, then, .. } = self;
        let policies = app.in_force(desk).await?;
        let admission = pipeline::admission(app.sitting(desk, &policies), event, &cast.sender).await?;
        if admission.effect != Effect::Allow {
            return Err(app.not_admitted(event, &admission).await?);
        }
        let surface = Arc::clone(&request.surface);
        let authority = app.authority(&desk.ledger, &request.workspace, surface).await?;
        let provider = app
            .provider(self.errand, source(&admission), &authority.registry, self.begun.get().copied())
            .await?;
        let rights = Rights::of(&admission).no_further_than(then);
        let Admission { trust, tools, picked, .. } = admission;
        let vpol = picked.map_or_else(Vpol::strictest, |picked| picked.vpol);
        Ok(Basis { provider, authority, trust, tools, rights, vpol })
    }
}

/// What the owner typed at their terminal, as an event.
fn incoming(desk: &Desk, request: &Request, content_type: Option<&str>) -> Incoming {
    let source_id: Id<kind::Batch> = desk.dated_id();
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

/// Who cancels, as the journal says it.
const BY_OWNER: &str = "the owner";

/// The tools as far as the machine has to know them. Handing the answer over is not one that a plan chooses.
fn cards(registry: &Registry) -> Vec<ToolCard> {
    let card = |spec: &ToolSpec| ToolCard {
        id: spec.id.clone(),
        class: spec.category.name().into(),
        tier: spec.tier,
        target: spec.sinks.first().cloned(),
    };
    registry.specs().filter(is_choosable).map(card).collect()
}

/// The owner's typed words are the owner's; anybody else's carry who they are.
fn source(admission: &Admission) -> Source {
    if admission.principal.is_owner() {
        Source::Owner
    } else {
        Source::Principal { entity: admission.principal.entity(), trust: admission.trust }
    }
}

/// What can be known to be wrong before anything is written.
pub(super) fn check(request: &Request) -> Result<(), Problem> {
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
    check_workspace(workspace)
}

pub(super) fn check_workspace(workspace: &Path) -> Result<(), Problem> {
    let unusable = |why: String| Problem::new(Code::WORKSPACE, why).safe("nothing was written");
    // It is kept as text, and a name that is changed on the way would be another folder.
    let name = workspace.display();
    workspace.to_str().ok_or_else(|| unusable(format!("the name of `{name}` is not UTF-8")))?;
    tools::Workspace::new(workspace.to_owned()).map_err(|failure| unusable(failure.message))?;
    Ok(())
}
