//! From a decision to an authorised call: nothing passes without the receipt of the batch that recorded it.

use std::fmt;
use std::time::Duration;

use domain::call::{Call, Failure};
use domain::canonical::{self, NotCanonical};
use domain::limits::AUTHORISATION;
use domain::{By, Digest, Stop, Time, Trust};
use ledger::records::{Blob, CallStatus, Halt, Salt, ToolCall};
use ledger::{Batch, Entry, Receipt, Token};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::budget::{Reservation, Standing};
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
    reservation: Reservation,
    /// What its budget leaves it.
    at_most: Option<Duration>,
    exhausted: bool,
}

/// What a call holds of its budgets, and the time that leaves it.
pub(crate) type Share = (Reservation, Option<Duration>);

impl Ruled {
    pub(crate) fn new(
        decision: Decision,
        made_from: MadeFrom,
        mut bodies: Vec<Blob>,
        (reservation, at_most): Share,
        salt: &Salt,
    ) -> Result<Self, NotCanonical> {
        let call = made_from.call.clone();
        let input = Blob::personal(canonical::bytes(&call.args)?, salt).hash;
        let exhausted = made_from.exhausted.is_some();
        let by = Some(By::this(RULES));
        let decided = Decided { decision, made_from: Some(made_from), by };
        let body = Blob::personal(canonical::bytes(&decided)?, salt);
        let record = body.hash;
        bodies.push(body);
        Ok(Self { call, decision: decided.decision, input, record, bodies, reservation, at_most, exhausted })
    }

    #[must_use]
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Whether a budget has not enough left for it.
    #[must_use]
    pub const fn exhausted(&self) -> bool {
        self.exhausted
    }
}

/// A call that may run, with what has to be written down first.
#[derive(Debug)]
pub struct Prepared {
    call: Call,
    row: ToolCall,
    bodies: Vec<Blob>,
    entry: Entry,
    reservation: Reservation,
    at_most: Option<Duration>,
}

/// A call that may not run, with what has to be written down about that.
#[derive(Debug)]
pub struct Refused {
    row: ToolCall,
    bodies: Vec<Blob>,
    entry: Entry,
    decision: Decision,
}

impl Prepared {
    /// # Errors
    /// If the decision is anything but to execute.
    pub fn new(ruled: Ruled, context: Context<'_>, now: Time) -> Result<Self, Box<Refused>> {
        let Ruled { call, decision, input, record, bodies, reservation, at_most, exhausted: _ } = ruled;
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
            artifacts: None,
            alignment_rating: None,
            reserved: (status == CallStatus::Started).then(|| reservation.kept()).flatten(),
            change: None,
        };
        let kind = if status == CallStatus::Started { "call.started" } else { "call.refused" };
        let detail = json!({
            "tool": call.tool, "task": call.task, "input": row.input, "decision": row.decision, "answer": decision.answer,
        });
        let entry = entry(&row, kind, context.trust, now, detail);
        match status {
            CallStatus::Started => Ok(Self { call, row, bodies, entry, reservation, at_most }),
            _ => Err(Box::new(Refused { row, bodies, entry, decision })),
        }
    }

    /// Puts the decision, `started` and what the call holds of its budgets into the batch; its receipt is what opens the
    /// door. INVARIANT (not-halted): the batch is refused if the house is halted meanwhile. `before` is what the same call
    /// held when it was asked for the last time.
    pub fn enter(self, before: Option<&Reservation>, standing: &mut Standing, batch: &mut Batch) -> Pending {
        enter(&self.bodies, &self.row, self.entry, batch);
        self.reservation.enter(before, standing, batch);
        batch.expect_absent::<Halt>("name", &Halt::ALL.to_owned());
        Pending { call: self.call, row: self.row, at_most: self.at_most, batch: batch.token() }
    }
}

impl Refused {
    #[must_use]
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Puts the decision into the batch, and gives back what the same call may have held before.
    pub fn enter(self, before: Option<&Reservation>, batch: &mut Batch) {
        enter(&self.bodies, &self.row, self.entry, batch);
        if let Some(before) = before {
            before.release(batch);
        }
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
    at_most: Option<Duration>,
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
        let (at_most, stop) = (self.at_most, Stop::default());
        Ok(Authorized { call: self.call, row: self.row, not_after, at_most, stop, change: None })
    }
}

/// Leave to run this call, once, until `not_after`.
pub struct Authorized<C> {
    call: C,
    pub(crate) row: ToolCall,
    pub(crate) not_after: Time,
    pub(crate) at_most: Option<Duration>,
    stop: Stop,
    change: Option<domain::change::Change>,
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

    /// Asked by whatever takes longer, and right before anything that cannot be taken back.
    #[must_use]
    pub const fn stop(&self) -> &Stop {
        &self.stop
    }

    /// What it changes, as it was looked at before it was decided.
    #[must_use]
    pub const fn change(&self) -> Option<&domain::change::Change> {
        self.change.as_ref()
    }

    /// The same leave, with the arguments as the handler gets them: what the registration fixed, with its secrets.
    pub(crate) fn with_args(mut self, args: serde_json::Value) -> Self {
        self.call.args = args;
        self
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
