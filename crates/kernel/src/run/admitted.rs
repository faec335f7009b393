//! From an admitted event to a driver: a task is opened, or one that was left behind is taken over. Admission is computed
//! once, and what decides about the run's calls follows from that same admission.

use broker::{Registry, ToolSpec};
use domain::Tags;
use domain::call::ToolCard;
use domain::source::{Source, Text};
use engine::task::{Opening, Task};
use ledger::{Batch, CommitError, Refusal};
use policy::acl::{Effect, Permissions};
use policy::admit::{Admission, Admitted, MAIN};

use super::provider::{ProviderKind, is_choosable};
use super::{RequestedAction, RunContext, unreadable};
use crate::admit::{self, AdmissionContext, AdmissionRound};
use crate::drive::{ChainLimits, DriveOutcome, DryRun, TaskDriver};
use crate::{journal, validation};
use domain::problem::{Code, Problem};

/// Who cancels, as the journal says it.
const BY_OWNER: &str = "the owner";

impl<'k> RunContext<'k> {
    /// From an event that is durable to the end of its task.
    pub(super) async fn begin(self) -> Result<DriveOutcome, Problem> {
        let services = self.services;
        let mut batch = services.batch();
        let (admission, tags) = self.admit_into(&mut batch).await?;
        if admission.effect != Effect::Allow {
            journal::enter_never_begun(services, self.event, &self.lease, tags, &mut batch);
            match services.ledger.commit(batch).await {
                // Another process decided about it at the same moment, and wrote the same.
                Ok(_) | Err(CommitError::Refused(Refusal::Present { .. })) => {}
                Err(error) => return Err(error.into()),
            }
            return Err(self.not_admitted(&admission).await?);
        }
        let cancels = self.action == RequestedAction::Cancel;
        let mut driver = self.open(admission, tags, batch).await?;
        if cancels {
            driver.cancel(BY_OWNER)?;
        }
        Box::pin(driver.drive()).await
    }

    /// The same without writing anything: how the task would begin.
    pub(super) async fn dry_run(self, mut batch: Batch) -> Result<DryRun, Problem> {
        let (admission, tags) = self.admit_into(&mut batch).await?;
        if admission.effect != Effect::Allow {
            let why: Vec<String> = admission.reasons.iter().map(ToString::to_string).collect();
            let what = format!("it would not be let in: {}", why.join("; "));
            return Err(Problem::new(Code::NOT_ADMITTED, what).safe("nothing was done"));
        }
        self.open(admission, tags, batch).await?.dry_run().await
    }

    /// Decides about the event, and enters the decision.
    async fn admit_into(&self, batch: &mut Batch) -> Result<(Admission, Tags), Problem> {
        let policies = self.kernel.policies(self.services).await?;
        policies.enter(batch);
        let context =
            AdmissionContext { services: self.services, policies: &*policies, zone: self.kernel.zone() };
        let admission = admit::admission(context, self.event, &self.parties.sender).await?;
        let salt = Some(self.salt());
        let tags =
            admit::enter(self.services, self.event, salt, &admission, (AdmissionRound::First, None), batch)?;
        Ok((admission, tags))
    }

    /// What the policies of now say about the event.
    ///
    /// # Errors
    /// If they do not admit it, or the ledger fails.
    pub(crate) async fn admit_now(&self) -> Result<Admission, Problem> {
        let policies = self.kernel.policies(self.services).await?;
        let context =
            AdmissionContext { services: self.services, policies: &*policies, zone: self.kernel.zone() };
        let admission = admit::admission(context, self.event, &self.parties.sender).await?;
        if admission.effect != Effect::Allow {
            return Err(self.not_admitted(&admission).await?);
        }
        Ok(admission)
    }

    async fn not_admitted(&self, admission: &Admission) -> Result<Problem, Problem> {
        let why: Vec<String> = admission.reasons.iter().map(ToString::to_string).collect();
        let short = self.kernel.short(self.event.id).await?;
        Ok(Problem::new(Code::NOT_ADMITTED, format!("not let in: {}", why.join("; ")))
            .safe("the event is kept, nothing was done with it")
            .remedy(format!("regent why {short}")))
    }

    /// A driver for a new task, with nothing written yet.
    async fn open(self, admission: Admission, tags: Tags, batch: Batch) -> Result<TaskDriver<'k>, Problem> {
        let source = source(&admission);
        let frozen = admission.picked.as_ref().map(|picked| picked.vpol.clone());
        let limit = admission.permissions.clone();
        let (agent, principal) = (admission.persona.clone(), admission.principal.clone());
        let authority = self.snapshot(admission, &limit, None).await?;
        let steered = authority.provider.knows_another_way();
        let kind = if steered { ProviderKind::Steered } else { ProviderKind::First };
        let request = self.request;
        let opening = Opening {
            task: self.task(),
            agent,
            tags,
            principal,
            trust: authority.trust,
            tools: authority.tools.clone(),
            request: Text::new(request.text.clone(), source),
            workspace: request.workspace.to_string_lossy().into_owned(),
            steering: steered.then_some(self.kernel.parts.settings.steering),
            cards: if steered { cards(&authority.registry) } else { Vec::new() },
            history: if steered {
                self.kernel.history(self.services, &request.workspace).await?
            } else {
                Vec::new()
            },
            assessment: None,
        };
        let limits = ChainLimits { frozen, permissions: limit, provider: kind };
        TaskDriver::open(self, authority, limits, opening, batch)
    }

    /// From the journal that another process left to the end of the task. Admission is computed again: what the policies
    /// of now do not allow is not done, whatever was allowed before.
    pub(super) async fn go_on(self) -> Result<DriveOutcome, Problem> {
        let admission = self.admit_now().await?;
        let steps = journal::load(&self.services.ledger, self.task()).await;
        let mut task = match steps.and_then(|steps| journal::fold(&steps)) {
            Err(problem) if problem.code == Code::DATABASE_DAMAGED => {
                if self.action != RequestedAction::Cancel {
                    let short = self.kernel.short(self.task()).await?;
                    return Err(problem.remedy(format!("regent cancel {short}")));
                }
                return unreadable::end(&self, MAIN, admission.trust).await;
            }
            task => task?,
        };
        if let Some(outcome) = self.nothing_to_do(&task).await? {
            return Ok(outcome);
        }
        self.check_opening(&task, &admission)?;
        let kind = match (&self.action, task.opening().steering) {
            (RequestedAction::Cancel, _) => ProviderKind::Over,
            _ if task.result().is_some() => ProviderKind::Over,
            (_, Some(_)) => ProviderKind::Steered,
            (_, None) => ProviderKind::First,
        };
        let (source, limit) = (source(&admission), self.permitted_at_first().await?);
        let frozen = validation::read_vpol(&self.services.ledger, task.opening().tags.vpol).await?;
        let authority = self.snapshot(admission, &limit, Some(kind)).await?;
        task.narrow(authority.trust, &authority.tools);
        let action = self.action.clone();
        let limits = ChainLimits { frozen, permissions: limit, provider: kind };
        let mut driver = match action {
            RequestedAction::Cancel => {
                TaskDriver::cancel_left(self, authority, limits, task, BY_OWNER).await?
            }
            RequestedAction::Continue | RequestedAction::Answer(_) => {
                Box::pin(TaskDriver::take_over(self, authority, limits, task)).await?
            }
        };
        if let RequestedAction::Answer(answer) = action {
            driver.clarify(Text::new(answer, source))?;
        }
        Box::pin(driver.drive()).await
    }

    /// What the task came to already, if this run has nothing to add to it.
    async fn nothing_to_do(&self, task: &Task) -> Result<Option<DriveOutcome>, Problem> {
        let question = task.question().map(str::to_owned);
        let unchanged = |question| {
            let (status, result) = (task.status(), task.result().cloned());
            Ok(Some(DriveOutcome { status, result, question, worked: false }))
        };
        match (&self.action, &question) {
            _ if task.status().is_over() => unchanged(None),
            (RequestedAction::Continue, Some(_)) => unchanged(question),
            (RequestedAction::Answer(_), None) => {
                let what = format!("{} asks nothing", self.kernel.short(task.id()).await?);
                Err(Problem::new(Code::NOTHING_ASKED, what)
                    .safe("nothing was done")
                    .remedy("regent tasks list"))
            }
            (RequestedAction::Continue | RequestedAction::Cancel, _)
            | (RequestedAction::Answer(_), Some(_)) => Ok(None),
        }
    }

    /// Whether the journal belongs to this event.
    fn check_opening(&self, task: &Task, admission: &Admission) -> Result<(), Problem> {
        let opening = task.opening();
        let same = opening.request.text == self.request.text
            && opening.workspace == self.request.workspace.to_string_lossy()
            && opening.principal == admission.principal;
        if same {
            return Ok(());
        }
        let what = "the journal does not belong to the request that it hangs on";
        Err(Problem::new(Code::DATABASE_DAMAGED, what).safe("nothing was done").remedy("regent audit verify"))
    }

    /// What the chain was permitted when it began.
    async fn permitted_at_first(&self) -> Result<Permissions, Problem> {
        let gone = || Problem::new(Code::ERASED, "the admission of this request was erased");
        let ledger = &self.services.ledger;
        let row = ledger.admission_of(self.event.id).await?.ok_or_else(gone)?;
        let body = ledger.body(&row.decision).await?.ok_or_else(gone)?;
        let admitted: Admitted = serde_json::from_slice(&body).map_err(|error| {
            Problem::new(Code::DATABASE_DAMAGED, format!("an admission is unreadable: {error}"))
        })?;
        Ok(admitted.decision.permissions)
    }
}

/// The tools as far as the machine has to know them. Delivering the answer is not one that a plan chooses.
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
pub(super) fn source(admission: &Admission) -> Source {
    if admission.principal.is_owner() {
        Source::Owner
    } else {
        Source::Principal { entity: admission.principal.entity(), trust: admission.trust }
    }
}
