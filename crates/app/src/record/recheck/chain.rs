//! Reads a chain as it was recorded, for [`crate::recheck`].

use broker::{Decided, DecisionInputs};
use domain::Digest;
use domain::id::{EventId, ReasonId, VpolId};
use engine::task::{DELIVER, Step};
use ledger::Body;
use ledger::records::{Access, Event, Salt, ToolCall};
use policy::admit::Admitted;
use serde::de::DeserializeOwned;

use crate::record::Record;
use kernel::{Code, Problem};

use super::{Called, Chain, Judged, Kept, Policy, Rechecked, recheck};

/// How often a chain is read again that somebody wrote to meanwhile.
const TRIES: usize = 4;

impl Record<'_> {
    pub(in crate::record) async fn recheck_chain(self, event: EventId) -> Result<Rechecked, Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let event = ledger.event(event).await?;
        let gone = || Problem::new(Code::DATABASE_DAMAGED, "the event of this chain is gone");
        let event = event.ok_or_else(gone)?;
        let task = kernel::task_of(&event);
        for _ in 0..TRIES {
            // The board is written with every batch of a task: if it stands still, nothing was added between.
            let before = (ledger.task(task).await?, ledger.admission_of(event.id).await?);
            let chain = self.chain(&event).await?;
            if (ledger.task(task).await?, ledger.admission_of(event.id).await?) == before {
                return Ok(recheck(&chain));
            }
        }
        let what = format!("{} is being worked on", self.app.kernel.short(task).await?);
        Err(Problem::new(Code::DRIVEN_ELSEWHERE, what).safe("it goes on there").remedy("regent tasks list"))
    }

    async fn chain(self, event: &Event) -> Result<Chain, Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let (request, salt) = self.text(&event.body).await?;
        let mut admissions = Vec::new();
        for row in ledger.admissions_of(&[event.id]).await? {
            admissions.push(self.judged(row).await?);
        }
        let task = kernel::task_of(event);
        let mut steps = Vec::new();
        for row in ledger.steps(task).await? {
            let (step, _): (Kept<Step>, _) = self.body(&row.body).await?;
            steps.push((row, step));
        }
        let mut calls = Vec::new();
        for row in ledger.calls_of(task).await? {
            calls.push(self.called(row).await?);
        }
        let mut reasons = Vec::new();
        let admitted = admissions.iter().map(|judged| judged.row.reason_id);
        let brought = steps.iter().filter_map(|(_, step)| match step {
            Kept::There(step) => Some(step),
            Kept::Gone | Kept::Changed | Kept::Unreadable(_) => None,
        });
        let brought = brought.flat_map(|step| step.reasons.iter().map(|reason| reason.id));
        let named: Vec<ReasonId> = admitted.chain(brought).collect();
        for id in named {
            reasons.extend(ledger.reason(id).await?);
        }
        let mut policies: Vec<VpolId> = admissions.iter().map(|judged| judged.row.vpol_id).collect();
        policies
            .extend(calls.iter().flat_map(|called| [Some(called.row.vpol_id), named_by(called)]).flatten());
        policies.sort();
        policies.dedup();
        let mut answers = Vec::new();
        for called in calls.iter().filter(|called| called.row.tool_id.as_str() == DELIVER) {
            let key = format!("{}:{}", event.adapter, called.row.id);
            answers.extend(ledger.event(Event::id_of(&key)).await?);
        }
        let entries = ledger.audit_from(event.origin_id).await?;
        let audit = entries.iter().filter_map(|entry| serde_json::from_slice(&entry.bytes).ok()).collect();
        let proof = self.proof(entries).await?;
        Ok(Chain {
            origin: ledger.origin(event.origin_id).await?,
            event: event.clone(),
            request,
            salt,
            admissions,
            policies: self.policies(&policies).await?,
            task: ledger.task(task).await?,
            steps,
            reasons,
            calls,
            answers,
            audit,
            fault: (!proof.consistent).then_some(proof.text),
        })
    }

    async fn judged(self, row: Access) -> Result<Judged, Problem> {
        let (body, _): (Kept<Admitted>, _) = self.body(&row.decision).await?;
        let named = match &body {
            Kept::There(admitted) => admitted.decision.facts.policies.zip(admitted.decision.facts.vpols),
            Kept::Gone | Kept::Changed | Kept::Unreadable(_) => None,
        };
        let sets = match named {
            Some((acl, vpols)) => Some((self.body(&acl).await?.0, self.body(&vpols).await?.0)),
            None => None,
        };
        Ok(Judged { row, body, sets })
    }

    async fn called(self, row: ToolCall) -> Result<Called, Problem> {
        let (decided, _): (Kept<Decided>, _) = self.body(&row.decision).await?;
        let (mut tool, mut request, mut of_now) = (Kept::Gone, Kept::Gone, None);
        if let Some(inputs) = inputs(&decided) {
            if let Some(digest) = &inputs.tool {
                (tool, _) = self.body(digest).await?;
            }
            (request, _) = self.text(&inputs.request).await?;
            if let Some(now) = &inputs.of_now {
                of_now = Some(self.body(&now.rules).await?.0);
            }
        }
        Ok(Called { row, decided, tool, request, of_now })
    }

    async fn policies(self, ids: &[VpolId]) -> Result<Vec<Policy>, Problem> {
        let mut policies = Vec::with_capacity(ids.len());
        for &id in ids {
            let row = self.app.kernel.ledger().await?.vpol(id).await?;
            let rules = match &row {
                Some(row) => self.body(&row.rules).await?.0,
                None => Kept::Gone,
            };
            policies.push(Policy { id, row, rules });
        }
        Ok(policies)
    }

    async fn body<T: DeserializeOwned>(self, digest: &Digest) -> Result<(Kept<T>, Option<Salt>), Problem> {
        Ok(match self.app.kernel.ledger().await?.kept(digest).await? {
            Body::Whole { content, salt } => match serde_json::from_slice(&content) {
                Ok(body) => (Kept::There(body), salt),
                Err(error) => (Kept::Unreadable(error.to_string()), salt),
            },
            Body::Gone => (Kept::Gone, None),
            Body::Changed => (Kept::Changed, None),
        })
    }

    async fn text(self, digest: &Digest) -> Result<(Kept<String>, Option<Salt>), Problem> {
        Ok(match self.app.kernel.ledger().await?.kept(digest).await? {
            Body::Whole { content, salt } => match String::from_utf8(content) {
                Ok(text) => (Kept::There(text), salt),
                Err(error) => (Kept::Unreadable(error.to_string()), salt),
            },
            Body::Gone => (Kept::Gone, None),
            Body::Changed => (Kept::Changed, None),
        })
    }
}

const fn inputs(decided: &Kept<Decided>) -> Option<&DecisionInputs> {
    match decided {
        Kept::There(decided) => decided.inputs.as_ref(),
        Kept::Gone | Kept::Changed | Kept::Unreadable(_) => None,
    }
}

fn named_by(called: &Called) -> Option<VpolId> {
    inputs(&called.decided)?.vpol
}
