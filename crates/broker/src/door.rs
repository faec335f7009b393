//! From a decision to an authorised call: nothing passes without the receipt of the batch that recorded it.

use std::fmt;

use domain::call::{Call, Failure};
use domain::canonical::{self, NotCanonical};
use domain::limits::AUTHORISATION;
use domain::{By, Digest, Time, Trust};
use ledger::records::{Blob, CallStatus, Salt, ToolCall};
use ledger::{Batch, Entry, Receipt, Token};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::decide::{Answer, Decision, RULES};
use crate::kept::{Decided, MadeFrom};

/// Whose call it is, for the records.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub agent: &'a str,
    pub trust: Trust,
    /// Of the person whose words the chain carries: arguments and results are theirs.
    pub salt: &'a Salt,
}

/// A call with the decision about it. Only [`Broker::authorize`](crate::Broker::authorize) makes one, so the decision
/// belongs to this call and every layer was asked.
#[derive(Debug)]
pub struct Ruled {
    call: Call,
    decision: Decision,
    /// The digest of the arguments.
    input: Digest,
    /// The digest of the decision as it is kept, which is one of the bodies, with what it names.
    record: Digest,
    bodies: Vec<Blob>,
}

impl Ruled {
    pub(crate) fn new(
        decision: Decision,
        made_from: MadeFrom,
        mut bodies: Vec<Blob>,
        salt: &Salt,
    ) -> Result<Self, NotCanonical> {
        let call = made_from.call.clone();
        let input = Blob::personal(canonical::bytes(&call.args)?, salt).hash;
        let by = Some(By::this(RULES));
        let decided = Decided { decision, made_from: Some(made_from), by };
        let body = Blob::personal(canonical::bytes(&decided)?, salt);
        let record = body.hash;
        bodies.push(body);
        Ok(Self { call, decision: decided.decision, input, record, bodies })
    }

    #[must_use]
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }
}

/// A call that may run, with what has to be written down first.
#[derive(Debug)]
pub struct Prepared {
    call: Call,
    row: ToolCall,
    bodies: Vec<Blob>,
    entry: Entry,
}

/// A call that may not run, with what has to be written down about that.
#[derive(Debug)]
pub struct Refused {
    row: ToolCall,
    bodies: Vec<Blob>,
    entry: Entry,
    why: String,
}

impl Prepared {
    /// # Errors
    /// If the decision is anything but to execute.
    pub fn new(ruled: Ruled, context: Context<'_>, now: Time) -> Result<Self, Box<Refused>> {
        let Ruled { call, decision, input, record, bodies } = ruled;
        let status =
            if decision.answer == Answer::Execute { CallStatus::Started } else { CallStatus::Refused };
        let row = ToolCall {
            id: call.id,
            tool_id: call.tool.clone(),
            agent_id: context.agent.into(),
            task_id: call.task,
            r_tag: call.tags.reason,
            o_tag: call.tags.origin,
            vpol_id: call.tags.vpol,
            status,
            input,
            output: None,
            decision: record,
            duration_ms: None,
            timestamp: now,
        };
        let kind = if status == CallStatus::Started { "call.started" } else { "call.refused" };
        let detail = json!({
            "tool": call.tool, "task": call.task, "input": row.input, "decision": row.decision, "answer": decision.answer,
        });
        let entry = entry(&row, kind, context.trust, now, detail);
        match status {
            CallStatus::Started => Ok(Self { call, row, bodies, entry }),
            _ => Err(Box::new(Refused { row, bodies, entry, why: decision.to_string() })),
        }
    }

    /// Puts the decision and `started` into the batch; its receipt is what opens the door.
    pub fn enter(self, batch: &mut Batch) -> Pending {
        enter(&self.bodies, &self.row, self.entry, batch);
        Pending { call: self.call, row: self.row, batch: batch.token() }
    }
}

impl Refused {
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    pub fn enter(self, batch: &mut Batch) {
        enter(&self.bodies, &self.row, self.entry, batch);
    }
}

fn enter(bodies: &[Blob], row: &ToolCall, entry: Entry, batch: &mut Batch) {
    for body in bodies {
        batch.put(body);
    }
    batch.put(row).audit(entry);
}

/// A call whose records are in a batch that is not durable yet.
#[derive(Debug)]
pub struct Pending {
    call: Call,
    row: ToolCall,
    batch: Token,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this receipt is for another batch than the one that holds the call")]
pub struct NotCovered;

impl Pending {
    /// INVARIANT (batch-grows) makes this sound: what was entered into the batch is still in it. The leave does not
    /// outlive the right to drive the task.
    ///
    /// # Errors
    /// If the receipt is for another batch.
    pub fn authorize(self, receipt: &Receipt, leased_until: Time) -> Result<Authorized<Call>, NotCovered> {
        if !receipt.is_for(&self.batch) {
            return Err(NotCovered);
        }
        let not_after = self.row.timestamp.plus(AUTHORISATION).min(leased_until);
        Ok(Authorized { call: self.call, row: self.row, not_after })
    }
}

/// Leave to run this call, once, until `not_after`.
pub struct Authorized<C> {
    call: C,
    pub(crate) row: ToolCall,
    pub(crate) not_after: Time,
}

impl fmt::Debug for Authorized<Call> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorized").field("call", &self.call.id).field("not_after", &self.not_after).finish()
    }
}

impl Authorized<Call> {
    #[must_use]
    pub const fn call(&self) -> &Call {
        &self.call
    }

    /// The arguments in the handler's own type. The schema layer has checked their form already.
    ///
    /// # Errors
    /// If they do not fit after all.
    pub fn args<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        T::deserialize(&self.call.args).map_err(|error| Failure::logical(error.to_string()))
    }
}

pub(crate) fn entry(row: &ToolCall, kind: &str, trust: Trust, at: Time, detail: serde_json::Value) -> Entry {
    Entry {
        at,
        kind: kind.into(),
        actor: format!("agent:{}", row.agent_id),
        subject: row.id.to_string(),
        trust: Some(trust),
        origin_id: Some(row.o_tag),
        reason_id: Some(row.r_tag),
        vpol_id: Some(row.vpol_id),
        detail,
    }
}
