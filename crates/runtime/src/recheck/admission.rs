//! The event, whether it was let in, and under which authority.

use domain::Digest;
use domain::id::VpolId;
use ledger::records::{Blob, Reason};
use policy::admit::{Admission, admit};
use policy::vpol::{Picked, Vpol};

use super::look::{Look, Rules};
use super::{Chain, Line, Policy};
use crate::pipeline;

pub(super) fn event(chain: &Chain) -> Vec<Line> {
    let Chain { event, origin, request, .. } = chain;
    let mut look = Look::at("event", event.id);
    let received = chain.entry(&event.id.to_string(), &["event.received"]);
    look.audited("body", received, &event.body);
    look.audited("sender", received, &event.sender);
    look.audited("place", received, &event.place);
    let source = origin.as_ref().map_or_else(|| "none".into(), |origin| origin.source_ref.to_string());
    look.compare("origin", source, event.id);
    look.personal("body", request);
    look.end()
}

pub(super) fn admission(chain: &Chain) -> Vec<Line> {
    let decided = chain.entry(&chain.event.id.to_string(), &["admission.decided"]);
    let Some((row, body)) = &chain.admission else {
        let Some(decided) = decided else { return Vec::new() };
        let mut look = Look::at("admission", &decided.subject);
        look.missing("row");
        return look.end();
    };
    let mut look = Look::at("admission", row.id);
    look.audited("decision", decided, &row.decision);
    look.audited("effect", decided, &row.effect);
    look.audited("principal", decided, &row.principal);
    if let Some(decided) = decided {
        let id = |id: Option<String>| id.unwrap_or_else(|| "none".into());
        look.compare("reason, in the audit", id(decided.reason_id.map(|id| id.to_string())), row.reason_id);
        look.compare("policy, in the audit", id(decided.vpol_id.map(|id| id.to_string())), row.vpol_id);
    }
    if let Some(admitted) = look.public("decision", body) {
        let rules = Rules { then: admitted.by.as_ref().map(|by| by.rules), now: policy::RULES };
        look.rules(rules);
        let then = &admitted.decision;
        let mut now = admit(then.facts.clone());
        if let Some(vpol) = picked_again(&mut look, rules, chain, row.vpol_id) {
            now.vpol = vpol.name.into_owned();
        } else if then.picked.is_some() {
            now.vpol.clone_from(&then.vpol); // what it was picked from is gone, and that was said
        }
        compare(&mut look, rules, then, &now);
        look.compare("adapter", &then.facts.adapter, &chain.event.adapter);
        look.compare("effect, in its row", effect(then), &row.effect);
        look.compare("principal, in its row", &then.principal, &row.principal);
        look.compare("trust, in its row", then.trust, row.trust);
        let policy = chain.policies.iter().find(|policy| policy.id == row.vpol_id);
        let name = policy.and_then(|policy| policy.row.as_ref()).map_or("none", |row| row.name.as_str());
        look.compare("policy", &then.vpol, name);
        reason(&mut look, rules, chain, then);
    }
    look.end()
}

/// The validation policy that comes out of what it was picked from.
fn picked_again(look: &mut Look, rules: Rules, chain: &Chain, frozen: VpolId) -> Option<Vpol> {
    let (kept, set) = chain.picked.as_ref()?;
    let kept = look.personal("pick", kept)?;
    look.compare("event of the pick", kept.event, chain.event.id);
    let Picked { vpol, why } = look.public("policies", set)?.pick(&kept.chain);
    look.compare_by(rules, "why it was picked", &kept.why, &why);
    look.compare_by(rules, "policy that was picked", frozen, vpol.id());
    Some(vpol)
}

fn compare(look: &mut Look, rules: Rules, then: &Admission, now: &Admission) {
    let whole = |admission: &Admission| {
        format!("{}: {}, trust {}", effect(admission), admission.principal, admission.trust)
    };
    look.compare_by(rules, "decision", whole(then), whole(now));
    look.compare_by(rules, "tools", then.tools.join(" "), now.tools.join(" "));
    look.compare_by(rules, "persona", &then.persona, &now.persona);
    look.compare_by(rules, "policy", &then.vpol, &now.vpol);
    look.compare_by(rules, "reasons", words(then), words(now));
}

/// The reason of the admission: the R-Tag that everything in the chain hangs on.
fn reason(look: &mut Look, rules: Rules, chain: &Chain, admission: &Admission) {
    let Some((row, _)) = &chain.admission else { return };
    let Some(kept) = chain.reasons.iter().find(|reason| reason.id == row.reason_id) else {
        return look.missing("reason");
    };
    let now = Reason {
        id: row.reason_id,
        r_tag: "admit".into(),
        o_tag: chain.event.origin_id,
        vpol_id: row.vpol_id,
        chain_id: pipeline::task_of(&chain.event).to_string(),
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

const fn effect(admission: &Admission) -> &'static str {
    match admission.effect {
        policy::admit::Effect::Allow => "allow",
        policy::admit::Effect::Deny => "deny",
    }
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
