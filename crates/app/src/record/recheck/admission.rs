//! The event, whether it was let in, and under which authority.

use domain::Digest;
use domain::id::VpolId;
use ledger::records::{Access, Blob, Reason};
use ledger::{AuditEvent, AuditEventKind, Entry};
use policy::admit::{Admission, admit};
use serde::Serialize;

use super::look::{Look, Rules};
use super::{Chain, Judged, Line, Policy};

pub(super) fn event(chain: &Chain) -> Vec<Line> {
    let Chain { event, origin, request, .. } = chain;
    let mut look = Look::at("event", event.id);
    let received = chain.entry(&event.id.to_string(), &[AuditEventKind::EventReceived]);
    look.audited_event(received, &AuditEvent::EventReceived(event));
    let source = origin.as_ref().map_or_else(|| "none".into(), |origin| origin.source_ref.to_string());
    look.compare("origin", source, event.id);
    look.personal("body", request);
    look.end()
}

pub(super) fn admissions(chain: &Chain) -> Vec<Line> {
    let subject = chain.event.id.to_string();
    let mut lines = Vec::new();
    let kinds = [AuditEventKind::AdmissionDecided, AuditEventKind::AdmissionDecidedAgain];
    for (n, kind) in kinds.into_iter().enumerate() {
        let decided = chain.entry(&subject, &[kind]);
        match (chain.admissions.get(n), decided) {
            (Some(judged), decided) => lines.extend(admission(chain, judged, decided)),
            (None, Some(decided)) => {
                let mut look = Look::at("admission", &decided.subject);
                look.missing("row");
                lines.extend(look.end());
            }
            (None, None) => {}
        }
    }
    lines
}

fn admission(chain: &Chain, judged: &Judged, decided: Option<&Entry>) -> Vec<Line> {
    let Judged { row, body, sets } = judged;
    let mut look = Look::at("admission", row.id);
    look.audited_event(decided, &AuditEvent::of_admission(row));
    if let Some(decided) = decided {
        let id = |id: Option<String>| id.unwrap_or_else(|| "none".into());
        look.compare("reason, in the audit", id(decided.reason_id.map(|id| id.to_string())), row.reason_id);
        look.compare("policy, in the audit", id(decided.vpol_id.map(|id| id.to_string())), row.vpol_id);
    }
    if let Some(admitted) = look.personal("decision", body) {
        let rules = Rules { then: admitted.by.as_ref().map(|by| by.rules), now: policy::RULES };
        look.rules(rules);
        let then = &admitted.decision;
        match sets {
            Some((acl, vpols)) => {
                let (acl, vpols) = (look.public("policies", acl), look.public("validation policies", vpols));
                if let (Some(acl), Some(vpols)) = (acl, vpols) {
                    compare(&mut look, rules, then, &admit(then.facts.clone(), acl, vpols));
                }
            }
            None => look.unkept(),
        }
        if let Some(event) = then.facts.event {
            look.compare("event", event, chain.event.id);
        }
        look.compare("adapter", &then.facts.adapter, &chain.event.adapter);
        look.compare("effect, in its row", then.effect.name(), &row.effect);
        look.compare("principal, in its row", &then.principal, &row.principal);
        look.compare("trust, in its row", then.trust, row.trust);
        let policy = chain.policies.iter().find(|policy| policy.id == row.vpol_id);
        let name = policy.and_then(|policy| policy.row.as_ref()).map_or("none", |row| row.name.as_str());
        look.compare("policy", &then.vpol, name);
        reason(&mut look, rules, chain, row, then);
    }
    look.end()
}

fn compare(look: &mut Look, rules: Rules, then: &Admission, now: &Admission) {
    let whole = |admission: &Admission| {
        format!("{}: {}, trust {}", admission.effect.name(), admission.principal, admission.trust)
    };
    look.compare_by(rules, "decision", whole(then), whole(now));
    look.compare_by(rules, "policies that matched", then.matched.join(" "), now.matched.join(" "));
    look.compare_by(rules, "tools", then.tools.join(" "), now.tools.join(" "));
    let rights = |of: &Admission| (of.permissions.clone(), of.modifiers, of.pairing);
    look.compare_by(rules, "permissions", shown(&rights(then)), shown(&rights(now)));
    look.compare_by(rules, "session", shown(&then.session), shown(&now.session));
    look.compare_by(rules, "persona", &then.persona, &now.persona);
    look.compare_by(rules, "policy", &then.vpol, &now.vpol);
    look.compare_by(rules, "policy that was picked", shown(&then.picked), shown(&now.picked));
    look.compare_by(rules, "reasons", words(then), words(now));
}

/// The reason of the admission: the R-Tag that everything in the chain hangs on.
fn reason(look: &mut Look, rules: Rules, chain: &Chain, row: &Access, admission: &Admission) {
    let Some(kept) = chain.reasons.iter().find(|reason| reason.id == row.reason_id) else {
        return look.missing("reason");
    };
    let now = Reason {
        id: row.reason_id,
        r_tag: "admit".into(),
        o_tag: chain.event.origin_id,
        vpol_id: row.vpol_id,
        chain_id: kernel::task_of(&chain.event).to_string(),
        parent_id: None,
        agent_id: admission.persona.clone(),
        thought: Blob::public(words(admission).into_bytes()).hash,
        at: kept.at,
    };
    look.compare_rows(Some(rules), kept, &now);
}

fn words(admission: &Admission) -> String {
    admission.reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn shown(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| error.to_string())
}

/// A policy's id is the digest of its rules, and its row says what the rules say.
pub(super) fn policy(policy: &Policy) -> Vec<Line> {
    let mut look = Look::at("policy", policy.id);
    match &policy.row {
        None => look.missing("row"),
        Some(row) => {
            look.compare("id", policy.id, VpolId::from_digest(row.rules));
            if let Some(rules) = look.public("rules", &policy.rules) {
                look.compare("rules", row.rules, Digest::of(&rules.bytes()));
                look.compare("name, in its row", &rules.name, &row.name);
                look.compare("mode, in its row", rules.mode.name(), &row.enforcement_mode);
            }
        }
    }
    look.end()
}

/// Everything above is compared with the audit, so it counts only as far as the audit itself holds.
pub(super) fn audit(chain: &Chain) -> Vec<Line> {
    let mut look = Look::at("audit", chain.event.origin_id);
    if let Some(fault) = &chain.fault {
        look.compare("chain", "consistent", fault);
    }
    look.end()
}
