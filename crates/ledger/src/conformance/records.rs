//! What goes in comes out again.

use std::sync::Arc;

use domain::call::ToolId;
use domain::id::{
    AdmissionId, ApprovalId, CallId, EntityId, EventId, GrantId, IdentityId, KnockId, OriginId, PlaceId,
    ReasonId, TaskId, VpolId,
};
use domain::task::{Directive, Status};
use domain::{Digest, Trust, approval};

use super::{at, batch, event, lease};
use crate::committer::Ledger;
use crate::query::Select;
use crate::records::{
    Access, ActivePolicies, AgentTask, Approval, ApprovalCode, Blob, Budget, CallStatus, Cursor,
    DatabaseStamp, Duty, Entity, EntityKind, EntityTag, Event, Grant, GrantEvent, GrantLog, Halt, Identity,
    Knock, KnockKind, Origin, Place, PolicySwitch, Reason, Salt, SaltBytes, TaskStep, Tool, ToolCall, Vpol,
    Watermark,
};
use crate::store::Store;
use crate::value::{Ratio, Seq};

pub(super) async fn every_record_comes_back_as_it_went_in(ledger: Ledger, _: Arc<dyn Store>) {
    macro_rules! there_and_back {
        ($($n:literal: $record:expr),+ $(,)?) => {$(
            let record = $record;
            let mut work = batch($n);
            work.put(&record);
            ledger.commit(work).await.expect("commit");
            let back = ledger.select(all_like(&record)).await.expect("select");
            assert_eq!(back, [record]);
        )+};
    }
    let task = TaskId::from_bits(1);
    let (origin, reason, vpol) = (OriginId::from_bits(1), ReasonId::from_bits(2), VpolId::from_bits(3));
    there_and_back!(
        11: Event { seq: Seq(Some(1)), answers: Some(EventId::from_bits(u128::MAX)), ..event(1, "ключ 🗝") },
        12: Blob::public(vec![0, 255, 10]),
        13: Salt { person: "p-x".into(), salt: SaltBytes::new(Digest::of(b"s")) },
        14: Entity { id: EntityId::from_bits(1), kind: EntityKind::Person, name: Some("Léa".into()), is_owner: true,
            relationship: None, trust: Some(Trust::Operator), created_at: at(-1_900_000_000_000_000) },
        15: Identity { id: IdentityId::from_bits(1), platform: "mail".into(), identifier: "a@b".into(), entity_id: None,
            account: None, first_seen: at(1), is_owned: false, is_verified: true },
        16: Place { id: PlaceId::from_bits(1), platform: "mail".into(), account: String::new(), container: "c".into(),
            thread: String::new() },
        17: Origin { id: origin, origin_type: "message".into(), source_ref: EventId::from_bits(1), timestamp: at(1) },
        18: Vpol { vpol_id: vpol, name: "default-owner".into(), rules: Digest::ZERO, context_bucket: None,
            enforcement_mode: "monitor".into() },
        19: Reason { id: reason, r_tag: "plan".into(), o_tag: origin, vpol_id: vpol, chain_id: task.to_string(),
            parent_id: None, agent_id: "main".into(), thought: Digest::ZERO, at: at(1) },
        20: Access { id: AdmissionId::from_bits(1), event_id: EventId::from_bits(1), n: 1, effect: "allow".into(),
            principal: "owner".into(), trust: Trust::Operator, reason_id: reason, vpol_id: vpol, decision: Digest::ZERO,
            knock_id: Some(KnockId::from_bits(1)), at: at(1) },
        21: lease(u64::try_from(i64::MAX).expect("fits"), "host:1"),
        22: AgentTask { task_id: task, agent_id: "main".into(), status: Status::Running, priority: 50,
            payload: EventId::from_bits(1), o_tag: origin, vpol_id: Some(vpol), task_class: Some("count_files".into()),
            directive: Some(Directive::Accept), steps: 9, created_at: at(1), started_at: Some(at(2)), completed_at: None,
            journal: Some(Digest::ZERO) },
        23: TaskStep { seq: Seq(Some(1)), task, n: 0, epoch: 1, body: Digest::ZERO, at: at(1) },
        24: ToolCall { id: CallId::from_bits(1), tool_id: "find_files".parse::<ToolId>().expect("id"), agent_id: "main".into(),
            task_id: task, r_tag: reason, o_tag: origin, vpol_id: vpol, status: CallStatus::Started, input: Digest::ZERO,
            output: None, decision: Digest::ZERO, duration_ms: None, timestamp: at(1), artifacts: Some(Digest::ZERO),
            alignment_rating: Some(Ratio::new(0.1).expect("a ratio")), reserved: Some("[]".into()), change: Some(Digest::ZERO) },
        25: Watermark { adapter: "mail".into(), account: String::new(), position: "UIDVALIDITY 7, UID 4821".into(), at: at(1) },
        26: Duty { name: "upkeep".into(), next_due: at(1), last_run: None, outcome: Some("done".into()), runs: 3 },
        27: Tool { tool_id: "find_files".parse::<ToolId>().expect("id"), agent_access: "[]".into(), risk_level: "low".into(),
            execution_mode: "auto".into(), monitoring_level: 2, alignment_score_90d: None, spec: Digest::ZERO, changed_at: at(1) },
        28: Budget { account: "день".into(), unit: "cents".into(), used: u64::MAX >> 1, changed_at: at(1) },
        29: Halt { name: Halt::ALL.into(), at: at(1), by: "owner".into() },
        30: Approval { id: ApprovalId::from_bits(1), stamp: "a/0".into(), tool_id: "delete_file".parse::<ToolId>().expect("id"),
            agent_id: "main".into(), task_id: task, call_id: CallId::from_bits(1), r_tag: reason, o_tag: origin, vpol_id: vpol,
            arguments: Digest::ZERO, reason: Digest::ZERO, summary: Digest::ZERO, question: Digest::ZERO,
            risk_level: "critical".into(), confidence: Some(Ratio::new(0.5).expect("a ratio")), tags: "[]".into(),
            status: approval::Status::Escalated, authority: "owner".into(), fingerprint: Digest::ZERO,
            leave: Some(Digest::ZERO), shape: Digest::ZERO, created_at: at(1), timeout_at: at(2), resolved_at: Some(at(3)),
            resolved_by: Some("owner".into()), resolved_via: None, answer: None, grant_id: Some(GrantId::from_bits(1)),
            fate: Some(approval::Fate::Used), token_until: Some(at(4)), live: Some("a-1".into()) },
        31: ApprovalCode { number: 1, approval: ApprovalId::from_bits(1), digest: Digest::ZERO, until: at(1), tries: 5,
            stamp: "1/0".into() },
        32: Grant { id: GrantId::from_bits(1), live: None, tool_id: "write_file".parse::<ToolId>().expect("id"),
            terms: Digest::ZERO, created_at: at(1), expires_at: Some(at(2)), revoked_at: None, granted_by: "owner".into(),
            request_id: Some(ApprovalId::from_bits(1)) },
        33: GrantLog { seq: Seq(Some(1)), grant_id: GrantId::from_bits(1), n: "created".into(),
            event: GrantEvent::Created, call_id: Some(CallId::from_bits(1)), at: at(1) },
        34: EntityTag { entity_id: EntityId::from_bits(1), tag: "role:billing".into() },
        35: ActivePolicies { kind: "acl".into(), policies: Digest::ZERO, sources: Digest::ZERO, at: at(1) },
        36: PolicySwitch { name: "quiet-hours".into(), enabled: true, at: at(1) },
        37: Knock { id: KnockId::from_bits(1), stamp: "k/0".into(), kind: KnockKind::Pairing, sender: IdentityId::from_bits(1),
            waiting: Some("i-1".into()), events: 3, status: approval::Status::Pending, created_at: at(1), timeout_at: at(2),
            resolved_at: None, resolved_by: None, resolved_via: None, entity_id: Some(EntityId::from_bits(1)) },
        38: Cursor { name: "admission".into(), seq: 7 },
        39: DatabaseStamp::new("d-1", 3),
    );
}

fn all_like<T: crate::table::Record>(_: &T) -> Select<T> {
    Select::all()
}
