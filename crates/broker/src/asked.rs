//! A call that waits for a person: the question, and what has to be written down about it.

use std::time::Duration;

use domain::approval::{Fate, Status};
use domain::canonical::{self, NotCanonical};
use domain::id::ApprovalId;
use domain::{Digest, Time, Trust};
use ledger::records::{Approval, Blob, CallStatus, Salt, ToolCall};
use ledger::{AuditEvent, Batch, Entry};
use serde_json::json;

use crate::budget::Reservation;
use crate::decide::{Answer, Decision};
use crate::door::{Context, Ruled, entry};
use crate::question::Question;

/// Who is asked, and what only the chain knows.
#[derive(Clone, Debug)]
pub struct Asking {
    pub id: ApprovalId,
    /// Who is to answer: a name out of the configured chain.
    pub authority: String,
    /// How long the question stands.
    pub open_for: Duration,
    /// What the agent says that the call is for.
    pub wanted: String,
}

/// A question about one exact call, until it is in a batch.
#[derive(Debug)]
pub struct Asked {
    ruled: Ruled,
    row: ToolCall,
    entry: Entry,
    question: Question,
    asking: Asking,
    fingerprint: Digest,
}

impl Asked {
    /// # Errors
    /// The same decision, if it is anything but to ask a person.
    pub fn new(
        mut ruled: Ruled,
        asking: Asking,
        context: Context<'_>,
        now: Time,
    ) -> Result<Self, Box<Ruled>> {
        if ruled.decision().answer != Answer::Review {
            return Err(Box::new(ruled));
        }
        let (Some(question), Some(fingerprint)) = (ruled.question.take(), ruled.fingerprint) else {
            return Err(Box::new(ruled));
        };
        let (row, entry) = ruled.row(CallStatus::Waiting, context, now);
        let question = Question { wanted: asking.wanted.clone(), decision: row.decision, ..question };
        Ok(Self { ruled, row, entry, question, asking, fingerprint })
    }

    #[must_use]
    pub const fn decision(&self) -> &Decision {
        self.ruled.decision()
    }

    /// Puts the question into the batch. A yes that somebody gave to another question about the call counts for nothing
    /// any more, and what the call held of its budgets is given back: a person may take their time.
    ///
    /// # Errors
    /// If something in it has no canonical form.
    pub fn enter(
        self,
        before: Option<&Reservation>,
        salt: &Salt,
        batch: &mut Batch,
    ) -> Result<Approval, NotCanonical> {
        let Self { ruled, row, entry: waiting, question, asking, fingerprint } = self;
        let texts = [
            canonical::bytes(question.args())?,
            question.wanted.clone().into_bytes(),
            question.summary().into_bytes(),
            canonical::bytes(&question)?,
        ];
        let [arguments, reason, summary, body] = texts.map(|text| Blob::personal(text, salt));
        let approval = Approval {
            id: asking.id,
            stamp: Approval::first_stamp(asking.id),
            tool_id: row.tool_id.clone(),
            agent_id: row.agent_id.clone(),
            task_id: row.task_id,
            call_id: row.id,
            r_tag: row.r_tag,
            o_tag: row.o_tag,
            vpol_id: row.vpol_id,
            arguments: arguments.hash,
            reason: reason.hash,
            summary: summary.hash,
            question: body.hash,
            risk_level: question.tier.risk_level().name().into(),
            confidence: None,
            tags: json!([question.tier.name(), question.reach.name()]).to_string(),
            status: Status::Pending,
            authority: asking.authority,
            fingerprint,
            leave: None,
            shape: question.shape(),
            created_at: row.timestamp,
            timeout_at: row.timestamp.plus(asking.open_for),
            resolved_at: None,
            resolved_by: None,
            resolved_via: None,
            answer: None,
            grant_id: None,
            fate: None,
            token_until: None,
            live: Some(asking.id.to_string()),
        };
        for text in [&arguments, &reason, &summary, &body] {
            batch.put(text);
        }
        let requested = entry(&AuditEvent::ApprovalRequested(&approval), &row, Trust::System, row.timestamp);
        let requested = Entry { trust: waiting.trust, ..requested };
        ruled.enter(&row, waiting, batch);
        ruled.spend_leave(Fate::Void, &row, batch);
        batch.put(&approval).audit(requested);
        if let Some(before) = before {
            before.release(batch);
        }
        Ok(approval)
    }
}
