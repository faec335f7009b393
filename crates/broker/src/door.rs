//! From a decision to an authorised call: nothing passes without the receipt of the batch that recorded it.

use std::fmt;
use std::time::Duration;

use domain::approval::{Fate, Status};
use domain::call::{Call, Failure};
use domain::canonical::{self, NotCanonical};
use domain::change::Changes;
use domain::id::GrantId;
use domain::limits::AUTHORISATION;
use domain::{By, Digest, Stop, Tags, Time, Trust};
use ledger::records::{Approval, Blob, CallStatus, Grant, GrantEvent, GrantLog, Halt, Salt, ToolCall};
use ledger::value::{Ratio, Seq};
use ledger::{AuditEvent, Batch, Entry, Receipt, Token};
use serde::de::DeserializeOwned;

use crate::budget::{Reservation, Standing};
use crate::decide::{Answer, Decision, Governed, RULES};
use crate::decision_inputs::{Decided, DecisionInputs};
use crate::looked::Looked;
use crate::question::Question;

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
    pub(crate) call: Call,
    decision: Decision,
    /// The digest of the arguments.
    pub(crate) input: Digest,
    /// The digest of the decision as it is kept, which is one of the bodies, with what it names.
    pub(crate) record: Digest,
    bodies: Vec<Blob>,
    reservation: Reservation,
    /// What its budget leaves it.
    at_most: Option<Duration>,
    exhausted: bool,
    /// What a person is to be asked, where one is.
    pub(crate) question: Option<Question>,
    /// What it changes, and the bodies to keep of that.
    changes: Option<Changes>,
    keeps: Vec<Blob>,
    /// The answer that was brought along.
    leave: Option<Approval>,
    pub(crate) fingerprint: Option<Digest>,
}

/// What a call holds of its budgets, and the time that leaves it.
pub(crate) type Share = (Reservation, Option<Duration>);

impl Ruled {
    pub(crate) fn new(
        decision: Governed,
        inputs: DecisionInputs,
        mut bodies: Vec<Blob>,
        (reservation, at_most): Share,
        salt: &Salt,
    ) -> Result<Self, NotCanonical> {
        let call = inputs.call.clone();
        let input = Blob::personal(canonical::bytes(&call.args)?, salt).hash;
        let (exhausted, fingerprint) = (inputs.exhausted.is_some(), inputs.fingerprint);
        let (decision, by) = (decision.into_inner(), Some(By::this(RULES)));
        let decided = Decided { decision, inputs: Some(inputs), by };
        let body = Blob::personal(canonical::bytes(&decided)?, salt);
        let record = body.hash;
        bodies.push(body);
        Ok(Self {
            call,
            decision: decided.decision,
            input,
            record,
            bodies,
            reservation,
            at_most,
            exhausted,
            question: None,
            changes: None,
            keeps: Vec::new(),
            leave: None,
            fingerprint,
        })
    }

    /// What a person would be asked, and the answer that they gave before.
    pub(crate) fn with(self, question: Option<Question>, leave: Option<Approval>) -> Self {
        Self { question, leave, ..self }
    }

    /// What is kept of the world before the call may change it.
    pub(crate) fn keeping(mut self, looked: Option<&Looked>, salt: &Salt) -> Result<Self, NotCanonical> {
        if let Some(looked) = looked.filter(|_| self.decision.answer == Answer::Execute) {
            self.keeps = looked.bodies(salt)?;
            self.changes = Some(looked.changes());
        }
        Ok(self)
    }

    /// The row of the call as this decision leaves it, with its entry.
    pub(crate) fn row(&self, status: CallStatus, context: Context<'_>, now: Time) -> (ToolCall, Entry) {
        let started = status == CallStatus::Started;
        let row = ToolCall {
            id: self.call.id,
            tool_id: self.call.tool.clone(),
            agent_id: context.agent.into(),
            task_id: self.call.task,
            r_tag: self.call.tags.reason,
            o_tag: self.call.tags.origin,
            vpol_id: self.call.tags.vpol,
            status,
            input: self.input,
            output: None,
            decision: self.record,
            duration_ms: None,
            timestamp: now,
            artifacts: None,
            // A person's yes is a good sign; what comes of the call is another. Whoever wrote something else said neither.
            alignment_rating: self
                .answered()
                .filter(|leave| started && leave.status == Status::Approved)
                .and_then(|_| Ratio::new(1.0).ok()),
            reserved: started.then(|| self.reservation.kept()).flatten(),
            change: self.keeps.last().map(|change| change.hash),
        };
        let entry = entry(&AuditEvent::of_call(&row), &row, context.trust, now);
        (row, entry.with("answer", self.decision.answer))
    }

    /// The answer that was brought along, if it is for this very call.
    fn answered(&self) -> Option<&Approval> {
        self.leave.as_ref().filter(|leave| leave.unspent().is_some() && leave.unspent() == self.fingerprint)
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
    ruled: Ruled,
    row: ToolCall,
    entry: Entry,
}

/// A call that may not run, with what has to be written down about that.
#[derive(Debug)]
pub struct Refused {
    ruled: Ruled,
    row: ToolCall,
    entry: Entry,
}

impl Prepared {
    /// # Errors
    /// If the decision is anything but to execute.
    pub fn new(ruled: Ruled, context: Context<'_>, now: Time) -> Result<Self, Box<Refused>> {
        let may = ruled.decision.answer == Answer::Execute;
        let status = if may { CallStatus::Started } else { CallStatus::Refused };
        let (row, entry) = ruled.row(status, context, now);
        if may { Ok(Self { ruled, row, entry }) } else { Err(Box::new(Refused { ruled, row, entry })) }
    }

    /// Puts the decision, `started` and what the call holds of its budgets into the batch; its receipt is what opens the
    /// door. INVARIANT (not-halted): the batch is refused if the house is halted meanwhile. INVARIANT (once): what it relies
    /// on is used up by the same batch, a yes, or must still hold, a grant. `before` is what the same call held when it
    /// was asked for the last time.
    pub fn enter(self, before: Option<&Reservation>, standing: &mut Standing, batch: &mut Batch) -> Pending {
        let Self { ruled, row, entry } = self;
        for kept in &ruled.keeps {
            batch.put(kept);
        }
        ruled.enter(&row, entry, batch);
        // What runs for another reason does not use a yes to something else.
        let fate = if ruled.answered().is_some() { Fate::Used } else { Fate::Void };
        ruled.spend_leave(fate, &row, batch);
        if let Some(grant) = ruled.decision.grant {
            use_grant(grant, &row, batch);
        }
        ruled.reservation.enter(before, standing, batch);
        batch.expect_absent::<Halt>("name", &Halt::ALL.to_owned());
        let Ruled { call, at_most, changes, .. } = ruled;
        Pending { call, row, at_most, changes, batch: batch.token() }
    }
}

impl Refused {
    #[must_use]
    pub const fn decision(&self) -> &Decision {
        &self.ruled.decision
    }

    /// Puts the decision into the batch, and gives back what the same call may have held before. A yes that somebody gave
    /// counts for nothing any more.
    pub fn enter(self, before: Option<&Reservation>, batch: &mut Batch) {
        let Self { ruled, row, entry } = self;
        ruled.enter(&row, entry, batch);
        ruled.accuse(&row, batch);
        ruled.spend_leave(Fate::Void, &row, batch);
        if let Some(before) = before {
            before.release(batch);
        }
    }
}

impl Ruled {
    pub(crate) fn enter(&self, row: &ToolCall, entry: Entry, batch: &mut Batch) {
        for body in &self.bodies {
            batch.put(body);
        }
        batch.put(row).audit(entry);
    }

    /// Each rule that it violates has an entry of its own, in the batch of the refused call.
    fn accuse(&self, row: &ToolCall, batch: &mut Batch) {
        for rule in &self.decision.violated {
            let violated = entry(&AuditEvent::RuleViolated(row), row, Trust::System, row.timestamp);
            batch.audit(violated.with("rule", rule.number()).with("name", rule.name()));
        }
    }

    /// A yes is good for one call: whatever became of it stands in the batch that used it.
    pub(crate) fn spend_leave(&self, fate: Fate, row: &ToolCall, batch: &mut Batch) {
        let Some(leave) = self.leave.as_ref().filter(|leave| leave.unspent().is_some()) else { return };
        let layer = self.decision.deciding().map(|word| word.layer).filter(|_| fate == Fate::Void);
        let spent = leave.spent(fate);
        let entry = entry(&AuditEvent::of_token(&spent, fate), row, Trust::System, row.timestamp);
        let entry = entry.with("fingerprint", self.fingerprint).with("layer", layer);
        batch.expect_present::<Approval>("stamp", &leave.stamp).put(&spent).audit(entry);
    }
}

fn use_grant(grant: GrantId, row: &ToolCall, batch: &mut Batch) {
    let at = row.timestamp;
    let log = GrantLog {
        seq: Seq(None),
        grant_id: grant,
        // A call that is asked for again after a crash uses it again.
        n: format!("{}/{}", row.id, at.micros()),
        event: GrantEvent::Used,
        call_id: Some(row.id),
        at,
    };
    let used = entry(&AuditEvent::GrantUsed(&log), row, Trust::System, at);
    batch.expect_present::<Grant>("live", &grant.to_string()).put(&log).audit(used);
}

/// A call whose records are in a batch that is not durable yet.
#[derive(Debug)]
pub struct Pending {
    call: Call,
    row: ToolCall,
    at_most: Option<Duration>,
    changes: Option<Changes>,
    batch: Token,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this receipt is for another batch than the one that holds the call")]
pub struct NotCovered;

impl Pending {
    /// The call as it will stand in the ledger.
    #[must_use]
    pub const fn row(&self) -> &ToolCall {
        &self.row
    }

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
        let Self { call, row, at_most, changes, .. } = self;
        Ok(Authorized { call, row, not_after, at_most, changes, stop: Stop::default() })
    }
}

/// Leave to run this call, once, until `not_after`.
pub struct Authorized<C> {
    call: C,
    pub(crate) row: ToolCall,
    pub(crate) not_after: Time,
    pub(crate) at_most: Option<Duration>,
    changes: Option<Changes>,
    stop: Stop,
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

    /// What it changes, as it was looked at, shown and kept: anything else than this must not be done.
    #[must_use]
    pub const fn changes(&self) -> Option<&Changes> {
        self.changes.as_ref()
    }

    /// Asked by whatever takes longer, and right before anything that cannot be taken back.
    #[must_use]
    pub const fn stop(&self) -> &Stop {
        &self.stop
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

/// The entry of something that the agent of this call did with it.
pub(crate) fn entry(event: &AuditEvent<'_>, row: &ToolCall, trust: Trust, at: Time) -> Entry {
    let tags = Tags { origin: row.o_tag, reason: row.r_tag, vpol: row.vpol_id };
    event.entry(format!("agent:{}", row.agent_id), at).trusting(trust).tagged(tags)
}
