//! A question as a surface shows it, and what its offer would have covered.

use broker::grant::Terms;
use broker::question::Question;
use broker::{Policies, ToolSpec};
use domain::approval::{Fate, Status};
use domain::id::{ApprovalId, CallId, GrantId, TaskId};
use domain::limits::COVERAGE;
use domain::{Digest, Time};
use ledger::records::Approval;
use serde::Serialize;
use serde_json::Value;

use kernel::{Services, approvals};

use super::Approvals;
use kernel::Problem;

/// One question, as it stands.
#[derive(Clone, Debug, Serialize)]
pub struct ApprovalView {
    pub id: ApprovalId,
    pub short: String,
    pub task: TaskId,
    pub task_short: String,
    pub call: CallId,
    pub status: Status,
    pub fate: Option<Fate>,
    /// Who is to answer.
    pub authority: String,
    pub created_at: Time,
    pub timeout_at: Time,
    pub resolved_at: Option<Time>,
    pub resolved_by: Option<String>,
    pub resolved_via: Option<String>,
    /// The reason that was given with a no.
    pub said: Option<String>,
    /// The arguments that were written instead of those that were asked about.
    pub changed: Option<Value>,
    /// What was asked; nothing if it was erased.
    pub question: Option<Question>,
    /// Alike questions have the same.
    pub shape: Digest,
    pub grant: Option<GrantId>,
    /// What the grant that could be given would have covered; only where one question is looked at.
    pub coverage: Option<Coverage>,
    /// Whether a process that lives is at the task, and goes on by itself.
    pub attended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Coverage {
    pub covered: u64,
    pub of: u64,
}

impl Approvals<'_> {
    /// A question as it stands, without what its offer would have covered.
    pub(super) async fn view(self, services: &Services, asked: Approval) -> Result<ApprovalView, Problem> {
        let question = approvals::read_question(&services.ledger, &asked).await?;
        let said = match &asked.answer {
            Some(said) => services.ledger.text(said).await?,
            None => None,
        };
        let (said, changed) = match asked.status {
            Status::Rejected => (said, None),
            Status::Modified => (None, said.and_then(|args| serde_json::from_str(&args).ok())),
            _ => (None, None),
        };
        Ok(ApprovalView {
            short: self.app.kernel.short(asked.id).await?,
            task_short: self.app.kernel.short(asked.task_id).await?,
            attended: self.app.kernel.is_driven(services, asked.task_id).await?,
            id: asked.id,
            task: asked.task_id,
            call: asked.call_id,
            status: asked.status,
            fate: asked.fate,
            authority: asked.authority,
            created_at: asked.created_at,
            timeout_at: asked.timeout_at,
            resolved_at: asked.resolved_at,
            resolved_by: asked.resolved_by,
            resolved_via: asked.resolved_via,
            said,
            changed,
            question,
            shape: asked.shape,
            grant: asked.grant_id,
            coverage: None,
        })
    }

    /// The same, with what its offer would have covered of the last questions: each of them is decided again, as it was
    /// then, with the grant. That takes a while, so it is for one question that somebody looks at.
    pub(super) async fn whole_view(
        self,
        services: &Services,
        asked: Approval,
    ) -> Result<ApprovalView, Problem> {
        let mut view = self.view(services, asked).await?;
        let offer = view.question.as_ref().and_then(|question| question.offer.as_ref());
        if let Some(terms) = offer.filter(|_| view.status.is_open()) {
            view.coverage = Some(self.coverage(services, view.id, terms).await?);
        }
        Ok(view)
    }

    async fn coverage(
        self,
        services: &Services,
        asked: ApprovalId,
        terms: &Terms,
    ) -> Result<Coverage, Problem> {
        let mut coverage = Coverage { covered: 0, of: 0 };
        let last = services.ledger.last_approvals(COVERAGE + 1).await?;
        for before in last.iter().filter(|before| before.id != asked).take(COVERAGE as usize) {
            coverage.of += 1;
            let Some(question) = approvals::read_question(&services.ledger, before).await? else { continue };
            let Ok((request, inputs)) = self.inputs(services, question.decision).await else {
                continue;
            };
            let spec = match inputs.tool {
                Some(tool) => services.ledger.body(&tool).await?,
                None => None,
            };
            let spec = spec.and_then(|spec| serde_json::from_slice::<ToolSpec>(&spec).ok());
            let frozen = match inputs.vpol {
                Some(id) => kernel::read_vpol(&services.ledger, id).await?,
                None => None,
            };
            let of_now = match &inputs.of_now {
                Some(of_now) => kernel::read_body(&services.ledger, &of_now.rules).await?,
                None => None,
            };
            let policies = Policies { frozen: frozen.as_ref(), of_now: of_now.as_ref() };
            let granted = inputs.granted(GrantId::from_bits(0), terms.clone());
            let decision = granted.decide(spec.as_ref(), policies, &request);
            coverage.covered += u64::from(decision.answer == broker::Answer::Execute);
        }
        Ok(coverage)
    }
}
