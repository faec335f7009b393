//! The audit's vocabulary: every event there is, each declared once.
//!
//! What is written, what `audit verify --complete` expects of a row and what `why --recheck` compares all come from
//! [`AuditEvent::detail`], so they cannot differ. Names and details are frozen: they are hashed with the entries. Rust
//! names may change. An event says ids, digests, numbers and words of ours, never a name or an address (INVARIANT
//! (no-person), `chain/mod.rs`).
//!
//! `docs/audit.md` has the table of all events; a test keeps it up to date (`UPDATE=1` rewrites it).

mod declare;

use declare::audit_events;
use domain::approval::{self, Fate};
use domain::call::ToolId;
use domain::event::Direction;
use domain::id::{EventId, NodeId, TaskId};
use domain::{Digest, Tags, Tier, Time, Trust};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::chain::Entry;
use crate::records::{
    Access, ActivePolicies, AgentNote, AgentTask, Approval, CallStatus, Duty, Entity, Event, Grant, GrantLog,
    Identity, Knock, PolicySwitch, Tool, ToolCall,
};
use crate::value::Ratio;

/// The actor of what the owner did.
pub const OWNER: &str = "owner";
/// The actor of what the instance did by itself.
pub const SYSTEM: &str = "system";
/// The actor of what happened because time was over.
pub const CLOCK: &str = "clock";

audit_events! {
    /// An event came in.
    EventReceived(event: &'a Event) = "event.received" of "event" event.id,
        compared ["body": event.body, "sender": event.sender, "place": event.place];
    /// An answer went out.
    EventSent(event: &'a Event) = "event.sent" of "event" event.id,
        compared ["body": event.body, "answers": event.answers], added ["call"];

    /// Whether an event is let in was decided.
    AdmissionDecided(access: &'a Access) = "admission.decided" of "event" access.event_id,
        compared ["decision": access.decision, "effect": access.effect, "principal": access.principal];
    /// The same was decided again, with the owner's answer.
    AdmissionDecidedAgain(access: &'a Access) = "admission.decided_again" of "event" access.event_id,
        compared ["decision": access.decision, "effect": access.effect, "principal": access.principal];

    /// The owner is asked about a sender.
    AccessRequestOpened(request: &'a Knock) = "knock.asked" of "access request" request.id,
        compared ["kind": request.kind, "sender": request.sender];
    /// The owner let the sender in.
    AccessRequestApproved(request: &'a Knock) = "knock.approved" of "access request" request.id,
        compared ["entity": request.entity_id, "events": request.events], other ["via": request.resolved_via];
    /// The owner did not let the sender in.
    AccessRequestRejected(request: &'a Knock) = "knock.rejected" of "access request" request.id,
        compared ["entity": request.entity_id, "events": request.events], other ["via": request.resolved_via];
    /// The owner did not answer in time.
    AccessRequestExpired(request: &'a Knock) = "knock.expired" of "access request" request.id,
        compared ["entity": request.entity_id, "events": request.events], other ["via": request.resolved_via];

    /// A call waits for a person.
    CallWaiting(call: &'a ToolCall) = "call.waiting" of "call" call.id,
        compared ["decision": call.decision, "input": call.input, "tool": call.tool_id, "task": call.task_id],
        added ["answer"];
    /// A call was refused; it never ran.
    CallRefused(call: &'a ToolCall) = "call.refused" of "call" call.id,
        compared ["decision": call.decision, "input": call.input, "tool": call.tool_id, "task": call.task_id],
        added ["answer", "rejected"];
    /// A call was started; from here on it may have had its effect.
    CallStarted(call: &'a ToolCall) = "call.started" of "call" call.id,
        compared ["decision": call.decision, "input": call.input, "tool": call.tool_id, "task": call.task_id],
        added ["answer"];
    /// A call succeeded.
    CallFinished(call: &'a ToolCall) = "call.finished" of "call" call.id,
        compared ["output": call.output, "duration_ms": call.duration_ms, "tool": call.tool_id, "task": call.task_id],
        optional ["artifacts": call.artifacts, "rating": call.alignment_rating.map(Ratio::get)];
    /// A call failed.
    CallFailed(call: &'a ToolCall) = "call.failed" of "call" call.id,
        compared ["output": call.output, "duration_ms": call.duration_ms, "tool": call.tool_id, "task": call.task_id],
        optional ["artifacts": call.artifacts, "rating": call.alignment_rating.map(Ratio::get)];
    /// A call was started and its process ended: it may have run.
    CallUnknown(call: &'a ToolCall) = "call.unknown" of "call" call.id,
        compared ["output": call.output, "duration_ms": call.duration_ms, "tool": call.tool_id, "task": call.task_id],
        optional ["artifacts": call.artifacts, "rating": call.alignment_rating.map(Ratio::get)];
    /// A refused call violated a rule of the constitution.
    RuleViolated(call: &'a ToolCall) = "governance.rule_violated" of "call" call.id,
        compared ["decision": call.decision, "input": call.input, "tool": call.tool_id, "task": call.task_id],
        added ["rule", "name"];

    /// A task was opened.
    TaskOpened { task: TaskId, event: EventId } = "task.opened" of "task" task, compared ["event": event];
    /// Another process went on with a task.
    TaskTakenOver { task: TaskId, epoch: u64 } = "task.taken_over" of "task" task, other ["epoch": epoch];
    /// A task ended.
    TaskEnded(task: &'a AgentTask) = "task.ended" of "task" task.task_id,
        compared ["status": task.status, "directive": task.directive, "steps": task.steps],
        added ["journal", "unread", "reset", "forgotten"];

    /// A person is asked about a call.
    ApprovalRequested(approval: &'a Approval) = "approval.requested" of "approval" approval.id,
        compared ["call": approval.call_id, "question": approval.question, "fingerprint": approval.fingerprint],
        other [
            "tool": approval.tool_id, "task": approval.task_id, "authority": approval.authority,
            "timeout_at": approval.timeout_at,
        ];
    /// The next approver is asked.
    ApprovalEscalated(approval: &'a Approval) = "approval.escalated" of "approval" approval.id,
        compared ["to": approval.authority, "timeout_at": approval.timeout_at], added ["from"];
    /// The approver said yes.
    ApprovalApproved(approval: &'a Approval) = "approval.approved" of "approval" approval.id,
        compared ["leave": approval.leave, "answer": approval.answer],
        other [
            "call": approval.call_id, "fingerprint": approval.fingerprint, "via": approval.resolved_via,
            "grant": approval.grant_id,
        ];
    /// The approver said yes to other arguments.
    ApprovalModified(approval: &'a Approval) = "approval.modified" of "approval" approval.id,
        compared ["leave": approval.leave, "answer": approval.answer],
        other [
            "call": approval.call_id, "fingerprint": approval.fingerprint, "via": approval.resolved_via,
            "grant": approval.grant_id,
        ];
    /// The approver said no.
    ApprovalRejected(approval: &'a Approval) = "approval.rejected" of "approval" approval.id,
        compared ["leave": approval.leave, "answer": approval.answer],
        other [
            "call": approval.call_id, "fingerprint": approval.fingerprint, "via": approval.resolved_via,
            "grant": approval.grant_id,
        ];
    /// Nobody answered in time, or an answer is not needed any more.
    ApprovalExpired(approval: &'a Approval) = "approval.expired" of "approval" approval.id,
        compared ["leave": approval.leave, "answer": approval.answer],
        other [
            "call": approval.call_id, "fingerprint": approval.fingerprint, "via": approval.resolved_via,
            "grant": approval.grant_id,
        ];
    /// A call was started with the approval token.
    ApprovalUsed(approval: &'a Approval) = "approval.used" of "approval" approval.id,
        compared ["leave": approval.leave], other ["call": approval.call_id], added ["fingerprint", "layer"];
    /// The approval token does not count any more.
    ApprovalVoided(approval: &'a Approval) = "approval.voided" of "approval" approval.id,
        compared ["leave": approval.leave], other ["call": approval.call_id],
        added ["fingerprint", "layer", "stale", "reset", "restored"];

    /// A grant was given.
    GrantCreated(grant: &'a Grant) = "grant.created" of "grant" grant.id,
        compared ["tool": grant.tool_id, "terms": grant.terms, "expires_at": grant.expires_at],
        other ["request": grant.request_id];
    /// A grant was revoked.
    GrantRevoked(grant: &'a Grant) = "grant.revoked" of "grant" grant.id,
        compared ["tool": grant.tool_id], added ["reset", "restored"];
    /// A grant's time is over.
    GrantExpired(grant: &'a Grant) = "grant.expired" of "grant" grant.id, compared ["tool": grant.tool_id];
    /// A call was started with a grant.
    GrantUsed(log: &'a GrantLog) = "grant.used" of "grant" log.grant_id, compared ["call": log.call_id];

    /// A person was added.
    PersonAdded { person: &'a Entity, tags: usize } = "person.added" of "person" person.id,
        other ["kind": person.kind, "trust": person.trust, "tags": tags];
    /// What is known of a person was changed.
    PersonChanged(person: &'a Entity) = "person.changed" of "person" person.id,
        added ["trust", "relationship", "tags"];
    /// An address was linked to a person.
    PersonLinked { person: &'a Entity, address: &'a Identity } = "person.linked" of "person" person.id,
        other ["identity": address.id, "verified": address.is_verified, "owned": address.is_owned];
    /// An address was unlinked from a person.
    PersonUnlinked { person: &'a Entity, address: &'a Identity } = "person.unlinked" of "person" person.id,
        other ["identity": address.id];
    /// A person was erased.
    PersonForgotten { person: &'a str } = "person.forgotten" of "person or address" person,
        added [
            "blobs", "salts", "entities", "entity_tags", "entity_identities", "places", "watermarks", "agent_tasks"
        ];
    /// What an adapter had kept for too long was erased.
    RetentionErased { adapter: &'a str, events: u64, blobs: usize } =
        "retention.erased" of "adapter" format_args!("adapter:{adapter}"),
        other ["adapter": adapter, "events": events, "blobs": blobs];

    /// A set of policies is in force.
    PoliciesActivated { policies: &'a ActivePolicies, count: usize } =
        "policies.activated" of "policy set" policies.policies,
        other ["kind": policies.kind, "policies": count];
    /// The owner switched a policy on or off.
    PolicySwitched(switch: &'a PolicySwitch) = "policy.switched" of "policy" switch.name,
        other ["enabled": switch.enabled];

    /// The owner switched a tool on or off.
    ToolSwitched { tool: &'a ToolId, enabled: bool } = "tool.switched" of "tool" tool, other ["enabled": enabled];
    /// The owner set how much a tool is watched.
    ToolLevelSet { tool: &'a Tool, before: u8 } = "tool.level_set" of "tool" tool.tool_id,
        other ["level": tool.monitoring_level, "before": before, "spec": tool.spec];
    /// A tool was registered.
    ToolRegistered { tool: &'a Tool, tier: Tier } = "tool.registered" of "tool" tool.tool_id,
        other ["level": tool.monitoring_level, "tier": tier, "spec": tool.spec];
    /// A registered tool was replaced.
    ToolChanged { tool: &'a Tool, tier: Tier } = "tool.changed" of "tool" tool.tool_id,
        other ["level": tool.monitoring_level, "tier": tier, "spec": tool.spec];
    /// A registered tool was removed.
    ToolRemoved(tool: &'a ToolId) = "tool.removed" of "tool" tool;

    /// The owner gave a standing instruction.
    InstructionAdded(note: &'a AgentNote) = "instruction.added" of "instruction" note.id,
        other ["agent": note.agent_id, "content": note.content, "priority": note.priority];
    /// The owner removed a standing instruction.
    InstructionRemoved { note: u64 } = "instruction.removed" of "instruction" note;

    /// A background job was started.
    JobStarted { job: &'a str } = "duty.started" of "background job" job_subject(job);
    /// A background job succeeded.
    JobDone(job: &'a Duty) = "duty.done" of "background job" job_subject(&job.name), compared ["runs": job.runs];
    /// A background job failed.
    JobFailed(job: &'a Duty) = "duty.failed" of "background job" job_subject(&job.name),
        compared ["runs": job.runs], added ["code"];

    /// The owner halted everything.
    InstanceHalted = "house.halted" of "instance" INSTANCE;
    /// The owner lifted the halt.
    InstanceResumed = "house.resumed" of "instance" INSTANCE;
    /// A backup was made.
    InstanceBackedUp { manifest: Digest, rows: u64 } = "house.backed_up" of "instance" INSTANCE,
        other ["manifest": manifest, "rows": rows];
    /// A backup was restored; `left` is the head of what it replaced.
    InstanceRestored { manifest: Digest, left: &'a Value, kept: Option<Digest> } =
        "house.restored" of "instance" INSTANCE,
        other ["manifest": manifest, "left": left, "kept": kept];
    /// The database was brought to another schema.
    InstanceUpgraded { from: i64, to: i64, kept: Option<Digest> } = "house.upgraded" of "instance" INSTANCE,
        other ["from": from, "to": to], optional ["kept": kept];

    /// Rows that carry authority were sealed in a batch without another entry.
    AuthoritySealed { stream: NodeId } = "authority.sealed" of "stream" stream;
    /// The owner withdrew everything that carries authority.
    AuthorityReset { approvals: usize, grants: usize, addresses: usize, switches: usize, tools: usize } =
        "authority.reset" of "instance" INSTANCE,
        other [
            "approvals": approvals, "grants": grants, "addresses": addresses, "switches": switches,
            "tools": tools,
        ];
    /// A restore kept what was newer than the backup.
    AuthorityCarried { carried: usize } = "authority.carried" of "instance" INSTANCE, other ["carried": carried];

    /// The audit goes on after damage.
    AuditHealed { stream: NodeId, found: &'a str, after: u64, noted: Option<u64> } =
        "audit.healed" of "stream" stream,
        other ["found": found, "after": after, "noted": noted];
    /// Damage was found before a checkpoint was signed.
    AuditDamaged { stream: NodeId, faults: &'a [String], more: u64 } = "audit.damaged" of "stream" stream,
        other ["faults": faults, "more": more];
    /// The audit was exported.
    AuditExported { stream: NodeId } = "audit.exported" of "stream" stream;
    /// The checkpoints were copied to an anchor.
    AuditAnchored { stream: NodeId } = "audit.anchored" of "stream" stream;

    /// The clock was found to be earlier than the newest commit.
    ClockWentBack { from: Time, to: Time, events: i64 } = "clock.back" of "clock" "clock",
        other ["from": from, "to": to, "events": events];
}

/// The subject of events about the instance itself.
const INSTANCE: &str = "house";

fn job_subject(name: &str) -> String {
    format!("duty:{name}")
}

impl<'a> AuditEvent<'a> {
    /// The event came in, or went out.
    #[must_use]
    pub const fn of_event(event: &'a Event) -> Self {
        match event.direction {
            Direction::In => Self::EventReceived(event),
            Direction::Out => Self::EventSent(event),
        }
    }

    #[must_use]
    pub const fn of_admission(access: &'a Access) -> Self {
        if access.n == 0 { Self::AdmissionDecided(access) } else { Self::AdmissionDecidedAgain(access) }
    }

    /// The access request has come to its status; `None` if that is not a status of access requests.
    #[must_use]
    pub const fn of_access_request(request: &'a Knock) -> Option<Self> {
        match request.status {
            approval::Status::Pending => Some(Self::AccessRequestOpened(request)),
            approval::Status::Approved => Some(Self::AccessRequestApproved(request)),
            approval::Status::Rejected => Some(Self::AccessRequestRejected(request)),
            approval::Status::Expired => Some(Self::AccessRequestExpired(request)),
            approval::Status::Modified | approval::Status::Escalated => None,
        }
    }

    /// The call has come to its status.
    #[must_use]
    pub const fn of_call(call: &'a ToolCall) -> Self {
        match call.status {
            CallStatus::Refused => Self::CallRefused(call),
            CallStatus::Waiting => Self::CallWaiting(call),
            CallStatus::Started => Self::CallStarted(call),
            CallStatus::Finished => Self::CallFinished(call),
            CallStatus::Failed => Self::CallFailed(call),
            CallStatus::Unknown => Self::CallUnknown(call),
        }
    }

    /// The approval has come to its status.
    #[must_use]
    pub const fn of_approval(approval: &'a Approval) -> Self {
        match approval.status {
            approval::Status::Pending => Self::ApprovalRequested(approval),
            approval::Status::Escalated => Self::ApprovalEscalated(approval),
            approval::Status::Approved => Self::ApprovalApproved(approval),
            approval::Status::Modified => Self::ApprovalModified(approval),
            approval::Status::Rejected => Self::ApprovalRejected(approval),
            approval::Status::Expired => Self::ApprovalExpired(approval),
        }
    }

    /// The token of the approval has come to this.
    #[must_use]
    pub const fn of_token(approval: &'a Approval, fate: Fate) -> Self {
        match fate {
            Fate::Used => Self::ApprovalUsed(approval),
            Fate::Void => Self::ApprovalVoided(approval),
        }
    }

    /// The job has come to its outcome; `None` if it has none, or another than this version writes.
    #[must_use]
    pub fn of_job(job: &'a Duty) -> Option<Self> {
        match job.outcome.as_deref()? {
            Duty::DONE => Some(Self::JobDone(job)),
            Duty::FAILED => Some(Self::JobFailed(job)),
            _ => None,
        }
    }

    /// The task was opened, as its row says.
    #[must_use]
    pub const fn opening(task: &'a AgentTask) -> Self {
        Self::TaskOpened { task: task.task_id, event: task.payload }
    }

    /// Its entry, without trust and tags: [`Entry::trusting`] and [`Entry::tagged`] set them.
    #[must_use]
    pub fn entry(&self, actor: impl Into<String>, at: Time) -> Entry {
        Entry {
            at,
            kind: self.kind().name().to_owned(),
            actor: actor.into(),
            subject: self.subject(),
            trust: None,
            origin_id: None,
            reason_id: None,
            vpol_id: None,
            detail: self.detail().into(),
        }
    }
}

impl Entry {
    #[must_use]
    pub fn trusting(self, trust: Trust) -> Self {
        Self { trust: Some(trust), ..self }
    }

    #[must_use]
    pub fn tagged(self, Tags { origin, reason, vpol }: Tags) -> Self {
        Self { origin_id: Some(origin), reason_id: Some(reason), vpol_id: Some(vpol), ..self }
    }

    /// Adds a field to the detail. The event declares its name (`added`).
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Serialize) -> Self {
        let declared = AuditEventKind::from_name(&self.kind).map_or(&[][..], AuditEventKind::added);
        debug_assert!(declared.contains(&field), "`{}` does not declare `{field}`", self.kind);
        if let Value::Object(detail) = &mut self.detail {
            detail.insert(field.to_owned(), json!(value));
        }
        self
    }
}
