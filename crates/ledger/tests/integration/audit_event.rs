//! Names and details of audit events are hashed with the entries, so they are frozen; `docs/audit.md` lists them.

use domain::approval::{Fate, Status};
use domain::id::{ApprovalId, CallId, GrantId, NodeId, OriginId, ReasonId, TaskId, VpolId};
use domain::{Digest, Time, Trust};
use ledger::audit_event::{AuditEvent, AuditEventKind, CLOCK, OWNER};
use ledger::records::{Approval, CallStatus, Duty, Grant, GrantEvent, GrantLog, ToolCall};
use ledger::value::{Ratio, Seq};
use serde_json::json;

const BEGIN: &str = "<!-- audit events: begin; written by `UPDATE=1 cargo nextest run -p ledger --all-features the_documented` -->\n";
const END: &str = "<!-- audit events: end -->\n";

fn at(n: i64) -> Time {
    Time::from_micros(n)
}

fn call(status: CallStatus) -> ToolCall {
    ToolCall {
        id: CallId::from_bits(1),
        tool_id: "read_file".parse().expect("an id"),
        agent_id: "main".into(),
        task_id: TaskId::from_bits(2),
        r_tag: ReasonId::from_bits(3),
        o_tag: OriginId::from_bits(4),
        vpol_id: VpolId::from_digest(Digest::ZERO),
        status,
        input: Digest::ZERO,
        output: Some(Digest::ZERO),
        decision: Digest::ZERO,
        duration_ms: Some(5),
        timestamp: at(1),
        artifacts: None,
        alignment_rating: Ratio::new(0.5).ok(),
        reserved: None,
        change: None,
    }
}

fn approval(status: Status) -> Approval {
    let id = ApprovalId::from_bits(6);
    let call = call(CallStatus::Waiting);
    Approval {
        id,
        stamp: Approval::first_stamp(id),
        tool_id: call.tool_id,
        agent_id: call.agent_id,
        task_id: call.task_id,
        call_id: call.id,
        r_tag: call.r_tag,
        o_tag: call.o_tag,
        vpol_id: call.vpol_id,
        arguments: Digest::ZERO,
        reason: Digest::ZERO,
        summary: Digest::ZERO,
        question: Digest::ZERO,
        risk_level: "low".into(),
        confidence: None,
        tags: "[]".into(),
        status,
        authority: "owner".into(),
        fingerprint: Digest::ZERO,
        leave: Some(Digest::ZERO),
        shape: Digest::ZERO,
        created_at: at(1),
        timeout_at: at(2),
        resolved_at: None,
        resolved_by: None,
        resolved_via: Some("terminal".into()),
        answer: None,
        grant_id: None,
        fate: None,
        token_until: None,
        live: None,
    }
}

/// If this fails, entries that were written before and after the change differ: leave the form as it was.
#[test]
fn the_form_of_entries_is_frozen() {
    let zero = Digest::ZERO;
    let grant = Grant {
        id: GrantId::from_bits(7),
        live: None,
        tool_id: call(CallStatus::Started).tool_id,
        terms: zero,
        created_at: at(1),
        expires_at: None,
        revoked_at: None,
        granted_by: "owner".into(),
        request_id: None,
    };
    let log = GrantLog {
        seq: Seq(None),
        grant_id: grant.id,
        n: "1".into(),
        event: GrantEvent::Used,
        call_id: Some(CallId::from_bits(1)),
        at: at(1),
    };
    let job = Duty { name: "upkeep".into(), next_due: at(1), last_run: None, outcome: None, runs: 3 };
    let [started, refused, finished, unknown] =
        [CallStatus::Started, CallStatus::Refused, CallStatus::Finished, CallStatus::Unknown].map(call);
    let [pending, rejected, voided] = [Status::Pending, Status::Rejected, Status::Approved].map(approval);
    let (call, task, tool) = (CallId::from_bits(1), TaskId::from_bits(2), "read_file");
    let asked = ApprovalId::from_bits(6).to_string();
    let ruled = json!({ "tool": tool, "task": task, "input": zero, "decision": zero });
    let ended = json!({ "tool": tool, "task": task, "output": zero, "duration_ms": 5, "rating": 0.5 });
    let answered = json!({
        "call": call, "fingerprint": zero, "leave": zero, "answer": null, "via": "terminal", "grant": null,
    });
    let requested = json!({
        "call": call, "tool": tool, "task": task, "question": zero, "fingerprint": zero,
        "authority": "owner", "timeout_at": at(2),
    });
    let table = [
        (AuditEvent::of_call(&started), "call.started", call.to_string(), &ruled),
        (AuditEvent::of_call(&refused), "call.refused", call.to_string(), &ruled),
        (AuditEvent::of_call(&finished), "call.finished", call.to_string(), &ended),
        (AuditEvent::of_call(&unknown), "call.unknown", call.to_string(), &ended),
        (AuditEvent::of_approval(&pending), "approval.requested", asked.clone(), &requested),
        (AuditEvent::of_approval(&rejected), "approval.rejected", asked.clone(), &answered),
        (
            AuditEvent::of_token(&voided, Fate::Void),
            "approval.voided",
            asked,
            &json!({ "call": call, "leave": zero }),
        ),
        (
            AuditEvent::GrantCreated(&grant),
            "grant.created",
            grant.id.to_string(),
            &json!({ "tool": tool, "terms": zero, "expires_at": null, "request": null }),
        ),
        (AuditEvent::GrantUsed(&log), "grant.used", grant.id.to_string(), &json!({ "call": call })),
        (AuditEvent::JobDone(&job), "duty.done", "duty:upkeep".into(), &json!({ "runs": 3 })),
        (AuditEvent::InstanceHalted, "house.halted", "house".into(), &json!({})),
        (
            AuditEvent::InstanceUpgraded { from: 1, to: 2, kept: None },
            "house.upgraded",
            "house".into(),
            &json!({ "from": 1, "to": 2 }),
        ),
        (
            AuditEvent::AuditHealed { stream: NodeId::from_bits(8), found: "cut", after: 1, noted: None },
            "audit.healed",
            NodeId::from_bits(8).to_string(),
            &json!({ "found": "cut", "after": 1, "noted": null }),
        ),
    ];
    for (event, kind, subject, detail) in table {
        let entry = event.entry(CLOCK, at(9));
        assert_eq!((entry.kind.as_str(), &entry.subject, &entry.detail), (kind, &subject, detail));
        assert_eq!(
            (entry.actor.as_str(), entry.at, entry.trust, entry.origin_id),
            (CLOCK, at(9), None, None)
        );
    }
}

#[test]
fn a_writer_adds_what_the_event_declares() {
    let call = call(CallStatus::Refused);
    let entry = AuditEvent::CallRefused(&call).entry(OWNER, at(1)).trusting(Trust::Hostile);
    let entry = entry.with("rejected", true);
    assert_eq!((entry.trust, &entry.detail["rejected"]), (Some(Trust::Hostile), &json!(true)));
}

#[test]
fn every_name_is_there_once_and_no_field_is_declared_twice() {
    for kind in AuditEventKind::ALL {
        assert_eq!(AuditEventKind::from_name(kind.name()), Some(*kind));
        let mut fields: Vec<&str> = [kind.compared(), kind.other(), kind.added()].concat();
        let declared = fields.len();
        fields.sort_unstable();
        fields.dedup();
        assert_eq!(fields.len(), declared, "{kind:?}");
    }
    assert_eq!(AuditEventKind::from_name("house.begun"), None);
}

fn document() -> String {
    let list = |fields: &[&str]| {
        let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
        fields.join(", ")
    };
    let mut table = String::from(
        "| event | what happened | subject | compared | not compared |\n|---|---|---|---|---|\n",
    );
    for kind in AuditEventKind::ALL {
        let more = list(&[kind.other(), kind.added()].concat());
        let (name, meaning, subject) = (kind.name(), kind.meaning(), kind.subject_name());
        table += &format!("| `{name}` | {meaning} | {subject} | {} | {more} |\n", list(kind.compared()));
    }
    table
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it reads the document, and rewrites it with UPDATE=1")]
fn the_documented_events_are_those_there_are() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/audit.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let (before, rest) = text.split_once(BEGIN).expect("the beginning of the table");
    let (found, after) = rest.split_once(END).expect("the end of the table");
    if found != document() && std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, [before, BEGIN, &document(), END, after].concat()).expect("write");
        return;
    }
    assert_eq!(found, document(), "run the test again with UPDATE=1");
}
