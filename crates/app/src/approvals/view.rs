//! A question as a surface shows it, and what its offer would have covered.

use broker::grant::Terms;
use broker::{Policies, ToolSpec};
use domain::approval::Status;
use domain::id::{ApprovalId, GrantId};
use domain::limits::COVERAGE;
use ledger::records::Approval;
use present::approval::{ApprovalView, Coverage};

use kernel::{Services, approvals};

use super::Approvals;
use kernel::Problem;

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
